"""Statistics by class: all that naive Bayes needs to know of the rows, in one value that merges.

    StateCounts    n[class, state]                         one discrete feature
    WindowCounts   n[feature, class, number]               whole numbers, in `window_counts`
    ClassMoments   n, mean, scatter [feature, class]       real features, each alone
    JointMoments   n[c], mean[c, i], scatter[c, i, j]      real features that vary together
    Totals         n[class, word]                          words, or columns of counts
    Points         the values themselves                   for kernel densities

`of(a ⧺ b) == of(a) + of(b)`, also when one part has classes, states or words that the other lacks
(their counts there are 0). Counts add exactly, moments as Chan, Golub & LeVeque (1983) have it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, SchemaError
from credo.core.frozen import Frozen
from credo.core.interval_states import cuts_of
from credo.core.scales import Transform
from credo.core.schema import Variable
from credo.stats.configurations import frozen

if TYPE_CHECKING:
    from credo.stats.window_counts import WindowCounts

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


def spread_out(values: NDArray[Any], where: Where | None, size: int, axis: int) -> NDArray[Any]:
    """The values at their places along an axis of a larger array of zeros; None: as they are."""
    if where is None or (len(where) == size and (where == np.arange(size)).all()):
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
class StateCounts(Frozen):
    """How often each class has each state of a discrete feature: `values[class, state]`."""

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
        return replace(self, values=spread_out(self.values, where, size, 0))

    def merged(self, other: StateCounts, where: Where | None = None) -> StateCounts:
        """The counts of both; the classes of the other are at `where` among these."""
        b = spread_out(other.values, where, len(self.values), 0)
        if self.variable == other.variable:
            both = self.unseen and other.unseen
            return StateCounts(self.variable, self.values + b, self.above, both)
        cut = [cuts_of(part.variable.states) is not None for part in (self, other)]
        if any(cut):
            raise _cut_otherwise(self.variable.name) if all(cut) else _different()
        if self.unseen or other.unseen:
            return replace(other, values=b) if self.unseen else self
        variable = self.variable
        states = union(variable.states, other.variable.states)
        if states != variable.states:
            variable = Variable(variable.name, "discrete", states, variable.ordered)
        a = spread_out(self.values, _places(self.variable, variable), len(states), 1)
        b = spread_out(b, _places(other.variable, variable), len(states), 1)
        return StateCounts(variable, a + b, self.above)


@dataclass(frozen=True, eq=False, slots=True)
class ClassMoments:
    """Weight, mean and scatter of real features, each alone: arrays [feature, class].

    Features that have a transform in `scales` are measured after it.

    >>> two = ClassMoments(("a", "b"), np.ones((2, 1)), np.ones((2, 1)), np.zeros((2, 1)))
    >>> two.merged(two).n.tolist()
    [[2.0], [2.0]]
    """

    names: tuple[str, ...]
    n: Floats
    mean: Floats
    scatter: Floats
    scales: Mapping[str, Transform] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts = (self.n, self.mean, self.scatter)
        if not _core.naive_usual_moments(*(np.ascontiguousarray(a, np.float64) for a in parts)):
            _refuse_extremes(self.names, self.mean.T, self.scatter.T)
        for name in ("n", "mean", "scatter"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def on_classes(self, where: Where, size: int) -> ClassMoments:
        """The same moments among more classes."""
        n, mean, scatter = (
            spread_out(a, where, size, 1) for a in (self.n, self.mean, self.scatter)
        )
        return ClassMoments(self.names, n, mean, scatter, self.scales)

    def merged(self, other: ClassMoments, where: Where | None = None) -> ClassMoments:
        """The moments of both; the classes of the other are at `where` among these."""
        _refuse_others(self.names, other.names)
        if self.scales or other.scales:
            _refuse_other_scales(self.names, self.scales, other.scales)
        mine, theirs = (self.n, self.mean, self.scatter), (other.n, other.mean, other.scatter)
        n, mean, scatter = _core.naive_merged(*mine, *theirs, where)
        return ClassMoments(self.names, n, mean, scatter, self.scales)


@dataclass(frozen=True, eq=False, slots=True)
class JointMoments(Frozen):
    """Weight, mean and scatter of real features together, of the rows that have all of them."""

    names: tuple[str, ...]
    n: Floats
    mean: Floats
    scatter: Floats

    def __post_init__(self) -> None:
        _refuse_extremes(self.names, self.mean, np.diagonal(self.scatter, axis1=1, axis2=2))
        Frozen.__post_init__(self)

    def on_classes(self, where: Where, size: int) -> JointMoments:
        """The same moments among more classes."""
        moments = (spread_out(a, where, size, 0) for a in (self.n, self.mean, self.scatter))
        return JointMoments(self.names, *moments)

    def merged(self, other: JointMoments, where: Where | None = None) -> JointMoments:
        """The moments of both; the classes of the other are at `where` among these."""
        _refuse_others(self.names, other.names)
        a, b = self, other if where is None else other.on_classes(where, len(self.n))
        n = a.n + b.n
        some, here, there = np.where(n > 0, n, 1.0)[:, None], (a.n > 0)[:, None], (b.n > 0)[:, None]
        # about the middle of the two means, so that the sum commutes to the last bit
        middle = np.where(here & there, (a.mean + b.mean) / 2, np.where(here, a.mean, b.mean))
        shift = a.n[:, None] * (a.mean - middle) + b.n[:, None] * (b.mean - middle)
        mean, scatter = middle + shift / some, a.scatter + b.scatter
        with np.errstate(over="ignore", invalid="ignore"):
            for part, seen in ((a, here), (b, there)):
                away = np.where(seen, part.mean - mean, 0.0)
                scatter = scatter + part.n[:, None, None] * away[:, :, None] * away[:, None, :]
        return JointMoments(self.names, n, mean, scatter)

    def pooled(self) -> tuple[float, Floats, Floats]:
        """Weight, mean and scatter of all classes together."""
        n = float(self.n.sum())
        if n == 0:
            return 0.0, np.zeros(len(self.names)), np.zeros((len(self.names),) * 2)
        mean = self.n @ (self.mean - self.mean[0]) / n + self.mean[0]
        away = self.mean - mean
        between = np.einsum("c,ci,cj->ij", self.n, away, away)
        return n, mean, self.scatter.sum(axis=0) + between


def _refuse_extremes(names: Sequence[str], mean: Floats, square: Floats) -> None:
    """Numbers [class, feature] whose squares pass what floats can hold, by the feature's name."""
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
        return replace(self, values=spread_out(self.values, where, size, 0))

    def merged(self, other: Totals, where: Where | None = None) -> Totals:
        """The totals of both, of all words; the classes of the other are at `where`."""
        b = spread_out(other.values, where, len(self.values), 0)
        if self.words is other.words or self.words == other.words:
            return Totals(self.words, self.values + b)
        words = union(self.words, other.words)
        at = {w: i for i, w in enumerate(words)}
        parts = [
            spread_out(values, np.array([at[w] for w in t.words], np.intp), len(words), 1)
            for t, values in ((self, self.values), (other, b))
        ]
        return Totals(words, parts[0] + parts[1])


@dataclass(frozen=True, eq=False, slots=True)
class Points(Frozen):
    """The values of a real feature in each class, in order, with their weights."""

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
        w = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
        here = [(group == c) & ~np.isnan(values) for c in range(k)]
        parts = [_gathered(values[rows], w[rows]) for rows in here]
        return cls(name, tuple(p[0] for p in parts), tuple(p[1] for p in parts))

    def on_classes(self, where: Where, size: int) -> Points:
        """The same points among more classes."""
        values, weights = [np.zeros(0)] * size, [np.zeros(0)] * size
        for i, at in enumerate(where):
            values[at], weights[at] = self.values[i], self.weights[i]
        return Points(self.name, tuple(values), tuple(weights))

    def merged(self, other: Points, where: Where | None = None) -> Points:
        """The points of both; the classes of the other are at `where` among these."""
        other = other if where is None else other.on_classes(where, len(self.values))
        parts = [
            _gathered(np.concatenate([a, b]), np.concatenate([v, w]))
            for a, b, v, w in zip(
                self.values, other.values, self.weights, other.weights, strict=True
            )
        ]
        return Points(self.name, tuple(p[0] for p in parts), tuple(p[1] for p in parts))


def _gathered(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    points, inverse = np.unique(values, return_inverse=True)
    return points, np.bincount(inverse, weights, len(points)).astype(np.float64)


def _refuse_others(a: tuple[str, ...], b: tuple[str, ...]) -> None:
    if a is not b and a != b:  # parts of one array share their names: thousands are not compared
        raise _different()


def _different() -> SchemaError:
    return SchemaError(
        "The two statistics are of different features, or of different kinds of them.",
        hint="Give both the same columns, kinds= and numbers=.",
    )


def _refuse_other_scales(
    names: Sequence[str], a: Mapping[str, Transform], b: Mapping[str, Transform]
) -> None:
    for name in names:
        if a.get(name) != b.get(name):
            raise SchemaError(
                f"The number {name!r} does not have the same transform in both.",
                hint="Give both numbers='gaussian' or 'binned', or use partial_fit.",
            )


def _cut_otherwise(name: str) -> SchemaError:
    return SchemaError(
        f"The number {name!r} is not cut at the same points in both.",
        hint="Give both the intervals of one of them in states=, numbers='gaussian', or use "
        "partial_fit.",
    )


@dataclass(frozen=True, eq=False, slots=True)
class ByClass:
    """The weight of each class, and the statistics of all features by kind.

    `unlabelled` is the weight of the rows whose class is missing; they are in no count.

    >>> y = Variable("y", "discrete", ("a", "b")); x = Variable("x", "discrete", (0, 1))
    >>> x = StateCounts(x, np.array([[1, 1], [0, 1]]))
    >>> s = ByClass(y, np.array([2, 1]), ("x",), counts=(x,))
    >>> (s + s).weight.tolist(), (s + s).counts[0].values.tolist()
    ([4, 2], [[2, 2], [0, 2]])
    """

    target: Variable
    weight: NDArray[Any]
    names: tuple[str, ...]
    """The features, in order."""
    counts: tuple[StateCounts, ...] | WindowCounts = ()
    moments: ClassMoments | None = None
    joint: tuple[JointMoments, ...] = ()
    words: Totals | None = None
    points: tuple[Points, ...] = ()
    unlabelled: int | float = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", frozen(np.asarray(self.weight)))

    def on(self, target: Variable) -> ByClass:
        """The same statistics among more classes."""
        if target == self.target:
            return self
        where, size = _places(self.target, target), len(target.states)
        counts = self.counts
        return ByClass(
            target,
            spread_out(self.weight, where, size, 0),
            self.names,
            tuple(c.on_classes(where, size) for c in counts)
            if isinstance(counts, tuple)
            else counts.on_classes(where, size),
            None if self.moments is None else self.moments.on_classes(where, size),
            tuple(j.on_classes(where, size) for j in self.joint),
            None if self.words is None else self.words.on_classes(where, size),
            tuple(p.on_classes(where, size) for p in self.points),
            self.unlabelled,
        )

    def __add__(self, other: object) -> ByClass:
        if not isinstance(other, ByClass):
            return NotImplemented
        if other.target.name != self.target.name:
            raise SchemaError(
                f"Statistics by {other.target.name!r} cannot be added to those by "
                f"{self.target.name!r}."
            )
        classes, target = union(self.target.states, other.target.states), self.target
        if classes != target.states:
            target = Variable(target.name, "discrete", classes, target.ordered)
        a, b = self.on(target), other
        where = None if b.target.states == classes else _places(b.target, target)
        words = _optional(a.words, b.words, where)
        names = a.names
        if names is not b.names and names != b.names:
            if names != a._word_names or b.names != b._word_names or words is None:
                raise _different()
            names = words.words
        return ByClass(
            target,
            a.weight + spread_out(b.weight, where, len(classes), 0),
            names,
            _counts(a.counts, b.counts, where),
            _optional(a.moments, b.moments, where),
            _each(a.joint, b.joint, where),
            words,
            _each(a.points, b.points, where),
            a.unlabelled + b.unlabelled,
        )

    @property
    def _word_names(self) -> tuple[str, ...]:
        return () if self.words is None else self.words.words

    def __radd__(self, other: object) -> ByClass:
        return self if isinstance(other, int) and other == 0 else NotImplemented


def _optional(a: Any, b: Any, where: Where | None) -> Any:
    if (a is None) != (b is None):
        raise _different()
    return None if a is None else a.merged(b, where)


def _each(a: Sequence[Any], b: Sequence[Any], where: Where | None) -> tuple[Any, ...]:
    if len(a) != len(b) or any(
        p.names != q.names or getattr(p, "above", 0) != getattr(q, "above", 0)
        for p, q in zip(a, b, strict=True)
    ):
        raise _different()
    return tuple(p.merged(q, where) for p, q in zip(a, b, strict=True))


def _counts(a: Any, b: Any, where: Where | None) -> Any:
    if not isinstance(a, tuple) and not isinstance(b, tuple):
        joined = a.joined(b, where)
        if joined is not None:
            return joined
    return _each(tuple(a), tuple(b), where)
