"""What was seen of a column in two parts of a table, as one: profiles of parts add up.

Nothing depends on which part was looked at first, except which rows are named. Where one part took
the column for numbers and another has cells that are none, both are to be scanned again as
categories, as one table would be.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from credo.core.schema import MAX_STATES
from credo.data.columns.cells import cell_text
from credo.data.columns.column_scan import ColumnScan
from credo.data.columns.identifiers import FEW_INTEGERS
from credo.data.columns.profile import SAMPLE, CategoryIndex, Doubt, NumberSummary

_NAMED = 3  # doubtful cells that are kept to be named


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
    elif first._sampled < SAMPLE:
        first._texts |= second._texts
        first._sampled += second._sampled


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
    if one.settled or (one.sampled >= SAMPLE and not one._few):
        return
    one.sampled += other.sampled
    if other._different is not None:
        one._note(other._different)
    one.settled = one._settles and not one.whole and one.distinct > FEW_INTEGERS
