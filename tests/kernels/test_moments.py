"""Grouped moments against two passes in extended precision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo import _core

from . import twins


def check(columns, group=None, n_groups=1, weights=None, rtol=1e-12) -> None:
    expected_n, expected_mean, expected_scatter = twins.moments(columns, group, n_groups, weights)
    for path in _core.paths():
        n, mean, scatter = _core.moments(columns, group, n_groups, weights, 1, path)
        np.testing.assert_allclose(n, expected_n, rtol=1e-12)
        scale = np.maximum(np.abs(expected_mean), 1)
        assert np.all(np.abs(mean - expected_mean) <= 1e-12 * scale)
        sizes = np.sqrt(np.einsum("gii->gi", expected_scatter))
        bound = rtol * np.einsum("gi,gj->gij", sizes, sizes)
        rounding = 1e-15**2 * (n * scale.max(axis=1) ** 2)[:, None, None]  # of equal values
        assert np.all(np.abs(scatter - expected_scatter) <= bound + rounding)
        np.testing.assert_array_equal(scatter, scatter.transpose(0, 2, 1))
        for threads in (2, 3):
            again = _core.moments(columns, group, n_groups, weights, threads, path)
            for a, b in zip(again, (n, mean, scatter), strict=True):
                np.testing.assert_array_equal(a, b)


def normal(n_rows: int, d: int, seed: int, mean: float = 0.0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, d)) @ rng.normal(size=(d, d)) + mean
    return [np.ascontiguousarray(x[:, j]) for j in range(d)]


@pytest.mark.parametrize("n_rows", [0, 1, 2, 8, 9, 1000, 70_000])
@pytest.mark.parametrize("d", [1, 2, 5, 20])
def test_moments(n_rows: int, d: int) -> None:
    check(normal(n_rows, d, seed=d))


def test_many_columns_few_rows() -> None:
    check(normal(250, 131, seed=1))


@pytest.mark.parametrize("n_rows", [100, 150_000])
def test_large_mean_small_spread(n_rows: int) -> None:
    check(normal(n_rows, 3, seed=2, mean=1e9), rtol=1e-9)


def test_an_outlier_does_not_spoil_the_centre() -> None:
    columns = normal(100_000, 2, seed=3)
    columns[0][0] = 1e9
    check(columns)


@pytest.mark.parametrize("weighted", [False, True])
def test_groups_weights_and_gaps(weighted: bool) -> None:
    rng = np.random.default_rng(4)
    n_rows, n_groups = 20_000, 37
    columns = normal(n_rows, 4, seed=4, mean=1e3)
    columns[1][rng.random(n_rows) < 0.1] = np.nan
    group = rng.integers(0, n_groups + 1, n_rows).astype(np.uint32)
    group[group == 5] = 6  # an empty group
    weights = rng.random(n_rows) * (rng.random(n_rows) < 0.9) if weighted else None
    check(columns, group, n_groups, weights, rtol=1e-9)
    n, mean, scatter = _core.moments(columns, group, n_groups, weights)
    assert (n[5], mean[5].any(), scatter[5].any()) == (0, False, False)


def test_weights_that_nearly_vanish() -> None:
    """Like the responsibilities of a mixture: a tight far cluster holds nearly all the weight."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=50_000)
    weights = np.full(50_000, 1e-300)
    x[123:133] = 10 + 1e-5 * rng.normal(size=10)
    weights[123:133] = 1.0
    check([x], None, 1, weights, rtol=1e-9)


def test_rows_that_are_all_gaps() -> None:
    n, mean, scatter = _core.moments([np.full(10, np.nan)], None, 1, None)
    assert (n.tolist(), mean.tolist(), scatter.tolist()) == ([0.0], [[0.0]], [[[0.0]]])


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 200), st.integers(1, 6), st.integers(1, 5), st.booleans(), st.integers(0, 2**32)
)
def test_any_groups(n_rows, d, n_groups, weighted, seed) -> None:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_groups + 1, n_rows).astype(np.uint32)
    columns = normal(n_rows, d, seed)
    check(columns, group, n_groups, rng.random(n_rows) if weighted else None, rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], None, 1, None), "columns"),
        (([np.zeros(3)], None, 2, None), "n_groups"),
        (([np.zeros(3)], None, 0, None), "n_groups"),
        (([np.zeros(3), np.zeros(2)], None, 1, None), "as many rows"),
        (([np.zeros(3)], np.zeros(2, np.uint32), 1, None), "as many rows"),
        (([np.zeros(3)], np.full(3, 9, np.uint32), 2, None), "group 9"),
        (([np.zeros(3)], None, 1, np.array([1.0, -1.0, 0.0])), "not negative"),
        (([np.zeros(3)], None, 1, np.array([1.0, np.nan, 0.0])), "finite"),
        (([np.zeros(3)], None, 1, None, 0), "threads"),
        (([np.zeros(3)], None, 1, None, 1, "sse9"), "path"),
    ],
)
def test_bad_arguments(arguments, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _core.moments(*arguments)
