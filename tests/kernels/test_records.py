"""Siblings counted together by their rows' records have the counts of np.bincount."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo import _core

from . import twins
from .test_count import assert_same

GROUP = 32  # records that are added up together


def check(table: twins.Table, sets: list[list[int]], threads: tuple[int, ...] = (1, 2, 3)) -> None:
    expected = [twins.count(table, s) for s in sets]
    columns = table.columns
    for path in _core.paths():
        for n in threads:
            assert_same(columns.count(sets, kernel="records", path=path, threads=n), expected)


@pytest.mark.parametrize("gaps", [0, 0.5, 1])
@pytest.mark.parametrize(
    "n_rows", [0, 1, 15, 16, 17, GROUP - 1, GROUP, GROUP + 1, 63, 64, 65, 511, 513, 4096, 4097]
)
def test_groups_that_are_full_and_not(n_rows: int, gaps: float) -> None:
    table = twins.random_table(n_rows, [1, 3, 2, 4, 8, 9, 10, 5], seed=n_rows, gaps=gaps)
    for prefix in ([], [0], [1], [1, 2]):
        check(table, [[*prefix, v] for v in range(3, 8)])


def test_a_run_as_long_as_the_longest_block() -> None:
    block = 127 * 512
    for rows in (block - 1, block, block + 1, 2 * block + 5):
        base = np.zeros(rows, np.uint16)  # one bucket of the 1,100 has all rows but one
        base[-1] = 1099
        others = [np.zeros(rows, np.uint8), np.arange(rows).astype(np.uint8) % 3]
        table = twins.Table([base, *others], [1100, 3, 3], [False] * 3)
        check(table, [[0, 1], [0, 2]], threads=(1, 2))


@pytest.mark.parametrize("buckets", [511, 512, 513, 1200, 20_000])
def test_many_buckets_of_short_runs(buckets: int) -> None:
    arities = [buckets] + [8] * 40  # three layers of records
    table = twins.random_table(30_000, arities, seed=buckets)
    check(table, [[0, v] for v in (1, 2, 20, 40)], threads=(1,))


def test_memory_that_is_kept_serves_small_and_large_in_turn() -> None:
    small = twins.random_table(50, [3, 2, 2], seed=1)
    large = twins.random_table(70_000, [9000, 4, 3, 2], seed=2)
    for _ in range(2):
        check(large, [[0, 1], [0, 2], [0, 3]], threads=(1,))
        check(small, [[0, 1], [0, 2]], threads=(1,))


def test_a_bucket_with_the_rows_of_many_blocks() -> None:
    rows = 200_003
    rng = np.random.default_rng(1)
    base = (rng.random(rows) < 0.01).astype(np.uint8)  # 198,000 rows in one bucket
    always = np.zeros(rows, np.uint8)
    others = [rng.integers(0, 3, rows).astype(np.uint8) for _ in range(3)]
    table = twins.Table([base, always, *others], [2, 3, 3, 3, 3], [False] * 5)
    check(table, [[0, v] for v in range(1, 5)])


@pytest.mark.parametrize("gaps", [0, 0.5])
def test_more_variables_than_one_layer_of_records_holds(gaps: float) -> None:
    arities = [3, 4] + [2, 3, 8, 4, 300, 9] * 25
    table = twins.random_table(700, arities, seed=2, gaps=gaps)
    check(table, [[0, 1, v] for v in range(2, len(arities))])
    check(table, [[0, 1, 5], [0, 1, 80], [1, 140]])


def test_rows_that_miss_the_prefix_count_for_nothing() -> None:
    codes = [np.zeros(5000, np.uint8) for _ in range(3)]
    codes[0][:1000] = 2  # missing
    codes[1][500:1500] = 2
    columns = _core.Columns(codes, [2, 2, 2], [True, True, False])
    for path in _core.paths():
        counts = columns.count([[0, 1], [0, 2], [1, 2]], kernel="records", path=path)
        assert [c[0] for c in counts] == [3500, 4000, 4000]
        assert [c[1:].sum() for c in counts] == [0, 0, 0]


def test_sets_asked_for_twice_and_in_any_order() -> None:
    table = twins.random_table(3000, [3, 2, 4, 2, 3], seed=4)
    sets = [[0, 2], [0, 1], [1, 0], [0, 2], [3], [], [0, 1, 2], [0, 1, 3], [4, 1, 0], [0, 1]]
    check(table, sets)


def test_tables_larger_than_the_rows() -> None:
    table = twins.random_table(300, [40, 50, 2, 3, 5], seed=5)
    check(table, [[0, 1, v] for v in range(2, 5)])
    wide = twins.random_table(300, [300, 400, 2, 3], seed=5)  # too many buckets: by histogram
    check(wide, [[0, 1, 2], [0, 1, 3]])


def test_records_are_shared_by_calls_and_threads() -> None:
    table = twins.random_table(60_000, [3, 4, 2, 3, 2, 5, 4, 2], seed=6)
    sets = [[a, b, c] for a in range(3) for b in range(3, 5) for c in range(5, 8)]
    expected = [twins.count(table, s) for s in sets]
    columns = table.columns
    for threads in (3, 1, 2, 7):
        for some in (slice(None), slice(0, 3), slice(4, 5)):
            got = columns.count(sets[some], kernel="records", threads=threads)
            assert_same(got, expected[some])


def test_weights_are_refused() -> None:
    columns = twins.random_table(10, [2, 2], seed=7).columns
    with pytest.raises(ValueError, match="'records' kernel counts rows and cannot take weights"):
        columns.count([[0, 1]], np.ones(10, np.int64), kernel="records")


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.integers(1, 11), min_size=1, max_size=40),
    st.lists(st.integers(1, 6), max_size=3),
    st.integers(0, 3000),
    st.integers(0, 2**32 - 1),
    st.floats(0, 1),
)
def test_any_siblings(leaves, prefix, n_rows, seed, gaps) -> None:
    table = twins.random_table(n_rows, prefix + leaves, seed, gaps)
    base = list(range(len(prefix)))
    check(table, [[*base, v] for v in range(len(prefix), len(table.arities))], threads=(1, 2))
