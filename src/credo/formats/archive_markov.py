"""What `model.json` says of a Markov network or factor graph: variables, potentials, edges.

Version 2; Bayesian networks have files of their own kind. A table keeps its numbers and its
log-scale, a feature its values, weight and name, so that nothing is lost.
"""

from __future__ import annotations

from typing import Any

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.formats.archive_model import (
    Arrays,
    array_said,
    record_of,
    record_said,
    take,
    variable_said,
    variables_of,
)
from credo.formats.reading import Reading
from credo.model.graphs.undirected import UndirectedGraph
from credo.model.undirected.factor import Factor
from credo.model.undirected.factor_graph import FactorGraph
from credo.model.undirected.factor_model import FactorModel
from credo.model.undirected.feature import Feature
from credo.model.undirected.markov_network import MarkovNetwork
from credo.model.undirected.potentials import Potential

VERSION = 2
"""The version that is written, and the first that knows undirected models."""

KINDS = {"markov network": MarkovNetwork, "factor graph": FactorGraph}


def said_of(model: FactorModel) -> tuple[dict[str, Any], list[bytes]]:
    """What `model.json` holds, and the arrays in their order."""
    arrays: list[bytes] = []
    potentials = []
    for p in model.potentials:
        values = array_said(p.values, arrays)
        said: dict[str, Any] = {"name": p.name, "scope": list(p.names), "values": values}
        if isinstance(p, Feature):
            said |= {"kind": "feature", "weight": p.weight}
        else:
            said |= {"kind": "table", "log_scale": p.log_scale}
        potentials.append(said)
    kind = next(k for k, c in KINDS.items() if isinstance(model, c))
    return {
        "format": "credo",
        "version": VERSION,
        "kind": kind,
        "variables": [variable_said(v) for v in model.variables],
        "edges": [list(e) for e in model.graph.edges],
        "potentials": potentials,
        "record": record_said(model.record),
    }, arrays


def factor_model_of(said: dict[str, Any], data: bytes, reading: Reading) -> FactorModel:
    """The model that `model.json` and the arrays describe."""
    variables = variables_of(take(said, "variables", list, "model.json"), reading)
    arrays = Arrays(data, reading)
    potentials = [
        _potential(p, variables, arrays) for p in take(said, "potentials", list, "model.json")
    ]
    arrays.done()
    record = record_of(said.get("record"))
    states = tuple(variables.values())
    if said["kind"] == "factor graph":
        return FactorGraph(potentials, states=states, record=record)
    edges = [_edge(e, variables) for e in take(said, "edges", list, "model.json")]
    graph = UndirectedGraph(edges, nodes=list(variables))
    return MarkovNetwork(potentials, graph=graph, states=states, record=record)


def _edge(said: Any, variables: dict[str, Variable]) -> tuple[str, str]:
    if (
        not isinstance(said, list)
        or len(said) != 2
        or not all(isinstance(n, str) and n in variables for n in said)
    ):
        raise InputError(f"The edge {str(said)[:60]} does not join two variables of the file.")
    return said[0], said[1]


def _potential(said: Any, variables: dict[str, Variable], arrays: Arrays) -> Potential:
    scope = take(said, "scope", list, "A potential")
    what = f"The potential of {str(scope)[:60]}"
    for name in scope:
        if not isinstance(name, str) or name not in variables:
            raise InputError(f"{what}: the variable {str(name)[:40]!r} is not in the file.")
    found = tuple(variables[n] for n in scope)
    name = take(said, "name", str, what)
    kind = take(said, "kind", str, what)
    values = arrays.take(said.get("values"), what)
    if kind == "table":
        return Factor(found, values, name, float(take(said, "log_scale", (int, float), what)))
    if kind == "feature":
        return Feature(found, values, float(take(said, "weight", (int, float), what)), name)
    raise InputError(f"{what}: a potential of the kind {kind[:40]!r} is not known.")
