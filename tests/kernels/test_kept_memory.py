"""Arrays of kernels take over memory that was freed: no two that live share it, zeros are zero."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from credo import _core

# From arrays that are never kept to those too large for it; two of each, so that some are taken over.
WIDTHS = [10, 3_000, 3_500, 20_000, 60_000, 70_000, 800_000]


def moments(width, value):
    x = np.full((2, width), float(value))
    return _core.naive_moments(x, np.array([0, 2], np.uint32), 2)


def holds(part, width, value):
    n, mean, scatter = part
    assert n.shape == (width, 2)
    assert (n == [1, 0]).all() and (mean == [value, 0]).all() and not scatter.any()


@given(st.lists(st.tuples(st.sampled_from(WIDTHS[:-1]), st.integers(0, 5)), max_size=30))
def test_arrays_that_live_do_not_share_memory(steps):
    alive = {}
    for at, (width, place) in enumerate(steps):
        alive.pop(place, None)
        alive[place] = (moments(width, at + 1), width, at + 1)
        for held in alive.values():
            holds(*held)


def test_threads_take_and_give_at_once():
    def work(seed):
        rng = np.random.default_rng(seed)
        held = []
        for _ in range(60):
            width, value = int(rng.choice(WIDTHS[:-1])), int(rng.integers(1, 1000))
            held.append((moments(width, value), width, value))
            if len(held) > 3:
                holds(*held.pop(int(rng.integers(len(held)))))
        for one in held:
            holds(*one)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(8)))


def test_zeros_are_zero_in_memory_that_was_used():
    x, group = np.zeros((1, 60_000)), np.zeros(1, np.uint32)
    for width in WIDTHS:
        holds(moments(width, 7), width, 7)  # leaves numbers behind
    for _ in range(3):
        totals, countable = _core.naive_totals(x, group, 2)
        assert countable and not totals.any()
        del totals
        holds(moments(60_000, 7), 60_000, 7)
