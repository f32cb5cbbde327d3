"""Gaps drawn as counts: against the exact distribution, whatever the weight, the threads, the width."""

import numpy as np
import pytest
from scipy.stats import binom, chisquare
from tests.kernels.em_twin import brute_step
from tests.kernels.test_em import folded, network

NONE = np.zeros(0)


def one_gap(p, weight):
    """A root that is missing in a row of some weight, and its child's table uniform."""
    from credo import _core

    native = _core.Expectations([2, 2], [[0], [0, 1]], 256, 256)
    native.add([np.array([2], np.uint8), np.array([0], np.uint8)], 1, np.array([weight]))
    return native, np.array([1 - p, p, 0.5, 0.5, 0.5, 0.5])


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.3), (7, 0.5), (12, 0.02), (40, 0.9), (60, 0.4), (900, 0.3)]
)
def test_a_problem_of_two_states_is_a_binomial(n, p):
    native, theta = one_gap(p, float(n))
    drawn = np.array([native.draw(theta, NONE, seed)[0][1] for seed in range(4000)])
    k = np.arange(n + 1)
    expected = binom.pmf(k, n, p) * len(drawn)
    seen = np.bincount(drawn.astype(int), minlength=n + 1)
    few = expected < 8  # cells of too few are taken together
    seen, expected = (
        np.append(seen[~few], seen[few].sum()),
        np.append(expected[~few], expected[few].sum()),
    )
    kept = expected > 0.5
    seen, expected = seen[kept], expected[kept]
    assert chisquare(seen, expected * seen.sum() / expected.sum()).pvalue > 1e-4


def test_a_weight_that_is_not_whole_goes_to_one_state_each():
    native, theta = one_gap(0.3, 2.25)
    counts = np.array([native.draw(theta, NONE, seed)[0][:2] for seed in range(2000)])
    assert np.allclose(counts.sum(axis=1), 2.25)
    assert set(np.round(counts[:, 1] % 1, 6)) == {0.0, 0.25}
    assert abs(counts[:, 1].mean() - 0.3 * 2.25) < 4 * np.sqrt(0.21 * (2 + 0.0625) / 2000)


@pytest.mark.parametrize("seed", range(2))
def test_drawn_counts_average_to_those_of_enumeration(seed):
    rng = np.random.default_rng(seed)
    net = network(rng)
    arity = np.array([v.arity for v in net.variables])
    codes = rng.integers(0, arity, (40, len(arity))).astype(np.uint8)
    codes = np.where(rng.random(codes.shape) < 0.3, arity, codes).astype(np.uint8)
    rows = [
        {n: None if c == a else int(c) for n, c, a in zip(net.names, row, arity, strict=True)}
        for row in codes
    ]
    _, counts = brute_step(net, rows, [1.0] * 40)
    expected = np.concatenate([counts[n].ravel() for n in net.names])
    native, theta = folded(net, codes)
    drawn = np.array([native.draw(theta, NONE, s)[0] for s in range(3000)])
    assert (drawn == drawn.round()).all()
    assert (np.abs(drawn.mean(0) - expected) < 4.5 * drawn.std(0) / np.sqrt(3000) + 1e-9).all()
    # in blocks of a few states at a time: the rows that are left then, and the rest as before
    few, theta = folded(net, codes, most=4)
    gaps, weights = few.left()
    assert len(weights) > 5
    current = np.where(gaps < 0, 0, gaps).astype(np.int32)
    total = np.zeros_like(theta)
    for s in range(3200):
        current, more = few.redraw(theta, gaps, current, weights, 4, s)
        total += more if s >= 200 else 0.0
        assert ((gaps < 0) | (current == gaps)).all()
    left = expected - few.step(theta, NONE)[0]
    assert (np.abs(total / 3000 - left) < 0.35).all() and np.abs(total / 3000 - left).mean() < 0.04


def test_threads_and_seeds():
    rng = np.random.default_rng(1)
    net = network(rng, 9)
    arity = np.array([v.arity for v in net.variables])
    codes = rng.integers(0, arity, (8000, len(arity))).astype(np.uint8)
    codes = np.where(rng.random(codes.shape) < 0.3, arity, codes).astype(np.uint8)
    native, theta = folded(net, codes)
    one, two = native.draw(theta, NONE, 5, 1)[0], native.draw(theta, NONE, 5, 3)[0]
    assert (one == two).all() and (one != native.draw(theta, NONE, 6)[0]).any()
    few, _ = folded(net, codes, most=4)
    gaps, weights = few.left()
    full = np.where(gaps < 0, 0, gaps).astype(np.int32)
    a, b = (few.redraw(theta, gaps, full, weights, 4, 7, t) for t in (1, 3))
    assert (a[0] == b[0]).all() and (a[1] == b[1]).all()


def test_a_missing_number_is_drawn_from_its_gaussian():
    """y = 1 + 2x + e of variance 0.5 with x ~ N(0, 1) missing: x | y is N(4/9 (y − 1), 1/9)."""
    from credo import _core

    native = _core.Expectations([0, 0], [[0], [0, 1]], 256, 256)
    native.add([np.array([np.nan]), np.array([2.0])], 1, np.array([50.0]))
    lines = np.array([0.0, 1.0, 1.0, 2.0, 0.5])
    moments = np.array([native.draw(NONE, lines, s)[1] for s in range(800)])
    n, first, _, second = moments[:, :4].T
    assert (n == 50).all()
    assert abs(first.mean() / 50 - 4 / 9) < 4 * np.sqrt(1 / 9 / 50 / 800)
    assert abs(second.mean() / 50 - (16 / 81 + 1 / 9)) < 0.005
    spread = first.var() / (50 / 9)
    assert 0.8 < spread < 1.2


def test_bad_arguments_are_refused():
    native, theta = one_gap(0.3, 2.0)
    with pytest.raises(ValueError, match="must have 6 cells"):
        native.draw(theta[:3], NONE, 0)
    gaps = np.array([[-1, 0]], np.int32)
    with pytest.raises(ValueError, match="completions of those with gaps"):
        native.redraw(theta, gaps, np.array([[0, 1]], np.int32), np.ones(1), 4, 0)
    with pytest.raises(ValueError, match="a code for each variable"):
        native.redraw(theta, gaps, np.array([[0]], np.int32), np.ones(1), 4, 0)
