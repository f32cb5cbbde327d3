"""Undirected models beside pyAgrum and pgmpy, where they are installed."""

import numpy as np
import pytest
from tests.unit.predict.product import random_model


@pytest.mark.parametrize("seed", range(6))
def test_marginals_beside_pyagrum(seed):
    gum = pytest.importorskip("pyagrum")
    model = random_model(seed, 10, factors=14, least=2)
    merged = {}
    for f in model.factors:
        key = tuple(sorted(f.names))
        merged[key] = merged[key] * f if key in merged else f
    field = gum.MarkovRandomField()
    for v in model.variables:
        field.add(gum.LabelizedVariable(v.name, v.name, v.arity))
    for f in merged.values():
        field.addFactor(list(f.names))[:] = np.ascontiguousarray(f.values.T)
    for v in model.variables:  # it cannot ask about a variable that is in no factor
        if not model.neighbours(v.name) and (v.name,) not in merged:
            field.addFactor([v.name])[:] = np.ones(v.arity)
    given = {"x3": 1, "x7": 0}
    ask = gum.ShaferShenoyMRFInference(field)
    ask.setEvidence(given)
    ask.makeInference()
    found = model.marginals({n: f"s{code}" for n, code in given.items()})
    for name, distribution in found.items():
        np.testing.assert_allclose(distribution.p, ask.posterior(name).toarray(), atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_partition_beside_pgmpy(seed):
    pytest.importorskip("pgmpy")
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.models import DiscreteMarkovNetwork

    model = random_model(seed, 7, factors=12, least=2)
    used = {n for f in model.factors for n in f.names}
    net = DiscreteMarkovNetwork()
    net.add_nodes_from(used)
    net.add_edges_from(model.graph.edges)
    net.add_factors(*(DiscreteFactor(list(f.names), f.shape, f.values) for f in model.factors))
    alone = sum(np.log(v.arity) for v in model.variables if v.name not in used)
    exact = np.log(net.get_partition_function()) + alone
    assert model.log_partition == pytest.approx(exact, rel=1e-10)
