"""What was set in each row, as it is told: by a column that names it, by 0/1 columns or by masks.

Masks are made batch by batch, so that rows need not be in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.core.schema import Schema, Variable
from credo.data import Stream, Table

__all__ = ["Told", "schema_with", "told_by"]

Mask = NDArray[np.bool_]
_OBSERVED = {"", "none", "no", "obs", "observed", "observational", "-"}
"""What may stand in the column of experiments where nothing was set."""


@dataclass(frozen=True)
class Told:
    """The columns that say what was set, and the rows of a batch in which each variable was."""

    columns: tuple[str, ...]
    masks: Callable[[Table, int], dict[str, Mask]]  # of a batch and the number of its first row


def schema_with(
    source: Any, schema: Any, intervened: Any, known: Mapping[str, Variable] | None = None
) -> Any:
    """The schema to read with: a column that says what was set is used though it has one value.

    `known` are the variables of a model.

    >>> schema_with("rows.csv", None, "set")
    {'set': 'discrete'}
    """
    if isinstance(source, (Table, Stream)) or hasattr(source, "tally"):
        return schema
    if not (schema is None or isinstance(schema, Mapping)) or isinstance(schema, Schema):
        return schema
    columns = dict.fromkeys(_columns(intervened), "discrete")
    return {**columns, **(known or {}), **(schema or {})} if columns else schema


def told_by(source: Table | Stream, intervened: Any) -> Told:
    """How rows say what was set in them."""
    names = source.schema.names
    if isinstance(intervened, str):
        variable = source.schema[intervened]
        if not variable.is_discrete:
            raise InputError(
                f"The column {intervened!r} of experiments must name variables, and it has "
                "numbers.",
                hint="Give a mapping from variable to a 0/1 column.",
            )
        known = {n for n in names if n != intervened}
        cells = [_cell(str(s), known, intervened) for s in variable.states]

        def named(part: Table, at: int) -> dict[str, Mask]:
            codes = np.asarray(part.codes(intervened)).astype(np.int64)
            out: dict[str, Mask] = {}
            for code, set_ in enumerate(cells):
                for name in set_:
                    out[name] = out.get(name, np.zeros(part.rows, dtype=bool)) | (codes == code)
            return out

        return Told((intervened,), named)
    if not isinstance(intervened, Mapping):
        raise InputError(
            "intervened= is a column that names what was set, or a mapping from variable to a 0/1 "
            f"column or a mask, got {intervened!r}."
        )
    columns = _columns(intervened)
    for name in (*intervened, *columns):
        source.schema.index(name, "The variable that was set,")
    fixed = {
        n: _checked(n, np.asarray(given), source.rows)
        for n, given in intervened.items()
        if not isinstance(given, str)
    }

    def masked(part: Table, at: int) -> dict[str, Mask]:
        return {
            n: _checked(n, np.asarray(part[given]), part.rows)
            if isinstance(given, str)
            else fixed[n][at : at + part.rows]
            for n, given in intervened.items()
        }

    return Told(columns, masked)


def _columns(intervened: Any) -> tuple[str, ...]:
    if isinstance(intervened, str):
        return (intervened,)
    given = intervened.values() if isinstance(intervened, Mapping) else ()
    return tuple(dict.fromkeys(c for c in given if isinstance(c, str)))


def _cell(text: str, known: set[str], column: str) -> Sequence[str]:
    if text in known:
        return [text]
    if text.strip().casefold() in _OBSERVED:
        return []
    names = [part.strip() for mark in ",;+" if mark in text for part in text.split(mark)]
    names = names or text.split()
    for name in names:
        if name not in known:
            raise unknown_name(f"What was set by {column!r},", name, sorted(known), "in the table")
    return names


def _checked(name: str, values: NDArray[Any], rows: int) -> Mask:
    """The rows in which a variable was set, from 0 and 1."""
    if values.shape != (rows,):
        raise InputError(
            f"The mask of {name!r} must have a number for each of the {rows:,} rows, got "
            f"{values.shape}."
        )
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(rows, np.nan)
    if not np.isin(numbers, (0.0, 1.0)).all():
        raise InputError(f"The mask of {name!r} must be 0 or 1 (False or True) in each row.")
    return np.asarray(numbers == 1.0)
