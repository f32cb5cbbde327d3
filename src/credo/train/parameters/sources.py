"""What a learner is given: a table of any kind, a source, or statistics already counted.

Everything becomes variables and a tally of the families that are wanted; no learner sees a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from credo.core.errors import InputError, SchemaError, UnknownNameError, shown
from credo.core.schema import Schema, Variable
from credo.data import Stream, Table, read
from credo.model.graphs.dag import Dag
from credo.stats.block import Block
from credo.stats.family import Families
from credo.stats.tally import Source, Tally

__all__ = ["Opened", "counted", "refuse_rows"]


class Opened:
    """A source at hand: its variables, its label, and how to tally it."""

    def __init__(self, source: Any, known: Mapping[str, Variable], weights: Any, schema: Any):
        if isinstance(source, Tally):
            if weights is not None or schema is not None:
                raise InputError("A tally is counted already: weights= and schema= come too late.")
        elif isinstance(source, (Table, Stream)) or not isinstance(source, Source):
            source = _read(source, known, weights, schema)
        self.source = source
        self.known = known

    def scale(self, dag: Dag, numbers: Any) -> None:
        """Model the numbers as asked for, given the graph."""
        from credo.train.numbers.choosing import scaled_for  # which scores families

        self.source = scaled_for(dag, self.source, numbers)

    @property
    def plain(self) -> Any:
        """The source with every number as it is, for who knows of no scales."""
        return getattr(self.source, "unscaled", self.source)

    @property
    def label(self) -> str:
        """What the source is called."""
        return "" if isinstance(self.source, Tally) else str(self.source.schema.source)

    def tally(self, families: Sequence[tuple[str, Sequence[str]]], threads: int | None) -> Tally:
        """The statistics of the families; of a tally, those it has."""
        if isinstance(self.source, Tally):
            return self.source
        wanted = Families.of(families)
        if isinstance(self.source, (Table, Stream)):
            return self.source.tally(wanted, threads=threads)
        found: Tally = self.source.tally(wanted)
        return found

    def variables(self, families: Sequence[tuple[str, Sequence[str]]]) -> dict[str, Variable]:
        """The variables of the families: those known before, else as the source has them."""
        names = list(dict.fromkeys(n for child, parents in families for n in (child, *parents)))
        if isinstance(self.source, Tally):
            found = counted(self.source, families)
        else:
            schema: Schema = self.source.schema
            found = {}
            for name in names:
                try:
                    found[name] = schema[name]
                except UnknownNameError as error:
                    raise type(error)(error.message, hint=f"{error.hint} {_HIDDEN}") from None
        for name, variable in self.known.items():
            if name in found and found[name] != variable:
                raise SchemaError(
                    f"The states of {name!r} are {list(variable.states)} in the model and "
                    f"{list(found[name].states)} in the source.",
                    hint="Read the table with the model's schema: cr.read(…, net.schema).",
                )
        return found


_HIDDEN = "A variable that is never observed cannot be counted; learning it needs EM."


def counted(tally: Tally, families: Sequence[tuple[str, Sequence[str]]]) -> dict[str, Variable]:
    """The variables behind the statistics of a tally; they must agree."""
    found: dict[str, Variable] = {}
    for child, parents in families:
        statistic = tally[child, list(parents)]
        variables = getattr(statistic, "variables", None)
        if variables is None:
            variables = (*statistic.discrete, *statistic.continuous)  # type: ignore[union-attr]
        for v in variables:
            if found.setdefault(v.name, v) != v:
                raise SchemaError(f"The statistics differ on the states of {v.name!r}.")
    return found


def _read(source: Any, known: Mapping[str, Variable], weights: Any, schema: Any) -> Table | Stream:
    """A table or stream; with the known variables' states where a model brings them."""
    if known and schema is not None:
        raise InputError("The model has its schema: schema= is for a graph alone.")
    wanted = Schema(tuple(known.values())) if known else None
    if not isinstance(source, (Table, Stream)) or weights is not None or schema is not None:
        return read(source, wanted if wanted is not None else schema, weights)
    if wanted is None:
        return source
    for name in wanted.names:
        source.schema.index(name, "Column")  # refuses one that is not there
    if all(source.schema[n] == v for n, v in known.items()):
        return source
    if isinstance(source, Stream):
        return replace(source, schema=wanted)
    again = read(source.to("arrow"), wanted)
    assert isinstance(again, Table)
    return Table(Block(again.schema, again.block.arrays, source.weights))


def refuse_rows(given: Any) -> None:
    """Refuse rows that came where the graph is due."""
    if any(hasattr(given, name) for name in ("schema", "columns", "dtypes", "dtype")):
        raise InputError(
            f"The graph comes first and the rows second, got {shown(given)} for the graph.",
            hint="Write the graph as '[A][B|A]', as edges, or give a Dag.",
        )
