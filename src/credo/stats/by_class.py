"""Statistics by class: what naive Bayes needs to know of the rows, and nothing else.

    StateCounts   n[c, x]                     how often each class has each state
    Spread        n[c], mean[c], scatter[c]   of one real variable, or of several together
    Totals        n[c, word]                  how often each class has each word
    Points        the values themselves       for kernel densities

Each merges with `+`: `of(a ⧺ b) == of(a) + of(b)`, also when one part has classes, states or words
that the other lacks (their counts there are 0).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, SchemaError
from credo.core.frozen import Frozen
from credo.core.schema import Variable
from credo.stats.configurations import frozen

__all__ = [
    "Block",
    "ByClass",
    "Open",
    "Part",
    "Points",
    "Spread",
    "StateCounts",
    "Totals",
    "Where",
    "refuse_extremes",
    "spread_out",
    "sums",
    "union",
]

Floats = NDArray[np.float64]
Where = NDArray[np.intp]


def union(a: Sequence[Any], b: Sequence[Any]) -> tuple[Any, ...]:
    """The values of both, in their own order; those of several types by type, then by text.

    >>> union(("no", "yes"), ("maybe",)), union((1, 2), (2,))
    (('maybe', 'no', 'yes'), (1, 2))
    """
    known = {(isinstance(v, bool), v) for v in a}
    new = [v for v in b if (isinstance(v, bool), v) not in known]
    if not new:
        return tuple(a)
    values = [*a, *new]
    try:
        if len({isinstance(v, bool) for v in values}) == 1:
            return tuple(sorted(values))
    except TypeError:
        pass
    return tuple(sorted(values, key=lambda v: (type(v).__name__, str(v))))


def spread_out(values: NDArray[Any], where: Where, size: int, axis: int) -> NDArray[Any]:
    """The values at their places along an axis of a larger array of zeros."""
    if values.ndim <= axis or (len(where) == size and (where == np.arange(size)).all()):
        return values
    shape = list(values.shape)
    shape[axis] = size
    out = np.zeros(shape, dtype=values.dtype)
    at = [slice(None)] * values.ndim
    at[axis] = where  # type: ignore[call-overload]
    out[tuple(at)] = values
    return out


def _places(old: Variable, new: Variable) -> Where:
    return np.array([new.code(s) for s in old.states], dtype=np.intp)


@dataclass(frozen=True, eq=False, slots=True)
class StateCounts:
    """How often each class has each state of a discrete variable: `values[class, state]`."""

    variable: Variable
    values: NDArray[Any]
    above: bool = False
    """Whether the states are numbers above 0 or not (a Bernoulli feature)."""
    unseen: bool = False
    """Whether no row had a value: the one state only holds the place of those to come."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variable."""
        return (self.variable.name,)

    def on_classes(self, where: Where, size: int) -> StateCounts:
        """The same counts among more classes."""
        return replace(self, values=frozen(spread_out(self.values, where, size, 0)))

    def __add__(self, other: StateCounts) -> StateCounts:
        if self.variable == other.variable:
            values, both = frozen(self.values + other.values), self.unseen and other.unseen
            return StateCounts(self.variable, values, self.above, both)
        if self.unseen or other.unseen:
            return other if self.unseen else self
        states = union(self.variable.states, other.variable.states)
        variable = self.variable
        if states != variable.states:
            variable = Variable(variable.name, "discrete", states, variable.ordered)
        a = spread_out(self.values, _places(self.variable, variable), len(states), 1)
        b = spread_out(other.values, _places(other.variable, variable), len(states), 1)
        return StateCounts(variable, frozen(a + b), self.above)


@dataclass(frozen=True, eq=False, slots=True)
class Spread(Frozen):
    """Weight, mean and scatter of real variables in each class (Chan, Golub & LeVeque 1983)."""

    names: tuple[str, ...]
    n: Floats
    mean: Floats
    scatter: Floats

    def __post_init__(self) -> None:
        square = np.diagonal(self.scatter, axis1=1, axis2=2)
        refuse_extremes(self.names, self.mean, square)
        Frozen.__post_init__(self)

    @classmethod
    def each(cls, names: Sequence[str], n: Floats, mean: Floats, scatter: Floats) -> list[Spread]:
        """One spread for each of many variables, from arrays [variable, class].

        >>> two = Spread.each(["a", "b"], np.ones((2, 1)), np.ones((2, 1)), np.zeros((2, 1)))
        >>> two[1].names, two[1].mean.tolist(), two[1].scatter.shape
        (('b',), [[1.0]], (1, 1, 1))
        """
        refuse_extremes(names, mean.T, scatter.T)
        n, mean, scatter = frozen(n), frozen(mean[:, :, None]), frozen(scatter[:, :, None, None])
        out, put = [], object.__setattr__
        for name, *values in zip(names, n, mean, scatter, strict=True):
            one = object.__new__(cls)  # its numbers have been looked at already
            put(one, "names", (name,))
            put(one, "n", values[0])
            put(one, "mean", values[1])
            put(one, "scatter", values[2])
            out.append(one)
        return out

    def on_classes(self, where: Where, size: int) -> Spread:
        """The same moments among more classes."""
        n, mean, scatter = (
            frozen(spread_out(a, where, size, 0)) for a in (self.n, self.mean, self.scatter)
        )
        return Spread(self.names, n, mean, scatter)

    def __add__(self, other: Spread) -> Spread:
        n, mean, scatter = _merged(
            (self.n, self.mean, self.scatter), (other.n, other.mean, other.scatter)
        )
        return Spread(self.names, frozen(n), frozen(mean), frozen(scatter))

    def pooled(self) -> tuple[float, Floats, Floats]:
        """Weight, mean and scatter of all classes together."""
        n = float(self.n.sum())
        if n == 0:
            return 0.0, np.zeros(len(self.names)), np.zeros((len(self.names),) * 2)
        mean = self.n @ (self.mean - self.mean[0]) / n + self.mean[0]
        away = self.mean - mean
        between = np.einsum("c,ci,cj->ij", self.n, away, away)
        return n, mean, self.scatter.sum(axis=0) + between


Moments = tuple[Floats, Floats, Floats]
_MOMENTS = ("n", "mean", "scatter")


def _merged(a: Moments, b: Moments) -> Moments:
    """Weight [… class], mean [… class, i] and scatter [… class, i, j] of two parts together."""
    n = a[0] + b[0]
    some = np.where(n > 0, n, 1.0)[..., None]
    here, there = (a[0] > 0)[..., None], (b[0] > 0)[..., None]
    # about the middle of the two means, so that + commutes to the last bit
    middle = np.where(here & there, (a[1] + b[1]) / 2, np.where(here, a[1], b[1]))
    shift = a[0][..., None] * (a[1] - middle) + b[0][..., None] * (b[1] - middle)
    mean = middle + shift / some
    scatter = a[2] + b[2]
    with np.errstate(over="ignore", invalid="ignore"):
        for (weight, centre, _), seen in ((a, here), (b, there)):
            away = np.where(seen, centre - mean, 0.0)
            scatter = scatter + weight[..., None, None] * away[..., :, None] * away[..., None, :]
    return n, mean, scatter


def refuse_extremes(names: Sequence[str], mean: Floats, square: Floats) -> None:
    """Numbers [class, variable] whose squares pass what floats can hold, by the variable's name."""
    ends = (mean.min(), mean.max(), square.max()) if mean.size else (math.inf,)
    if all(map(math.isfinite, ends)) and (ends[-1] == 0 or square.min() >= 1e-290):
        return  # the usual case
    with np.errstate(all="ignore"):
        bad = ~(np.isfinite(square) & np.isfinite(mean))
        tiny = (square > 0) & (square < 1e-290)
    for wrong, what, cure in (
        (bad, "too large: their squares pass 1e308", "Divide"),
        (tiny, "too close together: their squares fall below 1e-290", "Multiply"),
    ):
        if wrong.any():
            name = names[int(np.argwhere(wrong)[0][1])]
            raise InputError(
                f"The values of {name!r} are {what}.",
                hint=f"{cure} {name!r} by a power of ten.",
            )


@dataclass(frozen=True, eq=False, slots=True)
class Totals(Frozen):
    """How often each class has each word (or each of some count columns)."""

    words: tuple[str, ...]
    values: NDArray[Any]

    @property
    def names(self) -> tuple[str, ...]:
        """The words."""
        return self.words

    def on_classes(self, where: Where, size: int) -> Totals:
        """The same totals among more classes."""
        return replace(self, values=frozen(spread_out(self.values, where, size, 0)))

    def __add__(self, other: Totals) -> Totals:
        if self.words is other.words or self.words == other.words:
            return Totals(self.words, frozen(self.values + other.values))
        words = union(self.words, other.words)
        at = {w: i for i, w in enumerate(words)}
        parts = [
            spread_out(t.values, np.array([at[w] for w in t.words], np.intp), len(words), 1)
            for t in (self, other)
        ]
        return Totals(words, frozen(parts[0] + parts[1]))


@dataclass(frozen=True, eq=False, slots=True)
class Points(Frozen):
    """The values of a real variable in each class, in order, with their weights."""

    name: str
    values: tuple[Floats, ...]
    weights: tuple[Floats, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The variable."""
        return (self.name,)

    @classmethod
    def of(cls, name: str, values: Floats, group: NDArray[Any], k: int, weights: Any) -> Points:
        """The points of each class, equal values gathered."""
        found, weight = [], []
        for c in range(k):
            here = (group == c) & ~np.isnan(values)
            points, inverse = np.unique(values[here], return_inverse=True)
            w = None if weights is None else np.asarray(weights, dtype=np.float64)[here]
            found.append(frozen(points))
            weight.append(frozen(np.bincount(inverse, w, len(points)).astype(np.float64)))
        return cls(name, tuple(found), tuple(weight))

    def on_classes(self, where: Where, size: int) -> Points:
        """The same points among more classes."""
        values, weights = [np.zeros(0)] * size, [np.zeros(0)] * size
        for i, at in enumerate(where):
            values[at], weights[at] = self.values[i], self.weights[i]
        return Points(self.name, tuple(values), tuple(weights))

    def __add__(self, other: Points) -> Points:
        values, weights = [], []
        for a, b, v, w in zip(self.values, other.values, self.weights, other.weights, strict=True):
            points, inverse = np.unique(np.concatenate([a, b]), return_inverse=True)
            values.append(frozen(points))
            both = np.concatenate([v, w])
            weights.append(frozen(np.bincount(inverse, both, len(points)).astype(np.float64)))
        return Points(self.name, tuple(values), tuple(weights))


Part = StateCounts | Spread | Totals | Points


class Block(Sequence[Part]):
    """The statistics of many features that lie in one array; each is made when it is asked for."""

    __slots__ = ()

    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    @abstractmethod
    def on_classes(self, where: Where, size: int) -> Block:
        """The same statistics among more classes."""

    @abstractmethod
    def joined(self, other: Block, where: Where | None = None) -> Block | None:
        """Those of both together; None where they do not fit into one array.

        `where` has the places of the other's classes among these, if they are not the same.
        """


class Open(Protocol):
    """What is kept of features whose kind more rows may change; see `naive_bayes_open`."""

    def on_classes(self, where: Where, size: int) -> Open:
        """The same among more classes."""

    def added(self, a: ByClass, b: ByClass) -> ByClass:
        """Two statistics of the same classes, of which one at least has features left open."""


@dataclass(frozen=True, eq=False, slots=True)
class ByClass:
    """The weight of each class, and one statistic for each feature (or group of features).

    `unlabelled` is the weight of the rows whose class is missing; they are in no count. `open` is
    what may change the kinds of features when more rows come; None where they are final.

    >>> y = Variable("y", "discrete", ("a", "b")); x = Variable("x", "discrete", (0, 1))
    >>> s = ByClass(y, np.array([2, 1]), (StateCounts(x, np.array([[1, 1], [0, 1]])),))
    >>> (s + s).weight.tolist(), (s + s).parts[0].values.tolist()
    ([4, 2], [[2, 2], [0, 2]])
    """

    target: Variable
    weight: NDArray[Any]
    parts: Sequence[Part]
    unlabelled: int | float = 0
    open: Open | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", frozen(np.asarray(self.weight)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        if isinstance(self.parts, Block):
            return self.parts.names
        if len(self.parts) == 1:
            return self.parts[0].names
        return tuple(n for part in self.parts for n in part.names)

    def on(self, target: Variable) -> ByClass:
        """The same statistics among more classes."""
        if target == self.target:
            return self
        where, size = _places(self.target, target), len(target.states)
        still = None if self.open is None else self.open.on_classes(where, size)
        if isinstance(self.parts, Block):
            weight, parts = spread_out(self.weight, where, size, 0), self.parts
            return ByClass(target, weight, parts.on_classes(where, size), self.unlabelled, still)
        alone, (n, mean, scatter) = _alone(self.parts)
        found = _each(
            self.parts, alone, *(spread_out(a, where, size, 1) for a in (n, mean, scatter))
        )
        return ByClass(
            target,
            spread_out(self.weight, where, size, 0),
            tuple(found.get(i) or p.on_classes(where, size) for i, p in enumerate(self.parts)),
            self.unlabelled,
            still,
        )

    def __add__(self, other: object) -> ByClass:
        if not isinstance(other, ByClass):
            return NotImplemented
        if other.target.name != self.target.name:
            raise SchemaError(
                f"Statistics by {other.target.name!r} cannot be added to those by "
                f"{self.target.name!r}."
            )
        classes = union(self.target.states, other.target.states)
        target = self.target
        if classes != target.states:
            target = Variable(target.name, "discrete", classes, target.ordered)
        simple = target is self.target and self.open is None and other.open is None
        if simple and (found := self._with_block(other)) is not None:
            return found
        a, b = self.on(target), other.on(target)
        still = a.open if a.open is not None else b.open
        if still is not None:
            return still.added(a, b)
        parts = sums(a.parts, b.parts)
        return ByClass(target, a.weight + b.weight, parts, a.unlabelled + b.unlabelled)

    def _with_block(self, other: ByClass) -> ByClass | None:
        """The sum where the other's block has these classes or fewer, which are not spread out."""
        if not (isinstance(self.parts, Block) and isinstance(other.parts, Block)):
            return None
        where = _places(other.target, self.target)
        fewer = other.target.states != self.target.states
        if (parts := self.parts.joined(other.parts, where if fewer else None)) is None:
            return None
        weight = self.weight + spread_out(other.weight, where, len(self.weight), 0)
        return ByClass(self.target, weight, parts, self.unlabelled + other.unlabelled)

    def __radd__(self, other: object) -> ByClass:
        return self if isinstance(other, int) and other == 0 else NotImplemented


def _alone(parts: Sequence[Part]) -> tuple[list[int], Moments]:
    """The places of the real variables that stand alone, and their moments [variable, class]."""
    found = [(i, p) for i, p in enumerate(parts) if type(p) is Spread and len(p.names) == 1]
    n, mean, scatter = (np.array([getattr(p, what) for _, p in found]) for what in _MOMENTS)
    if found:
        mean, scatter = mean[:, :, 0], scatter[:, :, 0, 0]
    return [i for i, _ in found], (n, mean, scatter)


def _each(parts: Sequence[Part], places: list[int], *moments: Floats) -> dict[int, Part]:
    if not places:
        return {}
    names = [parts[i].names[0] for i in places]
    return dict(zip(places, Spread.each(names, *moments), strict=True))


def sums(a: Sequence[Part], b: Sequence[Part]) -> Sequence[Part]:
    """Part by part, blocks and the real variables that stand alone all at once."""
    if isinstance(a, Block) and isinstance(b, Block):
        joined = a.joined(b)
        if joined is not None:
            return joined
    if len(a) != len(b) or any(
        type(p) is not type(q) or (p.names != q.names and not isinstance(p, Totals))
        for p, q in zip(a, b, strict=False)
    ):
        raise SchemaError(
            "The two statistics are of different features, or of different kinds of them.",
            hint="Give both the same columns and kinds.",
        )
    places, (n, mean, scatter) = _alone(a)
    found: dict[int, Part] = {}
    if places:
        _, other = _alone(b)
        wide = [(m[0], m[1][..., None], m[2][..., None, None]) for m in ((n, mean, scatter), other)]
        n, mean, scatter = _merged(*wide)
        found = _each(a, places, n, mean[..., 0], scatter[..., 0, 0])
    return tuple(
        found[i] if i in found else p + q  # type: ignore[operator]
        for i, (p, q) in enumerate(zip(a, b, strict=True))
    )
