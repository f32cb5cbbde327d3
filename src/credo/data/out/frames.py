"""A table as the frame a user asks for, its states as categories: no cell becomes a text of its
own, and every state of the schema is there, also one that no row has.
"""

from __future__ import annotations

from contextlib import suppress
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, MissingPackageError
from credo.core.schema import Variable, state_key
from credo.data.columns.taking import python_values
from credo.data.sources.declared import OUR_STATES

if TYPE_CHECKING:
    from credo.data.table import Table

FRAMES = ("table", "arrow", "pandas", "polars", "dict")
"""The kinds of frame: credo's own table, an Arrow table, a data frame, a dict of columns."""


def frame_of(table: Table, kind: str, *, categories: bool = True) -> Any:
    """The table as a frame of one of the kinds in FRAMES; without `categories` states that have no
    order are plain cells, and whole numbers whole.

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
        return _arrow(table, categories)
    if kind == "pandas":
        return _pandas(table) if categories else _plain_pandas(table)
    if kind == "polars" and categories:
        return _polars(table)
    if kind == "polars":
        return _imported("polars").from_arrow(_arrow(table, categories))
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
        plain = not (pa.types.is_nested(states.type) or isinstance(states, pa.ExtensionArray))
        if plain and list(kept) == [*map(state_key, variable.states)]:
            return states, not _has_odd(variable)
    return pa.array([str(s) for s in variable.states]), False


def _arrow(table: Table, categories: bool) -> Any:
    import pyarrow as pa

    columns: dict[str, Any] = {}
    fields = []
    for variable, array in zip(table.schema.variables, table.block.arrays, strict=True):
        name, said = variable.name, None
        if variable.is_discrete:
            codes, gone = _codes(table, variable)
            indices, states = pa.array(codes, mask=gone), arrow_states(variable)[0]
            if pa.types.is_duration(states.type) or not (categories or variable.ordered):
                columns[name] = states.take(indices)  # files keep no dictionary of durations
            else:
                columns[name] = pa.DictionaryArray.from_arrays(
                    indices, states, ordered=variable.ordered, safe=False
                )
            said = OUR_STATES if categories else None
        else:
            cells = pa.array(array, from_pandas=True)
            whole = not categories and table.is_whole(name, array)
            columns[name] = cells.cast(pa.int64()) if whole else cells
        fields.append(pa.field(name, columns[name].type, metadata=said))
    return pa.table(list(columns.values()), schema=pa.schema(fields))


def _imported(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise MissingPackageError(
            f"A {package} frame needs {package}.", hint=f"Install it: pip install {package}"
        ) from None


def _plain_pandas(table: Table) -> Any:
    import pyarrow as pa

    pd, cells = _imported("pandas"), _arrow(table, False)
    # whole numbers with gaps stay whole
    gaps = any(c.null_count and pa.types.is_integer(c.type) for c in cells.columns)
    kinds = {pa.int64(): pd.Int64Dtype()} if gaps else {}
    frame = cells.to_pandas(types_mapper=kinds.get)
    for variable in table.schema.variables:
        if variable.is_discrete and not arrow_states(variable)[1]:
            frame[variable.name] = pd.Series(table.values(variable.name), dtype=object)
    return frame


def _pandas(table: Table) -> Any:
    pd = _imported("pandas")
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
    pl = _imported("polars")
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
