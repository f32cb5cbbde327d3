"""A block of encoded rows: what every table, or part of one, is turned into.

A discrete column is an array of state codes (the arity stands for missing), a continuous one
an array of floats (NaN for missing).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.core.schema import Schema
from credo.stats.configurations import frozen
from credo.stats.given import total_of
from credo.stats.rows import Rows

_COMPACT_ROWS = 50_000  # below this many rows, gathering equal rows is not worth a thought
_CODES = (np.uint8, np.uint16, np.uint32)
_SAMPLE = 4096  # rows that are looked at first
_COMPACT_GAIN = 16  # popcounting raw rows is about this much faster per row than adding weights


@dataclass(frozen=True, eq=False)
class Block:
    """Encoded rows: one array per variable, and weights if the rows have any."""

    schema: Schema
    arrays: tuple[NDArray[Any], ...]
    weights: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "arrays", tuple(frozen(a) for a in self.arrays))
        columns = (*self.arrays, *(() if self.weights is None else (self.weights,)))
        if len({len(c) for c in columns}) > 1 or len(self.arrays) != len(self.schema):
            raise InputError("A block needs one array for each variable, all of the same length.")
        if self.weights is not None:
            object.__setattr__(self, "weights", frozen(self.weights))

    def __reduce__(self) -> Any:
        return Block, (self.schema, self.arrays, self.weights)

    @property
    def rows(self) -> int:
        """The number of rows in memory."""
        return len(self.arrays[0]) if self.arrays else 0

    @cached_property
    def weight(self) -> int | float:
        """The weight of all rows: their number when they have no weights."""
        if self.weights is None:
            return self.rows
        return total_of(self.weights)

    @cached_property
    def discrete(self) -> tuple[int, ...]:
        """The positions of the discrete variables."""
        return tuple([i for i, states in enumerate(self.schema._arities) if states >= 0])

    @cached_property
    def gaps(self) -> tuple[bool, ...]:
        """Whether each variable has missing cells."""
        known = self._gaps_of_codes
        if len(self.discrete) == len(self.arrays) == len(known):
            return known
        at = dict(zip(self.discrete, known, strict=False))
        columns = zip(self.schema.variables, self.arrays, strict=True)
        return tuple(
            at[i]
            if i in at
            else bool(a.max(initial=0) >= v.arity if v.is_discrete else np.isnan(a).any())
            for i, (v, a) in enumerate(columns)
        )

    @property
    def _gaps_of_codes(self) -> tuple[bool, ...]:
        """Of the discrete variables, all in one go; none where the kernels do not take their codes,
        as those of rows that are asked about and not counted.
        """
        codes = [self.arrays[i] for i in self.discrete]
        if "native" in self.__dict__ or all(
            c.dtype in _CODES and c.flags.c_contiguous for c in codes
        ):
            return tuple(self.native.missing)
        return ()

    @cached_property
    def names_with_gaps(self) -> frozenset[str]:
        """The variables that have missing cells."""
        gaps = self.gaps
        return frozenset(compress(self.schema.names, gaps) if True in gaps else ())

    @cached_property
    def native(self) -> _core.Columns:
        """The discrete columns as the kernels see them; bitmaps are built there on demand."""
        arities = self.schema._arities
        return _core.Columns(
            [self.arrays[i] for i in self.discrete], [arities[i] for i in self.discrete]
        )

    @cached_property
    def asked(self) -> list[Any]:
        """The plan of the families that were tallied last: the same are often asked again."""
        return [None]

    @cached_property
    def compact(self) -> Block | None:
        """The same rows gathered into weighted unique ones, if they are few enough to pay."""
        if self.weights is not None or len(self.discrete) < len(self.arrays):
            return None
        if self.rows < _COMPACT_ROWS or not self._sample_repeats():
            return None
        limit = self.rows // _COMPACT_GAIN
        found = self.native.unique(list(range(len(self.discrete))), limit=limit)
        if found is None:
            return None
        first, weight = found
        return Block(self.schema, tuple(a[first] for a in self.arrays), weight)

    def _sample_repeats(self) -> bool:
        """Whether equal rows are common among a few thousand spread over the block."""
        step = max(self.rows // _SAMPLE, 1)
        # A few columns that tell most rows apart settle it; all are looked at only if they do not.
        for columns in (self.discrete[:16], self.discrete):
            sample = [np.ascontiguousarray(self.arrays[i][::step][:_SAMPLE]) for i in columns]
            few = (len(sample[0]) - 1) // 4
            native = _core.Columns(sample, [self.schema.variables[i].arity for i in columns])
            if native.unique(list(range(len(columns))), limit=few) is None:
                return False
        return True

    def unique(self) -> Rows:
        """The weighted unique rows over the discrete variables."""
        return Rows.of(
            [self.schema.variables[i] for i in self.discrete],
            [self.arrays[i] for i in self.discrete],
            self.weights,
        )
