"""The first rows of a network classifier, of which nothing is known yet.

`read` sets a column aside that has one value in all rows. Where more rows may come it is kept, and
left out of the model for as long as it has one value, so that the answer is that of all rows. A
column without any value waits for one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from credo.core.errors import InputError, unknown_name
from credo.core.schema import Variable
from credo.data import Stream, Table, read
from credo.data.columns.columns import Column, columns_of
from credo.data.columns.once import comes_in_batches, feed_of_any, in_memory
from credo.data.columns.sighting import sighted
from credo.estimators.open_rows import continuous_class, source_with_class
from credo.model.networks.network import Network

_MEMORY = 2**28  # bytes of codes and numbers; what takes more is read batch by batch

__all__ = ["FirstRows", "class_in_network", "first_columns", "first_table", "settled_column"]


@dataclass(frozen=True, eq=False)
class FirstRows:
    """The first rows: a table, a stream, or columns.

    `names` are the columns to learn from, in the order of X; some may have no value yet. Others
    are set `aside` here, not when a table was read.
    """

    rows: Any
    names: tuple[str, ...]
    aside: Mapping[str, str]


def first_table(x: Any, target: str, *, more: bool) -> FirstRows:
    """A table or a stream with its class by name.

    >>> found = first_table({"a": ["u", "u"], "b": [None, None], "y": [1, 1]}, "y", more=True)
    >>> found.rows.schema["a"].states, found.names
    (('u',), ('a', 'b'))
    """
    if hasattr(x, "tally") and hasattr(x, "schema"):
        schema = (source := source_with_class(x, target)).schema
        names = tuple(n for n in schema.names if n != target)
        return FirstRows(source, names, {})
    memory, again = None, True
    if comes_in_batches(x):
        feed = feed_of_any(x)
        if target not in feed.names:
            raise unknown_name("Column", target, feed.names, f"in {feed.label}")
        x = in_memory(x) if feed.once and more else x
        memory, again = None if feed.once else _MEMORY, more or not feed.once
    words = {target: "discrete"} if more else {}
    table = read(x, words or None, memory=memory)
    alone = [c.name for c in table.schema.columns if c.kind == "constant"]
    kept = {n: "discrete" for n in alone if more or n == target}  # one class is a class too
    if kept and again:
        table = read(x, words | kept, memory=memory)
    if more and any(isinstance(s, float) and s % 1 for s in table.schema[target].states):
        raise continuous_class(target)
    looked_at = [c for c in table.schema.columns if c.name != target]
    waits = {c.name for c in looked_at if more and c.kind == "empty"}
    return FirstRows(
        source_with_class(table, target),
        tuple(c.name for c in looked_at if c.used or c.name in waits),
        {c.name: c.reason for c in looked_at if more and not c.used and c.name not in waits},
    )


def first_columns(x: Any, *, more: bool) -> FirstRows:
    """The columns of X.

    >>> first_columns({"a": ["u", "u"], "b": ["u", "v"]}, more=True).rows.names
    ('a', 'b')
    """
    if not more or isinstance(x, (Table, Stream)):
        columns = columns_of(x)
        return FirstRows(columns, columns.names, {})
    table = sighted(x)
    kinds = {n: table.decision(n).column for n in table.coders}
    constant = {n: "discrete" for n, c in kinds.items() if c.kind == "constant"}
    empty = {n for n, c in kinds.items() if c.kind == "empty"}
    columns = columns_of(x, constant)
    return FirstRows(
        columns,
        tuple(n for n in table.names if n in columns.by_name or n in empty),
        {n: why for n, why in columns.aside.items() if n not in empty},
    )


def settled_column(x: Any, name: str) -> Column | None:
    """A column of more rows that had no value before, by the rules; None if it has none yet.

    >>> settled_column({"a": [None, "u", "v"]}, "a").variable.states
    ('u', 'v')
    """
    table = sighted(x)
    if name not in table.coders:
        return table.plain.by_name.get(name)
    kind = table.decision(name).column.kind
    if kind == "empty":
        return None
    return table.column(name) or table.column(name, "discrete")


def class_in_network(net: Network, target: Variable, names: Sequence[str]) -> str:
    """The name of the class; a network that X and y have nothing to do with is refused.

    >>> net = Network("[y][a|y]", {"y": 0.5, "a": {False: 0.1, True: 0.8}})
    >>> class_in_network(net, Variable("y", "discrete", (True,)), ["a", "b"])
    'y'
    """
    own = net.variable(target.name)
    if not own.is_discrete:
        raise InputError(f"{own.name!r} is continuous in the network; a class is discrete.")
    for label in target.states:
        try:
            own.code(label)
        except LookupError:
            raise unknown_name(
                "The class", label, own.states, f"one of {own.name!r} in the network"
            ) from None
    if not any(n in net.names and n != own.name for n in names):
        raise InputError(
            f"X has no column of the network but the class {own.name!r}.",
            hint=f"Its variables are {', '.join(map(repr, net.names[:12]))}.",
        )
    return own.name
