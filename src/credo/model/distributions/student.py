"""Student t: a Gaussian whose variance is not known for sure, so its tails are heavier.

It is the distribution of the next value after a normal-inverse-gamma belief (and, in several
dimensions, a normal-inverse-Wishart one). As `dof` grows it becomes the Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.errors import InputError
from credo.core.render import number
from credo.model.answers.interval import Interval, halved, shares, tails
from credo.model.distributions.conditioning import conditioned, places
from credo.model.distributions.elliptical import (
    distance,
    factor,
    named,
    points,
    student_log_density,
    symmetric,
)
from credo.model.distributions.multivariate import centre, matrix_view, position
from credo.model.distributions.point import Point
from credo.model.values.data import Numbers, columns
from credo.model.values.randomness import Rng, generator, size
from credo.model.values.value import NAME, WEIGHT, View, finite, plain, positive, readonly, text

__all__ = ["MultivariateT", "StudentT"]

Floats = NDArray[np.float64]


def _standard_quantile(dof: float, q: Floats) -> Floats:
    """Quantiles of the t around 0 of scale 1, from its lower half: stdtrit is lost in the tails."""
    from scipy.special import betaln, stdtr, stdtrit

    share = np.minimum(q, 1 - q)
    with np.errstate(invalid="ignore", over="ignore"):
        found = -np.abs(stdtrit(dof, share))
        miss = np.abs(stdtr(dof, found) - share)
    good = miss <= 1e-9 * share
    if not good.all():

        def below(s: Floats) -> Floats:  # the logarithm of the distance runs downwards
            return np.asarray(stdtr(dof, -np.exp(-s)))

        slow = -np.exp(-halved(below, share, -300.0, 745.0))
        found = np.where(good, found, np.where(share == 0.5, 0.0, slow))
    with np.errstate(divide="ignore", over="ignore"):  # far out P(T < −t) is a power of t
        far = ((dof / 2 - 1) * math.log(dof) - betaln(dof / 2, 0.5) - np.log(share)) / dof
        found = np.where(far > 20 + max(0.0, math.log(dof)), -np.exp(far), found)
    out: Floats = np.where(q > 0.5, -found, found) + 0.0
    return out


def _standard_share(dof: float, t: Floats) -> Floats:
    """The share below t of the t around 0 of scale 1; stdtr squares t, which may be too large."""
    from scipy.special import betaln, stdtr

    size = np.abs(t)
    logs = np.log(np.maximum(size, 1.0))
    with np.errstate(under="ignore"):  # far out P(T < −t) is a power of t
        power = np.exp((dof / 2 - 1) * math.log(dof) - betaln(dof / 2, 0.5) - dof * logs)
    far = np.where(t < 0, power, 1 - power)
    out: Floats = np.where(logs > 20 + max(0.0, math.log(dof)), far, stdtr(dof, t))
    return out


def _needs(dof: float, least: int, what: str) -> None:
    if dof <= least:
        raise InputError(
            f"A Student t with {dof:.6g} degrees of freedom has no {what}: it needs more than "
            f"{least}.",
            hint="Use interval(), which always exists, or more data.",
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StudentT(Point):
    """A bell curve around `location` with heavy tails; `scale` plays the part of the sd.

    >>> t = StudentT(dof=2, location=6, scale=1)
    >>> t.mean, round(t.pdf(6), 6)
    (6.0, 0.353553)
    >>> print(t.interval(0.95))
    1.69735 to 10.3027 (95 %)
    """

    dof: float
    location: float
    scale: float
    name: str = field(default=NAME, compare=False, repr=False)

    def __post_init__(self) -> None:
        text(self.name, "The name")
        object.__setattr__(self, "dof", positive(self.dof, "dof", 2 * WEIGHT))
        object.__setattr__(self, "location", finite(self.location, "The location"))
        object.__setattr__(self, "scale", positive(self.scale, "The scale"))

    @property
    def mean(self) -> float:
        """The mean, which needs more than one degree of freedom."""
        _needs(self.dof, 1, "mean")
        return self.location

    @property
    def variance(self) -> float:
        """The variance, which needs more than two degrees of freedom."""
        _needs(self.dof, 2, "variance")
        return self.scale**2 * self.dof / (self.dof - 2)

    def logpdf(self, x: ArrayLike) -> Any:
        """The log-density at one value or at many."""
        with np.errstate(over="ignore"):
            m = np.abs((points(x) - self.location) / self.scale)
        return plain(student_log_density(m, 2 * math.log(self.scale), 1, self.dof))

    def log_likelihood(self, data: Numbers) -> float:
        """The log-density of independent values together. The values are needed, not moments."""
        _, rows = columns(data, (self.name,))
        return float(self.logpdf(rows[:, 0]).sum())

    def sample(self, n: int, rng: Rng) -> Floats:
        """Values drawn at random."""
        return self.location + self.scale * generator(rng).standard_t(self.dof, size(n))

    def cdf(self, x: ArrayLike) -> Any:
        """The probability of a value of at most `x`.

        >>> round(StudentT(dof=1, location=6, scale=1).cdf(7.0), 12)
        0.75
        """
        with np.errstate(over="ignore"):
            out = _standard_share(
                self.dof, (points(x, what="share below") - self.location) / self.scale
            )
        return plain(out)

    def quantile(self, q: ArrayLike) -> Any:
        """The value below which the share `q` of the probability lies.

        >>> round(StudentT(dof=1, location=6, scale=1).quantile(0.75), 12)
        7.0
        """
        with np.errstate(over="ignore"):  # a tail may pass every number
            return plain(self.location + self.scale * _standard_quantile(self.dof, shares(q)))

    def interval(self, level: float = 0.95) -> Interval:
        """The central interval that holds the next value with probability `level`."""
        with np.errstate(over="ignore"):  # a tail may pass every number
            away = -self.scale * float(_standard_quantile(self.dof, np.array(tails(level)[0])))
        return Interval(self.location - away, self.location + away, level)

    def _view(self) -> View:
        low, high = self.interval(0.95)
        row = [
            self.name,
            number(self.dof),
            number(self.location),
            number(self.scale),
            f"{number(low)} to {number(high)}",
        ]
        head = ["", "dof", "location", "scale", "95 % of values"]
        return View("Student t", head, [row], (1, 2, 3, 4))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MultivariateT(Point):
    """Several variables with heavy tails; `shape` plays the part of the covariance.

    >>> t = MultivariateT(3, [0, 0], [[1, 0], [0, 1]], names=("a", "b"))
    >>> round(t.logpdf([0, 0]), 6), t.marginal("a")
    (-1.837877, StudentT(dof=3, location=0, scale=1))
    """

    dof: float
    location: Floats
    shape: Floats
    names: tuple[str, ...] = ()
    _root: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        location = centre(self.location, "The location")
        names = named(self.names, len(location))
        shape = symmetric(self.shape, len(location), "The shape")
        object.__setattr__(self, "dof", positive(self.dof, "dof", 2 * WEIGHT))
        object.__setattr__(self, "location", location)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "_root", readonly(factor(shape, names, "The shape")))

    @property
    def mean(self) -> Floats:
        """The mean, which needs more than one degree of freedom."""
        _needs(self.dof, 1, "mean")
        return self.location

    @property
    def covariance(self) -> Floats:
        """The covariance, which needs more than two degrees of freedom."""
        _needs(self.dof, 2, "covariance")
        return self.shape * (self.dof / (self.dof - 2))

    @property
    def variance(self) -> Floats:
        """The variance of each variable."""
        return np.diag(self.covariance)

    def logpdf(self, x: ArrayLike) -> Any:
        """The log-density at one row of numbers, or at many rows."""
        d = len(self.location)
        away = points(x, d) - self.location
        size = np.maximum(np.abs(away).max(axis=-1) / 1e100, 1.0)  # squares are of what is smaller
        m = size * np.sqrt(distance(away / size[..., None], np.zeros(d), self._root))
        log_det = float(2 * np.log(np.diag(self._root)).sum())
        return plain(student_log_density(m, log_det, d, self.dof))

    def log_likelihood(self, data: Numbers) -> float:
        """The log-density of independent rows together. The rows are needed, not moments."""
        _, rows = columns(data, self.names)
        return float(self.logpdf(rows).sum())

    def sample(self, n: int, rng: Rng) -> Floats:
        """Rows drawn at random, one column for each variable."""
        g = generator(rng)
        z = g.standard_normal((size(n), len(self.location))) @ self._root.T
        w = g.chisquare(self.dof, size(n)) / self.dof
        out: Floats = self.location + z / np.sqrt(w)[:, None]
        return out

    def marginal(self, names: str | Sequence[str]) -> Any:
        """The Student t of one variable; of a list of them, the MultivariateT.

        >>> t = MultivariateT(3, [0, 1, 2], np.diag([1.0, 4.0, 9.0]), names=("a", "b", "c"))
        >>> t.marginal("b"), t.marginal(["c", "a"]).location.tolist()
        (StudentT(dof=3, location=1, scale=2), [2.0, 0.0])
        """
        if isinstance(names, str) or not isinstance(names, Iterable):
            i = position(names, self.names)
            return StudentT(self.dof, float(self.location[i]), math.sqrt(self.shape[i, i]), names)
        at = places(names, self.names)
        kept = tuple(self.names[i] for i in at)
        return type(self)(self.dof, self.location[at], self.shape[np.ix_(at, at)], kept)

    def given(self, values: Mapping[str, float]) -> Any:
        """The distribution of the other variables when some are known: a StudentT where one is
        left, else a MultivariateT.

        >>> t = MultivariateT(3, [0, 0], [[1, 0], [0, 1]], names=("a", "b"))
        >>> t.given({"a": 1.0})
        StudentT(dof=4, location=0, scale=1)
        """
        left = conditioned(values, self.names, self.location, self.shape, "The shape")
        if not left.known:
            return self
        dof = self.dof + left.known
        with np.errstate(over="ignore", invalid="ignore"):
            shape = left.covariance * ((self.dof + left.distance) / dof)
        if len(left.names) == 1:
            return StudentT(dof, float(left.centre[0]), math.sqrt(shape[0, 0]), left.names[0])
        return type(self)(dof, left.centre, shape, left.names)

    def interval(self, level: float = 0.95, *, of: str) -> Interval:
        """The central interval of one variable's next value."""
        position(of, self.names)
        found: Interval = self.marginal(of).interval(level)
        return found

    def _view(self) -> View:
        title = f"Multivariate Student t, {number(self.dof)} degrees of freedom"
        return matrix_view(
            title, self.names, self.location, self.shape, heads=("location", "scale")
        )
