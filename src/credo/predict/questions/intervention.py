"""Interventions: a variable that is set, not observed, no longer listens to its parents."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import InputError, unknown_name
from credo.model.graphs.reversible import hanging_on
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.values.value import finite
from credo.predict.questions.evidence import on_line

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["intervene", "reversible_note"]

_NOTHING = 1e-290  # the smallest variance that is a number with its square root


def intervene(net: Network, values: Mapping[str, Any]) -> Network:
    """The network in which the variables are set: their incoming edges are cut.

    A continuous one becomes a line without parents at its value, whose variance of 1e-290 is
    nothing beside any other.
    """
    from credo.model.networks.network import Network

    if not isinstance(values, Mapping) or not values:
        raise InputError(f"do() takes a mapping from variable to state, got {values!r}.")
    tables: dict[str, Any] = dict(net.distributions)
    for name, state in values.items():
        if name not in tables:
            raise unknown_name("Variable", name, net.names, "in the model")
        variable = net.variable(name)
        if not variable.is_discrete:
            value = on_line(variable, finite(state, f"The value that do() sets {name!r} to"))
            tables[name] = LinearGaussian(
                variable, (), np.array(value), np.zeros(0), np.array(_NOTHING)
            )
            continue
        point = np.zeros(variable.arity)
        point[variable.code(state)] = 1.0
        tables[name] = Cpt(variable, (), point)
    edges = [(a, b) for a, b in net.dag.edges if b not in values]
    return Network(type(net.dag)(edges, nodes=net.names), tables)


def reversible_note(net: Network, do: Mapping[str, Any], asked: Collection[str]) -> str:
    """Which arrows of a learned graph an answer hangs on that rows could not decide; that no path
    of them leads there, so that nothing changes; or nothing.
    """
    edges = hanging_on(net, do, asked)
    if not edges:
        return _no_path(net, do, asked)
    named = ", ".join(f"{a} → {b}" for a, b in edges[:4])
    named += f" and {len(edges) - 4} more" if len(edges) > 4 else ""
    points = "points" if len(edges) == 1 else "point"
    return (
        f"what do({', '.join(do)}) does hangs on which way {named} {points}, and the rows do not "
        "tell: the graph with it turned fits them as well. Say what you know with "
        "required=, forbidden= or tiers= when learning"
    )


def _no_path(net: Network, do: Mapping[str, Any], asked: Collection[str]) -> str:
    """What to say where observing would change the answer and setting does not, by the arrows of a
    graph that was learned without a word on them.
    """
    details = {} if net.record is None else net.record.details
    rules = details.get("recipe") or {}
    told = any(rules.get(name) for name in ("required", "forbidden", "tiers"))
    if told or not details.get("search"):
        return ""
    names = list(do)
    reached = {*names, *net.dag.descendants(names)}
    if reached & set(asked) or not set(net.dag.d_connected(names)) & set(asked):
        return ""
    return (
        f"do({', '.join(do)}) changes nothing here: no arrows of the learned graph lead from it to "
        f"{', '.join(sorted(asked))}. Rows alone seldom tell cause from effect: say what you know "
        "with required=, forbidden= or tiers= when learning"
    )
