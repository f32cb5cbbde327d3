"""What a grouping must say beside its labels: classes without rows, rows without a label."""

from __future__ import annotations

from collections.abc import Sequence

from credo.data import Stream, Table

__all__ = ["told_of_absent", "told_of_empty"]


def told_of_empty(sizes: Sequence[float]) -> list[str]:
    """A note of clusters that are nobody's most probable one."""
    empty = sum(size == 0 for size in sizes)
    if not empty:
        return []
    held = "class holds" if empty == 1 else "classes hold"
    return [f"{empty:,} {held} no row: every row is more probable in another; a smaller k will do"]


def told_of_absent(whole: Table | Stream | None) -> list[str]:
    """A note of rows of the source that have no label."""
    out = []
    if isinstance(whole, Table) and whole.numbers is not None:
        n = whole.numbers.left_out
        rows = "1 row of weight 0 is" if n == 1 else f"{n:,} rows of weight 0 are"
        out.append(f"{rows} left out: labels are of the other rows, in order")
    if isinstance(whole, Stream) and whole.weighting.column is not None:
        out.append("rows of weight 0, if any, are left out: labels are of the others, in order")
    for note in () if whole is None else whole.schema.notes:
        if note.endswith("skipped"):
            out.append(f"{note}: labels and row numbers are of the rows that were read")
    return out
