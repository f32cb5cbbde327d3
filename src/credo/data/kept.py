"""Some rows and columns of a stream, in the same batches: what a condition on a row keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.scales import Scale
from credo.data.stream import Stream
from credo.data.table import Table
from credo.data.weights import RowNumbers


@dataclass(frozen=True, eq=False, repr=False)
class Kept(Stream):
    """The rows of `whole` that `keep(batch, its first row)` says, over the variables of `schema`.

    `beside` names columns that the condition looks at; `rows` is how many rows it keeps.
    """

    whole: Stream | None = None
    beside: tuple[str, ...] = ()
    keep: Callable[[Table, int], NDArray[np.bool_]] | None = field(repr=False, default=None)

    @classmethod
    def of(cls, whole: Stream, names: Sequence[str], rows: int, beside: Any, keep: Any) -> Kept:
        """Some columns of a stream, and the rows that a condition keeps (all when it is None)."""
        return cls(
            whole.feed, whole.schema.select(names), rows, whole.missing, whole.weighting,
            whole.report, whole, tuple(beside), keep,
        )  # fmt: skip

    def batches(self, names: Sequence[str] | None = None) -> Iterator[Table]:
        """The rows that are kept as small tables of the variables named (all when none are)."""
        assert self.whole is not None
        wanted = list(self.schema.names if names is None else names)
        if not wanted:
            raise InputError("The stream has no variable of the kind asked for.")
        if self.keep is None:
            yield from self.whole.batches(wanted)
            return
        at = 0
        for part in self.whole.batches([*wanted, *(n for n in self.beside if n not in wanted)]):
            kept = self.keep(part, at)
            at += part.rows
            yield part.select(wanted).take(kept)

    def scaled(self, scales: Mapping[str, Scale | None]) -> Kept:
        """The same with other scales of some numbers."""
        assert self.whole is not None
        return replace(
            self, schema=self.schema.scaled(scales), whole=self.whole.scaled(scales)
        )  # fmt: skip

    @property
    def numbers(self) -> RowNumbers | None:
        """Where the rows stood in the source is not kept."""
        return None

    def load(self) -> Table:
        """All rows as a table in memory."""
        parts = [part for part in self.batches() if part.rows]
        if not parts:
            raise InputError("The stream has no rows of the kind asked for.")
        return Table.joined(parts)
