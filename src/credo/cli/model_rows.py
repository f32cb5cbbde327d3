"""Rows for a model: the table read by the model's own variables, so that kinds and states agree."""

from __future__ import annotations

from typing import Any

from credo.cli.reading import read_from, spooled, text_options
from credo.core.errors import InputError

__all__ = ["read_for"]


def read_for(net: Any, reading: dict[str, Any]) -> Any:
    """The table by the model's schema; by the options alone where they say how a column is read.

    Standard input becomes a file whose name replaces '-' in `reading`, to be looked at again.
    """
    if reading["table"] == "-":
        reading["table"] = str(spooled())
    shaped = reading["kind"] or reading["states"] or reading["drop"]
    return read_from(**reading, schema=None if shaped else _schema(net, reading))


def _schema(net: Any, reading: dict[str, Any]) -> Any:
    """The model's variables that the table has."""
    from credo.core.schema import Schema
    from credo.data.sources.files import feed_of_path

    names = set(feed_of_path(reading["table"], text_options(reading)).names)
    have = tuple(v for v in net.variables if v.name in names)
    if not have:
        raise InputError(
            "The rows have no column of the model.",
            hint=f"Its variables are {', '.join(map(repr, net.names[:12]))}.",
        )
    return Schema(have)
