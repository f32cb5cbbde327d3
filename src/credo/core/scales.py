"""Scales: how a number of the user's is written below the encoding, and how it comes back.

A `Transform` maps its domain onto the whole line, so a Gaussian after it is a proper density of the
user's number:

    z = t(x),      f(x) = g(t(x)) · t'(x)

The other scale is `Bins`, which has a file of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.bins import Bins as Bins
from credo.core.errors import SchemaError, shown
from credo.core.render import Told

Floats = NDArray[np.float64]

KINDS = ("log", "log1p", "square-root", "logit", "yeo-johnson")


@dataclass(frozen=True)
class Transform(Told):
    """A rising map of an open interval onto the whole line.

    | kind          | z                                               | domain           |
    |---------------|-------------------------------------------------|------------------|
    | 'log'         | ln u, u = (x − low)/spread                      | x > low          |
    | 'log1p'       | ln(1 + u)                                       | x > low − spread |
    | 'logit'       | ln((x − low)/(high − x))                        | low < x < high   |
    | 'square-root' | ±2(√(1+abs u) − 1), u = (x − centre)/spread     | all              |
    | 'yeo-johnson' | ((1+u)^power − 1)/power above the centre, below | all              |
    |               | it −((1−u)^(2−power) − 1)/(2−power)             |                  |

    The root is that of 1 + |u|: the plain one has an infinite slope at its centre. The power of
    Yeo and Johnson (2000) is kept between 0 and 2, where the map is onto the line.

    >>> t = Transform("log1p")
    >>> float(t.forward(0.0)), t.domain
    (0.0, (-1.0, inf))
    >>> t.backward(t.forward([0.0, 7.5])).tolist()
    [0.0, 7.5]
    """

    kind: str
    centre: float = 0.0
    spread: float = 1.0
    power: float = 1.0
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SchemaError(f"A transform is one of {', '.join(KINDS)}, got {shown(self.kind)}.")
        if not (0 < self.spread < math.inf and math.isfinite(self.centre)):
            raise SchemaError(
                "A transform needs a finite centre and a spread above 0, "
                f"got {self.centre!r} and {self.spread!r}."
            )
        if not 0 <= self.power <= 2:
            raise SchemaError(f"The power of a transform lies in [0, 2], got {self.power!r}.")
        if self.kind in ("log", "log1p") and self.low == -math.inf:
            object.__setattr__(self, "low", self.centre)
        if self.kind == "logit" and (self.low, self.high) == (-math.inf, math.inf):
            object.__setattr__(self, "low", 0.0)
            object.__setattr__(self, "high", 1.0)
        if self.kind in ("log", "log1p", "logit") and not math.isfinite(self.low):
            raise SchemaError(f"The low end of a {self.kind} must be finite, got {self.low!r}.")
        if self.kind == "logit" and not self.low < self.high < math.inf:
            raise SchemaError(f"A logit needs low < high, got {self.low!r} and {self.high!r}.")

    @property
    def domain(self) -> tuple[float, float]:
        """The ends of the numbers it takes, neither of which it takes."""
        if self.kind == "log":
            return self.low, math.inf
        if self.kind == "log1p":
            return self.low - self.spread, math.inf
        return (self.low, self.high) if self.kind == "logit" else (-math.inf, math.inf)

    @property
    def words(self) -> str:
        """What it is, in a word or two."""
        return self.kind if self.kind != "yeo-johnson" else f"{self.kind} {self.power:.3g}"

    def holds(self, x: ArrayLike) -> NDArray[np.bool_]:
        """Whether each number lies in the domain; a gap (NaN) does."""
        low, high = self.domain
        at = np.asarray(x, np.float64)
        out: NDArray[np.bool_] = ((at > low) & (at < high)) | np.isnan(at)
        return out

    def refusal(self, name: str, number: float) -> str:
        """Why it cannot take a number.

        >>> Transform("log").refusal("fare", -2.0)
        "'fare' is -2, but its log takes numbers above 0 only."
        """
        low, high = self.domain
        ends = [f"above {low:g}"] * (low > -math.inf) + [f"below {high:g}"] * (high < math.inf)
        what = f"its {self.words} takes numbers {' and '.join(ends)} only"
        return f"{name!r} is {number:g}, but {what}."

    def forward(self, x: ArrayLike) -> Floats:
        """Each number on the line; NaN for a gap, and outside the domain."""
        at = np.asarray(x, np.float64)
        with np.errstate(all="ignore"):
            if self.kind == "log":
                out: Floats = np.log((at - self.low) / self.spread)
            elif self.kind == "log1p":
                out = np.log1p((at - self.low) / self.spread)
            elif self.kind == "logit":
                out = np.log((at - self.low) / (self.high - at))
            else:
                u = (at - self.centre) / self.spread
                right, left = self._powers
                out = np.where(u >= 0, _power(u, right), -_power(-u, left))
            return np.where(self.holds(at), out, np.nan)

    def backward(self, z: ArrayLike) -> Floats:
        """The number of each place on the line."""
        at = np.asarray(z, np.float64)
        with np.errstate(over="ignore"):
            if self.kind == "log":
                out: Floats = self.low + self.spread * np.exp(at)
            elif self.kind == "log1p":
                out = self.low + self.spread * np.expm1(at)
            elif self.kind == "logit":
                upper = 1 / (1 + np.exp(-np.abs(at)))
                near = (self.high - self.low) * (1 - upper)
                out = np.where(at > 0, self.high - near, self.low + near)
            else:
                right, left = self._powers
                u = np.where(at >= 0, _root(at, right), -_root(-at, left))
                out = self.centre + self.spread * u
        return np.asarray(out, np.float64)

    def log_jacobian(self, x: ArrayLike) -> Floats:
        """What ln of a density on the line lacks to be one of the user's number: the slope."""
        return self.log_slope(x)

    def log_slope(self, x: ArrayLike) -> Floats:
        """ln dz/dx at each number; NaN where `forward` is."""
        at = np.asarray(x, np.float64)
        with np.errstate(all="ignore"):
            if self.kind == "log":
                out: Floats = -np.log(at - self.low)
            elif self.kind == "log1p":
                out = -np.log(self.spread) - np.log1p((at - self.low) / self.spread)
            elif self.kind == "logit":
                wide = math.log(self.high - self.low)
                out = wide - np.log(at - self.low) - np.log(self.high - at)
            else:
                u = (at - self.centre) / self.spread
                right, left = self._powers
                bend = np.where(u >= 0, right - 1, left - 1)
                out = bend * np.log1p(np.abs(u)) - math.log(self.spread)
            return np.where(self.holds(at), out, np.nan)

    @property
    def _powers(self) -> tuple[float, float]:
        """The powers above and below the centre."""
        return (0.5, 0.5) if self.kind == "square-root" else (self.power, 2 - self.power)


def _power(u: Floats, power: float) -> Floats:
    """((1 + u)^power − 1)/power for u ≥ 0; ln(1 + u) where the power is 0."""
    log = np.log1p(u)
    out: Floats = log if power < 1e-12 else np.expm1(power * log) / power
    return out


def _root(z: Floats, power: float) -> Floats:
    """The u ≥ 0 that `_power` makes z of."""
    z = np.maximum(z, 0.0)
    out: Floats = np.expm1(z if power < 1e-12 else np.log1p(power * z) / power)
    return out


Scale = Transform | Bins


def scale_states(name: str, kind: str, states: Sequence[Any], scale: Any) -> tuple[Any, ...]:
    """The states of a variable by its scale, checked."""
    if not isinstance(scale, Transform | Bins):
        raise SchemaError(f"The scale of {name!r} must be a Transform or Bins, got {shown(scale)}.")
    if isinstance(scale, Transform):
        if kind != "continuous":
            raise SchemaError(f"{name!r} has a transform, so its kind must be 'continuous'.")
        return tuple(states)
    if kind != "discrete":
        raise SchemaError(f"{name!r} has bins, so its kind must be 'discrete'.")
    if states and tuple(states) != scale.labels:
        raise SchemaError(f"The states of {name!r} must be those of its bins, or none be given.")
    return scale.labels
