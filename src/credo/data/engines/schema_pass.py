"""The first pass over parts: each is looked at by the scanner of the house, and what was seen adds
up to what one table would show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from credo.core.errors import TableError
from credo.core.progress import Report
from credo.data.columns.cells import Tokens
from credo.data.columns.column_scan import ColumnScan
from credo.data.columns.merging import merge_columns, thinned
from credo.data.columns.scan import Scan
from credo.data.engines.parts import Parts
from credo.data.sources.feed import Feed
from credo.data.weights import RowNumbers, Weights, are_whole


@dataclass(slots=True)
class Seen:
    """What was seen of a part: its columns, its rows before any is left out, its weights."""

    columns: dict[str, ColumnScan]
    read: int
    kept: int
    weight: float
    whole: bool

    def merged(self, other: Seen) -> Seen:
        """Both parts, this one before the other."""
        for name, column in other.columns.items():
            self.columns[name] = merge_columns(self.columns[name], column)
        self.read += other.read
        self.kept += other.kept
        self.weight += other.weight
        self.whole &= other.whole
        return self


@dataclass(frozen=True)
class Looking:
    """A task: look at some columns of a part."""

    kinds: Mapping[str, str | None]
    tokens: Mapping[str, Tokens]
    weighting: Weights
    guess: bool = True

    def __call__(self, feed: Feed, number: int) -> Seen:
        """What was seen of the part."""
        columns = {
            name: ColumnScan(
                name, text=feed.text, tokens=self.tokens[name], kind=kind, keep=False,
                guess=self.guess,
            )
            for name, kind in self.kinds.items()
        }  # fmt: skip
        seen = Seen(columns, 0, 0, 0.0, True)
        for batch in feed.read(self.weighting.with_column(list(columns)) or list(feed.names[:1])):
            kept, weights, _ = self.weighting.split(batch, seen.read)
            seen.read += len(next(iter(batch.values())))
            seen.kept += len(next(iter(kept.values())))
            for name, column in columns.items():
                column.add(kept[name])
            if weights is not None:
                seen.weight += float(np.sum(weights))
                seen.whole &= are_whole([weights])
        seen.columns = {name: thinned(column) for name, column in columns.items()}
        return seen


def scan_parts(
    parts: Parts,
    kinds: Mapping[str, str | None],
    tokens: Mapping[str, Tokens],
    weighting: Weights,
    report: Report | None = None,
) -> Scan:
    """What all parts show of the columns that `kinds` names; see `columns.scan.scan`."""
    seen = _seen(parts, Looking(kinds, tokens, weighting), report)
    if seen is None or seen.read == 0:
        raise TableError(f"{parts.feed.label} has columns but no rows.")
    if weighting.column is not None and not seen.kept:
        raise TableError("Every weight is 0, so no row is left.")
    again = {name: kinds[name] for name, column in seen.columns.items() if column.misjudged}
    if again:  # where one part has numbers and another has not, all begin as categories
        other = _seen(parts, Looking(again, tokens, weighting, guess=False), report)
        assert other is not None
        seen.columns |= other.columns
    whole = weighting.column is not None and seen.whole and are_whole([np.array([seen.weight])])
    return Scan(seen.columns, [], seen.kept, RowNumbers(), kept=False, whole=whole)


def _seen(parts: Parts, task: Looking, report: Report | None) -> Seen | None:
    columns = task.weighting.with_column(list(task.kinds)) or list(parts.feed.names[:1])
    return parts.gathered(task, columns, Seen.merged, _size, report)


def _size(seen: Any) -> int:
    return 1
