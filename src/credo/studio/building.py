"""The requests of Build: nodes, states, edges and tables by hand.

A network is a network at every step: a new node is uniform, a new parent changes nothing until the
table is typed (its rows are repeated), and an edge that goes leaves the mean of the rows that
differ in it alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network
from credo.studio.state import NOTHING, Json, State, Verb

if TYPE_CHECKING:
    from credo.studio.session import Session

_OFF = 1e-9  # how far a typed row may miss 1
_MOST_CELLS = 1_000_000
_MOST_NODES = 2_000

Values = NDArray[np.float64]


def _new(session: Session, at: State, /) -> State:
    return State(Network(Dag([]), {}))


def _node_added(session: Session, at: State, /, name: str, states: list[Any]) -> State:
    if name in at.net.names:
        raise InputError(f"There is a variable {name!r} already.")
    if len(at.net.names) >= _MOST_NODES:
        raise InputError(f"The studio builds networks of up to {_MOST_NODES:,} variables.")
    variable = _variable(name, states)
    dag = Dag(at.net.dag.edges, [*at.net.names, name])
    uniform = np.full(variable.arity, 1.0 / variable.arity)
    return _with(at, dag, {name: _cpt((variable,), uniform)})


def _node_dropped(session: Session, at: State, /, name: str) -> State:
    at.variable(name)
    for child in at.net.dag.children(name):
        at = _edge_dropped(session, at, **{"from": name, "to": child})
    edges = [e for e in at.net.dag.edges if name not in e]
    return _with(at, Dag(edges, [n for n in at.net.names if n != name]), {})


def _node_changed(session: Session, at: State, /, name: str, to: str, states: list[Any]) -> State:
    """Another name, other states: tables stay where the states are as many, else are uniform."""
    table = _table(at, name)
    if to != name and to in at.net.names:
        raise InputError(f"There is a variable {to!r} already.")
    variable = _variable(to, states)
    if tuple(map(str, table.child.states)) == tuple(variable.states):
        variable = Variable(to, "discrete", table.child.states)
    swapped = {}
    for child in (name, *at.net.dag.children(name)):
        old = _table(at, child)
        new = tuple(variable if v.name == name else v for v in old.variables)
        shape = tuple(v.arity for v in new)
        values = old.values if shape == old.shape else np.full(shape, 1.0 / shape[-1])
        swapped[to if child == name else child] = _cpt(new, values)
    new_name = {name: to}
    edges = [(new_name.get(a, a), new_name.get(b, b)) for a, b in at.net.dag.edges]
    dag = Dag(edges, [new_name.get(n, n) for n in at.net.names])
    return _with(at, dag, swapped, gone=name)


def _edge_added(session: Session, at: State, /, **ends: str) -> State:
    parent, child = ends["from"], ends["to"]
    table, above = _table(at, child), at.variable(parent)
    if not above.is_discrete:
        raise InputError(f"{parent!r} is a number, and {child!r} has a table.")
    dag = Dag([*at.net.dag.edges, (parent, child)], at.net.names)
    _refuse_large((*table.shape, above.arity), child)
    wider = np.repeat(np.expand_dims(table.values, -2), above.arity, axis=-2)
    variables = (*table.variables[:-1], above, table.child)
    return _with(at, dag, {child: _cpt(variables, wider)})


def _edge_dropped(session: Session, at: State, /, **ends: str) -> State:
    parent, child = ends["from"], ends["to"]
    at.variable(parent)
    table = _table(at, child)
    if (parent, child) not in at.net.dag.edges:
        raise InputError(f"There is no edge from {parent!r} to {child!r}.")
    axis = [v.name for v in table.variables].index(parent)
    values = table.values.mean(axis=axis)
    variables = tuple(v for v in table.variables if v.name != parent)
    dag = Dag([e for e in at.net.dag.edges if e != (parent, child)], at.net.names)
    return _with(at, dag, {child: _cpt(variables, values)})


def _typed(session: Session, at: State, /, name: str, rows: list[Any], normalise: bool) -> State:
    """A table by its rows, in the order in which it is shown."""
    table = _table(at, name)
    shape = (int(np.prod(table.shape[:-1])), table.shape[-1])
    values = _numbers(name, rows, shape)
    sums = values.sum(axis=1)
    if normalise:
        if not (sums > 0).all():
            raise InputError(
                f"Row {int((sums <= 0).argmax()) + 1} of {name!r} has no number above 0."
            )
        values = values / sums[:, None]
    else:
        off = np.abs(sums - 1.0)
        if off.max() > _OFF:
            k = int(off.argmax())
            raise InputError(
                f"Row {k + 1} of {name!r} must add up to 1, and adds up to {sums[k]:.6g}.",
                hint="Type it again, or normalise the rows.",
            )
    return _with(at, at.net.dag, {name: _cpt(table.variables, values.reshape(table.shape))})


def _numbers(name: str, rows: Sequence[Any], shape: tuple[int, int]) -> Values:
    """The typed numbers, each a probability or a weight."""
    fits = len(rows) == shape[0] and all(isinstance(r, list) and len(r) == shape[1] for r in rows)
    if not fits:
        raise InputError(
            f"The table of {name!r} must have {shape[0]:,} rows of {shape[1]} numbers.",
            hint="Paste rows as they are shown, cells apart by tabs, commas or spaces.",
        )
    for i, row in enumerate(rows):
        for cell in row:
            good = isinstance(cell, (int, float)) and not isinstance(cell, bool)
            if not good or not np.isfinite(cell) or cell < 0:
                raise InputError(f"Row {i + 1} of {name!r}: {cell!r} is no number of 0 or more.")
    return np.array(rows, dtype=float)


def _table_shown(session: Session, at: State, /, name: str) -> Json:
    """A table as it is edited."""
    table = _table(at, name)
    rows = table.values.reshape(-1, table.shape[-1])
    given = np.stack(np.unravel_index(np.arange(len(rows)), table.shape[:-1] or (1,)), axis=1)
    parents = table.parents
    return {
        "name": name, "parents": [v.name for v in parents], "states": list(table.child.texts),
        "given": [[v.texts[i] for v, i in zip(parents, at_, strict=False)] for at_ in given],
        "rows": rows.tolist(),
    }  # fmt: skip


def _variable(name: str, states: Sequence[Any]) -> Variable:
    if not name.strip() or len(name) > 200:
        raise InputError(f"A variable must have a name of 1 to 200 characters, got {name!r}.")
    if not all(isinstance(s, str) and s.strip() for s in states) or len(states) > 1000:
        raise InputError(f"The states of {name!r} must be texts, at most 1,000.")
    return Variable(name, "discrete", tuple(states))


def _cpt(variables: Sequence[Variable], values: Values) -> Cpt:
    return Cpt(variables[-1], tuple(variables[:-1]), values)


def _table(at: State, name: str) -> Cpt:
    at.variable(name)
    table = at.net.cpt(name)
    if not isinstance(table, Cpt):
        raise InputError(
            f"{name!r} has no table but a law of numbers, which is not edited by hand.",
            hint="Learn it from rows under Learn.",
        )
    _refuse_large(table.shape, name)
    return table


def _refuse_large(shape: Sequence[int], name: str) -> None:
    cells = int(np.prod(shape))
    if cells > _MOST_CELLS:
        raise InputError(
            f"The table of {name!r} would have {cells:,} cells; {_MOST_CELLS:,} at most."
        )


def _with(at: State, dag: Dag, new: Mapping[str, Any], gone: str = "") -> State:
    """The state with another graph and some other tables; nothing is known in it."""
    kept = {n: d for n, d in at.net.distributions.items() if n in dag.nodes and n != gone}
    return replace(at, net=Network(dag, {**kept, **new}), moment=NOTHING, made="")


_NAME: dict[str, tuple[type, ...]] = {"name": (str,)}
_ENDS: dict[str, tuple[type, ...]] = {"from": (str,), "to": (str,)}

VERBS: dict[str, Verb] = {
    "new": Verb(_new, {}, changes=True),
    "add-node": Verb(_node_added, {**_NAME, "states": (list,)}, changes=True),
    "drop-node": Verb(_node_dropped, _NAME, changes=True),
    "change-node": Verb(_node_changed, {**_NAME, "to": (str,), "states": (list,)}, changes=True),
    "add-edge": Verb(_edge_added, _ENDS, changes=True),
    "drop-edge": Verb(_edge_dropped, _ENDS, changes=True),
    "type": Verb(_typed, {**_NAME, "rows": (list,), "normalise": (bool,)}, changes=True),
    "table": Verb(_table_shown, _NAME),
}
"""The requests by their names."""
