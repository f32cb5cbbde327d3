"""The rows beside a network: a table, how it was read, and how it would be read otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from credo.core.errors import InputError, unknown_name
from credo.core.schema import Column, Schema, Variable
from credo.core.state_values import readable
from credo.data import Stream, Table, read
from credo.model.networks.network import Network

__all__ = ["KINDS", "Rows", "rows_of"]

KINDS = ("as found", "discrete", "continuous", "drop")
"""What a column may be taken as."""

_SHOWN = 8  # states of a column
_GIVEN = "table = ...  # the rows that were given to cr.studio"


@dataclass(frozen=True, slots=True)
class Rows:
    """A table by its name, with the line of Python that reads it.

    `again` reads it with other kinds of columns; None: it came as a value, read already.
    """

    name: str
    table: Table
    line: str = _GIVEN
    again: Callable[[Any], Any] | None = None
    kinds: tuple[tuple[str, str], ...] = ()
    by_model: bool = False
    """Whether the columns are the variables of a model, with its states."""

    def taken_as(self, column: str, kind: str) -> Rows:
        """The rows with a column taken as something else."""
        if kind not in KINDS:
            raise InputError(f"A column is taken as one of {', '.join(KINDS)}, got {kind!r}.")
        columns = [c.name for c in self.table.schema.columns] or list(self.table.schema.names)
        if column not in columns:
            raise unknown_name("Column", column, columns, f"in {self.name}")
        if self.again is None:
            raise InputError(
                "These rows were read before the studio was opened, so their kinds are fixed.",
                hint="Read them again with schema=, or open the file here.",
            )
        kinds = {k: v for k, v in self.kinds if k != column}
        return self.with_kinds(kinds if kind == "as found" else {**kinds, column: kind})

    def with_kinds(self, kinds: Mapping[str, str]) -> Rows:
        """The rows read again."""
        assert self.again is not None
        line = self.line.partition(", schema=")[0].removesuffix(")") + ")"
        line = f"{line[:-1]}, schema={dict(kinds)!r})" if kinds else line
        table = _in_memory(self.again(kinds))
        return Rows(self.name, table, line, self.again, tuple(kinds.items()))

    def for_model(self, net: Network) -> Table:
        """The rows on the scales of a model's numbers."""
        scales = {v.name: v.scale for v in net.variables if v.scale is not None}
        scales = {n: s for n, s in scales.items() if n in self.table.schema}
        return self.table.scaled(scales) if scales else self.table

    def columns(self) -> list[dict[str, Any]]:
        """Every column: what it was taken as, why, its states, what is missing.

        >>> import credo as cr
        >>> rows = Rows("four", cr.read({"a": ["x", "y", None, "x"]}))
        >>> found = rows.columns()[0]
        >>> found["name"], found["states"], found["missing"]
        ('a', ['x', 'y'], 1)
        """
        schema, chosen = self.table.schema, dict(self.kinds)
        out = []
        plain = tuple(Column(v.name, v.kind, "as it came") for v in schema.variables)
        for c in schema.columns or plain:
            states = schema[c.name].states if c.used and c.name in schema else ()
            out.append(
                {
                    "name": c.name, "kind": c.kind, "used": c.used, "reason": c.reason,
                    "missing": c.missing, "chosen": chosen.get(c.name, "as found"),
                    "states": [readable(s) for s in states[:_SHOWN]],
                    "more": max(0, len(states) - _SHOWN), "notes": list(c.notes),
                }
            )  # fmt: skip
        return out


def rows_of(
    data: Any,
    net: Network | None = None,
    *,
    name: str = "",
    again: Callable[[Any], Any] | None = None,
) -> Rows:
    """The rows of anything that `cr.read` takes; by a model's variables, if there is a model.

    >>> rows_of("nothing.csv")
    Traceback (most recent call last):
    ...
    credo.errors.TableError: There is no file nothing.csv.
    >>> rows_of({"a": ["x", "y"]}).table.schema.names
    ('a',)
    """
    if isinstance(data, (Table, Stream)):
        _shared(net, data.schema)
        return Rows(name or "the rows", _in_memory(data))

    def read_again(schema: Any) -> Any:
        return read(data, schema=schema or None) if again is None else again(schema)

    is_file = isinstance(data, (str, Path))
    told = name or (Path(data).name if is_file else "the rows")
    line = f"table = cr.read({name or str(data)!r})" if is_file else _GIVEN
    table = read_again({})
    if net is not None:
        table = read_again(Schema(_shared(net, table.schema)))
    return Rows(told, _in_memory(table), line, read_again, by_model=net is not None)


def _shared(net: Network | None, schema: Schema) -> tuple[Variable, ...]:
    """The variables of a model that the rows have."""
    if net is None:
        return schema.variables
    shared = tuple(v for v in net.variables if v.name in schema)
    if not shared:
        raise InputError(
            "The rows have no column of the model.",
            hint=f"Its variables are {', '.join(map(repr, net.names[:12]))}.",
        )
    return shared


def _in_memory(table: Any) -> Table:
    if not isinstance(table, Table):
        raise InputError(
            "The rows do not fit in memory, so they cannot be stepped through one by one.",
            hint="Give some of them, or none.",
        )
    return table
