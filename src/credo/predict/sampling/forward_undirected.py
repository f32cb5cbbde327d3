"""The generative story of an undirected model given evidence: exact rows, none rejected.

The factors, with the evidence in them, are eliminated once and read backwards: a Bayesian network
with the same distribution, drawn from parents to children (see `elimination`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credo import _core
from credo.predict.exact.elimination import Factor, eliminate, sliced
from credo.predict.exact.engine import engine_of
from credo.predict.questions.conflict import impossible
from credo.predict.questions.evidence import Evidence
from credo.predict.sampling.forward import Story

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["factor_story"]


def factor_story(model: Network, evidence: Evidence) -> Story:
    """How the rows of a product of factors come about, given evidence."""
    engine = engine_of(model)
    fixed = {engine.at[n]: code for n, code in evidence.hard.items()}
    soft: list[Factor] = [((engine.at[n],), likelihood) for n, likelihood in evidence.soft.items()]
    scopes = [tuple(s) for s in engine.scopes]
    factors = sliced(engine.arities, [*zip(scopes, engine.tables, strict=True), *soft], fixed)
    free = [v for v in range(len(engine.arities)) if v not in fixed]
    network = _core.Model(engine.arities, [s for s, _ in factors])
    order = list(network.compile(sorted(fixed), None, directed=False).order)
    order += [v for v in free if v not in set(order)]
    found = eliminate(engine.arities, factors, order, fixed=fixed)
    if found.log_z == -np.inf:
        raise impossible(model, evidence)
    return Story(model.schema, found, (), (), {})
