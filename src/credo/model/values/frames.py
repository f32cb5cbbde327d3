"""The columns of a data frame of any kind, for tables of numbers that people type in frames."""

from __future__ import annotations

from typing import Any

from credo.core.errors import InputError

__all__ = ["frame_columns"]


def frame_columns(frame: Any, what: str) -> dict[str, list[Any]]:
    """Each column as a list, by name.

    >>> import pyarrow as pa
    >>> frame_columns(pa.table({"rain": ["no", "yes"], "p": [0.8, 0.2]}), "The table")
    {'rain': ['no', 'yes'], 'p': [0.8, 0.2]}
    """
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(f"{what} cannot be read: {frame!r}.") from None
    return {c: table[c].to_list() for c in table.columns}
