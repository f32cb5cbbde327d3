"""Elliptical densities: Gaussian and Student t are functions of the Mahalanobis distance.

    m² = (x − μ)ᵀ Σ⁻¹ (x − μ)

    Gaussian   ln p = −½ (d ln 2π + ln|Σ| + m²)
    Student t  ln p = ln Γ((ν+d)/2) − ln Γ(ν/2) − ½ (d ln νπ + ln|Σ|) − (ν+d)/2 ln(1 + m²/ν)

Σ is used through its Cholesky factor; where there is none, the error names the columns. Where some
variables become known, with those first, Σ = L Lᵀ and L = [[L₁₁, 0], [L₂₁, L₂₂]],

    w = L₁₁⁻¹ (x₁ − μ₁),   μ₂|₁ = μ₂ + L₂₁ w,   Σ₂|₁ = L₂₂ L₂₂ᵀ

so that nothing is subtracted, and no variance can come out below 0.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.errors import InputError, unknown_name
from credo.core.render import number
from credo.model.answers.interval import Interval, shares, tails
from credo.model.distributions.log_rising import log_rising
from credo.model.distributions.point import Point
from credo.model.values.reals import NotReal, reals, shown
from credo.model.values.value import (
    NAME,
    SQUARE,
    View,
    finite,
    flag,
    listed,
    plain,
    readonly,
    text,
)

__all__ = [
    "Located",
    "Several",
    "Spread",
    "centre",
    "check_spread",
    "column_names",
    "distance",
    "divisor",
    "factor",
    "gaussian_log_density",
    "matrix_view",
    "named",
    "points",
    "position",
    "student_log_density",
    "symmetric",
]

Floats = NDArray[np.float64]

COLLINEAR = 1e-12
"""A column is a combination of others when they leave less than this share of its variance."""


def named(names: Sequence[str] | None, d: int) -> tuple[str, ...]:
    """The names of d columns: those given, or x1, x2, ….

    >>> named(None, 2)
    ('x1', 'x2')
    """
    found = column_names(names)
    if not found:
        return (NAME,) if d == 1 else tuple(f"{NAME}{i + 1}" for i in range(d))
    if len(found) != d:
        raise InputError(f"{d} different names are needed, one for each column, got {list(found)}.")
    return found


def column_names(names: Any) -> tuple[str, ...]:
    """The names of columns as the user gave them: none, one text, or a list of different ones.

    >>> column_names("wait"), column_names(None), column_names(["a", "b"])
    (('wait',), (), ('a', 'b'))
    """
    if names is None:
        return ()
    found = (names,) if isinstance(names, str) else listed(names, "The names of the columns")
    for name in found:
        text(name, "The name of a column")
    if len(set(found)) < len(found):
        raise InputError(
            f"{len(found)} different names are needed, one for each column, got {list(found)}."
        )
    return found


def symmetric(matrix: ArrayLike, d: int, what: str) -> Floats:
    """A finite symmetric matrix of d × d, with its halves made equal."""
    try:
        out = reals(matrix)
    except NotReal as no:
        raise InputError(f"{what} must be a matrix of numbers, got {shown(no.bad)}.") from None
    if out.shape != (d, d):
        raise InputError(f"{what} must have the shape {(d, d)}, got {out.shape}.")
    if not np.isfinite(out).all():
        raise InputError(f"{what} must hold finite numbers.")
    if (np.abs(out) > SQUARE).any():
        raise InputError(
            f"{what} is too large: {np.abs(out).max():.6g} passes {SQUARE:g}.",
            hint="Use another unit: divide the values by a power of ten.",
        )
    size = np.sqrt(np.abs(np.diag(out)))
    if (np.abs(out - out.T) > 1e-9 * np.outer(size, size)).any():
        raise InputError(f"{what} must be symmetric.")
    half: Floats = (out + out.T) / 2
    half.flags.writeable = False
    return half


def factor(matrix: Floats, names: Sequence[str], what: str) -> Floats:
    """The Cholesky factor of a covariance; the error names a constant or collinear column.

    >>> factor(np.array([[4.0, 2.0], [2.0, 2.0]]), ("a", "b"), "The covariance").round(9).tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    variance = np.diag(matrix)
    for name, v in zip(names, variance, strict=True):
        if not v >= 1 / SQUARE:
            raise InputError(
                f"{what} must be positive definite: the variance of {name!r} is {v:.6g}.",
                hint=f"Leave the constant column {name!r} out, or use a prior.",
            )
    size = np.sqrt(variance)
    scaled = matrix / size[:, None] / size[None, :]
    root: Any
    try:
        root = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        root = None
    if root is None or (np.diag(root) ** 2 < COLLINEAR).any():
        raise _collinear(scaled, names, what)
    out: Floats = root * size[:, None]
    return out


def _collinear(scaled: Floats, names: Sequence[str], what: str) -> InputError:
    """Which column is a linear combination of which before it."""
    left = np.ones(len(names))
    weights = {}
    for j in range(1, len(names)):
        weights[j] = np.linalg.lstsq(scaled[:j, :j], scaled[:j, j], rcond=COLLINEAR)[0]
        left[j] = 1.0 - scaled[:j, j] @ weights[j]
    worst = int(np.argmax(left < COLLINEAR) or left.argmin())
    if left[worst] < -1e-6:
        return InputError(
            f"{what} must be positive definite, but the correlations of "
            f"{', '.join(repr(n) for n in names)} contradict each other."
        )
    others = [n for n, w in zip(names, weights[worst], strict=False) if abs(w) > 1e-6]
    return InputError(
        f"{what} must be positive definite, but the column {names[worst]!r} is a linear "
        f"combination of {', '.join(repr(o) for o in others)}.",
        hint=f"Leave {names[worst]!r} out, or use a prior such as "
        "cr.NormalInverseWishart.default(…).",
    )


def check_spread(n: float, mean: Floats, scatter: Floats, names: Sequence[str], prior: str) -> None:
    """Refuse data that maximum likelihood would give a variance of zero."""
    rounding = (4 * np.finfo(float).eps * np.abs(mean)) ** 2
    for name, s, r in zip(names, np.diag(scatter), rounding, strict=True):
        if s / n > r:
            continue
        known = ", known_variance=…" if len(names) == 1 else ""
        if n <= 1:
            raise InputError(
                f"One observation of {name!r} has no spread: its maximum-likelihood variance is 0.",
                hint=f"Give a prior such as prior={prior}{known}, or more rows.",
            )
        raise InputError(
            f"The column {name!r} is constant: its maximum-likelihood variance is 0.",
            hint=f"Give a prior such as prior={prior}{known}, or leave {name!r} out.",
        )


def divisor(n: float, sample_variance: bool) -> float:
    """What the scatter is divided by: n, or n − 1 for the sample variance.

    >>> divisor(12, True)
    11
    """
    if not flag(sample_variance, "sample_variance"):
        return n
    if n <= 1:
        raise InputError(f"The sample variance needs more than one row, got a weight of {n:g}.")
    return n - 1


def points(x: ArrayLike, d: int | None = None, what: str = "density") -> Floats:
    """Values at which a density or a share is asked for; with `d`, rows of d numbers."""
    try:
        out = reals(x)
    except NotReal as no:
        raise InputError(f"The {what} is asked for at numbers, got {shown(no.bad)}.") from None
    if np.isnan(out).any():
        raise InputError(f"The {what} is asked for at numbers, got NaN.")
    if d is not None and (out.ndim == 0 or out.shape[-1] != d):
        raise InputError(f"Each point must have {d} numbers, got the shape {out.shape}.")
    return out


def side_by_side(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Means and what stands beside them, one for each of the other or for all of them."""
    try:
        a, b = np.broadcast_arrays(a, b)
    except ValueError:
        raise InputError(
            f"There must be as many means as variances, or one for all: the shapes {a.shape} and "
            f"{b.shape} do not fit."
        ) from None
    return a, b


def distance(x: Floats, mean: Floats, root: Floats) -> Floats:
    """The squared Mahalanobis distance of each row, by the Cholesky factor of Σ."""
    from scipy.linalg import solve_triangular

    away = (x - mean).reshape(-1, len(mean)).T
    with np.errstate(over="ignore"):
        solved = solve_triangular(root, away, lower=True, check_finite=False)
        out: Floats = (solved**2).sum(axis=0).reshape(x.shape[:-1])
    return np.where(np.isnan(out), np.inf, out)


def gaussian_log_density(m2: Any, log_det: float, d: int) -> Any:
    """The Gaussian log-density from the squared distance and ln|Σ|."""
    return -0.5 * (d * np.log(2 * np.pi) + log_det + m2)


def student_log_density(m: Any, log_det: float, d: int, dof: float) -> Any:
    """The Student t log-density from the distance and ln|Σ|; its tails are heavy, so that it is not
    0 where the square of the distance is beyond every number.
    """
    ratio = log_rising(dof / 2, d / 2)  # of gamma functions; exact for a large ν too
    constant = ratio - 0.5 * (d * np.log(dof * np.pi) + log_det)
    with np.errstate(over="ignore", divide="ignore"):
        far = m / np.sqrt(dof)
        logs = 2 * np.log(m) - np.log(dof)
    near = np.minimum(far, 1e9)
    log = np.where(far < 1e9, np.log1p(near * near), logs)
    return constant - (dof + d) / 2 * log


def centre(mean: ArrayLike, what: str) -> Floats:
    """A row of finite numbers."""
    try:
        out = readonly(reals(mean))
    except NotReal:
        raise InputError(f"{what} must be a row of numbers, got {shown(mean)}.") from None
    if out.ndim != 1 or not out.size or not np.isfinite(out).all():
        raise InputError(f"{what} must be a row of finite numbers, got {shown(mean)}.")
    for part in out.tolist():
        finite(part, what)
    return out


def position(name: str, names: Sequence[str]) -> int:
    """Where a variable stands among the names."""
    if not isinstance(name, str) or name not in names:
        raise unknown_name("Variable", name, names, "in the distribution")
    return list(names).index(name)


def matrix_view(
    title: str,
    names: Sequence[str],
    mean: Floats,
    covariance: Floats,
    heads: tuple[str, str] = ("mean", "sd"),
) -> View:
    """A table of mean, standard deviation and correlations, or of what plays their part."""
    sd = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(sd, sd)
    rows = [
        [n, number(float(mean[i])), number(float(sd[i]))]
        + [f"{correlation[i, j]:.3f}" if j <= i else "" for j in range(len(names))]
        for i, n in enumerate(names)
    ]
    head = ["", *heads, *(f"r {n}" for n in names)]
    return View(title, head, rows, range(1, len(head)))


class _Left(NamedTuple):
    """What is left: names, centre and covariance; how many are known, and how far off they lie."""

    names: tuple[str, ...]
    centre: Floats
    covariance: Floats
    known: int
    distance: float


def _places(names: Any, known: Sequence[str]) -> list[int]:
    """Where variables stand among the names, for one name or several different ones.

    >>> _places(["c", "a"], ("a", "b", "c")), _places("b", ("a", "b"))
    ([2, 0], [1])
    """
    wanted = column_names(names)
    if not wanted:
        raise InputError(
            f"Name at least one variable, got {shown(names)}.", hint=f"There are {list(known)}."
        )
    for name in wanted:
        if name not in known:
            raise unknown_name("Variable", name, known, "in the distribution")
    return [list(known).index(name) for name in wanted]


def _conditioned(values: Any, names: tuple[str, ...], centre: Floats, covariance: Floats) -> _Left:
    """What is left of the other variables when some have these values."""
    from scipy.linalg import solve_triangular

    if not isinstance(values, Mapping):
        raise InputError(
            f"What is known is given by a mapping from name to value, got {shown(values)}.",
            hint=f"Write given({{{names[0]!r}: 1.0}}).",
        )
    first = _places(list(values), names) if values else []
    rest = [i for i in range(len(names)) if i not in first]
    if not rest:
        raise InputError(
            "Every variable is known, so that nothing is left.",
            hint="Leave out the one that is asked for, or ask logpdf(…) for the density.",
        )
    at = np.array([finite(v, f"The value of {n!r}") for n, v in values.items()])
    order = [*first, *rest]
    root = factor(covariance[np.ix_(order, order)], [names[i] for i in order], "The matrix")
    k = len(first)
    below = root[k:, k:]
    left = tuple(names[i] for i in rest)
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is refused where it is
        w = solve_triangular(root[:k, :k], at - centre[first], lower=True) if k else at
        moved: Floats = centre[rest] + root[k:, :k] @ w
        return _Left(left, moved, below @ below.T, k, float(w @ w))


class _Covarying(Protocol):
    @property
    def covariance(self) -> Floats: ...


class Spread:
    """The spread of a distribution of several variables that has a `covariance`.

    >>> from credo import MultivariateGaussian
    >>> two = MultivariateGaussian([0, 0], [[4, 1], [1, 1]])
    >>> two.variance.tolist(), two.sd.tolist(), two.correlation.tolist()
    ([4.0, 1.0], [2.0, 1.0], [[1.0, 0.5], [0.5, 1.0]])
    """

    __slots__ = ()

    @property
    def variance(self: _Covarying) -> Floats:
        """The variance of each variable."""
        return np.diag(self.covariance)

    @property
    def sd(self: _Covarying) -> Floats:
        """The standard deviation of each variable."""
        out: Floats = np.sqrt(np.diag(self.covariance))
        return out

    @property
    def correlation(self: _Covarying) -> Floats:
        """The correlations of the variables."""
        covariance = self.covariance
        sd = np.sqrt(np.diag(covariance))
        out: Floats = covariance / np.outer(sd, sd)
        return out


class Located(Point):
    """A number around a location: what Gaussian and StudentT share."""

    __slots__ = ()

    @property
    @abstractmethod
    def _around(self) -> tuple[float, float]:
        """The location and the scale."""

    @abstractmethod
    def _share(self, z: Floats) -> Any:
        """The probability below z, around 0 with scale 1."""

    @abstractmethod
    def _end(self, q: Any) -> Any:
        """The value below which the share q lies, around 0 with scale 1."""

    def cdf(self, x: ArrayLike) -> Any:
        """The probability of a value of at most `x`.

        >>> from credo import Gaussian
        >>> Gaussian(0, 1).cdf(0.0)
        0.5
        """
        location, scale = self._around
        with np.errstate(over="ignore"):
            return plain(self._share((points(x, what="share below") - location) / scale))

    def quantile(self, q: ArrayLike) -> Any:
        """The value below which the share `q` of the probability lies.

        >>> from credo import Gaussian
        >>> Gaussian(6, 1).quantile(0.5)
        6.0
        """
        location, scale = self._around
        with np.errstate(over="ignore"):  # a tail may pass every number
            return plain(location + scale * self._end(shares(q)))

    def interval(self, level: float = 0.95) -> Interval:
        """The central interval that holds the next value with probability `level`."""
        location, scale = self._around
        with np.errstate(over="ignore"):  # a tail may pass every number
            away = -scale * float(self._end(np.array(tails(level)[0])))
        return Interval(location - away, location + away, level)


class Several(Spread, Point):
    """Several variables around a centre: what MultivariateGaussian and MultivariateT share."""

    __slots__ = ()
    names: tuple[str, ...]

    @property
    @abstractmethod
    def _around(self) -> tuple[Floats, Floats]:
        """The centre and the matrix."""

    @abstractmethod
    def _of(
        self, centre: Floats, matrix: Floats, names: tuple[str, ...], left: _Left | None = None
    ) -> Any:
        """The same for some of the variables, `left` when others became known."""

    @abstractmethod
    def _alone(self, several: Any) -> Any:
        """The distribution of one number that one of several variables is, alone."""

    def marginal(self, names: str | Sequence[str]) -> Any:
        """The distribution of one variable; of a list of them, again one of several.

        >>> from credo import MultivariateGaussian
        >>> g = MultivariateGaussian([0, 1, 2], np.diag([1.0, 2.0, 3.0]), names=("a", "b", "c"))
        >>> g.marginal("b"), g.marginal(["c", "a"]).mean.tolist()
        (Gaussian(mean=1, variance=2), [2.0, 0.0])
        """
        one = isinstance(names, str) or not isinstance(names, Iterable)
        at = [position(names, self.names)] if one else _places(names, self.names)  # type: ignore[arg-type]
        centre, matrix = self._around
        found = self._of(centre[at], matrix[np.ix_(at, at)], tuple(self.names[i] for i in at))
        return self._alone(found) if one else found

    def given(self, values: Mapping[str, float]) -> Any:
        """The distribution of the other variables when some are known, of a number where one is
        left.

        >>> from credo import MultivariateGaussian
        >>> g = MultivariateGaussian([170, 70], [[100, 60], [60, 81]], names=("height", "weight"))
        >>> g.given({"height": 180})
        Gaussian(mean=76, variance=45)
        """
        left = _conditioned(values, self.names, *self._around)
        if not left.known:
            return self
        found = self._of(left.centre, left.covariance, left.names, left)
        return self._alone(found) if len(left.names) == 1 else found

    def interval(self, level: float = 0.95, *, of: str) -> Interval:
        """The central interval of one variable's next value."""
        position(of, self.names)
        found: Interval = self.marginal(of).interval(level)
        return found
