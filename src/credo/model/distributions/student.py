"""Student t: a Gaussian whose variance is not known for sure, so its tails are heavier.

It is the distribution of the next value after a normal-inverse-gamma belief (and, in several
dimensions, a normal-inverse-Wishart one). As `dof` grows it becomes the Gaussian.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from credo.core.errors import InputError
from credo.core.render import number
from credo.model.distributions.elliptical import (
    distance,
    points,
    student_log_density,
)
from credo.model.distributions.located import Located, Several, matrix_view
from credo.model.values.data import Numbers, columns
from credo.model.values.randomness import Rng, generator, size
from credo.model.values.reals import Floats
from credo.model.values.value import NAME, WEIGHT, View, finite, plain, positive, text


def _needs(dof: float, least: int, what: str) -> None:
    if dof <= least:
        raise InputError(
            f"A Student t with {dof:.6g} degrees of freedom has no {what}: it needs more than "
            f"{least}.",
            hint="Use interval(), which always exists, or more data.",
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StudentT(Located):
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

    @property
    def _around(self) -> tuple[float, float]:
        return self.location, self.scale

    def _share(self, z: Floats) -> Any:
        from scipy.special import stdtr

        return stdtr(self.dof, z)

    def _end(self, q: Any) -> Any:
        from scipy.special import betaln, stdtrit

        dof, share = self.dof, np.minimum(q, 1 - q)
        with np.errstate(all="ignore"):  # far out P(T < −t) is a power of t
            far = ((dof / 2 - 1) * math.log(dof) - betaln(dof / 2, 0.5) - np.log(share)) / dof
            power = far > 20 + max(0.0, math.log(dof))
            found = np.where(power, -np.exp(far), -np.abs(stdtrit(dof, share)))
        return np.where(q > 0.5, -found, found) + 0.0

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
class MultivariateT(Several):
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

    _parts: ClassVar = ("location", "shape")

    def __post_init__(self) -> None:
        object.__setattr__(self, "dof", positive(self.dof, "dof", 2 * WEIGHT))
        Several.__post_init__(self)

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

    def logpdf(self, x: ArrayLike) -> Any:
        """The log-density at one row of numbers, or at many rows."""
        d = len(self.location)
        away = points(x, d) - self.location
        size = np.maximum(np.abs(away).max(axis=-1) / 1e100, 1.0)  # squares are of what is smaller
        m = size * np.sqrt(distance(away / size[..., None], np.zeros(d), self._root))
        return plain(student_log_density(m, self._log_det, d, self.dof))

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

    def _of(self, centre: Floats, matrix: Floats, names: tuple[str, ...], left: Any = None) -> Any:
        if left is None:
            return type(self)(self.dof, centre, matrix, names)
        dof = self.dof + left.known
        with np.errstate(over="ignore", invalid="ignore"):
            shape = matrix * ((self.dof + left.distance) / dof)
        return type(self)(dof, centre, shape, names)

    def _alone(self, several: Any) -> StudentT:
        scale = math.sqrt(several.shape[0, 0])
        return StudentT(several.dof, float(several.location[0]), scale, several.names[0])

    def _view(self) -> View:
        title = f"Multivariate Student t, {number(self.dof)} degrees of freedom"
        return matrix_view(
            title, self.names, self.location, self.shape, heads=("location", "scale")
        )
