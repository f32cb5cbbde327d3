"""Loopy belief propagation and Gibbs against NumPy twins, bit for bit where bits are drawn."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernels.test_inference import random_world

from credo import _core

# --- loopy belief propagation ---------------------------------------------------------------


def shaped(world):
    return [
        t.reshape([world.arities[v] for v in s])
        for s, t in zip(world.scopes, world.tables, strict=True)
    ]


def twin(world, sweeps, damping=0.0):
    """Messages as the definition says, in the same order of factors."""
    tables = shaped(world)
    messages = {
        (f, v): np.full(world.arities[v], 1 / world.arities[v])
        for f, s in enumerate(world.scopes)
        for v in s
    }

    def up(v, f):
        out = np.ones(world.arities[v])
        for (g, u), m in messages.items():
            if u == v and g != f:
                out = out * m
        return out / out.sum()

    order = sorted(range(len(tables)), key=lambda f: max(world.scopes[f], default=-1))
    trace = []
    for sweep in range(sweeps):
        change = 0.0
        for f in order if sweep % 2 == 0 else order[::-1]:
            scope = world.scopes[f]
            incoming = {v: up(v, f) for v in scope}
            for v in scope:
                terms = [tables[f], list(scope)]
                for u in scope:
                    if u != v:
                        terms += [incoming[u], [u]]
                new = np.einsum(*terms, [v])
                new = new / new.sum()
                change = max(change, np.abs(new - messages[f, v]).max())
                kept = (1 - damping) * new + damping * messages[f, v]
                messages[f, v] = kept / kept.sum()
        trace.append(change)
    beliefs = [up(v, None) for v in range(len(world.arities))]
    return np.concatenate(beliefs), np.array(trace)


def run(world, *args):
    return _core.Loopy(world.arities, world.scopes).run(world.tables, *args)


def test_messages_are_those_of_the_twin():
    tried = 0
    for seed in range(40):
        world = random_world(seed, directed=seed % 2 == 0)
        found = run(world, 3, 0.0)
        if found["impossible"] or any((t == 0).any() for t in world.tables):
            continue
        tried += 1
        for damping in (0.0, 0.4):
            found = run(world, 3, 0.0, damping)
            beliefs, trace = twin(world, 3, damping)
            np.testing.assert_allclose(found["beliefs"], beliefs, atol=1e-9)
            np.testing.assert_allclose(found["trace"], trace[: len(found["trace"])], atol=1e-9)
    assert tried > 10


def test_on_a_tree_beliefs_and_z_are_exact():
    rng = np.random.default_rng(0)
    for seed in range(20):
        n = int(rng.integers(2, 9))
        arities = [int(r) for r in rng.integers(1, 5, n)]
        scopes = [[int(rng.integers(v)), v] if v else [0] for v in range(n)]
        scopes += [[int(rng.integers(n))]]
        tables = [rng.gamma(0.5, size=[arities[u] for u in s]) for s in scopes]
        found = _core.Loopy(arities, scopes).run([t.ravel() for t in tables])
        terms = [x for t, s in zip(tables, scopes, strict=True) for x in (t, s)]
        joint = np.einsum(*terms, list(range(n)))
        assert found["converged"], seed
        np.testing.assert_allclose(found["log_z"], np.log(joint.sum()), atol=1e-9)
        exact = [
            joint.sum(axis=tuple(u for u in range(n) if u != v)) / joint.sum() for v in range(n)
        ]
        np.testing.assert_allclose(found["beliefs"], np.concatenate(exact), atol=1e-9)


def test_a_zero_is_a_proof():
    contradictions = 0
    for seed in range(300):
        world = random_world(seed, directed=False)
        rng = np.random.default_rng(seed)
        world.tables = [t * (rng.random(t.shape) < 0.5) for t in world.tables]
        found = run(world)
        joint = world.joint()
        if found["impossible"]:
            contradictions += 1
            assert joint.sum() == 0
            continue
        at = 0
        for v, r in enumerate(world.arities):
            exact = joint.sum(axis=tuple(u for u in range(joint.ndim) if u != v))
            assert (exact[found["beliefs"][at : at + r] == 0] == 0).all()
            at += r
    assert contradictions > 20


def test_messages_of_thousands_of_factors_do_not_vanish():
    arities, scopes = [2], [[0]] * 5000
    tables = [np.array([0.9, 0.1]) if k % 2 else np.array([0.1, 0.9]) for k in range(5000)]
    found = _core.Loopy(arities, scopes).run(tables)
    np.testing.assert_allclose(found["beliefs"], [0.5, 0.5])
    np.testing.assert_allclose(found["log_z"], 2500 * np.log(0.09) + np.log(2), rtol=1e-12)


def test_what_does_not_settle_is_damped_and_said():
    arities, scopes = [2, 2, 2], [[0, 1], [1, 2], [2, 0], [0]]
    apart = np.array([0.001, 1, 1, 0.001])
    tables = [apart, apart, apart, np.array([0.6, 0.4])]
    graph = _core.Loopy(arities, scopes)
    few = graph.run(tables, 4, 1e-12)
    assert not few["converged"] and len(few["trace"]) == 4
    assert graph.run(tables, 100, 0.0)["damping"] == 0.5
    assert graph.run(tables, 1_000_000_000, 0.0, 0.0, 0.05)["trace"].size > 1  # seconds end it


def test_wrong_arguments_of_loopy():
    graph = _core.Loopy([2, 2], [[0, 1]])
    table = np.ones(4)
    for args, text in [
        (([],), "1 tables"),
        (([np.ones(3)],), "4 cells"),
        (([table], 0), "sweeps"),
        (([table], 5, -1.0), "tolerance"),
        (([table], 5, 1e-8, 1.0), "damping"),
    ]:
        with pytest.raises(ValueError, match=text):
            graph.run(*args)


# --- Gibbs ----------------------------------------------------------------------------------


def philox(counter, seed):
    c = [int(x) for x in counter]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k0, p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k1, p0 & 0xFFFFFFFF]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


def gibbs_twin(world, states, queries, sweeps, first, seed):
    tables = shaped(world)
    states = states.copy()
    cells = [int(np.prod([world.arities[v] for v in q])) for q in queries]
    sums = np.zeros((len(states), sum(cells)))
    starts = np.cumsum([0, *cells])
    for c, x in enumerate(states):
        for sweep in range(first, first + sweeps):
            for v, r in enumerate(world.arities):
                p = np.ones(r)
                for scope, table in zip(world.scopes, tables, strict=True):
                    if v in scope:
                        p *= table[tuple(slice(None) if u == v else x[u] for u in scope)]
                w = philox((sweep & 0xFFFFFFFF, (sweep >> 32) ^ (c << 8), v, 0x67696262), seed)
                u = ((w[0] << 32 | w[1]) >> 11) * 2.0**-53 * p.sum()
                x[v] = min(int((np.cumsum(p) <= u).sum()), r - 1)
                for q, query in enumerate(queries):
                    if list(query) == [v]:
                        sums[c, starts[q] : starts[q] + r] += p / p.sum()
            for q, query in enumerate(queries):
                if len(query) > 1:
                    at = np.ravel_multi_index(
                        [x[u] for u in query], [world.arities[u] for u in query]
                    )
                    sums[c, starts[q] + at] += 1
    return states, sums


def positive_world(seed, n=5):
    world = random_world(seed, n, directed=False)
    rng = np.random.default_rng(seed)
    world.tables = [rng.gamma(1.0, size=t.shape) + 0.05 for t in world.tables]
    return world


@pytest.mark.parametrize("seed", range(8))
def test_chains_are_those_of_the_twin(seed):
    world = positive_world(seed)
    rng = np.random.default_rng(seed)
    states = rng.integers(0, world.arities, (19, 5)).astype(np.int32)
    queries = [[0], [3], [2, 0], [4, 1, 3]]
    native = _core.Gibbs(world.arities, world.scopes)
    key = 7 + (seed << 40)
    expected = gibbs_twin(world, states, queries, 6, 3, key)
    for threads in (1, 2, 5):
        moved, sums = native.run(world.tables, states, queries, 6, 3, key, True, threads)
        assert (moved == expected[0]).all()
        np.testing.assert_allclose(sums, expected[1], atol=1e-12)
    moved, sums = native.run(world.tables, states, queries, 6, 3, key, False)
    assert (moved == expected[0]).all() and not sums.any()


def test_products_too_small_for_a_double():
    tables = [np.array([1e-300, 2e-300]), np.array([1e-200, 1e-200]), np.array([3e-10, 1e-10])]
    native = _core.Gibbs([2], [[0], [0], [0]])
    _, sums = native.run(tables, np.zeros((1, 1), np.int32), [[0]], 10)
    np.testing.assert_allclose(sums[0] / 10, [0.6, 0.4])


def test_wrong_arguments_of_gibbs():
    native = _core.Gibbs([2, 3], [[0, 1]])
    table, states = np.ones(6), np.zeros((2, 2), np.int32)
    for args, text in [
        (([np.zeros(6)], states, [], 1), "above zero"),
        (([table], np.zeros((2, 3), np.int32), [], 1), "2 columns"),
        (([table], np.full((1, 2), 2, np.int32), [], 1), "state of variable 0"),
        (([table], states, [[2]], 1), "there is not"),
        (([table], states, [], 1, 0, 0, True, 0), "threads"),
    ]:
        with pytest.raises(ValueError, match=text):
            native.run(*args)


# --- weighted sums --------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [0, 1, 7, 8, 9, 21])
def test_weighted_sums_are_those_of_the_twin(columns):
    rng = np.random.default_rng(columns)
    arities = [int(rng.choice([1, 2, 3, 9, 200, 256, 300])) for _ in range(columns)]
    codes = [rng.integers(0, r, 5000).astype(np.uint16 if r > 256 else np.uint8) for r in arities]
    w = rng.gamma(0.3, size=5000)
    found = _core.weighted_sums(codes, arities, w)
    expected = [
        np.stack([np.bincount(c, w, r), np.bincount(c, w * w, r)], axis=1)
        for c, r in zip(codes, arities, strict=True)
    ]
    if columns:
        np.testing.assert_allclose(found, np.concatenate(expected), rtol=1e-12)
    for threads in (2, 5):
        assert (found == _core.weighted_sums(codes, arities, w, threads)).all()
    assert not _core.weighted_sums([c[:0] for c in codes], arities, w[:0]).any()


def test_wrong_arguments_of_weighted_sums():
    code, w = np.zeros(3, np.uint8), np.ones(3)
    for args, text in [
        (([code], [], w), "an arity for each"),
        (([code + 2], [2], w), "not below its arity"),
        (([code], [2], np.ones(4)), "as long as the weights"),
        (([code.astype(np.int32)], [2], w), "uint8 or uint16"),
        (([code], [0], w), "in 1..65536"),
        (([code], [2], w, 0), "threads"),
    ]:
        with pytest.raises(ValueError, match=text):
            _core.weighted_sums(*args)
