"""A Bayesian network becomes a decision network: variables to set, and what outcomes are worth.

A decision that is a variable of the network is set, not observed: its arrows from causes are cut
(do). What is known at a decision, and what a utility depends on, stands after a bar in its name:

    net.decide({"treat|xray": ["no", "yes"]}, {"cost|treat:lung": {…}})
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from credo.core.errors import InputError, SchemaError
from credo.core.schema import Variable
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.decisions.utility import utility_of
from credo.model.graphs import notation
from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network
from credo.model.values.reals import shown
from credo.predict.questions.intervention import reversible_note
from credo.predict.questions.notes import tell

__all__ = ["decide"]


def decide(
    net: Network,
    decisions: Mapping[str, Any] | Iterable[str] | str,
    utilities: Mapping[str, Any],
    *,
    memory: str = "full",
    combine: str = "add",
    costs: Mapping[str, float] | None = None,
) -> DecisionNetwork:
    """The decision network of a network, its decisions and utilities."""
    given = {decisions: None} if isinstance(decisions, str) else decisions
    options = dict(given) if isinstance(given, Mapping) else dict.fromkeys(given)
    if not isinstance(utilities, Mapping) or not utilities:
        raise InputError(f"utilities is a mapping from name to numbers, got {shown(utilities)}.")
    heads = {key: _name(key) for key in (*options, *utilities)}
    chosen = {heads[k]: states for k, states in options.items()}
    known = {heads[k]: _parents(k, heads[k], [*net.names, *chosen]) for k in options}
    variables = {n: _variable(net, n, states) for n, states in chosen.items()}
    tables: dict[str, Any] = dict(net.distributions)
    for name, v in variables.items():
        tables[name] = Cpt(v, (), np.full(v.arity, 1 / v.arity))
    edges = [(a, b) for a, b in net.dag.edges if b not in variables]
    names = [*net.names, *(n for n in variables if n not in net.names)]
    chance = Network.trusted(Dag(edges, nodes=names), {n: tables[n] for n in names}, net.record)
    worth = {}
    for key, numbers in utilities.items():
        name = heads[key]
        if name in names:
            raise SchemaError(f"{name!r} is a variable of the network and cannot be a utility.")
        parents = tuple(chance.variable(p) for p in _parents(key, name, names))
        worth[name] = utility_of(name, parents, numbers)
    set_ = {n: None for n in variables if n in net.names}
    told = reversible_note(net, set_, set(net.names)) if set_ else ""
    if told:
        tell(f"{told[:1].upper()}{told[1:]}.")
    return DecisionNetwork.of_parts(
        chance, known, worth, memory=memory, combine=combine, costs=costs
    )


def _name(key: str) -> str:
    """What stands before the bar."""
    if not isinstance(key, str) or not key.strip():
        raise InputError(f"A decision or utility has a name, got {shown(key)}.")
    if key.lstrip().startswith('"'):
        return notation.read(f"[{key.partition('|')[0]}]")[0][0]
    return key.partition("|")[0].strip()


def _parents(key: str, name: str, names: Iterable[str]) -> tuple[str, ...]:
    """What stands after the bar."""
    others = "".join(f"[{notation.quoted(n)}]" for n in dict.fromkeys(names) if n != name)
    return tuple(a for a, b in notation.read(f"[{key}]{others}")[1] if b == name)


def _variable(net: Network, name: str, states: Any) -> Variable:
    """The variable of a decision: one of the network, or a new one with its options."""
    if name not in net.names:
        if states is None or isinstance(states, str):
            raise InputError(
                f"The options of the decision {name!r} are needed.",
                hint=f"Give them: {{{name!r}: ['no', 'yes']}}.",
            )
        return Variable(name, "discrete", tuple(states))
    found = net.variable(name)
    if not found.is_discrete:
        raise SchemaError(f"The decision {name!r} is continuous; decisions have options.")
    if states is not None and {found.find(s) for s in states} != set(range(found.arity)):
        raise SchemaError(
            f"The options of {name!r} are its states {', '.join(map(repr, found.states))}, got "
            f"{shown(states)}."
        )
    return found
