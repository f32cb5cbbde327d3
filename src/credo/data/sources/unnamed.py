"""A NumPy array at the door of a learner: its columns get names, x0, x1, … or the user's.

The numbers of an array are numbers, few and whole though they be; schema= says otherwise. What a
mask hides is missing, whatever lies under it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.data.reading import read


def is_plain(x: Any) -> bool:
    """Whether it is an array whose columns have no names."""
    return isinstance(x, np.ndarray) and x.dtype.names is None


def unmasked(x: Any) -> Any:
    """Masked arrays, also as the columns of a dict or rows of a list, without their masks.

    A masked cell becomes NaN among decimals and None elsewhere; anything else is returned as is.

    >>> unmasked(np.ma.array([1.5, 999.0], mask=[0, 1]))
    array([1.5, nan])
    >>> unmasked({"a": np.ma.array([3, 999], mask=[0, 1]), "b": [1, 2]})["a"]
    array([3, None], dtype=object)
    """
    if isinstance(x, np.ma.MaskedArray):
        cells, mask = np.ma.getdata(x), np.ma.getmaskarray(x)
        if x.dtype.names is not None:
            return x
        if not mask.any():
            return np.asarray(cells)
        kind = np.float64 if cells.dtype.kind == "f" and cells.dtype.itemsize <= 8 else object
        found = np.array(cells, dtype=kind)
        found[mask] = np.nan if kind is np.float64 else None
        return found
    if isinstance(x, Mapping) and any(isinstance(v, np.ma.MaskedArray) for v in x.values()):
        return {n: unmasked(v) for n, v in x.items()}
    if isinstance(x, (list, tuple)) and any(isinstance(v, np.ma.MaskedArray) for v in x):
        return [v.tolist() if isinstance(v, np.ma.MaskedArray) else v for v in x]  # None in gaps
    return x


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
    if x.dtype.kind in "iuf" and (schema is None or isinstance(schema, Mapping)):
        schema = dict.fromkeys(names, "continuous") | dict(schema or {})
    return read(x, schema, weights, columns=names), None if named else columns


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
