"""Interventions: a variable that is set, not observed, no longer listens to its parents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import InputError, unknown_name
from credo.model.cpt import Cpt

if TYPE_CHECKING:
    from credo.model.network import Network

__all__ = ["intervene"]


def intervene(net: Network, values: Mapping[str, Any]) -> Network:
    """The network in which the variables are set: their incoming edges are cut.

    Discrete variables only.
    """
    from credo.model.network import Network

    if not isinstance(values, Mapping) or not values:
        raise InputError(f"do() takes a mapping from variable to state, got {values!r}.")
    tables: dict[str, Any] = dict(net.distributions)
    for name, state in values.items():
        if name not in tables:
            raise unknown_name("Variable", name, net.names, "in the model")
        variable = net.variable(name)
        if not variable.is_discrete:
            raise InputError(f"do() sets discrete variables; {name!r} is continuous.")
        point = np.zeros(variable.arity)
        point[variable.code(state)] = 1.0
        tables[name] = Cpt(variable, (), point)
    edges = [(a, b) for a, b in net.dag.edges if b not in values]
    return Network(type(net.dag)(edges, nodes=net.names), tables)
