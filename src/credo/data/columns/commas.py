"""Decimal commas: in a file written with them, 1,72 is the number that others write 1.72.

A cell with a point that would be a number elsewhere (1.234) is refused there: it may be a thousand
and something, or a decimal that slipped in, and neither is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from credo.core.errors import TableError
from credo.data.columns.number_cells import UNSURE, NumberCells
from credo.data.sources.arrays import bools
from credo.data.sources.feed import Batch

__all__ = ["with_points"]

_COMMA = r"^(\s*[+-]?[0-9]*),([0-9]+([eE][+-]?[0-9]+)?\s*)$"
_POINT = r"^\s*[+-]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"


def with_points(batches: Iterator[Batch], label: str) -> Iterator[Batch]:
    """The batches of a text file with a point in place of each decimal comma."""
    done = 0
    for batch in batches:
        yield {name: _pointed(cells, name, label, done) for name, cells in batch.items()}
        done += len(next(iter(batch.values())))


def _pointed(cells: Any, name: str, label: str, done: int) -> Any:
    """One column of a batch.

    >>> _pointed(pa.array(["1,72", "68", "a,b"]), "x", "t.csv", 0).to_pylist()
    ['1.72', '68', 'a,b']
    """
    if isinstance(cells, NumberCells):  # which the kernel has read with commas
        texts = cells.texts
        if any(kind == UNSURE for *_, kind in cells.odd):  # a point, perhaps
            return _pointed(texts(), name, label, done)
        cells.texts = lambda: _pointed(texts(), name, label, done)
        return cells
    if not pa.types.is_dictionary(cells.type):
        _refuse_points(cells, cells, name, label, done)
        return pc.replace_substring_regex(cells, _COMMA, r"\1.\2")
    _refuse_points(cells.dictionary, cells, name, label, done)
    values = pc.replace_substring_regex(cells.dictionary, _COMMA, r"\1.\2")
    return pa.DictionaryArray.from_arrays(cells.indices, values)


def _refuse_points(values: Any, cells: Any, name: str, label: str, done: int) -> None:
    found = bools(pc.match_substring_regex(values, _POINT))
    if found.any():
        text = values[int(found.argmax())]
        row = done + pc.index(cells.cast(pa.string()), text).as_py() + 1
        raise TableError(
            f"Row {row:,} of column {name!r} of {label} holds {text.as_py()!r}, a number with a "
            "point, while decimal=',' says that numbers have a comma.",
            hint="Mend the cell, or leave the column out of the file or by schema={…: 'drop'}.",
        )
