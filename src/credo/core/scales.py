"""Scales: how a number of the user's is written below the encoding, and how it comes back.

A `Transform` maps its domain onto the whole line, so a Gaussian after it is a proper density of the
user's number:

    z = t(x),      f(x) = g(t(x)) · t'(x)

`Bins` writes a number as the interval that holds it. Within an interval the density is that of a fine
histogram of the whole column (uniform between its edges, exponential beyond the outer ones), so

    f(x) = P(bin of x) · f(x | bin of x)

is a proper density too, and few bins lose nothing of the column's shape. A value that repeats (an
atom, such as 0) is a fine interval of the column's resolution which comes back as the value itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.errors import SchemaError, shown
from credo.core.frozen import Frozen
from credo.core.interval_states import interval_codes, interval_labels

__all__ = ["Bins", "Scale", "Transform"]

Floats = NDArray[np.float64]

KINDS = ("log", "log1p", "square-root", "logit", "yeo-johnson")


@dataclass(frozen=True)
class Transform:
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

    def holds(self, x: ArrayLike) -> NDArray[np.bool_]:
        """Whether each number lies in the domain; a gap (NaN) does."""
        low, high = self.domain
        at = np.asarray(x, np.float64)
        out: NDArray[np.bool_] = ((at > low) & (at < high)) | np.isnan(at)
        return out

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


@dataclass(frozen=True, eq=False, repr=False)
class Bins(Frozen):
    """Intervals between `cuts`, closed to the right, and a fine histogram of what is in them.

    Parameters
    ----------
    cuts : the k − 1 rising ends of k bins
    edges : the m − 1 rising ends of m fine intervals, the cuts among them; at least one
    masses : the share of the column in each fine interval
    atoms : for each fine interval the value it comes back as, or NaN for any number in it
    tails : the mean distance of what lies beyond the first and the last edge from it

    Given the probabilities `p` of the bins (last axis), it answers as a distribution of numbers:

    >>> bins = Bins([1.0], [0.0, 1.0, 3.0], [0.1, 0.4, 0.4, 0.1], tails=(0.5, 2.0))
    >>> bins.labels, bins.codes([1.0, 1.5, np.nan]).tolist()
    (('≤ 1', '> 1'), [0, 1, 2])
    >>> p = [0.5, 0.5]
    >>> [round(float(a), 6) for a in (bins.mean(p), bins.cdf(2.0, p), bins.quantile(0.7, p))]
    [1.45, 0.7, 2.0]
    >>> bins.between(2.0, 3.0).tolist()
    [0.0, 0.4]
    """

    cuts: Floats
    edges: Floats
    masses: Floats
    atoms: Floats = ()  # type: ignore[assignment]
    tails: tuple[float, float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        for name in ("cuts", "edges", "masses", "atoms"):
            object.__setattr__(self, name, np.array(getattr(self, name), np.float64).ravel())
        if not len(self.atoms):
            object.__setattr__(self, "atoms", np.full(len(self.masses), np.nan))
        object.__setattr__(self, "tails", tuple(map(float, self.tails)))
        ends = np.concatenate([[-np.inf], self.edges, [np.inf]])
        if not len(self.edges) or not (np.diff(ends) > 0).all():
            raise SchemaError("The edges of bins must be rising numbers, at least one.")
        if not (np.isin(self.cuts, self.edges).all() and (np.diff(self.cuts) > 0).all()):
            raise SchemaError("The cuts of bins must be rising numbers, all among the edges.")
        if not len(self.masses) == len(self.atoms) == len(self.edges) + 1:
            raise SchemaError(
                f"{len(self.edges)} edges part {len(self.edges) + 1} intervals, "
                f"got {len(self.masses)} masses and {len(self.atoms)} atoms."
            )
        there = ~np.isnan(self.atoms)
        inside = (ends[:-1] < self.atoms) & (self.atoms <= ends[1:])
        if there[0] or there[-1] or not inside[there].all():
            raise SchemaError("An atom must lie in its interval, which has two ends.")
        if not (len(self.tails) == 2 and all(0 < t < math.inf for t in self.tails)):
            raise SchemaError(f"The tails of bins are two numbers above 0, got {self.tails!r}.")
        total = self.masses.sum()
        if not ((self.masses >= 0).all() and 0 < total < np.inf):
            raise SchemaError("The masses of bins must be finite numbers, 0 or more.")
        object.__setattr__(self, "masses", self.masses / total)
        if not (self._mass > 0).all():
            raise SchemaError("Each bin needs a mass above 0.")
        super().__post_init__()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bins):
            return NotImplemented
        return self is other or (
            np.array_equal(self.cuts, other.cuts)
            and np.array_equal(self.edges, other.edges)
            and np.array_equal(self.masses, other.masses)
            and np.array_equal(self.atoms, other.atoms, equal_nan=True)
            and self.tails == other.tails
        )

    def __hash__(self) -> int:
        return hash((tuple(self.cuts.tolist()), len(self.edges)))

    def __repr__(self) -> str:
        return f"Bins({', '.join(self.labels)})"

    def __len__(self) -> int:
        return len(self.cuts) + 1

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The bins as states."""
        return interval_labels(self.cuts.tolist())

    # --- what the fine intervals hold -----------------------------------------------------

    @cached_property
    def _ends(self) -> Floats:
        return np.concatenate([[-np.inf], self.edges, [np.inf]])

    @cached_property
    def _start(self) -> NDArray[np.intp]:
        """The first fine interval of each bin, and one more: their number."""
        inner = np.searchsorted(self.edges, self.cuts) + 1
        return np.concatenate([[0], inner, [len(self.masses)]]).astype(np.intp)

    @cached_property
    def _mass(self) -> Floats:
        """The share of each bin in the column."""
        out: Floats = np.add.reduceat(self.masses, self._start[:-1])
        return out

    @cached_property
    def _below(self) -> Floats:
        """The share of its bin that lies below each fine interval."""
        out = np.empty(len(self.masses))
        for b, (first, last) in enumerate(zip(self._start[:-1], self._start[1:], strict=True)):
            inside = self.masses[first:last]
            out[first:last] = np.concatenate([[0.0], np.cumsum(inside)[:-1]]) / self._mass[b]
        return out

    @cached_property
    def _share(self) -> Floats:
        """The share of its bin that each fine interval holds."""
        return self.masses / np.repeat(self._mass, np.diff(self._start))

    @cached_property
    def _moments(self) -> tuple[Floats, Floats]:
        """The mean and the variance of each bin."""
        ends, (left, right) = self._ends, self.tails
        middle, within = np.empty(len(self.masses)), np.empty(len(self.masses))
        inner = ends[2:-1] - ends[1:-2]
        middle[1:-1], within[1:-1] = ends[1:-2] + inner / 2, inner**2 / 12
        middle[0], middle[-1] = ends[1] - left, ends[-2] + right
        within[0], within[-1] = left**2, right**2
        there = ~np.isnan(self.atoms)
        middle[there], within[there] = self.atoms[there], 0.0
        first = self._start[:-1]
        mean = np.add.reduceat(self._share * middle, first)
        away = middle - np.repeat(mean, np.diff(self._start))
        return mean, np.add.reduceat(self._share * (within + away**2), first)

    # --- numbers and bins -----------------------------------------------------------------

    def codes(self, x: ArrayLike) -> NDArray[np.uint16]:
        """The bin of each number; the one after the last for a gap (NaN)."""
        return interval_codes(np.atleast_1d(np.asarray(x, np.float64)), self.cuts.tolist())

    def log_density(self, x: ArrayLike) -> Floats:
        """ln f(x | bin of x) at each number; NaN for a gap."""
        at = np.asarray(x, np.float64)
        j = np.searchsorted(self.edges, at, side="left")
        wide = np.diff(self._ends)
        wide[0], wide[-1] = self.tails
        with np.errstate(divide="ignore", invalid="ignore"):
            out: Floats = np.log(self._share)[j] - np.log(wide)[j]
            out = np.where(j == 0, out + (at - self.edges[0]) / self.tails[0], out)
            last = len(self.edges)
            out = np.where(j == last, out - (at - self.edges[-1]) / self.tails[1], out)
        return np.where(np.isnan(at), np.nan, out)

    def draw(self, codes: ArrayLike, uniform: ArrayLike) -> Floats:
        """The number below which the share `uniform` of each bin lies: drawn, where that is random."""
        b, t = np.broadcast_arrays(np.asarray(codes, np.intp), np.asarray(uniform, np.float64))
        above = np.concatenate([self._below, [np.inf]])
        # shares of bins, one after the other, rise: bin b's part is b to b + 1
        rising = np.repeat(np.arange(len(self)), np.diff(self._start)) + self._below
        j = np.searchsorted(rising, b + t, side="right") - 1
        j = np.clip(j, self._start[b], self._start[b + 1] - 1)
        ends = self._ends
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.clip((t - above[j]) / self._share[j], 0.0, 1.0)
            inside = np.where(np.isnan(inside), 0.0, inside)
            low, high = ends[j], ends[j + 1]
            out = np.where(np.isfinite(high - low), low + inside * (high - low), 0.0)
            left = ends[1] + self.tails[0] * np.log(inside)
            right = ends[-2] - self.tails[1] * np.log1p(-inside)
        out = np.where(j == 0, left, np.where(j == len(self.edges), right, out))
        out = np.where(np.isnan(self.atoms[j]), out, self.atoms[j])
        return np.asarray(out, np.float64)

    def shares(self, x: ArrayLike, *, below: bool = False) -> Floats:
        """The share of its own bin that is at most (or is `below`) each number."""
        at = np.asarray(x, np.float64)
        j = np.searchsorted(self.edges, at, side="left")
        ends = self._ends
        with np.errstate(invalid="ignore", over="ignore"):
            inside = (at - ends[j]) / (ends[j + 1] - ends[j])
            left = np.exp(np.minimum(at - ends[1], 0.0) / self.tails[0])
            right = -np.expm1(-np.maximum(at - ends[-2], 0.0) / self.tails[1])
            inside = np.where(j == 0, left, np.where(j == len(self.edges), right, inside))
            atom = self.atoms[j]
            there = at > atom if below else at >= atom
            inside = np.where(np.isnan(atom), inside, there)
        return np.clip(self._below[j] + inside * self._share[j], 0.0, 1.0)

    def between(self, low: float, high: float) -> Floats:
        """The share of each bin that lies above `low` and below `high`: soft evidence."""
        k = np.arange(len(self))

        def up_to(end: float, below: bool) -> Floats:
            if math.isinf(end):
                return np.full(len(self), float(end > 0))
            at = int(np.searchsorted(self.cuts, end, side="left"))
            return np.where(k < at, 1.0, np.where(k > at, 0.0, self.shares(end, below=below)))

        out: Floats = np.clip(up_to(high, True) - up_to(low, False), 0.0, 1.0)
        return out

    # --- a distribution of numbers, by the probabilities of the bins ----------------------

    def pdf(self, x: ArrayLike, p: ArrayLike) -> Floats:
        """The density at each number; an atom's mass is spread over its interval."""
        at, chance = np.asarray(x, np.float64), np.asarray(p, np.float64)
        b = np.searchsorted(self.cuts, at, side="left")
        out: Floats = _at(chance, b) * np.exp(self.log_density(at))
        return out

    def cdf(self, x: ArrayLike, p: ArrayLike) -> Floats:
        """The probability of at most each number; it steps at an atom."""
        at, chance = np.asarray(x, np.float64), np.asarray(p, np.float64)
        b = np.searchsorted(self.cuts, at, side="left")
        under = np.cumsum(chance, axis=-1) - chance
        out: Floats = np.minimum(_at(under, b) + _at(chance, b) * self.shares(at), 1.0)
        return out

    def quantile(self, q: ArrayLike, p: ArrayLike) -> Floats:
        """The least number that is not exceeded with each probability."""
        share, chance = np.asarray(q, np.float64), np.asarray(p, np.float64)
        upto = np.cumsum(chance, axis=-1)
        share, goal = np.broadcast_arrays(share[..., None], upto[..., -1:])
        goal = np.minimum(share[..., 0], goal[..., 0])  # cumulated shares end a hair from 1
        there = np.broadcast_to(chance > 0, (*goal.shape, len(self)))
        b = ((upto >= goal[..., None]) & there).argmax(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (goal - _at(upto - chance, b)) / _at(chance, b)
        return self.draw(b, np.clip(t, 0.0, 1.0))

    def mean(self, p: ArrayLike) -> Floats:
        """The mean, atoms as the values they are."""
        out: Floats = np.asarray(p, np.float64) @ self._moments[0]
        return out

    def variance(self, p: ArrayLike) -> Floats:
        """The variance: within the bins and between them."""
        mean, within = self._moments
        chance = np.asarray(p, np.float64)
        away = mean - np.asarray(self.mean(chance))[..., None]
        out: Floats = (chance * (within + away**2)).sum(axis=-1)
        return out

    def interval(self, level: float, p: ArrayLike) -> tuple[Floats, Floats]:
        """The central interval that holds the share `level`."""
        rest = (1 - level) / 2
        return self.quantile(rest, p), self.quantile(1 - rest, p)


def _at(values: Floats, b: NDArray[np.intp]) -> Floats:
    """Entries of the last axis, one for each place of `b`."""
    shape = np.broadcast_shapes(b.shape, values.shape[:-1])
    wide = np.broadcast_to(values, (*shape, values.shape[-1]))
    out: Floats = np.take_along_axis(wide, np.broadcast_to(b, shape)[..., None], axis=-1)[..., 0]
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
