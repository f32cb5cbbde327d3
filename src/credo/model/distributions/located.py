"""What distributions around a centre share: a number around a location, several around a row.

With the variables that become known first, Σ = L Lᵀ and L = [[L₁₁, 0], [L₂₁, L₂₂]],

    w = L₁₁⁻¹ (x₁ − μ₁),   μ₂|₁ = μ₂ + L₂₁ w,   Σ₂|₁ = L₂₂ L₂₂ᵀ

so that nothing is subtracted, and no variance can come out below 0.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from credo.core.errors import InputError, unknown_name
from credo.core.render import number
from credo.model.answers.interval import Interval, shares, tails
from credo.model.distributions.elliptical import column_names, factor, named, points, symmetric
from credo.model.distributions.point import Point
from credo.model.values.reals import Floats, NotReal, reals, shown
from credo.model.values.value import View, finite, plain, readonly


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
    _root: Floats
    _parts: ClassVar[tuple[str, str]]
    """What the centre and the matrix are called."""

    def __post_init__(self) -> None:
        middle, spread = self._parts
        at = centre(getattr(self, middle), f"The {middle}")
        names = named(self.names, len(at))
        matrix = symmetric(getattr(self, spread), len(at), f"The {spread}")
        root = readonly(factor(matrix, names, f"The {spread}"))
        found = {middle: at, "names": names, spread: matrix, "_root": root}
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @property
    def _around(self) -> tuple[Floats, Floats]:
        middle, spread = self._parts
        return getattr(self, middle), getattr(self, spread)

    @property
    def _log_det(self) -> float:
        return float(2 * np.log(np.diag(self._root)).sum())

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
