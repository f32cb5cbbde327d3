"""Sums that moments are made of, without rounding: Σw, Σw·x and Σw·x·xᵀ of each configuration.

    mean = Σw·x / n,   scatter = Σw·x·xᵀ − (Σw·x)(Σw·x)ᵀ / n

They add up to the same in any order; mean and scatter are rounded once, after the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.schema import Variable
from credo.stats.configurations import grouped
from credo.stats.exact import Exact, exact_sum
from credo.stats.given import in_order

__all__ = ["GroupSums", "MomentSums"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class MomentSums:
    """Exact sums of u configurations and d variables: `n` [u], `first` [u, d], and `second`, the
    lower triangle of the products row by row [u, d(d+1)/2].

    >>> groups, sums = MomentSums.of_columns([np.array([0.1, 0.2, 0.3])])
    >>> n, mean, scatter = sums.spread()
    >>> n.tolist(), mean.tolist(), scatter.round(12).tolist()
    ([3.0], [[0.2]], [[[0.02]]])
    """

    n: Exact
    first: Exact
    second: Exact

    @classmethod
    def of_columns(
        cls,
        columns: Sequence[Floats],
        group: NDArray[np.uint32] | None = None,
        groups: int = 1,
        weights: Floats | None = None,
        threads: int = 1,
    ) -> tuple[NDArray[np.uint32], MomentSums]:
        """The groups that have rows, and their sums; rows with a gap are left out."""
        seen, *found = _core.exact_moments(columns, group, groups, weights, threads)
        u, d = len(seen), len(columns)
        shapes = ((u,), (u, d), (u, d * (d + 1) // 2))
        pairs = zip(found, shapes, strict=True)
        return seen, cls(*(Exact(a.reshape(*shape, a.shape[-1]), low) for (a, low), shape in pairs))

    @classmethod
    def of(cls, n: Floats, mean: Floats, scatter: Floats) -> MomentSums:
        """The sums of moments that are given as floats: a part is n rows at its mean, and more."""
        u, d = mean.shape
        columns = [np.ascontiguousarray(mean[:, j]) for j in range(d)]
        if not u:
            empty = Exact.of(np.zeros(0))
            return cls(empty, empty.reshape((0, d)), empty.reshape((0, d * (d + 1) // 2)))
        _, still = cls.of_columns(columns, np.arange(u, dtype=np.uint32), u, n)
        rows, cols = np.tril_indices(d)
        return cls(still.n, still.first, still.second + Exact.of(scatter[:, rows, cols]))

    @classmethod
    def joined(cls, parts: Sequence[MomentSums]) -> MomentSums:
        """The configurations of all parts, one after the other."""
        return cls(
            Exact.joined([p.n for p in parts]),
            Exact.joined([p.first for p in parts]),
            Exact.joined([p.second for p in parts]),
        )

    def of_configurations(self, where: Any) -> MomentSums:
        """Some of the configurations."""
        return MomentSums(self.n[where], self.first[where], self.second[where])

    def of_variables(self, keep: Sequence[int]) -> MomentSums:
        """Some of the variables, in the order named."""
        at = np.array(keep, dtype=np.intp)
        rows, cols = np.tril_indices(len(keep))
        a, b = np.maximum(at[rows], at[cols]), np.minimum(at[rows], at[cols])
        return MomentSums(self.n, self.first[:, at], self.second[:, a * (a + 1) // 2 + b])

    def summed(self, group: NDArray[np.intp], groups: int) -> MomentSums:
        """The sums of configurations by their group."""
        sums = (part.summed(group, groups) for part in (self.n, self.first, self.second))
        return MomentSums(*sums)

    def spread(self) -> tuple[Floats, Floats, Floats]:
        """n, mean and scatter."""
        u, d = self.first.shape
        if not u or not d:
            return self.n.rounded(), np.zeros((u, d)), np.zeros((u, d, d))
        n, first, second = self.n, self.first, self.second
        return _core.exact_spread(n.flat, n.low, first.flat, first.low, second.flat, second.low)


@dataclass(frozen=True, slots=True, eq=False)
class GroupSums:
    """Moments before anybody looks at them: the sums of configurations, in lexicographic order.

    Parts of a stream are added up as these, and rounded when the last has come.

    >>> x = (Variable("x", "continuous"),)
    >>> _, sums = MomentSums.of_columns([np.array([0.5, 1.5])])
    >>> one = GroupSums.gathered((), x, np.zeros((1, 0), np.uint32), sums, 0)
    >>> (one + one).sums.spread()[0].tolist()
    [4.0]
    """

    discrete: tuple[Variable, ...]
    continuous: tuple[Variable, ...]
    where: NDArray[np.uint32]
    sums: MomentSums
    skipped: int | float

    @classmethod
    def gathered(
        cls,
        discrete: tuple[Variable, ...],
        continuous: tuple[Variable, ...],
        where: NDArray[np.uint32],
        sums: MomentSums,
        skipped: int | float,
    ) -> GroupSums:
        """Sums of configurations in any order, which may repeat: those of one are added."""
        if not in_order(where):
            where, group = grouped(where)
            sums = sums.summed(group, len(where))
        return cls(discrete, continuous, where, sums, skipped)

    def __add__(self, other: GroupSums) -> GroupSums:
        return GroupSums.gathered(
            self.discrete,
            self.continuous,
            np.concatenate([self.where, other.where]),
            MomentSums.joined([self.sums, other.sums]),
            exact_sum(self.skipped, other.skipped),
        )

    def __len__(self) -> int:
        return len(self.where)
