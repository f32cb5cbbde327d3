"""Identities and extremes of the engine: any order, any batch, any thread; no underflow, no NaN."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from credo import _core

from .test_inference import World, random_world

NONE = np.empty((1, 0), np.int32)


def grid(rows: int, columns: int, seed: int = 0) -> World:
    """A directed grid: each cell depends on the ones above and to the left."""
    rng = np.random.default_rng(seed)
    scopes, tables = [], []
    for i in range(rows):
        for j in range(columns):
            parents = [(i - 1) * columns + j] * (i > 0) + [i * columns + j - 1] * (j > 0)
            scopes.append([*parents, i * columns + j])
            tables.append(rng.dirichlet([1, 1], 2 ** len(parents)).ravel())
    return World([2] * (rows * columns), scopes, tables, True)


def naive_bayes(features: int, arity: int, tables: list[np.ndarray]) -> World:
    scopes = [[0]] + [[0, f] for f in range(1, features + 1)]
    return World([2] + [arity] * features, scopes, tables, True)


def codes(rng: np.random.Generator, world: World, variables: list[int], rows: int) -> np.ndarray:
    return rng.integers(0, [world.arities[v] for v in variables], (rows, len(variables)), np.int32)


def test_any_order_gives_the_same_answer() -> None:
    world = grid(6, 7)
    observed = [3, 17, 30]
    evidence = codes(np.random.default_rng(1), world, observed, 5)
    first = world.model.compile(observed, None, families=True).run(world.tables, evidence)
    for seed in range(1, 12):
        plan = world.model.compile(observed, None, families=True, seed=seed, budget_ms=0.01 * seed)
        for a, b in zip(first, plan.run(world.tables, evidence), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-10)


def test_threads_and_batches_do_not_change_the_answer() -> None:
    world = grid(8, 9, seed=3)
    observed, maybe = [5, 40], [1, 22, 60]
    evidence = codes(np.random.default_rng(2), world, observed + maybe, 150)
    plan = world.model.compile(observed, None, maybe=maybe)
    log_p, marginals, _ = plan.run(world.tables, evidence)
    for threads in (1, 2, 3):
        for lanes in (1, 4, 7, 16, 64):
            got = plan.run(world.tables, evidence, threads=threads, lanes=lanes)
            np.testing.assert_allclose(got[0], log_p, rtol=1e-13)
            np.testing.assert_allclose(got[1], marginals, rtol=1e-12)
    for r in range(3):
        got = plan.run(world.tables, evidence[r : r + 1], threads=2)
        np.testing.assert_allclose(got[1][0], marginals[r], rtol=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_large_tables_over_threads(threads: int) -> None:
    world = grid(15, 15, seed=5)
    plan = world.model.compile([7], None, families=True)
    assert plan.flops > 2e6
    log_p, marginals, families = plan.run(world.tables, np.array([[1]], np.int32), threads=threads)
    assert families is not None
    both = world.model.compile([], None).run(world.tables, NONE)[1][0, 15]
    np.testing.assert_allclose(log_p, np.log(both), rtol=1e-12)
    np.testing.assert_allclose(marginals.reshape(-1, 2).sum(1), 1, rtol=1e-13)
    for f, scope in enumerate(world.scopes):  # a family's marginals agree with those of its members
        part = families[0, plan.family_offsets[f] : plan.family_offsets[f + 1]].reshape(
            [2] * len(scope)
        )
        for axis, v in enumerate(scope):
            if v == 7:
                continue
            begin = plan.offsets[plan.targets.index(v)]
            others = tuple(a for a in range(len(scope)) if a != axis)
            np.testing.assert_allclose(
                part.sum(others), marginals[0, begin : begin + 2], atol=1e-12
            )


def test_pruning() -> None:
    #     0 -> 1 -> 2 -> 3,  2 -> 4 -> 5
    world = World([2] * 6, [[0], [0, 1], [1, 2], [2, 3], [2, 4], [4, 5]],
                  [np.full(2 ** min(2, v + 1), 0.5) for v in range(6)], True)  # fmt: skip
    assert world.model.compile([1], [2]).pruned == [3, 4, 5]
    assert world.model.compile([1], [2], evidence=False).pruned == [0, 3, 4, 5]
    assert world.model.compile([], None).pruned == []
    assert world.model.compile([], [0]).total_states == 2
    plan = world.model.compile([2], None)
    assert sorted(map(sorted, plan.cliques)) == [[0, 1], [3], [4, 5]]
    assert sorted(plan.order) == [0, 1, 3, 4, 5]


def test_probability_of_minus_a_thousand_powers_of_ten() -> None:
    chain = 1000
    tables = [np.array([0.9, 0.1])] + [np.array([0.9, 0.1, 0.2, 0.8]) for _ in range(chain - 1)]
    hidden = World([2] * (2 * chain),
                   [[0]] + [[v - 1, v] for v in range(1, chain)] + [[v, chain + v] for v in range(chain)],
                   tables + [np.array([0.9, 0.1, 0.899, 0.101])] * chain, True)  # fmt: skip
    observed = list(range(chain, 2 * chain))
    log_p, marginals, _ = hidden.model.compile(observed, None).run(
        hidden.tables, np.ones((3, chain), np.int32)
    )
    message, expected = np.array([0.9, 0.1]), 0.0
    for v in range(chain):
        message = message if v == 0 else message @ np.array([[0.9, 0.1], [0.2, 0.8]])
        message = message * np.array([0.1, 0.101])
        expected += np.log(message.sum())
        message = message / message.sum()
    assert expected < -1000 * np.log(9.5)
    np.testing.assert_allclose(log_p, expected, rtol=1e-12)
    np.testing.assert_allclose(marginals[:, -2:], np.tile(message, (3, 1)), rtol=1e-10)


@pytest.mark.parametrize("path", ["auto", "wide"])
def test_naive_bayes_with_thousands_of_features(path: str) -> None:
    rng = np.random.default_rng(0)
    n = 5000 if path == "auto" else 500
    tables = [np.array([0.3, 0.7])] + [rng.dirichlet([1, 1, 1], 2).ravel() for _ in range(n)]
    world = naive_bayes(n, 3, tables)
    observed = list(range(1, n + 1))
    evidence = codes(rng, world, observed, 3)
    plan = world.model.compile(observed, None)
    log_p, marginals, _ = plan.run(world.tables, evidence, path=path)
    likelihood = np.log(tables[0])[:, None] + sum(
        np.log(t.reshape(2, 3)[:, evidence[:, f]]) for f, t in enumerate(tables[1:])
    )
    expected = np.logaddexp(*likelihood)
    np.testing.assert_allclose(log_p, expected, rtol=1e-12)
    np.testing.assert_allclose(marginals, np.exp(likelihood - expected).T, atol=1e-9)


def test_conflicting_evidence_beyond_the_range_of_doubles() -> None:
    """Half of the features say one thing, half the other, each by a factor of 10^-600."""
    n = 600
    yes, no = np.array([0.999, 0.001, 0.001, 0.999]), np.array([0.001, 0.999, 0.999, 0.001])
    tables = [np.array([0.25, 0.75])] + [yes] * (n // 2) + [no] * (n // 2)
    world = naive_bayes(n, 2, tables)
    observed = list(range(1, n + 1))
    plan = world.model.compile(observed, None)
    evidence = np.zeros((2, n), np.int32)
    for order in (slice(None), slice(None, None, -1)):
        log_p, marginals, _ = plan.run(tables[:1] + tables[1:][order], evidence)
        np.testing.assert_allclose(marginals, [[0.25, 0.75]] * 2, rtol=1e-9)
        np.testing.assert_allclose(log_p, n / 2 * np.log(0.999 * 0.001), rtol=1e-12)


def test_factors_of_any_size() -> None:
    for scale in (1e-300, 1e-200, 1e200, 1e300):
        model = _core.Model([2, 2, 2], [[0, 1], [1, 2], [0, 2], [0]])
        tables = [np.array([1.0, 2.0, 3.0, 4.0]) * scale] * 3 + [np.array([1.0, 3.0])]
        log_p, marginals, _ = model.compile([], None, directed=False).run(tables, NONE)
        t = np.array([[1.0, 2], [3, 4]])
        joint = np.einsum("ab,bc,ac,a->abc", t, t, t, [1.0, 3.0])
        np.testing.assert_allclose(log_p, np.log(joint.sum()) + 3 * np.log(scale), rtol=1e-12)
        np.testing.assert_allclose(marginals[0, :2], joint.sum((1, 2)) / joint.sum(), rtol=1e-12)


def test_impossible_evidence() -> None:
    """asia: either = yes, lung = no, tub = no."""
    tub, lung = np.array([0.01, 0.99]), np.array([0.05, 0.95])
    either = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    xray = np.array([0.98, 0.02, 0.05, 0.95])
    model = _core.Model([2] * 4, [[0], [1], [0, 1, 2], [2, 3]])
    tables = [tub, lung, either, xray]
    evidence = np.array([[0, 1, 1], [1, 1, 1], [0, 0, 1]], np.int32)  # either, lung, tub
    for observed, maybe in (([2, 1, 0], []), ([], [2, 1, 0]), ([2], [1, 0])):
        for path in ("auto", "plain", "wide"):
            plan = model.compile(observed, [3], maybe=maybe)
            log_p, marginals, _ = plan.run(tables, evidence, path=path)
            assert log_p[0] == -np.inf
            assert marginals[0].tolist() == [0, 0]
            np.testing.assert_allclose(marginals[1:], [[0.05, 0.95], [0.98, 0.02]], rtol=1e-12)
            one = plan.run(tables, evidence[:1], path=path)
            assert one[0][0] == -np.inf
            assert not one[1].any()
            full = model.compile(observed, None, maybe=maybe, families=True)
            for part in full.run(tables, evidence[:1], path=path)[1:]:
                assert part is not None and not part.any()
            states, log_p = model.compile(observed, None, mode="max", maybe=maybe).explain(
                tables, evidence, path=path
            )
            assert (states[0] == -1).all() and (states[1:] >= 0).all()
            assert log_p[0] == -np.inf


def test_shapes_at_the_edge() -> None:
    world = random_world(77, n=4)
    for rows in (0, 1, 5):
        none = np.empty((rows, 0), np.int32)
        log_p, marginals, _ = world.model.compile([], None).run(world.tables, none)
        assert log_p.shape == (rows,) and marginals.shape == (rows, sum(world.arities))
        np.testing.assert_allclose(log_p, 0, atol=1e-12)
        log_p, marginals, _ = world.model.compile([], []).run(world.tables, none)
        assert marginals.shape == (rows, 0)
    nothing = _core.Model([], [])
    log_p, marginals, _ = nothing.compile([], None).run([], NONE)
    assert log_p.tolist() == [0.0]
    island = _core.Model([3, 2], [[0], [0], []]).compile([], None, directed=False)
    log_p, marginals, _ = island.run([np.array([1.0, 1, 2]), np.ones(3), np.array([5.0])], NONE)
    np.testing.assert_allclose(log_p, np.log(4 * 2 * 5))  # a variable in no factor, a constant
    np.testing.assert_allclose(marginals[0], [0.25, 0.25, 0.5, 0.5, 0.5])


def test_a_plan_too_large_is_estimated_and_not_run() -> None:
    world = grid(45, 45)
    began = time.perf_counter()
    plan = world.model.compile([], None)
    assert time.perf_counter() - began < 5
    assert (
        plan.largest > 1e10 and plan.bytes > 1e11 and plan.flops > 1e11 and plan.total_states > 1e11
    )
    with pytest.raises(ValueError, match="too many cells"):
        plan.run(world.tables, NONE)


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # Python 3.12 warns of a fork with threads
def test_one_plan_from_many_threads_and_in_a_forked_child() -> None:
    world = grid(6, 6, seed=9)
    plan = world.model.compile([3], None)
    batches = [np.tile(np.array([[0], [1]], np.int32), (k, 1)) for k in (1, 2, 30, 40)]
    expected = plan.run(world.tables, batches[0])[1]

    def work(k: int, wrong: list[int]) -> None:
        for i in range(40):
            got = plan.run(world.tables, batches[(i + k) % 4], threads=1 + i % 2)[1]
            if not np.allclose(got[:2], expected, rtol=1e-12):
                wrong.append(k)

    wrong: list[int] = []
    threads = [threading.Thread(target=work, args=(k, wrong)) for k in range(8)]
    for thread in threads:
        thread.start()
    child = os.fork()
    if child == 0:
        mine: list[int] = []
        work(0, mine)
        os._exit(len(mine))
    for thread in threads:
        thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert wrong == []


def test_interrupt_stops_a_run() -> None:
    world = grid(26, 26)
    observed = [0, 50, 100]
    plan = world.model.compile(observed, [], budget_ms=50)
    assert plan.bytes < 4e9
    evidence = np.zeros((1, 3), np.int32)
    began, used = time.perf_counter(), time.process_time()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            while time.perf_counter() - began < 20:
                plan.run(world.tables, evidence)
    finally:
        timer.cancel()
    assert time.process_time() - used < 1.3  # of work: a busy machine stretches the clock
