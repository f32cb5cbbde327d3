"""An undirected model as a Bayesian network, by eliminating variables and reading it backwards.

    P(x) = Π_v P(x_v | the rest of v's clique when v was eliminated)

Exact whatever the graph. If the graph is chordal and the order perfect, the network has the same
edges; else elimination joins more, and the record says which edges it added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network
from credo.model.values.record import Record
from credo.predict.exact.elimination import eliminate
from credo.predict.exact.engine import engine_of

if TYPE_CHECKING:
    from credo.model.undirected.factor_model import FactorModel

__all__ = ["equivalent_network"]


def equivalent_network(model: FactorModel) -> Network:
    """The Bayesian network with the same joint distribution, its tables in the model's order."""
    engine = engine_of(model)
    engine.refuse_nothing_possible()
    order = list(engine.plan([], []).order)
    order += [i for i in range(len(engine.arities)) if i not in set(order)]
    factors = [
        (tuple(scope), table.reshape([engine.arities[i] for i in scope]))
        for scope, table in zip(engine.scopes, engine.tables, strict=True)
    ]
    found = eliminate(engine.arities, factors, order)
    tables: dict[str, Cpt] = {}
    edges = []
    for scope, table in zip(found.scopes, found.tables, strict=True):
        variables = [model.variables[i] for i in scope]
        rows = table.reshape(-1, variables[-1].arity).copy()
        rows[rows.sum(axis=1) == 0] = 1.0 / variables[-1].arity  # parents that cannot be
        rows /= rows.sum(axis=1, keepdims=True)
        shape = [v.arity for v in variables]
        tables[variables[-1].name] = Cpt(
            variables[-1], tuple(variables[:-1]), np.ascontiguousarray(rows.reshape(shape))
        )
        edges += [(p.name, variables[-1].name) for p in variables[:-1]]
    dag = Dag(edges, nodes=model.names)
    old = {frozenset(e) for e in model.graph.edges}
    added = sorted(" — ".join(e) for e in edges if frozenset(e) not in old)
    note = (
        f"the elimination order joined {len(added):,} more pair{'s' * (len(added) > 1)}: "
        + ", ".join(added[:12])
        + (" …" if len(added) > 12 else "")
        if added
        else "no pair had to be joined: the arrows lie on the edges of the graph"
    )
    record = Record(how="directed by elimination", notes=(note,))
    return Network(dag, {n: tables[n] for n in dag.nodes}, record=record)
