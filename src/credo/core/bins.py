"""Bins: a number as the interval that holds it, with the density of what is in it.

    f(x) = P(bin of x) · f(x | bin of x)

Within a bin the density is that of a fine histogram of the whole column: uniform between its
edges, exponential beyond the outer ones, an atom (a value that repeats, such as 0) spread over a
fine interval of the column's resolution. So few bins lose nothing of the column's shape.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.errors import SchemaError
from credo.core.frozen import Frozen
from credo.core.interval_states import interval_codes, interval_labels
from credo.core.render import Told

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Bins(Told, Frozen):
    """Intervals between `cuts`, closed to the right, and a fine histogram of what is in them.

    Parameters
    ----------
    cuts : the k − 1 rising ends of k bins
    edges : the m − 1 rising ends of m fine intervals, the cuts among them; at least one
    masses : the share of the column in each fine interval
    atoms : for each fine interval the value it comes back as, or NaN for any number in it
    tails : the mean distance of what lies beyond the first and the last edge from it
    low, high : where the numbers end; a tail that ends may be flat, of infinite mean distance
    counts : whether the bins are whole numbers from 0 on, of which a family has few parameters
        (Poisson or negative binomial); see `Bins.whole`

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
    low: float = -math.inf
    high: float = math.inf
    counts: bool = False

    def __post_init__(self) -> None:
        for name in ("cuts", "edges", "masses", "atoms"):
            object.__setattr__(self, name, np.array(getattr(self, name), np.float64).ravel())
        if not len(self.atoms):
            object.__setattr__(self, "atoms", np.full(len(self.masses), np.nan))
        object.__setattr__(self, "tails", tuple(map(float, self.tails)))
        ends = self._ends
        one = bool(len(self.edges)) or np.isfinite(ends).all()
        if not one or not (np.diff(ends) > 0).all():
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
        if not (inside & np.isfinite(ends[1:] - ends[:-1]))[there].all():
            raise SchemaError("An atom must lie in its interval, which has two ends.")
        if len(self.tails) != 2 or not all(
            t > 0 and math.isfinite(min(t, abs(end)))
            for t, end in zip(self.tails, (self.low, self.high), strict=True)
        ):
            raise SchemaError(f"The tails of bins are two numbers above 0, got {self.tails!r}.")
        total = self.masses.sum()
        if not ((self.masses >= 0).all() and 0 < total < np.inf):
            raise SchemaError("The masses of bins must be finite numbers, 0 or more.")
        if abs(total - 1) > 1e-12:  # shares that were read again stay what they are
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
            and (self.tails, self.low, self.high) == (other.tails, other.low, other.high)
            and self.counts == other.counts
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

    @property
    def words(self) -> str:
        """What it is, in a word or two."""
        return "whole numbers" if self.counts else f"{len(self)} bin{'s' * (len(self) > 1)}"

    @classmethod
    def whole(cls, most: int, tail: float = 1.0) -> Bins:
        """The whole numbers 0 to `most`, each in a bin one wide, and one bin for all beyond.

        >>> bins = Bins.whole(2, tail=3.0)
        >>> bins.labels, bins.codes([0, 2, 40]).tolist()
        (('≤ 0.5', '(0.5, 1.5]', '(1.5, 2.5]', '> 2.5'), [0, 2, 3])
        >>> float(bins.cdf(1.0, [0.5, 0.2, 0.2, 0.1]))
        0.7
        """
        cuts: Floats = np.arange(most + 1, dtype=np.float64) + 0.5
        atoms = np.append(np.arange(most + 1.0), np.nan)
        return cls(cuts, cuts, np.ones(most + 2), atoms, (math.inf, tail), -0.5, counts=True)

    def holds(self, x: ArrayLike) -> NDArray[np.bool_]:
        """Whether each number can be one of them: any, or whole and 0 or more; a gap (NaN) can."""
        at = np.asarray(x, np.float64)
        out: NDArray[np.bool_] = (
            np.isnan(at) | (not self.counts) | ((at >= 0) & (at == np.rint(at)))
        )
        return out

    def refusal(self, name: str, number: float) -> str:
        """Why it cannot take a number.

        >>> Bins.whole(3).refusal("visits", 1.5)
        "'visits' is 1.5, but it counts: it takes whole numbers, 0 or more."
        """
        return f"{name!r} is {number:g}, but it counts: it takes whole numbers, 0 or more."

    # --- what the fine intervals hold -----------------------------------------------------

    @cached_property
    def _ends(self) -> Floats:
        return np.concatenate([[self.low], self.edges, [self.high]])

    @cached_property
    def _tail_widths(self) -> tuple[float, float]:
        """How many mean distances each tail is long."""
        ends = self._ends
        return (ends[1] - ends[0]) / self.tails[0], (ends[-1] - ends[-2]) / self.tails[1]

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
        with np.errstate(invalid="ignore"):
            wide = np.diff(ends)
            middle, within = ends[:-1] + wide / 2, wide**2 / 12
        for at, edge, tail, sign, width in (
            (0, ends[1], left, -1, self._tail_widths[0]),
            (-1, ends[-2], right, 1, self._tail_widths[1]),
        ):
            if len(self.masses) > 1 and math.isfinite(tail):
                away, square = _tail_moments(width)
                middle[at], within[at] = edge + sign * tail * away, tail**2 * square
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
        j, last = np.searchsorted(self.edges, at, side="left"), len(self.edges)
        wide, ends = np.diff(self._ends), self._ends
        with np.errstate(divide="ignore", invalid="ignore"):
            if last:
                for k, tail, width in zip((0, -1), self.tails, self._tail_widths, strict=True):
                    wide[k] = -tail * np.expm1(-width) if math.isfinite(tail) else wide[k]
            out: Floats = np.log(self._share)[j] - np.log(wide)[j]
            if last:
                out = np.where(j == 0, out + (at - ends[1]) / self.tails[0], out)
                out = np.where(j == last, out - (at - ends[-2]) / self.tails[1], out)
            out = np.where((at < self.low) | (at > self.high), -np.inf, out)
        return np.where(np.isnan(at), np.nan, out)

    def log_jacobian(self, x: ArrayLike) -> Floats:
        """What ln P(bin) lacks to be ln of a density of the user's number."""
        return self.log_density(x)

    def draw(self, codes: ArrayLike, uniform: ArrayLike) -> Floats:
        """The number below which the share `uniform` of each bin lies: a draw, if that is one."""
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
            (left, right), (near, far) = self.tails, self._tail_widths
            if math.isfinite(left) and len(self.edges):
                gone = ends[1] + left * np.log(inside + (1 - inside) * np.exp(-near))
                out = np.where(j == 0, gone, out)
            if math.isfinite(right) and len(self.edges):
                gone = ends[-2] - right * np.log1p(inside * np.expm1(-far))
                out = np.where(j == len(self.edges), gone, out)
        out = np.where(np.isnan(self.atoms[j]), out, self.atoms[j])
        return np.floor(out + 0.5) if self.counts else np.asarray(out, np.float64)

    def shares(self, x: ArrayLike, *, below: bool = False) -> Floats:
        """The share of its own bin that is at most (or is `below`) each number."""
        at = np.asarray(x, np.float64)
        j = np.searchsorted(self.edges, at, side="left")
        atom = self.atoms[j]
        with np.errstate(invalid="ignore"):
            there = at > atom if below else at >= atom
        inside = np.where(np.isnan(atom), self._inside(at, j), there)
        return np.clip(self._below[j] + inside * self._share[j], 0.0, 1.0)

    def _inside(self, x: ArrayLike, j: Any) -> Floats:
        """The share of the fine interval `j` that is at most each number."""
        at, ends, last = np.asarray(x, np.float64), self._ends, len(self.edges)
        with np.errstate(invalid="ignore", over="ignore"):
            out = (at - ends[j]) / (ends[np.add(j, 1)] - ends[j])
            (left, right), (near, far) = self.tails, self._tail_widths
            if math.isfinite(left) and last:
                away = np.clip((ends[1] - at) / left, 0.0, near)
                under = (np.exp(-away) - math.exp(-near)) / -math.expm1(-near)
                out = np.where(np.equal(j, 0), under, out)
            if math.isfinite(right) and last:
                away = np.clip((at - ends[-2]) / right, 0.0, far)
                out = np.where(np.equal(j, last), np.expm1(-away) / math.expm1(-far), out)
        inside: Floats = np.clip(out, 0.0, 1.0)
        return inside

    def _part(self, low: float, high: float, j: Any) -> Floats:
        """The share of the fine interval `j` that lies between two numbers, far out too."""
        out: Floats = self._inside(high, j) - self._inside(low, j)
        right, far, last = self.tails[1], self._tail_widths[1], len(self.edges)
        if math.isfinite(right) and last:
            a, b = np.clip((np.array([low, high]) - self.edges[-1]) / right, 0.0, far)
            beyond = np.exp(-a) * (np.expm1(a - b) if a < b else 0.0) / math.expm1(-far)
            out = np.where(np.equal(j, last), beyond, out)
        return out

    def between(self, low: float, high: float) -> Floats:
        """The share of each bin that lies above `low` and below `high`: soft evidence."""
        inside = self._part(low, high, np.arange(len(self.masses)))
        there = (low < self.atoms) & (self.atoms < high)
        inside = np.where(np.isnan(self.atoms), inside, there)
        first = self._start[:-1]
        whole = np.minimum.reduceat(inside, first) == 1
        return np.where(whole, 1.0, np.minimum(np.add.reduceat(self._share * inside, first), 1.0))

    def within(self, low: float, high: float) -> tuple[Bins, NDArray[np.bool_]]:
        """The bins cut off at `low` and `high`, and which of them are left."""
        kept = self.between(low, high) > 0
        if not kept.any():
            raise SchemaError(f"No number of the bins lies between {low:g} and {high:g}.")
        bounds = np.concatenate([[self.low], self.cuts, [self.high]])
        first, last = int(kept.argmax()), len(kept) - int(kept[::-1].argmax())
        low, high = max(low, float(bounds[first])), min(high, float(bounds[last]))
        ends = self._ends
        i = int(np.searchsorted(ends, low, side="right")) - 1
        j = int(np.searchsorted(ends, high, side="left"))
        edges, atoms = ends[i + 1 : j], self.atoms[i:j].copy()
        masses = self.masses[i:j].copy()
        for k, piece in {0: i, -1: j - 1}.items():
            at = self.atoms[piece]
            if np.isnan(at):
                masses[k] = self.masses[piece] * self._part(low, high, piece)
            elif not low < at < high:
                masses[k], atoms[k] = 0.0, np.nan
        tails = [self.tails[0] if i == 0 else math.inf]
        tails.append(self.tails[1] if j == len(self.masses) else math.inf)
        if not len(edges):  # a piece of one interval: one without mass beside it keeps its shape
            if i == 0:
                edges, masses, atoms = np.array([high]), np.r_[masses, 0.0], np.r_[atoms, np.nan]
                tails[1], high = math.inf, float(np.nextafter(high, np.inf))
            else:
                edges, masses, atoms = np.array([low]), np.r_[0.0, masses], np.r_[np.nan, atoms]
                tails[0], low = math.inf, float(np.nextafter(low, -np.inf))
        cuts = self.cuts[np.isin(self.cuts, ends[i + 1 : j])]
        return Bins(cuts, edges, masses, atoms, (tails[0], tails[1]), low, high), kept

    def to_json(self) -> dict[str, Any]:
        """What a page needs to compute with it: plain lists, None for what is open or absent."""
        mean, variance = self._moments
        lists = {
            "cuts": self.cuts, "ends": self._ends, "start": self._start, "share": self._share,
            "below": self._below, "atoms": self.atoms, "tails": np.array(self.tails),
            "mean": mean, "variance": variance,
        }  # fmt: skip
        out: dict[str, Any] = {
            name: [x if math.isfinite(x) else None for x in values.tolist()]
            for name, values in lists.items()
        }
        return out | {"counts": self.counts}

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


def _tail_moments(width: float) -> tuple[float, float]:
    """The mean and the variance of an exponential of mean 1 that ends at `width`."""
    if width < 1e-2:
        return width / 2 - width**2 / 12, width**2 / 12 - width**4 / 240
    if width > 700:
        return 1.0, 1.0
    rest = width / math.expm1(width)
    return 1 - rest, 1 - rest * (rest + width)


def _at(values: Floats, b: NDArray[np.intp]) -> Floats:
    """Entries of the last axis, one for each place of `b`."""
    shape = np.broadcast_shapes(b.shape, values.shape[:-1])
    wide = np.broadcast_to(values, (*shape, values.shape[-1]))
    out: Floats = np.take_along_axis(wide, np.broadcast_to(b, shape)[..., None], axis=-1)[..., 0]
    return out
