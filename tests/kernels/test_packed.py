"""Sibling sets that share one increment a row have the counts of np.bincount."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo import _core

from . import twins
from .test_count import assert_same

KERNELS = ["auto", "records", "histogram"]
BASE = [3, 2]  # the arities of the shared prefix, variables 0 and 1
MANY = [2, 3, 300, 4, 2, 128, 1, 2, 129, 3, 16, 17, 2, 2, 2, 255, 5, 256, 2]


def siblings(prefix: list[int], arities: list[int]) -> list[list[int]]:
    """The prefix with each of the variables that are not in the base."""
    return [[*prefix, v] for v in range(len(BASE), len(arities))]


def check(table: twins.Table, sets: list[list[int]], kernel: str) -> None:
    expected = [twins.count(table, s) for s in sets]
    for path in _core.paths():
        for threads in (1, 2, 3):
            got = table.columns.count(sets, kernel=kernel, path=path, threads=threads)
            assert_same(got, expected)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("gaps", [0, 0.5, 1])
@pytest.mark.parametrize("prefix", [[], [0], [1, 0]])
@pytest.mark.parametrize("leaves", [1, 2, 3, 4, 5])
def test_few_siblings(leaves: int, prefix: list[int], gaps: float, kernel: str) -> None:
    arities = BASE + [3, 2, 4, 2, 3][:leaves]
    table = twins.random_table(20_011, arities, seed=leaves, gaps=gaps)
    check(table, siblings(prefix, arities), kernel)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("gaps", [0, 0.5, 1])
@pytest.mark.parametrize("n_rows", [0, 1, 300, 16_384, 40_000])
def test_uneven_siblings_fall_back_where_they_do_not_pack(
    n_rows: int, gaps: float, kernel: str
) -> None:
    arities = BASE + MANY
    table = twins.random_table(n_rows, arities, seed=n_rows, gaps=gaps)
    check(table, siblings([0, 1], arities), kernel)


def test_groups_among_inner_nodes_and_repeated_sets() -> None:
    arities = BASE + [2] * 12
    table = twins.random_table(30_000, arities, seed=3)
    some = siblings([0], arities)
    inner = [[0, 5], [0, 5, 3], [0, 5, 4], [0, 5, 9, 10], [0, 7, 2]]
    again = [s[::-1] for s in some]
    check(table, [[0], [], *some, *inner, *some[3:6], *again], "histogram")


def test_a_row_that_one_sibling_misses_counts_for_the_others() -> None:
    codes = [np.zeros(5000, np.uint8) for _ in range(4)]
    codes[1][:1000] = 2  # missing
    codes[3][500:700] = 2
    columns = _core.Columns(codes, [2, 2, 2, 2], [False, True, False, True])
    counts = columns.count([[0, 1], [0, 2], [0, 3]], kernel="histogram")
    assert [c[0] for c in counts] == [4000, 5000, 4800]
    assert [c[1:].sum() for c in counts] == [0, 0, 0]


def test_large_prefixes_pack_little_or_nothing() -> None:
    arities = [40, 50, 2, 3, 2, 3, 4, 30, 30]
    table = twins.random_table(60_000, arities, seed=4)
    check(table, [[0, 1, v] for v in range(2, 9)], "histogram")
    check(table, [[0, 1, 7, v] for v in (2, 3, 4, 8)], "histogram")


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from([1, 2, 2, 3, 4, 5, 16, 128, 300]), min_size=1, max_size=12),
    st.sampled_from([1, 500, 20_000]),
    st.integers(0, 2**32 - 1),
    st.floats(0, 1),
    st.sampled_from([[], [0], [1], [0, 1]]),
    st.sampled_from(KERNELS),
)
def test_any_siblings(leaves, n_rows, seed, gaps, prefix, kernel) -> None:
    arities = BASE + leaves
    check(twins.random_table(n_rows, arities, seed, gaps), siblings(prefix, arities), kernel)
