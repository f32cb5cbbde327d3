"""Gower's distance: rows of mixed columns, each column between 0 and 1, gaps left out pair by pair.

    d(a, b) = Σ_c d_c(a, b) / (number of columns seen in both)

d_c is |x − y| / range for numbers, |rank − rank| / (states − 1) for ordered states, and 0 or 1 for
other states (Gower 1971; ranks as Podani 1999). With scale "sd" numbers are divided by their
standard deviation instead, with "none" by nothing. Rows with no column in common are 1 apart,
which is the most that "range" can give.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.frozen import Frozen
from credo.core.schema import Variable
from credo.data import Table
from credo.predict.rows.far_rows import AFAR
from credo.train.clusters.space import Space

__all__ = ["APART", "Gower"]

Floats = NDArray[np.float64]

APART = 1.0
"""How far apart two rows are that have no column in common."""


@dataclass(frozen=True)
class Gower(Frozen):
    """Rows ready for Gower's distances, with the space that says how numbers are scaled."""

    space: Space
    reals: tuple[Floats, ...]
    codes: tuple[NDArray[np.int32], ...]

    @classmethod
    def of(cls, table: Table, space: Space) -> Gower:
        """The rows of a table."""
        reals, codes = [], []
        for axis in space.axes:
            array = table.block.arrays[table.schema.index(axis.variable.name)]
            if not axis.variable.is_discrete:
                scale = axis.scale if space.scale != "none" else 1.0
                reals.append(np.ascontiguousarray(array / scale))
                continue
            gone = array == axis.variable.arity
            if _ranked(axis.variable):
                ranks = array / (axis.variable.arity - 1)
                reals.append(np.where(gone, math.nan, ranks))
            else:
                codes.append(np.where(gone, np.int32(-1), array.astype(np.int32)))
        return cls(space, tuple(reals), tuple(codes))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.reals[0] if self.reals else self.codes[0])

    @cached_property
    def _threads(self) -> int:
        return _core.cores()

    def take(self, rows: Any) -> Gower:
        """Some of the rows."""
        pick = np.ascontiguousarray
        return Gower(
            self.space,
            tuple(pick(r[rows]) for r in self.reals),
            tuple(pick(c[rows]) for c in self.codes),
        )

    def held_to(self, known: Gower) -> Gower:
        """The rows, no number farther than `AFAR` spreads from those of the known rows.

        What lies beyond is the same in the distance to each of them.
        """
        held = []
        for own, theirs in zip(self.reals, known.reals, strict=True):
            low, high = float(np.nanmin(theirs)), float(np.nanmax(theirs))
            most = AFAR * ((high - low) or 1.0)
            held.append(np.clip(own, low - most, high + most))
        return Gower(self.space, tuple(held), self.codes)

    def pairs(self) -> tuple[Floats, int]:
        """The distances of all pairs, as SciPy's pdist has them, and how many share no column."""
        return _core.gower_pairs(list(self.reals), list(self.codes), APART, self._threads)

    def to(self, other: Gower) -> Floats:
        """The distance of each row to each row of another."""
        return _core.gower_between(
            list(self.reals),
            list(self.codes),
            list(other.reals),
            list(other.codes),
            APART,
            self._threads,
        )[0]


def _ranked(variable: Variable) -> bool:
    return variable.ordered and variable.arity > 1
