"""Fitted parameters against plain Python counting, and against other packages where they are."""

from collections import Counter
from itertools import product
from math import lgamma, log

import numpy as np
import pytest

import credo as cr

GRAPH = "[asia][smoke][tub|asia][lung|smoke][bronc|smoke][either|lung:tub][xray|either][dysp|bronc:either]"


@pytest.fixture(scope="module")
def asia(shared_tables):
    found = cr.read(shared_tables / "asia.csv")
    names = {"A": "asia", "S": "smoke", "T": "tub", "L": "lung", "B": "bronc", "E": "either",
             "X": "xray", "D": "dysp"}  # fmt: skip
    return cr.read({names.get(n, n): found.values(n).tolist() for n in found.schema.names})


def test_counted_by_hand(asia):
    """Every entry, the likelihood and the evidence, from dictionaries of counts."""
    net = cr.fit(GRAPH, asia, prior=cr.BDeu(10))
    mle = cr.fit(GRAPH, asia)
    likelihood = evidence = 0.0
    for name in net.names:
        parents = net.dag.parents(name)
        columns = [asia.values(n).tolist() for n in (*parents, name)]
        n = Counter(zip(*columns, strict=True))
        child = net.variable(name).states
        configurations = list(product(*(net.variable(p).states for p in parents)))
        alpha = 10 / (len(child) * len(configurations))
        for u in configurations:
            total = sum(n[(*u, x)] for x in child)
            evidence += lgamma(alpha * len(child)) - lgamma(alpha * len(child) + total)
            row = net.cpt(name)[u] if parents else net.cpt(name).row()
            point = mle.cpt(name)[u] if parents else mle.cpt(name).row()
            for x in child:
                k = n[(*u, x)]
                assert row[x] == pytest.approx(
                    (k + alpha) / (total + alpha * len(child)), rel=1e-13
                )
                assert point[x] == (k / total if total else 1 / len(child))
                evidence += lgamma(alpha + k) - lgamma(alpha)
                likelihood += k * log(k / total) if k else 0.0
    assert mle.record.score == pytest.approx(likelihood, rel=1e-12)
    assert net.record.details["log_marginal"] == pytest.approx(evidence, rel=1e-11)


def test_pgmpy_estimates_the_same_tables(asia):
    pytest.importorskip("pgmpy", reason="pgmpy is not installed")
    from pgmpy.estimators import BayesianEstimator
    from pgmpy.models import DiscreteBayesianNetwork

    net = cr.fit(GRAPH, asia, prior=cr.BDeu(10))
    model = DiscreteBayesianNetwork(list(net.dag.edges))
    frame = asia.to("pandas")
    estimator = BayesianEstimator(model, frame)
    for name in ("smoke", "lung", "xray"):
        found = estimator.estimate_cpd(name, prior_type="BDeu", equivalent_sample_size=10)
        states = found.state_names
        ours = net.cpt(name)
        for j, x in enumerate(states[name]):
            if not ours.parents:
                assert found.values[j] == pytest.approx(ours.row()[x], rel=1e-10)
                continue
            for i, u in enumerate(states[ours.parents[0].name]):
                assert found.values[j][i] == pytest.approx(ours[u][x], rel=1e-10)


def test_scikit_learn_fits_the_same_naive_bayes(shared_tables):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from sklearn.linear_model import LinearRegression
    from sklearn.naive_bayes import GaussianNB

    iris = cr.read(shared_tables / "iris.csv")
    (label,) = iris.schema.discrete
    features = list(iris.schema.continuous)
    dag = cr.Dag([(label, f) for f in features])
    net = cr.fit(dag, iris)
    data = np.stack([iris.values(f) for f in features], axis=1)
    peer = GaussianNB(var_smoothing=0).fit(data, iris.codes(label))
    for k, f in enumerate(features):
        assert net.cpt(f).intercept == pytest.approx(peer.theta_[:, k], rel=1e-10)
        assert net.cpt(f).variance == pytest.approx(peer.var_[:, k], rel=1e-9)
    proba = net.predict_proba(iris.select(features), label)
    assert np.allclose(proba, peer.predict_proba(data), atol=1e-9)
    child, parents = features[-1], features[:-1]
    line = cr.fit(cr.Dag([(p, child) for p in parents]), iris).cpt(child)
    regression = LinearRegression().fit(data[:, :-1], data[:, -1])
    assert line.coefficients == pytest.approx(regression.coef_, rel=1e-9)
    assert line.intercept == pytest.approx(regression.intercept_, rel=1e-9)
