"""Counts by class of whole numbers in one narrow window, in one array for all features.

    n[feature, class, number]

A table of whole numbers has many small features, and a few objects for each cost more than the
counts. These are added and learned from in a few passes over all features; as a sequence, each
`StateCounts` is made when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.schema import Variable
from credo.stats.by_class import StateCounts, Where, spread_out
from credo.stats.configurations import frozen

WIDEST = 64
"""How many whole numbers a window may have."""


@dataclass(frozen=True, eq=False, slots=True)
class WindowCounts:
    """How often each class has each whole number of a window: `values[feature, class, number]`.

    The window begins at `low` for all features; `known[feature, number]` says which numbers are
    states. With `above` the states are numbers above 0 or not (Bernoulli features).

    >>> one = WindowCounts(("a",), 3, np.array([[[2, 0, 1]]]), np.array([[True, False, True]]))
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

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, at: int) -> StateCounts:
        at = range(len(self))[at]
        variable = Variable(self.names[at], "discrete", self.states(at))
        return StateCounts(variable, self.values[at][:, self.known[at]], self.above)

    def __iter__(self) -> Iterator[StateCounts]:
        return (self[i] for i in range(len(self)))

    def states(self, at: int) -> tuple[int, ...]:
        """The states of one feature."""
        return tuple((np.flatnonzero(self.known[at]) + self.low).tolist())

    def on_classes(self, where: Where, size: int) -> WindowCounts:
        """The same counts among more classes."""
        return replace(self, values=spread_out(self.values, where, size, 1))

    def joined(self, other: WindowCounts, where: Where | None = None) -> WindowCounts | None:
        """The counts of both, in a window that holds those of both; None where it is too wide.

        The classes of the other are at `where` among these.
        """
        same = other.names is self.names or other.names == self.names
        if not same or other.above != self.above:
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
        return WindowCounts(self.names, low, values, a[1] | b[1], self.above)

    def _within(self, low: int, width: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Counts and states in a wider window."""
        if width == self.known.shape[1]:
            return self.values, self.known
        where = np.arange(self.known.shape[1]) + (self.low - low)
        return spread_out(self.values, where, width, 2), spread_out(self.known, where, width, 1)
