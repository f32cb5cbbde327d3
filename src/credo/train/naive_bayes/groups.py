"""Moments of columns that vary together, also while some of them have not shown a value.

A row counts where it shows every column of the group. If a column has no value in any row, no row
does, though the other columns vary together as they did before; so their moments are kept beside
(`shown`), and the column without a value is learned alone: it tells nothing. Adding stays exact:
the columns of two parts are those that one of them shows, and a part counts if it shows them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.stats.by_class import Part, Spread, Where
from credo.stats.configurations import frozen
from credo.train.naive_bayes.reorder import spread_in_order

__all__ = ["GroupSpread", "apart", "group_spread"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class GroupSpread(Spread):
    """The moments of a group: of the rows that show all of it.

    `shown` has those of the columns that have a value, if there are others; None if all have.
    """

    shown: Spread | None = None

    @classmethod
    def of(cls, whole: Spread, shown: Spread | None = None) -> GroupSpread:
        """Moments as those of a group."""
        return cls(whole.names, whole.n, whole.mean, whole.scatter, shown)

    def on_classes(self, where: Where, size: int) -> GroupSpread:
        """The same moments among more classes."""
        shown = None if self.shown is None else self.shown.on_classes(where, size)
        return GroupSpread.of(Spread.on_classes(self, where, size), shown)

    def in_order(self, order: Where, k: int) -> GroupSpread:
        """The same moments with the classes as they were met in the order of the variable."""
        shown = None if self.shown is None else spread_in_order(self.shown, order, k)
        return GroupSpread.of(spread_in_order(self, order, k), shown)

    def __add__(self, other: Spread) -> GroupSpread:
        whole = Spread.__add__(self, other)
        parts = [p.shown or p if isinstance(p, GroupSpread) else p for p in (self, other)]
        seen = {n for p in parts for n in p.names}
        if len(seen) == len(self.names):
            return GroupSpread.of(whole)
        names = tuple(n for n in self.names if n in seen)
        shown = _nothing(names, len(whole.n))
        for part in parts:
            if part.names == names:
                shown = shown + part
        return GroupSpread.of(whole, shown)


def group_spread(
    names: Sequence[str],
    arrays: Sequence[Floats],
    group: NDArray[np.uint32],
    k: int,
    weights: Floats | None,
    threads: int,
) -> GroupSpread:
    """The moments of a group of columns by class.

    >>> x, gaps = np.array([1.0, 3.0]), np.full(2, np.nan)
    >>> found = group_spread(("a", "b"), [x, gaps], np.zeros(2, np.uint32), 1, None, 1)
    >>> found.n.tolist(), found.shown.names, found.shown.mean.tolist()
    ([0.0], ('a',), [[2.0]])
    """

    def spread(at: Sequence[int]) -> Spread:
        chosen = [arrays[j] for j in at]
        n, mean, scatter = _core.moments(chosen, group, k, weights, threads)
        return Spread(tuple(names[j] for j in at), frozen(n), frozen(mean), frozen(scatter))

    whole = spread(range(len(names)))
    if whole.n.any():
        return GroupSpread.of(whole)
    there = group < k
    seen = [j for j, values in enumerate(arrays) if not np.isnan(values[there]).all()]
    if len(seen) == len(names):
        return GroupSpread.of(whole)
    return GroupSpread.of(whole, spread(seen) if seen else _nothing((), k))


def apart(parts: Sequence[Part]) -> Iterator[Part]:
    """Parts to learn from: a group without its columns that have no value, which stand alone.

    >>> nothing = Spread(("a", "b"), np.zeros(1), np.zeros((1, 2)), np.zeros((1, 2, 2)))
    >>> shown = Spread(("b",), np.ones(1), np.ones((1, 1)), np.zeros((1, 1, 1)))
    >>> [p.names for p in apart([GroupSpread.of(nothing, shown)])]
    [('b',), ('a',)]
    """
    for part in parts:
        if not isinstance(part, GroupSpread) or part.shown is None:
            yield part
            continue
        if part.shown.names:
            yield part.shown
        for name in part.names:
            if name not in part.shown.names:
                yield _nothing((name,), len(part.n))


def _nothing(names: tuple[str, ...], k: int) -> Spread:
    d = len(names)
    return Spread(names, *(frozen(np.zeros(s)) for s in ((k,), (k, d), (k, d, d))))
