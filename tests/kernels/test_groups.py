"""Unique rows and sparse tables against np.unique; recoding against fancy indexing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo import _core

from . import twins


def assert_unique(table: twins.Table, variables: list[int], weights=None) -> None:
    first, weight = table.columns.unique(variables, weights)
    expected_first, expected_weight = twins.unique(table, variables, weights)
    np.testing.assert_array_equal(first, expected_first)
    np.testing.assert_allclose(weight, expected_weight, rtol=1e-12, atol=0)
    assert first.dtype == np.int64
    assert weight.dtype == (np.int64 if weights is None else weights.dtype)


@pytest.mark.parametrize("n_rows", [0, 1, 63, 65, 2048, 2049, 40000])
@pytest.mark.parametrize(
    ("arities", "variables"),
    [
        ([2, 3, 4], [2, 0, 1]),
        ([300, 1, 2], [0, 1, 2]),
        ([7] * 12, list(range(12))),
        ([2] * 200, list(range(199, -1, -1))),
        ([65535] * 9, list(range(9))),
    ],
)
def test_unique_rows(n_rows: int, arities: list[int], variables: list[int]) -> None:
    table = twins.random_table(n_rows, arities, seed=n_rows)
    rng = np.random.default_rng(4)
    assert_unique(table, variables)
    assert_unique(table, variables, rng.integers(0, 9, n_rows))
    assert_unique(table, variables, rng.random(n_rows))


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from([1, 2, 3, 9, 30, 300]), min_size=1, max_size=9),
    st.integers(1, 300),
    st.integers(0, 2**32 - 1),
    st.floats(0, 1),
)
def test_unique_of_any_table(arities, n_rows, seed, gaps) -> None:
    table = twins.random_table(n_rows, arities, seed, gaps)
    assert_unique(table, list(range(len(arities))))


def test_unique_over_no_variables_is_one_group() -> None:
    first, weight = twins.random_table(10, [2], seed=0).columns.unique([])
    assert (first.tolist(), weight.tolist()) == ([0], [10])
    first, weight = twins.random_table(0, [2], seed=0).columns.unique([])
    assert (len(first), len(weight)) == (0, 0)


def test_unique_gives_up_at_the_limit() -> None:
    columns = twins.random_table(5000, [3, 3], seed=1, gaps=0).columns
    groups = len(columns.unique([0, 1])[0])
    assert columns.unique([0, 1], limit=groups - 1) is None
    assert len(columns.unique([0, 1], limit=groups)[0]) == groups


@pytest.mark.parametrize("dtype", [None, np.int64, np.float64])
def test_sparse_table_has_the_cells_of_the_dense_one(dtype) -> None:
    table = twins.random_table(5000, [4, 3, 7, 2], seed=2, gaps=1)
    weights = None if dtype is None else np.arange(1, 5001).astype(dtype)
    configurations, weight = table.columns.count_sparse([2, 0, 3], weights)
    dense = twins.count(table, [2, 0, 3], weights)
    cells = np.flatnonzero(dense)
    assert configurations.dtype == np.uint32
    np.testing.assert_array_equal(
        configurations, np.stack(np.unravel_index(cells, (7, 4, 2)), axis=1)
    )
    np.testing.assert_allclose(weight, dense[cells], rtol=1e-12, atol=0)


def test_sparse_table_of_sixty_variables() -> None:
    table = twins.random_table(3000, [5] * 60, seed=3, gaps=0.05)
    rows = np.stack(table.codes, axis=1)
    rows = rows[(rows < 5).all(axis=1)]
    expected, counts = np.unique(rows, axis=0, return_counts=True)
    configurations, weight = table.columns.count_sparse(list(range(60)))
    np.testing.assert_array_equal(configurations, expected)
    np.testing.assert_array_equal(weight, counts)


def test_bad_variables() -> None:
    columns = twins.random_table(10, [2, 2], seed=0).columns
    for call in (columns.unique, columns.count_sparse):
        with pytest.raises(ValueError, match="variable 2"):
            call([2])
        with pytest.raises(ValueError, match="twice"):
            call([1, 1])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("n", [0, 1, 4095, 4096, 10000])
def test_take_codes(n: int, dtype: type) -> None:
    rng = np.random.default_rng(0)
    lut = rng.integers(0, 200, 50).astype(dtype)
    indices = rng.integers(0, 50, n).astype(np.int32)
    out = np.empty(n, dtype)
    _core.take_codes(indices, lut, out)
    np.testing.assert_array_equal(out, lut[indices])


@pytest.mark.parametrize("path", _core.paths())
@pytest.mark.parametrize("kind", [np.int32, np.uint8])
@pytest.mark.parametrize("few", [1, 3, 16, 17])
def test_take_codes_of_few_states(few: int, kind: type, path: str) -> None:
    rng = np.random.default_rng(few)
    for n in (0, 1, 15, 16, 33, 4096, 4097, 10_001):
        lut = rng.integers(0, 256, few).astype(np.uint8)
        indices = rng.integers(0, few, n).astype(kind)
        out = np.full(n + 1, 7, np.uint8)
        _core.take_codes(indices, lut, out[:n], path)
        np.testing.assert_array_equal(out[:n], lut[indices])
        assert out[n] == 7
        if n:
            indices[rng.integers(n)] = few
            with pytest.raises(ValueError, match=f"got {few} instead"):
                _core.take_codes(indices, lut, out[:n], path)


@pytest.mark.parametrize("few", [2, 50])
@pytest.mark.parametrize("bad", [-1, 50, 2**31 - 1, -(2**31)])
def test_take_codes_checks_its_indices(bad: int, few: int) -> None:
    indices = np.zeros(100, np.int32)
    indices[70] = bad
    with pytest.raises(ValueError, match="Indices"):
        _core.take_codes(indices, np.zeros(few, np.uint8), np.empty(100, np.uint8))


def test_take_codes_checks_its_arrays() -> None:
    indices, lut = np.zeros(10, np.int32), np.zeros(5, np.uint8)
    with pytest.raises(ValueError, match="same type"):
        _core.take_codes(indices, lut, np.empty(10, np.uint16))
    with pytest.raises(ValueError, match="as long as"):
        _core.take_codes(indices, lut, np.empty(9, np.uint8))
