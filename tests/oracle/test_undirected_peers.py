"""Undirected models beside pyAgrum and pgmpy, and the standard networks without directions."""

import numpy as np
import pytest
from tests.conftest import SHARED
from tests.unit.predict.product import random_model

import credo as cr

# --- Undirected models beside pyAgrum and pgmpy, where they are installed ---


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


# --- The standard networks without their directions: the same marginals from the moral graph ---


@pytest.mark.parametrize("name", ["asia", "child", "alarm", "insurance", "hailfinder", "win95pts"])
def test_moralised_networks_answer_alike(name):
    path = SHARED / "data" / "networks" / f"{name}.bif.gz"
    if not path.exists():
        pytest.skip("the shared networks are not on this machine")
    net = cr.load(path)
    rng = np.random.default_rng(1)
    row = {n: c[0] for n, c in net.sample(1, rng=1, to="dict").items()}
    given = {n: row[n] for n in rng.choice(net.names, len(net.names) // 8, replace=False)}
    for model in (net.to_markov_network(), net.to_factor_graph()):
        assert model.log_partition == pytest.approx(0.0, abs=1e-9)
        assert model.log_evidence(given) == pytest.approx(net.log_evidence(given), rel=1e-9)
        assert model.mpe(given).log_p == pytest.approx(net.mpe(given).log_p, rel=1e-9)
        for n, found in model.marginals(given).items():
            np.testing.assert_allclose(found.p, net.p(n, given).p, atol=1e-9)
