"""A table as the frame a user asks for, its states as categories: no cell becomes a text of its
own, and every state of the schema is there, also one that no row has.
"""

from __future__ import annotations

from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, MissingPackageError
from credo.core.schema import Variable, state_key
from credo.data.columns.taking import python_values
from credo.data.sources.declared import OUR_STATES

if TYPE_CHECKING:
    from credo.data.table import Table

__all__ = ["FRAMES", "arrow_states", "frame_of"]

FRAMES = ("table", "arrow", "pandas", "polars", "dict")
"""The kinds of frame: credo's own table, an Arrow table, a data frame, a dict of columns."""


def frame_of(table: Table, kind: str) -> Any:
    """The table as a frame of one of the kinds in FRAMES.

    >>> import credo as cr
    >>> table = cr.read({"x": ["b", "a", "b"]})
    >>> frame_of(table, "arrow").column("x").type
    DictionaryType(dictionary<values=string, indices=int8, ordered=0>)
    >>> frame_of(table, "dict")
    {'x': ['b', 'a', 'b']}
    """
    if kind == "table":
        return table
    if kind == "dict":
        return {n: _plain(table.values(n)) for n in table.schema.names}
    table = table.unscaled
    if kind == "arrow":
        return _arrow(table)
    if kind == "pandas":
        return _pandas(table)
    if kind == "polars":
        return _polars(table)
    raise InputError(
        f"A frame can be {', '.join(map(repr, FRAMES[:-1]))} or {FRAMES[-1]!r}, got {kind!r}."
    )


def _plain(column: NDArray[Any]) -> list[Any]:
    values: list[Any] = column.tolist()
    return [None if x != x else x for x in values] if column.dtype.kind == "f" else values


def _codes(table: Table, variable: Variable) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Codes as signed whole numbers (−1 where missing), as frames take them, and the gaps."""
    at = table.schema.index(variable.name)
    array = table.block.arrays[at]
    for kind in (np.int8, np.int16, np.int32):
        if variable.arity - 1 <= np.iinfo(kind).max:
            break
    if not table.block.gaps[at]:
        same = array.dtype.itemsize == np.dtype(kind).itemsize
        return (array.view(kind) if same else array.astype(kind)), None
    gone: NDArray[np.bool_] = array == variable.arity
    codes = array.astype(np.int32)
    codes[gone] = -1
    return codes.astype(kind), gone


def _has_odd(variable: Variable) -> bool:
    """Whether a state is a member of an enum, of which frames would make a number or a text, or a
    tuple, of which they would make several cells.
    """
    return any(isinstance(s, (Enum, tuple)) for s in variable.states)


def arrow_states(variable: Variable) -> tuple[Any, bool]:
    """The states as an Arrow array, and whether they are themselves: as texts where Arrow has no
    type for all of them; a member of an enum as the text or number that it is.

    >>> arrow_states(Variable("x", "discrete", (1, "a")))[0].to_pylist()
    ['1', 'a']
    """
    import pyarrow as pa

    with suppress(pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        states = pa.array(variable.states)
        kept = map(state_key, python_values(states))  # tuples are lists now, a text bytes
        if not pa.types.is_nested(states.type) and list(kept) == [*map(state_key, variable.states)]:
            return states, not _has_odd(variable)
    return pa.array([str(s) for s in variable.states]), False


def _arrow(table: Table) -> Any:
    import pyarrow as pa

    columns: dict[str, Any] = {}
    fields = []
    for variable, array in zip(table.schema.variables, table.block.arrays, strict=True):
        if variable.is_discrete:
            codes, gone = _codes(table, variable)
            indices, states = pa.array(codes, mask=gone), arrow_states(variable)[0]
            if isinstance(states, pa.ExtensionArray) or pa.types.is_duration(states.type):
                columns[variable.name] = states.take(indices)  # files keep no dictionary of these
            else:
                columns[variable.name] = pa.DictionaryArray.from_arrays(
                    indices, states, ordered=variable.ordered, safe=False
                )
        else:
            columns[variable.name] = pa.array(array, from_pandas=True)
        said = OUR_STATES if variable.is_discrete else None
        fields.append(pa.field(variable.name, columns[variable.name].type, metadata=said))
    return pa.table(list(columns.values()), schema=pa.schema(fields))


def _pandas(table: Table) -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise MissingPackageError(
            "A pandas frame needs pandas.", hint="Install it: pip install pandas"
        ) from None
    columns: dict[str, Any] = {}
    for variable, array in zip(table.schema.variables, table.block.arrays, strict=True):
        if variable.is_discrete and len(set(variable.states)) < variable.arity:
            columns[variable.name] = table.values(variable.name)  # True and 1 are one category
        elif variable.is_discrete:
            codes, _ = _codes(table, variable)
            odd = object if _has_odd(variable) else None
            index = pd.Index(list(variable.states), dtype=odd, tupleize_cols=False)
            kind = pd.CategoricalDtype(index, variable.ordered)
            # A copy, since a user may write in it.
            columns[variable.name] = pd.Categorical.from_codes(codes.copy(), dtype=kind)
        else:
            columns[variable.name] = array.copy()
    return pd.DataFrame(columns, copy=False)


def _polars(table: Table) -> Any:
    try:
        import polars as pl
    except ImportError:
        raise MissingPackageError(
            "A polars frame needs polars.", hint="Install it: pip install polars"
        ) from None
    columns: dict[str, Any] = {}
    for variable, array in zip(table.schema.variables, table.block.arrays, strict=True):
        if variable.is_discrete:
            texts = all(isinstance(s, str) for s in variable.states)
            states = arrow_states(variable)[0].to_pylist()
            kind = pl.Enum(states) if texts else None
            # The code after the last state stands for missing.
            columns[variable.name] = pl.Series([*states, None], dtype=kind).gather(array)
        else:
            columns[variable.name] = pl.Series(array, nan_to_null=True)
    return pl.DataFrame(columns)
