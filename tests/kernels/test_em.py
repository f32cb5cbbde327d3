"""The expectation kernel: components against enumeration, rows left, threads, bad arguments."""

import numpy as np
import pytest
from tests.kernels.em_twin import brute_step

import credo as cr
from credo import _core


def network(rng, n=7):
    tables, edges = {}, []
    arity = rng.integers(2, 4, n)
    for i in range(n):
        parents = [j for j in range(i) if rng.random() < 0.35][-3:]
        edges += [(f"v{j}", f"v{i}") for j in parents]
        tables[f"v{i}"] = rng.dirichlet(np.ones(arity[i]), size=[arity[j] for j in parents] or None)
    names = [f"v{i}" for i in range(n)]
    dag = cr.Dag(edges, nodes=names)
    for i, name in enumerate(names):
        own = [j for j in range(i) if (f"v{j}", name) in edges]
        turn = [own.index(int(p[1:])) for p in dag.parents(name)]
        tables[name] = tables[name].transpose([*turn, len(turn)])
    states = {name: tuple(range(a)) for name, a in zip(names, arity, strict=True)}
    return cr.Network(dag, tables, states=states)


def folded(net, codes, weights=None, most=256):
    at = {n: i for i, n in enumerate(net.names)}
    scopes = [[*(at[p.name] for p in net.cpt(n).parents), at[n]] for n in net.names]
    out = _core.Expectations([v.arity for v in net.variables], scopes, most, most)
    out.add([np.ascontiguousarray(c) for c in codes.T], len(codes), weights)
    theta = np.concatenate([net.cpt(n).values.ravel() for n in net.names])
    return out, theta


@pytest.mark.parametrize("seed", range(4))
def test_expected_counts_are_those_of_enumeration(seed):
    rng = np.random.default_rng(seed)
    net = network(rng)
    arity = np.array([v.arity for v in net.variables])
    codes = rng.integers(0, arity, (40, len(arity))).astype(np.uint8)
    codes = np.where(rng.random(codes.shape) < 0.3, arity, codes).astype(np.uint8)
    weights = rng.uniform(0.5, 2, 40)
    rows = [
        {n: None if c == a else int(c) for n, c, a in zip(net.names, row, arity, strict=True)}
        for row in codes
    ]
    log, counts = brute_step(net, rows, weights.tolist())
    native, theta = folded(net, codes, weights)
    found, _, height, impossible = native.step(theta, np.zeros(0))
    assert not impossible and height == pytest.approx(log, rel=1e-12)
    expected = np.concatenate([counts[n].ravel() for n in net.names])
    assert np.abs(found - expected).max() < 1e-10
    assert native.total == pytest.approx(weights.sum())


def test_threads_and_parts_change_no_bit():
    rng = np.random.default_rng(1)
    net = network(rng, 9)
    arity = np.array([v.arity for v in net.variables])
    codes = rng.integers(0, arity, (20_000, len(arity))).astype(np.uint8)
    codes = np.where(rng.random(codes.shape) < 0.3, arity, codes).astype(np.uint8)
    native, theta = folded(net, codes)
    assert native.problems > 1024  # several parts
    one, two = native.step(theta, np.zeros(0), 1), native.step(theta, np.zeros(0), 3)
    assert (one[0] == two[0]).all() and one[2] == two[2]
    parts, _ = folded(net, codes[:5000])
    parts.add([np.ascontiguousarray(c) for c in codes[5000:].T], 15_000)
    assert (parts.step(theta, np.zeros(0))[0] == one[0]).all()


def test_rows_left_go_through_the_plan():
    rng = np.random.default_rng(2)
    net = network(rng)
    arity = np.array([v.arity for v in net.variables])
    codes = rng.integers(0, arity, (600, len(arity))).astype(np.uint8)
    codes = np.where(rng.random(codes.shape) < 0.5, arity, codes).astype(np.uint8)
    whole, theta = folded(net, codes, most=10**6)
    want = whole.step(theta, np.zeros(0))
    some, _ = folded(net, codes, most=4)
    left, weights = some.left()
    assert 0 < len(weights) < 600
    scopes = [
        [*(net.names.index(p.name) for p in net.cpt(n).parents), i] for i, n in enumerate(net.names)
    ]
    plan = _core.Model(arity.tolist(), scopes).compile(
        [], [], families=True, maybe=list(range(len(arity)))
    )
    tables = [net.cpt(n).values.ravel() for n in net.names]
    more, log, _ = plan.expect(tables, left, weights, 1)
    counts, _, height, _ = some.step(theta, np.zeros(0))
    assert np.abs(counts + more - want[0]).max() < 1e-9
    assert height + log == pytest.approx(want[2], rel=1e-12)
    threads = plan.expect(tables, left, weights, 3)
    assert (threads[0] == more).all() and threads[1] == log


def test_impossible_rows_are_told():
    native = _core.Expectations([2, 2], [[0], [0, 1]], 256, 256)
    native.add([np.array([2], dtype=np.uint8), np.array([1], dtype=np.uint8)], 1)
    theta = np.array([0.5, 0.5, 1.0, 0.0, 1.0, 0.0])
    assert native.step(theta, np.zeros(0))[3]


def test_bad_arguments():
    for arities, scopes, text in [
        ([2], [[0], [0]], "a scope for each"),
        ([2, 2], [[0], [1, 0]], "must end in"),
        ([2, 2], [[0], [7, 1]], "there is not"),
        ([0, 2], [[0], [0, 1]], "continuous parent"),
    ]:
        with pytest.raises(ValueError, match=text):
            _core.Expectations(arities, scopes, 8, 8)
    native = _core.Expectations([2], [[0]], 8, 8)
    with pytest.raises(ValueError, match="a column, or None"):
        native.add([], 1)
    with pytest.raises(ValueError, match="must be of uint8"):
        native.add([np.zeros(1)], 1)
    with pytest.raises(ValueError, match="2 cells"):
        native.step(np.zeros(3), np.zeros(0))
    plan = _core.Model([2], [[0]]).compile([], [])
    with pytest.raises(ValueError, match="families=True"):
        plan.expect([np.array([0.5, 0.5])], np.zeros((1, 0), np.int32), np.ones(1))


def test_completed_rows_add_up_to_the_expected_counts():
    rng = np.random.default_rng(5)
    net = network(rng)
    arity = np.array([v.arity for v in net.variables])
    codes = rng.integers(0, arity, (60, len(arity))).astype(np.uint8)
    codes = np.where(rng.random(codes.shape) < 0.3, arity, codes).astype(np.uint8)
    weights = rng.uniform(0.5, 2, 60)
    native, theta = folded(net, codes, weights)
    want = native.step(theta, np.zeros(0))[0]
    at = {n: i for i, n in enumerate(net.names)}
    scopes = [[*(at[p.name] for p in net.cpt(n).parents), at[n]] for n in net.names]
    columns = [np.ascontiguousarray(c) for c in codes.T]
    full, share, left, drawn, impossible = _core.complete_rows(
        arity.tolist(), scopes, theta, columns, 60, weights, 10**6, 8, 10**6
    )
    assert not len(left) and drawn == 0 and impossible == -1
    assert share.sum() == pytest.approx(weights.sum())
    found = np.concatenate([
        np.bincount(
            np.ravel_multi_index(full[:, s].T.astype(np.int64), arity[s]), share, arity[s].prod()
        )
        for s in scopes
    ])  # fmt: skip
    assert np.abs(found - want).max() < 1e-9
    # few ways allowed: draws, the same for the same seed
    a = _core.complete_rows(arity.tolist(), scopes, theta, columns, 60, weights, 4, 8, 10**6, 3)
    b = _core.complete_rows(arity.tolist(), scopes, theta, columns, 60, weights, 4, 8, 10**6, 3)
    assert a[3] > 0 and (a[0] == b[0]).all() and a[1].sum() == pytest.approx(weights.sum())
    assert len(_core.complete_rows(
        arity.tolist(), scopes, theta, columns, 60, weights, 4, 8, 2
    )[2]) > 0  # fmt: skip
