"""A scan: one pass over the batches of a table that says what each column holds.

A column becomes codes into its different values (a category index), or floats where its first rows
are many different numbers. Where it began as floats and other cells come, it is scanned again as
categories, so that what it is does not depend on the order of its rows. `infer.decide` then says
once what each column is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import LimitError, TableError
from credo.core.progress import Report, track
from credo.data.columns.cells import (
    Tokens,
)
from credo.data.columns.column_scan import ColumnScan
from credo.data.sources.feed import Feed
from credo.data.weights import RowNumbers, Weights, are_whole


@dataclass(slots=True)
class Scan:
    """What a scan found: the columns, the weights of the rows kept, and how many those are."""

    columns: dict[str, ColumnScan]
    weights: list[NDArray[Any]]
    rows: int
    numbers: RowNumbers
    kept: bool
    """Whether the cells are in memory; otherwise the table was only looked at."""
    whole: bool = False
    """Whether there are weights, all whole numbers."""


def scan(
    feed: Feed,
    kinds: Mapping[str, str | None],
    tokens: Mapping[str, Tokens],
    weighting: Weights,
    limit: float = np.inf,
    report: Report | None = None,
) -> Scan:
    """One pass over the columns that `kinds` names, with what is known of each: 'discrete',
    'continuous', 'declared' by the table, or None. Cells are kept while they fit the limit.
    """
    size = (feed.rows or 0) * len(feed.names) if feed.bytes is None else feed.bytes
    numbers = RowNumbers()

    def column(name: str, guess: bool = True) -> ColumnScan:
        return ColumnScan(
            name, text=feed.text, tokens=tokens[name], kind=kinds[name], keep=found.kept,
            numbers=numbers, guess=guess,
        )  # fmt: skip

    found = Scan({}, [], 0, numbers, size <= limit)
    found.columns = {name: column(name) for name in kinds}
    _fill(found, feed, weighting, limit, report)
    again = [c.name for c in found.columns.values() if c.misjudged]
    if again:
        other = replace(found, columns={n: column(n, guess=False) for n in again}, weights=[])
        other.numbers = RowNumbers()
        _fill(other, feed, weighting, limit, report)
        found.columns |= other.columns
        found.kept = other.kept
        if not found.kept:
            for one in found.columns.values():
                one.forget()
    found.whole = bool(found.weights) and are_whole(found.weights)
    return found


def _fill(found: Scan, feed: Feed, weighting: Weights, limit: float, report: Report | None) -> None:
    columns, done = found.columns, 0
    names = weighting.with_column(list(columns)) or list(feed.names[:1])
    for batch in track(
        feed.read(names),
        f"reading {feed.label}",
        total=feed.rows,
        size=lambda b: len(next(iter(b.values()))),
        report=report,
    ):
        kept, weights, there = weighting.split(batch, done)
        rows = len(next(iter(batch.values())))
        found.numbers.add(done, rows, there)
        for name, column in columns.items():
            column.add(kept[name])
        if weights is not None:
            found.weights.append(weights)
        if found.kept and sum(c.nbytes for c in columns.values()) > limit:
            found.kept = False
            if feed.once:
                raise LimitError(
                    f"{feed.label} can be read only once and does not fit the memory limit.",
                    hint="Write it to a Parquet file and read that, or raise memory=.",
                )
            for column in columns.values():
                column.forget()
        done += rows
    if done == 0:
        again = "If it was read before, its rows are gone: read it into a table first."
        raise feed.without_rows(again if feed.once else "")
    if weighting.array is not None and len(weighting.array) != done:
        raise TableError(f"There are {len(weighting.array):,} weights for {done:,} rows.")
    found.rows = next(iter(columns.values())).rows if columns else done
    if (weighting.column or weighting.array is not None) and found.rows == 0:
        raise TableError("Every weight is 0, so no row is left.")
