"""What users bring besides lists and arrays: credo tables, frames, columns of either.

A source is anything with a `schema` and a `tally`; a frame is anything with named columns. A
column may know its categories: they are the states then, in their order, seen or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.model.values.reals import shown
from credo.stats.counts import Counts
from credo.stats.moments import Moments

__all__ = [
    "categories",
    "column_lists",
    "frame_columns",
    "is_source",
    "source_counts",
    "source_moments",
    "source_values",
    "values_of",
]


# --- credo tables -------------------------------------------------------------------------


def is_source(data: Any) -> bool:
    """Whether the data has a schema and can tally itself, as a credo table does."""
    return (
        not isinstance(data, type)
        and hasattr(data, "schema")
        and callable(getattr(data, "tally", None))
    )


def _only(source: Any, kind: str, name: str) -> str:
    """The one variable of a kind, or the one of several that has the name wanted."""
    names: tuple[str, ...] = getattr(source.schema, kind)
    if name in names:
        return name
    if len(names) != 1:
        other = "continuous" if kind == "discrete" else "discrete"
        rest: tuple[str, ...] = getattr(source.schema, other)
        have = f"{len(names)}: {', '.join(names)}" if names else "none"
        also = f" ({other}: {', '.join(rest)})" if rest and not names else ""
        raise InputError(
            f"A table with one {kind} variable is needed here, this one has {have}{also}.",
            hint=f"Give one of them, such as table.tally({names[0]!r})[{names[0]!r}]."
            if names
            else "",
        )
    return names[0]


def source_counts(source: Any, name: str) -> Counts:
    """The counts of the discrete variable called `name`, or of the only one there is."""
    child = _only(source, "discrete", name)
    counts: Counts = source.tally([child])[child]
    return counts


def source_moments(source: Any, names: Sequence[str]) -> Moments:
    """The moments of the continuous variables called `names`, or of all there are."""
    have: tuple[str, ...] = source.schema.continuous
    wanted = tuple(names) if names and set(names) <= set(have) else have
    if not wanted:
        raise InputError(
            "A table with a continuous variable is needed here, this one has none "
            f"(discrete: {', '.join(source.schema.discrete)})."
        )
    *parents, child = wanted
    moments: Moments = source.tally([(child, parents)])[child, parents]
    return moments


def source_values(source: Any, name: str, kind: str = "") -> Any:
    """The cells of one column of a table, row by row; a stream and weighted rows are refused."""
    if not callable(getattr(source, "values", None)):
        raise InputError(
            "The rows themselves are needed here, and a stream does not keep them.",
            hint="Load it into a table first.",
        )
    if getattr(source, "weights", None) is not None:
        raise InputError(
            "The rows themselves are needed here, each of the weight 1; these have weights.",
            hint="Give the columns themselves, as lists or arrays.",
        )
    if not kind:
        if len(source.schema) != 1 and name not in source.schema:
            raise InputError(
                "A table with one variable is needed here, this one has "
                f"{len(source.schema)}: {', '.join(source.schema.names)}.",
                hint=f"Take one of them: table.select([{source.schema.names[0]!r}]).",
            )
        return source.values(name if name in source.schema else source.schema.names[0])
    return source.values(_only(source, kind, name))


# --- frames and their columns -------------------------------------------------------------


def frame_columns(data: Any) -> dict[str, Any] | None:
    """The columns of a data frame (or an Arrow table) by name; None for anything else."""
    if isinstance(data, (Mapping, type)) or not hasattr(data, "__getitem__"):
        return None
    names = getattr(data, "column_names", None)
    if not isinstance(names, (list, tuple)):
        names = getattr(data, "columns", None)
        if names is None or callable(names) or not isinstance(names, Iterable):
            return None
    return {str(name): data[name] for name in names}


def column_lists(frame: Any, what: str) -> dict[str, list[Any]]:
    """Each column of a data frame as a list, by name.

    >>> import pyarrow as pa
    >>> column_lists(pa.table({"rain": ["no", "yes"], "p": [0.8, 0.2]}), "The table")
    {'rain': ['no', 'yes'], 'p': [0.8, 0.2]}
    """
    columns = frame_columns(frame)
    if columns is None:
        raise InputError(f"{what} cannot be read: {frame!r}.")
    return {name: values_of(column) for name, column in columns.items()}


def values_of(data: Any) -> list[Any]:
    """The cells of a list, an array or a column of any frame, as plain values.

    >>> values_of(np.ma.array([1, 2], mask=[0, 1])), values_of(("a", None))
    ([1, None], ['a', None])
    """
    if (columns := frame_columns(data)) is not None:
        if len(columns) != 1:
            raise InputError(
                f"One column is needed here, the frame has {len(columns)}: "
                f"{', '.join(list(columns)[:6])}{', …' if len(columns) > 6 else ''}.",
                hint="Give one of its columns.",
            )
        (data,) = columns.values()
    if isinstance(data, np.ndarray):
        if data.ndim == 2 and data.shape[1] == 1:
            data = data[:, 0]
        if data.ndim != 1:
            raise InputError(
                f"One column of values is needed here, got an array of the shape {data.shape}."
            )
        return list(data.tolist())
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow; polars; pandas
        if callable(get := getattr(data, method, None)):
            found = get()
            if isinstance(found, list):
                return found
    if isinstance(data, (str, bytes)) or not isinstance(data, Iterable):
        raise InputError(f"A sequence of values is needed here, got {shown(data)}.")
    return [None if v is np.ma.masked else v for v in data]


def categories(data: Any) -> tuple[Any, ...] | None:
    """The categories a column knows by itself, in their order; None when it knows none.

    pandas categoricals, polars enumerations and Arrow dictionaries know them.
    """
    if (columns := frame_columns(data)) is not None and len(columns) == 1:
        (data,) = columns.values()
    known = getattr(data, "dictionary", None)
    if known is None:
        known = getattr(getattr(data, "dtype", None), "categories", None)
    for method in ("to_pylist", "to_list", "tolist"):
        if callable(get := getattr(known, method, None)):
            found = get()
            return tuple(found) if isinstance(found, list) and found else None
    return None
