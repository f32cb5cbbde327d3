"""A partition: what every method of clustering gives; all else about the groups follows from it.

A method maps rows to one of k groups. What the groups are (sizes, profiles, quality, pictures) is
worked out from the labels and the table, the same way for every method. Beside its labels a
grouping must say what was left out of it and what says nothing: the notes below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.frozen import Frozen
from credo.data import Stream, Table


@dataclass(frozen=True, slots=True)
class Partition(Frozen):
    """The groups that a method found in a table.

    `labels` gives each row's group, 0 to k − 1; `membership` the probability of each group
    (rows × k), where the method has one. `assign` does the same for new rows. `quality` holds
    what the method itself maximises or minimises, by name; `model` the fitted value behind it;
    `sizes` the weight of each group, where the rows are not at hand to add it up; `numbers` the
    columns that are numbers to the method, whatever the table takes them for; `sample` rows in
    memory of a source that is not.
    """

    labels: NDArray[np.intp]
    k: int
    assign: Callable[[Table], tuple[NDArray[np.intp], NDArray[np.float64] | None]]
    membership: NDArray[np.float64] | None = None
    quality: Mapping[str, float] = field(default_factory=dict)
    trace: tuple[float, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
    model: object | None = None
    sizes: NDArray[Any] | None = None
    numbers: tuple[str, ...] = ()
    sample: Table | None = None


COUNTED_ONCE = ("average", "ward", "spectral")
"""Methods to which a row counts once, whatever its weight."""

_OWN_WISH = ("weights", "dropped")


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
    n = 0
    if isinstance(whole, Table) and whole.numbers is not None:
        n = whole.numbers.left_out
    elif isinstance(whole, Stream) and whole.weighting.array is not None:
        n = int((whole.weighting.array == 0).sum())
    if n:
        rows = "1 row of weight 0 is" if n == 1 else f"{n:,} rows of weight 0 are"
        out.append(f"{rows} left out: labels are of the other rows, in order")
    if isinstance(whole, Stream) and whole.weighting.column is not None:
        out.append("rows of weight 0, if any, are left out: labels are of the others, in order")
    for note in () if whole is None else whole.schema.notes:
        if note.endswith("skipped"):
            out.append(f"{note}: labels and row numbers are of the rows that were read")
    return out


def told_of_aside(whole: Table | Stream | None) -> list[str]:
    """A note of the columns that reading set aside, which no method sees."""
    columns = () if whole is None else whole.schema.columns
    left = [c for c in columns if not c.used and c.kind not in _OWN_WISH]
    if not left:
        return []
    some = ", ".join(f"{c.name} ({c.reason})" for c in left[:5])
    rest = f" and {len(left) - 5:,} more" if len(left) > 5 else ""
    kind = {left[0].name: "discrete"}
    return [f"set aside when the table was read: {some}{rest}; schema={kind!r} keeps a column"]


def told_of_bare(table: Table) -> list[str]:
    """A note of rows without any cell."""
    if not all(table.block.gaps):
        return []
    bare = np.ones(table.rows, dtype=bool)
    for variable, array in zip(table.schema.variables, table.block.arrays, strict=True):
        bare &= array == variable.arity if variable.is_discrete else np.isnan(array)
    at = np.flatnonzero(bare).tolist()
    return told_of_rows([i + 1 if table.numbers is None else table.numbers.of(i) for i in at])


def told_of_rows(rows: Sequence[int]) -> list[str]:
    """A note of rows without any cell, by their numbers in the source."""
    if not rows:
        return []
    held = "1 row has" if len(rows) == 1 else f"{len(rows):,} rows have"
    some = ", ".join(map(str, rows[:5])) + ", …" * (len(rows) > 5)
    return [f"{held} no cell (row {some}): to be in a cluster says nothing of it"]


def told_of_constant(name: str) -> str:
    """A note of a column whose cells are all the same."""
    return f"{name} is constant and tells nothing"


def told_of_columns(table: Table) -> list[str]:
    """Notes of the columns that are constant or have no cell."""
    out = []
    for variable, array in zip(table.schema.variables, table.block.arrays, strict=True):
        gone = array == variable.arity if variable.is_discrete else np.isnan(array)
        there = array[~gone] if gone.any() else array
        if not len(there):
            out.append(f"{variable.name} tells nothing: every cell is missing")
        elif there.min() == there.max():
            out.append(told_of_constant(variable.name))
    return out


def told_of_weights(table: Table | None, method: str) -> list[str]:
    """A note of what weights do to a method that counts rows, not weights."""
    if table is None or table.weights is None:
        return []
    if method not in COUNTED_ONCE:
        return ["weights do not change single or complete link"]
    called = "spectral clustering" if method == "spectral" else f"{method} link"
    return [f"{called} counts every row once; weights are used in sizes and profiles"]
