"""A NumPy array at the door of a learner: its columns get names, x0, x1, … or the user's.

The numbers of an array are numbers, few and whole though they be; schema= says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from credo.data.reading import read
from credo.data.table import Table
from credo.errors import InputError
from credo.schema import Column, Schema, Variable
from credo.stats.block import Block

__all__ = ["array_in", "is_plain", "rows_in"]

_WIDE = 10_000  # columns; of more, reading says whether they can be taken


def is_plain(x: Any) -> bool:
    """Whether it is an array whose columns have no names."""
    return isinstance(x, np.ndarray) and x.dtype.names is None


def array_in(x: Any, columns: Any, schema: Any, weights: Any) -> tuple[Any, Any]:
    """The array as a table, and which of its columns count.

    A list of columns as long as the array is wide names them.

    >>> table, counting = array_in(np.array([[0.5, 1.5], [2.5, 3.5]]), ["a", "b"], None, None)
    >>> table.schema.names, counting
    (('a', 'b'), None)
    """
    if x.ndim != 2:
        raise InputError(
            f"An array of rows must have two axes (rows, columns), got {x.ndim}.",
            hint="Use x.reshape(-1, 1) for a single column." if x.ndim == 1 else "",
        )
    width = x.shape[1]
    if isinstance(columns, Iterable) and not isinstance(columns, str):
        columns = list(columns)
    named = isinstance(columns, list) and len(columns) == width
    names = [str(c) for c in columns] if named else [f"x{j}" for j in range(width)]
    if schema is None and weights is None and _is_whole(x, names):
        return _table(x, names), None if named else columns
    if x.dtype.kind in "iuf" and (schema is None or isinstance(schema, Mapping)):
        schema = dict.fromkeys(names, "continuous") | dict(schema or {})
    return read(x, schema, weights, columns=names), None if named else columns


def _is_whole(x: Any, names: Sequence[str]) -> bool:
    """Whether it holds decimal numbers only, with nothing for the reader to find out or refuse."""
    if x.dtype.kind != "f" or x.dtype.itemsize > 8 or len(x) < 2 or not 1 <= x.shape[1] <= _WIDE:
        return False
    return "" not in names and len(set(names)) == len(names) and bool(np.isfinite(x).all())


def _table(x: Any, names: Sequence[str]) -> Table:
    """The table that reading makes of such an array."""
    arrays = np.array(x.T, dtype=np.float64, order="C")
    variables = tuple(Variable(n, "continuous") for n in names)
    noted = tuple(Column(n, "continuous", "by the schema given", rows=len(x)) for n in names)
    return Table(Block(Schema(variables, noted, "NumPy array"), tuple(arrays)))


def rows_in(x: Any, names: Sequence[str], whole: Sequence[str]) -> Any:
    """New rows as a dict of columns: those that count, or all the columns of the table."""
    width = x.shape[1] if x.ndim == 2 else -1
    wide = names if width == len(names) else whole if width == len(whole) else None
    if wide is None:
        shape = f"{width} columns" if x.ndim == 2 else f"{x.ndim} axes"
        raise InputError(
            f"New rows need {len(names)} columns ({', '.join(names[:8])}{', …' * (len(names) > 8)})"
            f", got an array of {shape}."
        )
    return {n: x[:, j] for j, n in enumerate(wide)}
