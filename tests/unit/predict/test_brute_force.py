"""Every question about a small network, against its whole joint table."""

import itertools

import numpy as np
import pytest
from tests.unit.predict.joint import (
    MANY,
    Joint,
    each_row,
    is_hard,
    random_evidence,
    random_network,
    rows_of,
)

from credo.errors import ImpossibleError

CLOSE = {"rtol": 1e-10, "atol": 1e-13}


def cases(n, seed):
    """A network, its joint, and several pieces of evidence that are possible."""
    net = random_network(seed, n, zeros=0.25 if seed % 2 else 0.0)
    joint = Joint(net)
    rng = np.random.default_rng(seed + 100 * n)
    found = [{}]
    while len(found) < 5:
        evidence = random_evidence(net, rng)
        if joint.evidence(evidence) > 0:
            found.append(evidence)
    return net, joint, rng, found


@pytest.mark.parametrize(("n", "seed"), MANY)
def test_posteriors_evidence_and_explanations(n, seed):
    net, joint, rng, found = cases(n, seed)
    for evidence in found:
        log_e = np.log(joint.evidence(evidence))
        np.testing.assert_allclose(net.log_evidence(evidence), log_e, rtol=1e-10, atol=1e-12)
        free = [m for m in net.names if m not in evidence or not is_hard(evidence[m])]
        every = net.marginals(evidence)
        assert list(every) == free
        for name in free:
            exact = joint.posterior([name], evidence)
            np.testing.assert_allclose(net.p(name, evidence).p, exact, **CLOSE)
            np.testing.assert_allclose(every[name].p, exact, **CLOSE)
            assert abs(every[name].p.sum() - 1) < 1e-12
        if not free:
            continue
        k = int(rng.integers(1, len(free) + 1))
        some = [str(x) for x in rng.choice(free, min(k, 3), replace=False)]
        together = net.p(some, evidence)
        assert together.names == tuple(some)
        np.testing.assert_allclose(together.p, joint.posterior(some, evidence), **CLOSE)
        for given, targets in ((net.mpe(evidence), free), (net.map(some, evidence), some)):
            states, p = joint.best(targets, evidence)
            np.testing.assert_allclose(given.log_p, np.log(p), rtol=1e-10, atol=1e-12)
            fixed = {**evidence, **{t: given[t] for t in targets}}
            soft = [joint.likelihood(t, evidence[t]) for t in targets if t in evidence]
            at = [net.variable(t).code(given[t]) for t in targets if t in evidence]
            weight = np.prod([s[i] for s, i in zip(soft, at, strict=True)])
            np.testing.assert_allclose(joint.evidence(fixed) * weight, p, rtol=1e-9)
            assert set(given) == set(states)


@pytest.mark.parametrize("seed", range(12))
def test_interventions(seed):
    net = random_network(seed, 6, zeros=0.1)
    rng = np.random.default_rng(seed)
    name, other = (str(x) for x in rng.choice(net.names, 2, replace=False))
    state = net.variable(name).states[-1]
    cut = net.do({name: state})
    truncated = np.ones([v.arity for v in net.variables])
    for child in net.names:
        if child != name:
            local = net.cpt(child)
            axes = [net.names.index(v.name) for v in local.variables]
            truncated = np.einsum(truncated, list(range(6)), local.values, axes, list(range(6)))
    at = net.names.index(name)
    truncated = truncated * np.eye(net.variable(name).arity)[-1].reshape(
        [-1 if i == at else 1 for i in range(6)]
    )
    np.testing.assert_allclose(Joint(cut).p, truncated, atol=1e-14)
    rest = tuple(i for i in range(6) if i != net.names.index(other))
    np.testing.assert_allclose(cut.p(other).p, truncated.sum(axis=rest), **CLOSE)
    assert net.ask(f"P({other} | do({name}={state}))") == cut.p(other)
    assert cut.dag.parents(name) == ()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gaps", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("threads", [1, 3])
def test_rows(seed, gaps, threads):
    net = random_network(seed, 7, zeros=0.2 if seed % 2 else 0.0)
    joint = Joint(net)
    rng = np.random.default_rng(seed)
    columns = rows_of(net, joint, rng, 150, gaps)
    patterns = {tuple(c is None for c in row) for row in zip(*columns.values(), strict=True)}
    assert gaps < 0.5 or len(patterns) > 32  # then one plan serves all patterns
    total = 0.0
    rows = list(each_row(columns))
    for row in rows:
        total += np.log(joint.evidence(row))
    np.testing.assert_allclose(net.log_likelihood(columns, threads=threads), total, rtol=1e-10)
    for target in net.names[:3]:
        found = net.predict_proba(columns, target, threads=threads)
        exact = [
            joint.posterior([target], {k: v for k, v in r.items() if k != target}) for r in rows
        ]
        np.testing.assert_allclose(found, exact, **CLOSE)


@pytest.mark.parametrize("gaps", [0.0, 0.5])
def test_weights_of_rows(gaps):
    import credo as cr

    net = random_network(4, 6)
    joint = Joint(net)
    rng = np.random.default_rng(8)
    columns = rows_of(net, joint, rng, 80, gaps)
    weights = rng.integers(0, 5, 80)
    exact = sum(
        w * np.log(joint.evidence(r)) for w, r in zip(weights, each_row(columns), strict=True)
    )
    schema = {v.name: list(v.states) for v in net.variables}
    table = cr.read(columns, schema, weights=weights)
    np.testing.assert_allclose(net.log_likelihood(table), exact, rtol=1e-10)
    turned = cr.read(columns, {k: s[::-1] for k, s in schema.items()}, weights=weights)
    np.testing.assert_allclose(net.log_likelihood(turned), exact, rtol=1e-10)
    halves = cr.read(columns, schema, weights=weights / 2)
    np.testing.assert_allclose(net.log_likelihood(halves), exact / 2, rtol=1e-10)
    found = net.predict_proba(turned, net.names[0])
    np.testing.assert_array_equal(found, net.predict_proba(table, net.names[0]))


def test_impossible_rows():
    net = two_coins()
    rows = {"a": ["h", "t", "h"], "b": ["h", "t", "t"]}
    assert net.log_likelihood(rows) == -np.inf
    import credo as cr

    weighted = cr.read(rows, {"a": ["h", "t"], "b": ["h", "t"]}, weights=[1, 1, 0])
    np.testing.assert_allclose(net.log_likelihood(weighted), 2 * np.log(0.5))
    three = {"a": ["h", "t", "h"], "b": ["h", "t", "t"], "c": ["h", "t", "h"]}
    with pytest.raises(ImpossibleError, match="Row 3 has probability zero"):
        same_coin(3).predict_proba(three, "d")


def two_coins():
    return same_coin(2)


def same_coin(n):
    """`b`, `c`, `d` … are all what `a` is."""
    from credo.model.networks.network import Network

    names = "abcd"[: max(n, 2) if n < 3 else 4]
    same = {"h": {"h": 1, "t": 0}, "t": {"h": 0, "t": 1}}
    tables = {"a": {"h": 0.5, "t": 0.5}, **dict.fromkeys(names[1:], same)}
    return Network([("a", x) for x in names[1:]], tables)


def test_the_same_answers_in_any_order_of_asking():
    """Plans are kept; more than are kept, asked twice, give the same bits."""
    net = random_network(1, 7)
    sets = [s for k in range(4) for s in itertools.combinations(net.names[:-1], k)] * 2
    first = {}
    for names in sets:
        given = {m: net.variable(m).states[0] for m in names}
        answer = net.p(net.names[-1], given)
        assert first.setdefault(names, answer) == answer


def test_rows_of_every_kind(tmp_path):
    import pandas as pd

    import credo as cr

    net = random_network(2, 5)
    joint = Joint(net)
    columns = rows_of(net, joint, np.random.default_rng(0), 30, 0.2)
    exact, total = net.predict_proba(columns, "v1"), net.log_likelihood(columns)
    frame = pd.DataFrame(columns)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    schema = {v.name: list(v.states) for v in net.variables}
    forms = [
        frame,
        frame.assign(other=3),
        frame[list(net.names[::-1])],
        frame.to_dict("records"),
        str(tmp_path / "rows.csv"),
        tmp_path / "rows.csv",
        cr.read(columns),
        cr.read(frame, schema),
    ]
    for rows in forms:
        np.testing.assert_array_equal(net.predict_proba(rows, "v1"), exact)
        assert net.log_likelihood(rows) == pytest.approx(total, rel=1e-12)
    unseen = net.predict_proba({"v0": [None, None]}, "v1")
    np.testing.assert_allclose(unseen, [net.p("v1").p] * 2, rtol=1e-12)
    assert net.log_likelihood({"v0": [None, None]}) == pytest.approx(0.0, abs=1e-12)
