"""Every kernel, path and number of threads gives the counts of np.bincount."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo import _core

from . import twins

KERNELS = ["auto", "popcount", "records", "histogram", "sparse"]
PATHS = ["auto", "avx512", "avx2", "plain"]
ROWS = [0, 1, 63, 64, 65, 511, 512, 513, 5000, 40000]
ARITIES = [2, 3, 1, 4, 2, 7, 300, 2, 256, 255, 17]
SETS = [
    [], [0], [2], [6], [8], [0, 1], [0, 3], [1, 3], [3, 1], [0, 1, 3], [0, 1, 4], [0, 1, 3, 4],
    [2, 4, 7], [4, 7], [0, 6], [6, 0], [8, 9], [10, 5], [10, 5, 3], [7, 4, 3, 1, 0], [0, 1], [1, 2],
    [5, 2, 10],
]  # fmt: skip


def available(path: str) -> str:
    if path != "auto" and path not in _core.paths():
        pytest.skip(f"this CPU cannot run the {path} path")
    return path


def assert_same(got: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_rows", ROWS)
def test_counts_equal_bincount(n_rows: int, kernel: str, path: str) -> None:
    available(path)
    table = twins.random_table(n_rows, ARITIES, seed=n_rows)
    columns = table.columns
    expected = [twins.count(table, s) for s in SETS]
    for threads in (1, 2, 3):
        assert_same(columns.count(SETS, kernel=kernel, path=path, threads=threads), expected)
        assert_same(
            columns.count(SETS[8:10], kernel=kernel, path=path, threads=threads), expected[8:10]
        )


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("arities", [[217, 151, 2], [128, 256], [3, 10923, 2], [32767], [32768]])
def test_tables_at_the_edge_of_indices_of_16_bits(arities: list[int], path: str) -> None:
    available(path)
    for gaps in (0.0, 0.5):
        table = twins.random_table(3000, arities, seed=len(arities), gaps=gaps)
        sets = [list(range(k + 1)) for k in range(len(arities))]
        for asked in ([s] for s in sets):  # alone, so that the largest table of each is its own
            got = table.columns.count(asked, kernel="histogram", path=path)
            assert_same(got, [twins.count(table, s) for s in asked])


@pytest.mark.parametrize("kernel", ["popcount", "records", "histogram"])
def test_threads_that_share_rows_or_sets_agree(kernel: str) -> None:
    table = twins.random_table(300_001, [3, 4, 2, 3, 2, 5, 4, 2], seed=5)
    columns = table.columns
    pairs = [[a, b, c] for a in range(8) for b in range(a + 1, 8) for c in range(b + 1, 8)]
    expected = [twins.count(table, s) for s in pairs]
    for threads in (1, 2, 3, 7):
        assert_same(columns.count(pairs, kernel=kernel, threads=threads), expected)
        assert_same(columns.count(pairs[5:6], kernel=kernel, threads=threads), expected[5:6])


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kernel", ["auto", "histogram", "sparse"])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("n_rows", [0, 65, 40000])
def test_weighted_counts(n_rows: int, dtype: type, kernel: str, path: str) -> None:
    available(path)
    table = twins.random_table(n_rows, ARITIES, seed=n_rows + 1)
    weights = (100 * np.random.default_rng(3).random(n_rows)).astype(dtype)
    columns = table.columns
    expected = [twins.count(table, s, weights) for s in SETS]
    one = columns.count(SETS, weights, kernel=kernel, path=path)
    for a, b in zip(one, expected, strict=True):
        assert a.dtype == dtype
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=0)
    for threads in (2, 3):
        assert_same(columns.count(SETS, weights, kernel=kernel, path=path, threads=threads), one)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from([1, 2, 3, 4, 5, 9, 30, 300]), min_size=1, max_size=6),
    st.sampled_from(ROWS[:-1]),
    st.integers(0, 2**32 - 1),
    st.sampled_from(KERNELS),
    st.floats(0, 1),
    st.data(),
)
def test_any_sets_in_any_order(arities, n_rows, seed, kernel, gaps, data) -> None:
    table = twins.random_table(n_rows, arities, seed, gaps)
    subset = st.permutations(range(len(arities))).flatmap(
        lambda order: st.integers(0, min(5, len(order))).map(lambda k: list(order[:k]))
    )
    sets = data.draw(st.lists(subset, max_size=12))
    sets = [s for s in sets if np.prod([arities[v] for v in s]) <= 20_000]
    threads = data.draw(st.integers(1, 3))
    expected = [twins.count(table, s) for s in sets]
    for path in _core.paths():
        assert_same(table.columns.count(sets, None, kernel, path, threads), expected)


def test_flat_tables_are_the_tables_one_after_the_other() -> None:
    columns = twins.random_table(1000, [2, 3, 4], seed=8).columns
    sets = [[2, 0], [], [1], [0, 1, 2]]
    for weights in (None, np.arange(1000.0)):
        flat, begin = columns.count_flat(sets, weights)
        assert begin.tolist() == [0, 8, 9, 12, 36]
        assert_same(np.split(flat, begin[1:-1]), columns.count(sets, weights))


def test_sets_may_be_any_sequences_of_any_integers() -> None:
    columns = twins.random_table(100, [2, 3], seed=8).columns
    expected = columns.count([[1, 0], [0]])
    assert_same(columns.count(([1, 0], (0,))), expected)
    assert_same(columns.count([np.array([1, 0]), range(1)]), expected)
    with pytest.raises(ValueError, match="variable numbers"):
        columns.count([["a"]])


def test_row_order_and_parts_do_not_matter() -> None:
    table = twins.random_table(5000, [2, 3, 4, 5], seed=9)
    order = np.random.default_rng(1).permutation(5000)
    shuffled = twins.Table([c[order] for c in table.codes], table.arities, table.missing)
    sets = [[0, 1, 2], [3, 1], [2]]
    whole = table.columns.count(sets)
    assert_same(shuffled.columns.count(sets), whole)
    parts = [
        twins.Table([c[rows] for c in table.codes], table.arities, table.missing).columns.count(
            sets
        )
        for rows in (slice(0, 1234), slice(1234, None))
    ]
    assert_same([a + b for a, b in zip(*parts, strict=True)], whole)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("n_rows", ROWS)
def test_bitmaps(n_rows: int, path: str) -> None:
    available(path)
    table = twins.random_table(n_rows, ARITIES, seed=n_rows + 2)
    columns = table.columns
    assert columns.bitmap_bytes == 0
    total = 0
    for v in range(len(ARITIES)):
        got = columns.bitmap(v, path)
        assert got.shape[1] % 8 == 0
        assert got.ctypes.data % 64 == 0
        assert got.shape[1] * 64 >= n_rows
        np.testing.assert_array_equal(got, twins.bitmap(table, v, got.shape[1]))
        total += got.nbytes
    assert columns.bitmap_bytes == total


def test_bitmap_outlives_its_columns() -> None:
    table = twins.random_table(1000, [3], seed=1)
    kept = table.columns.bitmap(0)
    np.testing.assert_array_equal(kept, twins.bitmap(table, 0, kept.shape[1]))


def test_no_sets_and_no_variables() -> None:
    assert _core.Columns([], [], []).count([]) == []
    table = twins.random_table(10, [2], seed=0)
    (total,) = table.columns.count([[]])
    assert total.tolist() == [10]
    assert table.columns.n_rows == 10
    assert table.columns.n_variables == 1


def test_read_only_codes_are_taken() -> None:
    codes = np.array([0, 1, 1], dtype=np.uint8)
    codes.flags.writeable = False
    (counts,) = _core.Columns([codes], [2], [False]).count([[0]])
    assert counts.tolist() == [1, 2]


def test_paths_and_cores() -> None:
    assert _core.paths()[-1] == "plain"
    assert set(_core.paths()) <= set(PATHS)
    assert _core.cores() >= 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.count([[0]], path="sse9"), "path"),
        (lambda c: c.count([[0]], kernel="magic"), "kernel"),
        (lambda c: c.count([[0]], np.ones(3, np.int64), kernel="popcount"), "weights"),
        (lambda c: c.count([[0]], np.ones(2, np.int64)), "one weight per row"),
        (lambda c: c.count([[0]], np.ones(3, np.int32)), "int64 or float64"),
        (lambda c: c.count([[7]]), "variable 7"),
        (lambda c: c.count([[-1]]), "variable -1"),
        (lambda c: c.count([[0], [1, 0, 1]]), "Set 1 names variable 1 twice"),
        (lambda c: c.count([[0]], threads=0), "threads"),
        (lambda c: c.count([[2, 3, 4, 5]]), "count_sparse"),
        (lambda c: c.bitmap(99), "no variable 99"),
    ],
)
def test_bad_requests(call, message: str) -> None:
    codes = [np.zeros(3, np.uint16) for _ in range(6)]
    columns = _core.Columns(codes, [2, 3, 60000, 60000, 60000, 60000], [False] * 6)
    with pytest.raises(ValueError, match=message):
        call(columns)


def test_unavailable_paths_are_refused() -> None:
    columns = twins.random_table(10, [2], seed=0).columns
    for path in {"avx512", "avx2"} - set(_core.paths()):
        with pytest.raises(ValueError, match="this CPU can run"):
            columns.count([[0]], path=path)


@pytest.mark.parametrize(
    ("codes", "arity", "missing"),
    [
        (np.array([0, 2], np.uint8), 2, False),
        (np.array([0, 3], np.uint8), 2, True),
        (np.array([0], np.uint8), 0, True),
        (np.array([0], np.uint8), 256, True),
        (np.array([0], np.int64), 2, False),
        (np.array([[0]], np.uint8), 2, False),
    ],
)
def test_bad_codes(codes: np.ndarray, arity: int, missing: bool) -> None:
    with pytest.raises(ValueError):
        _core.Columns([codes], [arity], [missing])


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="must have 3 rows"):
        _core.Columns([np.zeros(3, np.uint8), np.zeros(2, np.uint8)], [2, 2], [False, False])


@pytest.mark.parametrize("n_rows", [0, 1, 700])
def test_gaps_are_looked_for_where_nobody_tells(n_rows: int) -> None:
    table = twins.random_table(n_rows, [2, 3, 200, 300], seed=n_rows, gaps=0.5)
    looked = _core.Columns(table.codes, table.arities)
    found = [bool((c == a).any()) for c, a in zip(table.codes, table.arities, strict=True)]
    assert looked.missing == found
    assert table.columns.missing == table.missing  # as it was told
    sets = [[0], [0, 1], [1, 2, 3], [0, 3]]
    assert_same(looked.count(sets), [twins.count(table, s) for s in sets])


def test_codes_past_missing_are_refused_where_nobody_tells() -> None:
    with pytest.raises(ValueError, match="codes must be below 3, got 3 instead"):
        _core.Columns([np.array([0, 3], np.uint8)], [2])
    assert _core.Columns([np.array([0, 255], np.uint8)], [256]).missing == [False]
