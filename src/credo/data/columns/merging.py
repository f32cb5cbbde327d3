"""What was seen of a column in two parts of a table, as one: profiles of parts add up.

Nothing depends on which part was looked at first, except which rows are named. Where one part took
the column for numbers and another has cells that are none, both are to be scanned again as
categories, as one table would be. Of values too many to be states, which matter only for whether
they differ from row to row, those with the smallest hashes are kept: of two parts these are among
those of each, so a value that comes again is met again.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.schema import MAX_STATES
from credo.data.columns.cells import cell_text
from credo.data.columns.column_scan import ColumnScan
from credo.data.columns.identifiers import FEW_INTEGERS
from credo.data.columns.profile import CategoryIndex, Doubt, NumberSummary

_NAMED = 3  # doubtful cells that are kept to be named
_MOST = 1 << 15  # different values of a part that are kept, where they cannot be states


def merge_columns(first: ColumnScan, second: ColumnScan) -> ColumnScan:
    """The column of both parts; the first is changed.

    >>> import pyarrow as pa
    >>> a, b = ColumnScan("x", keep=False), ColumnScan("x", keep=False)
    >>> a.add(pa.array(["b", None])); b.add(pa.array(["a", "b"]))
    >>> both = merge_columns(a, b).profile()
    >>> both.values, both.rows, both.missing
    (('b', 'a'), 4, 1)
    """
    if second.rows == second.missing and first.rows > first.missing:
        return _beside(first, second)
    if first.rows == first.missing and second.rows > second.missing:
        return _beside(_later(second, first.rows), first)
    _later(second, first.rows)
    if not (first.misjudged or second.misjudged):
        _same_mode(first, second)
    first.misjudged |= second.misjudged
    if not first.misjudged:
        _joined(first, second)
    return _beside(first, second)


def _later(column: ColumnScan, rows: int) -> ColumnScan:
    """The column with its rows numbered after others."""
    column.index.first = [row + rows for row in column.index.first]
    column._doubts = [replace(d, row=d.row + rows) for d in column._doubts]
    return column


def _beside(one: ColumnScan, other: ColumnScan) -> ColumnScan:
    """What is counted whatever the cells are."""
    one.rows += other.rows
    one.missing += other.missing
    one._types |= other._types
    if one.text and one._mode == "floats" and "float" in one._types:
        one._types.discard("int")
    for token, n in other._missing_as.items():
        one._missing_as[token] = one._missing_as.get(token, 0) + n
    return one


def _same_mode(first: ColumnScan, second: ColumnScan) -> None:
    """Bring two parts to the form of that with more different values."""
    modes = {first._mode, second._mode}
    if len(modes) == 1:
        return
    if "text" in modes:
        for column in (first, second):
            if column._mode == "codes":
                column._note_texts(column.index.values, column.rows - column.missing)
            column._let_go()
        return
    coded = first if first._mode == "codes" else second
    numbers = coded._state_numbers()
    bad = np.flatnonzero(np.isnan(numbers))
    if (len(bad) and (first._guessed or second._guessed)) or (
        not coded.text and first._guesses and not coded._types <= {"float"}
    ):
        first.misjudged = True
        return
    for i in bad[:_NAMED].tolist():
        row = coded._row(coded.index.first[i])
        coded._doubts.append(Doubt(row, cell_text(coded.index.values[i]), "is not a number"))
    coded._bad = int(coded.index.counts[bad].sum())
    coded._to_floats()
    coded._types |= {"str"} if len(bad) else set()


def _joined(first: ColumnScan, second: ColumnScan) -> None:
    first._doubts = [*first._doubts, *second._doubts][:_NAMED]
    first._bad += second._bad
    first._exact = first._exact and second._exact
    if first._mode == "codes":
        _join_indices(first.index, second.index)
        if len(first.index.values) > MAX_STATES and first.kind != "discrete":
            first._overflow()
    elif first._mode == "floats":
        join_summaries(first._summary, second._summary)
    else:
        _join_texts(first, second)


def _join_indices(one: CategoryIndex, other: CategoryIndex) -> None:
    codes = [one.put(v, row) for v, row in zip(other.values, other.first, strict=True)]
    counts = np.zeros(len(one.values), dtype=np.int64)
    counts[: len(one.counts)] = one.counts
    np.add.at(counts, codes, other.counts)
    one.counts = counts


def join_summaries(one: NumberSummary, other: NumberSummary) -> None:
    """The range and the different numbers of both, in the first.

    >>> a, b = NumberSummary(), NumberSummary()
    >>> a.add(np.array([1.0, 2.0])); b.add(np.array([2.0, 5.0]))
    >>> join_summaries(a, b)
    >>> a.low, a.high, a.distinct, a.sampled
    (1.0, 5.0, 3, 4)
    """
    one.low, one.high = min(one.low, other.low), max(one.high, other.high)
    one.whole = one.whole and other.whole
    one.settled |= other.settled
    if one.settled:
        return
    mine, theirs = _values(one), _values(other)
    both = np.unique(np.concatenate([mine, theirs]))
    if len(both) > _MOST:
        kept = np.sort(_hashes(both))[_MOST - 1]
        one.sampled = _share(one.sampled, mine, kept) + _share(other.sampled, theirs, kept)
        both = both[_hashes(both) <= kept]
    else:
        one.sampled += other.sampled
    one._different, one._few = both, len(both) <= MAX_STATES
    one.settled = one._settles and not one.whole and one.distinct > FEW_INTEGERS


def thinned(column: ColumnScan) -> ColumnScan:
    """A column with no more values than a part sends on."""
    empty = ColumnScan(column.name, keep=False)
    if column._mode == "text":
        empty._texts = set()
        _join_texts(column, empty)
    elif column._mode == "floats" and column._summary._different is not None:
        join_summaries(column._summary, NumberSummary(column._summary._settles))
    return column


def _values(summary: NumberSummary) -> NDArray[Any]:
    return np.zeros(0) if summary._different is None else summary._different


def _hashes(values: NDArray[Any]) -> NDArray[np.uint64]:
    """A number for each value, the same in every process, that tells nothing of its size."""
    if values.dtype == object:
        return np.array([zlib.crc32(repr(v).encode()) for v in values.tolist()], dtype=np.uint64)
    x = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64).copy()
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    return x ^ (x >> np.uint64(31))


def _share(cells: int, values: NDArray[Any], kept: np.uint64) -> int:
    """Of the cells that were looked at, those whose values are kept, by the values' share."""
    return round(cells * int((_hashes(values) <= kept).sum()) / max(len(values), 1))


def _join_texts(first: ColumnScan, second: ColumnScan) -> None:
    both = first._texts | second._texts
    if len(both) <= _MOST:
        first._sampled += second._sampled
        first._texts = both
        return
    hashes = {text: zlib.crc32(text.encode(errors="replace")) for text in both}
    kept = sorted(hashes.values())[_MOST - 1]
    first._sampled = sum(
        round(c._sampled * sum(hashes[t] <= kept for t in c._texts) / max(len(c._texts), 1))
        for c in (first, second)
    )
    first._texts = {text for text, h in hashes.items() if h <= kept}
