"""The features of naive Bayes: for each kind, ln P(value | class) with the classes along axis 0.

    states      θ[c, x] = (n[c, x] + l) / (n[c] + l·J)
    Gaussian    N(x; mean[c], variance[c]), or N(x; mean[c], covariance[c]) of several together
    transformed N(t(x); mean[c], variance[c]) · t'(x)
    kernel      Σ_i w_i N(x; x_i, width[c]²) / Σ w_i
    bag         Π_word θ[c, word]^count

A missing value is summed out: its factor is 1 in every class, its ln P is 0.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, UnknownNameError
from credo.core.frozen import Frozen
from credo.core.interval_states import cuts_of
from credo.core.scales import Transform
from credo.core.schema import Variable, is_missing
from credo.model.values.reals import Floats

_LOG_2PI = math.log(2 * math.pi)
_FARTHEST = 1e290  # squared distances stay finite, so that classes cancel far from all of them


def number_of(name: str, value: Any) -> float:
    """One cell of a real feature as a float; NaN where it is missing."""
    if is_missing(value):
        return math.nan
    try:
        x = float(value)
    except (TypeError, ValueError):
        raise InputError(f"The value of {name!r} must be a number, got {value!r}.") from None
    if math.isinf(x):
        raise InputError(f"The value of {name!r} must be finite, got {value!r}.")
    return x


@dataclass(frozen=True, eq=False, slots=True)
class States(Frozen):
    """A discrete feature. `alpha` are the pseudo-counts of its posterior, n + l.

    `unseen` is ln P of a state that was not seen in training, if it is smoothed as a new one.
    """

    variable: Variable
    log_theta: Floats
    alpha: Floats
    unseen: Floats
    smoothing: float
    above: bool = False
    """Whether numbers are told apart as above 0 or not (a Bernoulli feature)."""

    @property
    def cuts(self) -> tuple[float, ...] | None:
        """Where a number is cut into the states; None for a feature that is no number."""
        return cuts_of(self.variable.states)

    @property
    def names(self) -> tuple[str, ...]:
        """The variable."""
        return (self.variable.name,)

    def code(self, value: Any) -> int | None:
        """The code of a value; None for missing, the number of states for one not seen."""
        if is_missing(value):
            return None
        if isinstance(value, np.generic):
            value = value.item()
        if self.above and isinstance(value, (int, float)):
            return int(value > 0)
        if self.cuts is not None and value not in self.variable.states:
            return bisect_left(self.cuts, number_of(self.variable.name, value))
        try:
            return self.variable.code(value)
        except UnknownNameError:
            if isinstance(value, float) and value.is_integer():
                return self.code(int(value))
            return len(self.variable.states)

    def log_p(self, values: Sequence[Any], smooth: bool = False) -> Floats:
        """ln P(value | class) for each class."""
        code = self.code(values[0])
        if code is None or (code == len(self.variable.states) and not smooth):
            return np.zeros(len(self.unseen))
        return self.unseen if code == len(self.variable.states) else self.log_theta[:, code]


@dataclass(frozen=True, eq=False, slots=True)
class Normal(Frozen):
    """A Gaussian feature, after the transform `scale` if it has one.

    `floored` marks the classes whose rows alone have no spread.
    """

    name: str
    mean: Floats
    variance: Floats
    n: Floats
    scatter: Floats
    floored: NDArray[np.bool_]
    idle: bool = False
    """Whether it was constant in training: it tells nothing, and is left out of every row."""
    scale: Transform | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The variable."""
        return (self.name,)

    def on_scale(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Numbers as they are Gaussian; an infinite one stays infinite, and no other becomes so."""
        if self.scale is None:
            return numbers
        z = np.clip(self.scale.forward(numbers), -1e300, 1e300)
        return np.where(np.isinf(numbers), numbers, z)

    def log_p(self, values: Sequence[Any], smooth: bool = False) -> Floats:
        """ln of the density in each class."""
        x = number_of(self.name, values[0])
        if math.isnan(x) or self.idle:
            return np.zeros(len(self.mean))
        z = self.on_scale(np.array(x))
        with np.errstate(over="ignore"):
            far = np.minimum((z - self.mean) ** 2 / (2 * self.variance), _FARTHEST)
        slope = 0.0 if self.scale is None else float(self.scale.log_slope(x))
        out: Floats = slope - 0.5 * (_LOG_2PI + np.log(self.variance)) - far
        return out


@dataclass(frozen=True, eq=False, slots=True)
class Normals(Frozen):
    """Several real features that vary together: a covariance matrix for each class."""

    names: tuple[str, ...]
    mean: Floats
    covariance: Floats
    n: Floats
    scatter: Floats
    """Of the rows in which all were observed, whose weight is `n`; with the ridge, if any."""

    def log_p(self, values: Sequence[Any], smooth: bool = False) -> Floats:
        """ln of the joint density of those that are observed, in each class."""
        row = np.array([[number_of(n, v) for n, v in zip(self.names, values, strict=True)]])
        out: Floats = self.rows(row)[0]
        return out

    def rows(self, x: Floats) -> Floats:
        """ln of the density of each row in each class; NaN cells are summed out.

        Where no row was seen that has all of them, they tell nothing: a factor of 1.
        """
        out = np.zeros((len(x), len(self.mean)))
        if not self.n.any():
            return out
        there = ~np.isnan(x)
        keys = np.packbits(there, axis=1)
        _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        for g, at in enumerate(first):
            seen, rows = there[at], group.ravel() == g
            if not seen.any():
                continue
            for c in range(len(self.mean)):
                root = np.linalg.cholesky(self.covariance[c][np.ix_(seen, seen)])
                with np.errstate(over="ignore"):
                    away = np.linalg.solve(root, (x[rows][:, seen] - self.mean[c, seen]).T)
                    far = np.minimum(0.5 * np.sum(away * away, axis=0), _FARTHEST)
                log_det = np.log(np.diagonal(root)).sum()
                out[rows, c] = -0.5 * seen.sum() * _LOG_2PI - log_det - far
        return out


@dataclass(frozen=True, eq=False, slots=True)
class Kernel(Frozen):
    """A real feature by the density of its values: a Gaussian bump at each, `width[c]` wide."""

    name: str
    points: tuple[Floats, ...]
    weights: tuple[Floats, ...]
    width: Floats

    @property
    def names(self) -> tuple[str, ...]:
        """The variable."""
        return (self.name,)

    def log_p(self, values: Sequence[Any], smooth: bool = False) -> Floats:
        """ln of the density in each class."""
        out: Floats = self.rows(np.array([[number_of(self.name, values[0])]]))[0]
        return out

    def rows(self, x: Floats) -> Floats:
        """ln of the density of each row in each class; 0 where it is missing."""
        column = np.ascontiguousarray(x[:, 0], dtype=np.float64)
        out = np.empty((len(column), len(self.points)))
        for c, (points, weights) in enumerate(zip(self.points, self.weights, strict=True)):
            out[:, c] = _core.log_kernel_density(column, points, weights, float(self.width[c]))
        return out


@dataclass(frozen=True, eq=False, slots=True)
class Bag(Frozen):
    """Counts of words (or of anything): each occurrence is one draw from θ[c]."""

    names: tuple[str, ...]
    log_theta: Floats
    alpha: Floats

    def log_p(self, values: Sequence[Any], smooth: bool = False) -> Floats:
        """ln P of the counts in each class, but for a factor that all classes share."""
        row = np.array([[number_of(n, v) for n, v in zip(self.names, values, strict=True)]])
        out: Floats = self.rows(row)[0]
        return out

    def rows(self, x: Floats) -> Floats:
        """The same for each row; a missing count is a word that nobody looked for."""
        x = np.where(np.isnan(x), 0.0, x)
        if x.size and x.min() < 0:
            name = self.names[int(np.argwhere(x < 0)[0][1])]
            raise InputError(f"The count {name!r} must not be negative.")
        zero = np.isneginf(self.log_theta)
        if not zero.any():
            return np.asarray(x @ self.log_theta.T)
        out: Floats = x @ np.where(zero, 0.0, self.log_theta).T
        out[(x @ zero.T.astype(np.float64)) > 0] = -np.inf
        return out


Feature = States | Normal | Normals | Kernel | Bag
