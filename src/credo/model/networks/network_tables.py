"""From the tables that were given for a network to its variables and their distributions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import InputError, SchemaError, unknown_name
from credo.core.schema import Variable
from credo.model.answers.distribution import Distribution
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian

if TYPE_CHECKING:
    from credo.model.graphs.dag import Dag

__all__ = ["Local", "network_distributions", "tables_by_name"]

Local = Cpt | LinearGaussian


def network_distributions(
    dag: Dag, tables: Mapping[str, Any], states: Mapping[str, Sequence[Any]] | None
) -> dict[str, Local]:
    """The distribution of each node given its parents, by name."""
    _same_names(dag, tables)
    variables = _variables(dag, tables, {} if states is None else states)
    out: dict[str, Local] = {}
    for name in dag.nodes:
        parents = tuple(variables[p] for p in dag.parents(name))
        out[name] = _local(variables[name], parents, tables[name])
    return out


def tables_by_name(tables: Iterable[Local]) -> dict[str, Local]:
    """Distributions that know their names, as a mapping."""
    if not isinstance(tables, Iterable):
        raise InputError(f"The tables must be a mapping by name, or a list of Cpt, got {tables!r}.")
    out: dict[str, Local] = {}
    for table in tables:
        if not isinstance(table, Cpt | LinearGaussian):
            raise InputError(
                f"The tables must be a mapping by name, or a list of Cpt, got {table!r}."
            )
        if table.name in out:
            raise InputError(f"There are two distributions for {table.name!r}.")
        out[table.name] = table
    return out


def _same_names(dag: Dag, tables: Mapping[str, Any]) -> None:
    for name in dag.nodes:
        if name not in tables:
            raise SchemaError(f"The variable {name!r} is in the graph but has no distribution.")
    for name in tables:
        if name not in dag:
            raise unknown_name("The distribution of", name, dag.nodes, "for a node of the graph")


def _variables(
    dag: Dag, tables: Mapping[str, Any], states: Mapping[str, Sequence[Any]]
) -> dict[str, Variable]:
    """A variable for each node: as its table says, else from `states`, else as its table shows."""
    if not isinstance(states, Mapping):
        raise InputError(f"states= is a mapping from variable to its states, got {states!r}.")
    for name, given in states.items():
        if name not in dag.nodes:
            raise unknown_name("The variable of states=", name, dag.nodes, "in the graph")
        if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
            raise InputError(f"The states of {name!r} must be a list, got {given!r}.")
    found: dict[str, Variable] = {}
    for name in dag.nodes:
        given = tables[name]
        if isinstance(given, Cpt | LinearGaussian):
            if given.name != name:
                raise SchemaError(f"The distribution of {given.name!r} was given for {name!r}.")
            found[name] = given.child
        elif name in states:
            found[name] = Variable(name, "discrete", tuple(states[name]))
        else:
            depth = len(dag.parents(name))
            found[name] = Variable(name, "discrete", _shown(name, given, depth))
    for name in dag.nodes:
        given = tables[name]
        if isinstance(given, Cpt | LinearGaussian):
            for parent in given.parents:
                if parent.name in found and found[parent.name] != parent:
                    raise SchemaError(
                        f"The table of {name!r} and that of {parent.name!r} differ on the states "
                        f"of {parent.name!r}."
                    )
    return found


def _shown(name: str, given: Any, depth: int) -> tuple[Any, ...]:
    """The states that a table of nested dicts, rows or numbers shows."""
    if isinstance(given, Distribution):
        return given.variables[0].states
    row = given
    tuples = isinstance(given, Mapping) and any(isinstance(k, tuple) for k in given)
    for _ in range(1 if tuples and depth else depth):
        if not isinstance(row, Mapping):
            break
        if not row:
            raise InputError(f"The table of {name!r} is empty.")
        row = next(iter(row.values()))
    if isinstance(row, Mapping):
        if not row:
            raise InputError(f"The table of {name!r} is empty.")
        return tuple(row)
    if isinstance(row, (int, float)) and not isinstance(row, bool):
        return (False, True)
    if hasattr(given, "columns"):
        if name in given.columns and "p" in given.columns:
            return tuple(dict.fromkeys(given[name].to_list()))
        raise InputError(
            f"The states of {name!r} are needed.", hint=f"Give states={{{name!r}: […]}}."
        )
    try:
        shape = np.asarray(row, dtype=np.float64).shape
    except (TypeError, ValueError):
        shape = ()
    if not shape:
        raise InputError(f"The table of {name!r} cannot be read: {given!r}.")
    return tuple(range(shape[-1]))


def _local(child: Variable, parents: tuple[Variable, ...], given: Any) -> Local:
    if child.is_discrete:
        for parent in parents:
            if not parent.is_discrete:
                raise SchemaError(
                    f"The discrete variable {child.name!r} cannot have the continuous parent "
                    f"{parent.name!r}.",
                    hint="Turn the edge round, or make the parent discrete.",
                )
        return Cpt.of(child, parents, given)
    if not isinstance(given, LinearGaussian):
        raise InputError(f"The continuous variable {child.name!r} needs a LinearGaussian.")
    if set(given.parents) != set(parents):
        raise SchemaError(
            f"The line of {child.name!r} is for the parents {[p.name for p in given.parents]}, "
            f"the graph says {[p.name for p in parents]}."
        )
    return given
