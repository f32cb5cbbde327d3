"""How the table must be read for the model's kinds and states: what differs from the rules alone.

The file is read once more by the rules, and each column that they would take for something else
than the model has is named: its kind, its states, or that it is left out.
"""

from __future__ import annotations

import shlex
from typing import Any

from credo.core.schema import Schema, Variable
from credo.data import read
from credo.predict.rows.rows import column_names
from credo.reports.subject import Subject

__all__ = ["how_read", "rows_of"]

_STATES = 40  # of a column, up to which they are written out


def rows_of(model: Any, data: Any) -> Any:
    """A table by the model's schema, as far as it has its columns."""
    names = column_names(data)
    have = tuple(v for v in model.variables if names is None or v.name in names)
    return read(data, Schema(have) if have and names is not None else None)


def how_read(subject: Subject) -> tuple[str, str]:
    """Options of a command, and the argument of `cr.read`, that read the table for the model."""
    wanted = _wanted(subject)
    if not wanted:
        return subject.reading, ""
    flags = ""
    for name, word in wanted.items():
        if word == "drop":
            flags += f" --drop {shlex.quote(name)}"
        elif isinstance(word, str):
            flags += f" --kind {shlex.quote(f'{name}={word}')}"
        else:
            flags += f" --states {shlex.quote(f'{name}=' + ','.join(map(str, word)))}"
    shaped = any(f" {option} " in subject.reading for option in ("--kind", "--states", "--drop"))
    said = ", ".join(f"{n!r}: {w!r}" for n, w in wanted.items())
    return subject.reading if shaped else flags + subject.reading, f", schema={{{said}}}"


def _wanted(subject: Subject) -> dict[str, Any]:
    plain = subject.by_rules
    if plain is None:
        return {}
    out: dict[str, Any] = {}
    for v in subject.model.variables:
        if v.name in plain:
            word = _word(v, plain[v.name])
            if word is not None:
                out[v.name] = word
        elif v.name in plain.set_aside:
            out[v.name] = v.kind if not v.is_discrete or v.arity > _STATES else list(v.states)
    out |= {n: "drop" for n in plain.names if n not in subject.model.schema}
    return out


def _word(mine: Variable, other: Variable) -> Any:
    if mine.kind != other.kind:
        return mine.kind
    if mine.is_discrete and mine.states != other.states and mine.arity <= _STATES:
        return list(mine.states)
    return None
