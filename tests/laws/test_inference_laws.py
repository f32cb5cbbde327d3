"""Identities of exact inference, to 1e-10, and d-separation on 100 random networks."""

import itertools

import numpy as np
import pytest

from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network
from tests.unit.predict.joint import random_network

SEEDS = range(20)
CLOSE = {"rtol": 0, "atol": 1e-10}


def some(net, seed, k):
    rng = np.random.default_rng([seed, 5])
    return [str(x) for x in rng.choice(net.names, k, replace=False)]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_prior_is_the_average_of_the_posteriors(seed):
    net = random_network(seed, 8)
    x, e = some(net, seed, 2)
    weights = net.p(e)
    average = sum(weights[s] * net.p(x, {e: s}).p for s in net.variable(e).states)
    np.testing.assert_allclose(average, net.p(x).p, **CLOSE)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_chain_rule_in_any_order(seed):
    net = random_network(seed, 8)
    names = some(net, seed, 4)
    states = {n: net.variable(n).states[0] for n in names}
    whole = net.log_evidence(states)
    for order in itertools.permutations(names):
        given, total = {}, 0.0
        for name in order:
            total += net.p(name, given).log_p(states[name])
            given[name] = states[name]
        np.testing.assert_allclose(total, whole, **CLOSE)
        np.testing.assert_allclose(net.log_evidence({n: states[n] for n in order}), whole, **CLOSE)
    joint = net.p(names)
    np.testing.assert_allclose(np.log(joint[tuple(states.values())]), whole, **CLOSE)


@pytest.mark.parametrize("seed", SEEDS)
def test_soft_evidence_of_zeros_and_ones_is_hard(seed):
    net = random_network(seed, 8)
    x, a, b = some(net, seed, 3)
    hard = {a: net.variable(a).states[1], b: net.variable(b).states[0]}
    forms = [
        {n: {s: 1.0} for n, s in hard.items()},
        {n: {s} for n, s in hard.items()},
        {n: np.eye(net.variable(n).arity)[net.variable(n).code(s)] for n, s in hard.items()},
        {n: {s: 3.0} for n, s in hard.items()},  # likelihoods have no scale
    ]
    exact = net.p(x, hard).p
    for soft in forms:
        np.testing.assert_allclose(net.p(x, soft).p, exact, **CLOSE)
        np.testing.assert_array_equal(net.mpe(soft)[x], net.mpe(hard)[x])
    np.testing.assert_allclose(net.log_evidence(forms[0]), net.log_evidence(hard), **CLOSE)
    tripled = net.log_evidence(forms[3]) - 2 * np.log(3)
    np.testing.assert_allclose(tripled, net.log_evidence(hard), **CLOSE)
    nothing = {a: set(net.variable(a).states), b: dict.fromkeys(net.variable(b).states, 1.0)}
    np.testing.assert_allclose(net.p(x, nothing).p, net.p(x).p, **CLOSE)


@pytest.mark.parametrize("seed", SEEDS)
def test_soft_evidence_is_a_child_that_was_seen(seed):
    """Pearl's virtual evidence: a report with P(report | state) proportional to the likelihood."""
    net = random_network(seed, 7)
    x, a = some(net, seed, 2)
    likelihood = np.random.default_rng(seed).random(net.variable(a).arity)
    tables = {**net.distributions}
    dag = Dag([*net.dag.edges, (a, "report")], nodes=[*net.names, "report"])
    rows = np.stack([likelihood, 1 - likelihood], axis=1)
    report = Network(dag, {**tables, "report": rows}, states={"report": ("came", "not")})
    with_report = report.p(x, {"report": "came"})
    np.testing.assert_allclose(net.p(x, {a: likelihood}).p, with_report.p, **CLOSE)
    np.testing.assert_allclose(
        net.log_evidence({a: likelihood}), report.log_evidence({"report": "came"}), **CLOSE
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_barren_variables_can_be_removed(seed):
    net = random_network(seed, 8)
    x, e = some(net, seed, 2)
    kept = {x, e, *net.dag.ancestors([x, e])}
    small = Network(
        net.dag.subgraph([n for n in net.names if n in kept]),
        {n: net.cpt(n) for n in net.names if n in kept},
    )
    for state in net.variable(e).states:
        np.testing.assert_allclose(net.p(x, {e: state}).p, small.p(x, {e: state}).p, **CLOSE)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_renamed_and_reordered_network_gives_the_same(seed):
    net = random_network(seed, 7)
    rng = np.random.default_rng(seed)
    order = [str(n) for n in rng.permutation(net.names)]
    turned = {}
    for name in order:
        local = net.cpt(name)
        parents = tuple(rng.permutation(np.array(local.parents, dtype=object)))
        turned[name] = local.on(local.child, parents) if parents else local
    edges = [(p.name, n) for n in order for p in turned[n].parents]
    other = Network(Dag(edges, nodes=order), turned)
    assert other == net and hash(other) == hash(net)
    x, e = some(net, seed, 2)
    given = {e: net.variable(e).states[-1]}
    np.testing.assert_allclose(other.p(x, given).p, net.p(x, given).p, rtol=0, atol=1e-12)
    assert dict(other.mpe(given)) == dict(net.mpe(given))


def generic(seed):
    """A network with no accidental independence: every row of every table is far from others."""
    rng = np.random.default_rng([seed, 77])
    net = random_network(seed, 7, edges=0.3)
    tables = {}
    for name in net.names:
        local = net.cpt(name)
        tables[name] = Cpt(
            local.child, local.parents, rng.dirichlet(np.ones(local.shape[-1]), local.shape[:-1])
        )
    return Network(net.dag, tables)


@pytest.mark.parametrize("seed", range(100))
def test_d_separation_and_posteriors_agree(seed):
    net = generic(seed)
    rng = np.random.default_rng(seed)
    for x, y in itertools.permutations(net.names, 2):
        rest = [n for n in net.names if n not in (x, y)]
        given = [n for n in rest if rng.random() < 0.4]
        evidence = {n: net.variable(n).states[rng.integers(net.variable(n).arity)] for n in given}
        without = net.p(x, evidence).p
        away = max(
            np.abs(net.p(x, {**evidence, y: s}).p - without).max() for s in net.variable(y).states
        )
        if net.dag.d_separated(x, y, given=given):
            assert away < 1e-10
        else:
            assert away > 1e-10
