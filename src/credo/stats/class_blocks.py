"""Statistics by class of many features that are alike, in one array for all of them.

    Spreads       n[x, c], mean[x, c], scatter[x, c]    of real variables that stand alone
    StateTables   n[x, c, v]                            of whole numbers in one narrow window

A table of numbers has many small features, and a few objects for each cost more than the numbers.
A block is added and learned from in a few passes over all features, and is a sequence all the same:
each part is made when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.schema import Variable
from credo.stats.by_class import (
    Block,
    Part,
    Spread,
    StateCounts,
    Where,
    refuse_extremes,
    spread_out,
)
from credo.stats.configurations import frozen

__all__ = ["WIDEST", "Spreads", "StateTables"]

Floats = NDArray[np.float64]

WIDEST = 64
"""How many whole numbers the window of a block may have."""


class _Each(Block):
    """The parts of a block by place, from `_one`."""

    __slots__ = ()

    @overload
    def __getitem__(self, at: int) -> Part: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Part, ...]: ...
    def __getitem__(self, at: int | slice) -> Part | tuple[Part, ...]:
        if isinstance(at, slice):
            return tuple(self._one(i) for i in range(*at.indices(len(self))))
        return self._one(range(len(self))[at])

    def __iter__(self) -> Iterator[Part]:
        return (self._one(i) for i in range(len(self)))

    def _one(self, at: int) -> Part:
        raise NotImplementedError


def _same(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    return a is b or a == b  # parts of one array share their names: thousands are not compared


@dataclass(frozen=True, eq=False, slots=True)
class Spreads(_Each):
    """Weight, mean and scatter of real variables that stand alone: arrays [variable, class].

    >>> two = Spreads(("a", "b"), np.ones((2, 1)), np.ones((2, 1)), np.zeros((2, 1)))
    >>> two[1].names, two[1].mean.tolist(), two.joined(two).n.tolist()
    (('b',), [[1.0]], [[2.0], [2.0]])
    """

    names: tuple[str, ...]
    n: Floats
    mean: Floats
    scatter: Floats

    def __post_init__(self) -> None:
        parts = (self.n, self.mean, self.scatter)
        if not _core.naive_usual_moments(*(np.ascontiguousarray(a, np.float64) for a in parts)):
            refuse_extremes(self.names, self.mean.T, self.scatter.T)
        for name in ("n", "mean", "scatter"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def _one(self, at: int) -> Spread:
        part = slice(at, at + 1)
        (one,) = Spread.each(self.names[part], self.n[part], self.mean[part], self.scatter[part])
        return one

    def __iter__(self) -> Iterator[Part]:
        return iter(Spread.each(self.names, self.n, self.mean, self.scatter))

    def on_classes(self, where: Where, size: int) -> Spreads:
        """The same moments among more classes."""
        moments = (spread_out(a, where, size, 1) for a in (self.n, self.mean, self.scatter))
        return Spreads(self.names, *moments)

    def joined(self, other: Block, where: Where | None = None) -> Spreads | None:
        """The moments of both parts together; see `Spread`."""
        if not isinstance(other, Spreads) or not _same(other.names, self.names):
            return None
        mine, theirs = (self.n, self.mean, self.scatter), (other.n, other.mean, other.scatter)
        return Spreads(self.names, *_core.naive_merged(*mine, *theirs, where))


@dataclass(frozen=True, eq=False, slots=True)
class StateTables(_Each):
    """How often each class has each whole number of a window: `values[variable, class, number]`.

    The window begins at `low` for all variables; `known[variable, number]` says which numbers are
    states. With `above` the states are numbers above 0 or not (Bernoulli features).

    >>> one = StateTables(("a",), 3, np.array([[[2, 0, 1]]]), np.array([[True, False, True]]))
    >>> one[0].variable.states, one[0].values.tolist()
    ((3, 5), [[2, 1]])
    """

    names: tuple[str, ...]
    low: int
    values: NDArray[Any]
    known: NDArray[np.bool_]
    above: bool = False

    def __post_init__(self) -> None:
        for name in ("values", "known"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def states(self, at: int) -> tuple[int, ...]:
        """The states of one variable."""
        return tuple((np.flatnonzero(self.known[at]) + self.low).tolist())

    def _one(self, at: int) -> StateCounts:
        variable = Variable(self.names[at], "discrete", self.states(at))
        return StateCounts(variable, frozen(self.values[at][:, self.known[at]]), self.above)

    def on_classes(self, where: Where, size: int) -> StateTables:
        """The same counts among more classes."""
        return replace(self, values=spread_out(self.values, where, size, 1))

    def joined(self, other: Block, where: Where | None = None) -> StateTables | None:
        """The counts of both parts, in a window that holds those of both."""
        if (
            not isinstance(other, StateTables)
            or not _same(other.names, self.names)
            or other.above != self.above
        ):
            return None
        low = min(self.low, other.low)
        width = max(t.low + t.known.shape[1] for t in (self, other)) - low
        if width > WIDEST:
            return None
        a, b = self._within(low, width), other._within(low, width)
        if where is None:
            values = a[0] + b[0]
        else:
            values = a[0].astype(np.result_type(a[0], b[0]))  # a copy
            for i, c in enumerate(where.tolist()):
                values[:, c] += b[0][:, i]
        return StateTables(self.names, low, values, a[1] | b[1], self.above)

    def _within(self, low: int, width: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Counts and states in a wider window."""
        if width == self.known.shape[1]:
            return self.values, self.known
        where = np.arange(self.known.shape[1]) + (self.low - low)
        return spread_out(self.values, where, width, 2), spread_out(self.known, where, width, 1)
