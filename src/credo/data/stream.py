"""A stream: a table too big for memory, read batch by batch each time it is tallied.

The answer is the same to the last count as from a table in memory: each batch is encoded with
the schema found in a first pass, tallied, and the tallies are added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from credo.data.encoder import Encoder
from credo.data.feed import Feed
from credo.data.table import Table
from credo.data.weights import Weights
from credo.progress import Report, track
from credo.schema import Schema
from credo.stats.block import Block
from credo.stats.family import Families
from credo.stats.plan import Plan
from credo.stats.rows import Rows
from credo.stats.tally import Tally

__all__ = ["Stream"]


@dataclass(frozen=True, eq=False)
class Stream:
    """A source that reads its rows again for every tally, in bounded memory.

    Made by `credo.read` when a file would not fit the memory limit. `report`, if given, is
    called with (rows done, rows in all) instead of showing a progress bar.

    >>> import credo as cr
    >>> stream = cr.read(cr.examples.path("play_tennis"), memory="100 B")
    >>> print(stream)
    play_tennis.csv: 14 rows, read batch by batch
    >>> stream.tally(["Wind"]) == cr.examples.play_tennis().tally(["Wind"])
    True
    """

    feed: Feed = field(repr=False)
    schema: Schema
    rows: int
    missing: tuple[Any, ...] = field(repr=False, default=())
    weighting: Weights = field(repr=False, default_factory=Weights)
    report: Report | None = field(repr=False, default=None)

    def __len__(self) -> int:
        return self.rows

    def batches(self, names: Sequence[str] | None = None) -> Iterator[Table]:
        """The rows as small tables of the variables named (all when none are)."""
        schema = self.schema if names is None else self.schema.select(list(names))
        wanted = self.weighting.with_column(schema.names)
        encoders = [Encoder(v, text=self.feed.text, missing=self.missing) for v in schema.variables]
        done = 0
        for batch in track(
            self.feed.read(wanted),
            f"reading {self.feed.label}",
            total=self.feed.rows,
            size=lambda b: len(next(iter(b.values()))),
            report=self.report,
        ):
            kept, weights = self.weighting.split(batch, done)
            arrays = [e.encode(kept[e.variable.name], done) for e in encoders]
            done += len(next(iter(batch.values())))
            yield Table(Block(schema, tuple(arrays), weights))

    def tally(self, families: Any = None, *, threads: int | None = None) -> Tally:
        """Count many families in one pass over the rows, reading only their columns."""
        wanted = Families.of(self.schema.names if families is None else families)
        plan = Plan.of(self.schema, wanted, self.rows)
        return plan.finish(
            plan.count(part.block, threads=threads) for part in self.batches(plan.names)
        )

    def unique(self) -> Rows:
        """The weighted unique rows over the discrete variables, gathered batch by batch."""
        total: Rows | None = None
        for part in self.batches(self.schema.discrete):
            rows = part.unique()
            total = rows if total is None else total + rows
        assert total is not None
        return total

    def load(self) -> Table:
        """All rows as a table in memory."""
        import numpy as np

        parts = [t.block for t in self.batches()]
        arrays = tuple(np.concatenate(c) for c in zip(*(p.arrays for p in parts), strict=True))
        weights = [p.weights for p in parts if p.weights is not None]
        return Table(Block(self.schema, arrays, np.concatenate(weights) if weights else None))

    def __str__(self) -> str:
        return f"{self.feed.label}: {self.rows:,} rows, read batch by batch"

    def _repr_html_(self) -> str:
        return self.schema._repr_html_()
