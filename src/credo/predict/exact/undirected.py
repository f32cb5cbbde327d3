"""Models without directions: the same plans over factors that need not add up to one.

    ln P(e) = ln Z(e) − ln Z,      Z(e) = Σ_{x agreeing with e} Π_f φ_f(x_f)

ln Z is found once, when it is first needed; a posterior does not need it. By eliminating variables
and reading the tables backwards, the model becomes a Bayesian network:

    P(x) = Π_v P(x_v | the rest of v's clique when v was eliminated)

Exact whatever the graph. If the graph is chordal and the order perfect, the network has the same
edges; else elimination joins more, and the record says which edges it added.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from credo.core.errors import ImpossibleError
from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network
from credo.model.values.record import Record
from credo.predict.exact.elimination import eliminate
from credo.predict.exact.engine import Engine, engine_of

if TYPE_CHECKING:
    from credo.model.networks.network import Network
    from credo.model.undirected.factor_model import FactorModel

__all__ = ["FactorEngine", "equivalent_network", "log_partition"]


class FactorEngine(Engine):
    """The compiled form of a product of factors."""

    directed = False

    def __init__(self, model: FactorModel) -> None:
        self.net = cast("Network", model)
        self.factors = model.factors
        self.at = {name: i for i, name in enumerate(model.names)}
        self.arities = [v.arity for v in model.variables]
        tables = [np.ascontiguousarray(f.values, dtype=np.float64).ravel() for f in self.factors]
        self._keep([[self.at[n] for n in f.names] for f in self.factors], tables)

    def _log_sum(self, tables: list[np.ndarray]) -> float:
        plan = self.plan([], [])
        return float(plan.run(tables, np.zeros((1, 0), dtype=np.int32), [], 1)[0][0])

    @cached_property
    def _log_z(self) -> float:
        return self._log_sum(self.tables)

    @property
    def log_total(self) -> float:
        """ln of the sum of the product of the tables; the factors' scales are not in them."""
        self.refuse_nothing_possible()
        return self._log_z

    def refuse_nothing_possible(self) -> None:
        """Raise if the factors rule out every configuration, naming those that do together."""
        if self._log_z > -np.inf:
            return
        tables = list(self.tables)
        zeros = [i for i, t in enumerate(tables) if (t == 0).any()]
        named = []
        for i in zeros:  # what can be left out does not belong to the conflict
            kept, tables[i] = tables[i], np.ones_like(tables[i])
            if self._log_sum(tables) > -np.inf:
                tables[i] = kept
                named.append(self.factors[i].title)
        together = " leaves nothing" if len(named) == 1 else " leave nothing together"
        raise ImpossibleError(
            f"The factors rule out every configuration, so Z = 0: {', '.join(named)}{together}.",
            hint="Give some configuration a number above 0 in each of them.",
        )


def log_partition(model: FactorModel) -> float:
    """ln Z of a model."""
    engine = engine_of(model)
    return engine.log_total + sum(f.log_scale for f in model.factors)


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
