"""Ten million rows against NumPy; eight threads and a forked process give the same answers."""

import concurrent.futures
import multiprocessing

import numpy as np
import pytest

import credo as cr


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(7)
    n = 10_000_000
    a = rng.integers(0, 3, n, dtype=np.uint8)
    b = ((a + rng.integers(0, 2, n, dtype=np.uint8)) % 4).astype(np.uint8)
    c = rng.integers(0, 200, n, dtype=np.uint8)
    return {"a": a, "b": b, "c": c}


@pytest.mark.slow
def test_ten_million_rows_against_numpy(large):
    # c has 200 states: few enough to be discrete when told so
    table = cr.read(large, {"c": "discrete"})
    tally = table.tally([("a", ["b"]), ("c", ["a", "b"]), "c"])
    a, b, c = (large[k].astype(np.intp) for k in "abc")
    np.testing.assert_array_equal(
        np.asarray(tally["a", ["b"]]), np.bincount(b * 3 + a, minlength=12).reshape(4, 3)
    )
    expected = np.bincount((a * 4 + b) * 200 + c, minlength=2400).reshape(3, 4, 200)
    np.testing.assert_array_equal(np.asarray(tally["c", ["a", "b"]]), expected)
    assert table.nbytes == 30_000_000


def small_table():
    rng = np.random.default_rng(3)
    return cr.read({f"v{i}": rng.integers(0, 2 + i % 3, 60_000) for i in range(12)})


def pairs(table):
    names = table.schema.names
    return [(a, [b]) for i, a in enumerate(names) for b in names[:i]]


def test_eight_threads_at_once_give_the_same_answer():
    table = small_table()
    families = pairs(table)
    expected = small_table().tally(families, threads=1)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        # all start on a cold table, so bitmaps are built while others wait for them
        got = list(pool.map(lambda k: table.tally(families, threads=1 + k % 3), range(16)))
    assert all(tally == expected for tally in got)


def _counts_in_child(queue):
    table = small_table()
    queue.put(np.asarray(table.tally([("v1", ["v0"])])["v1", ["v0"]]).tolist())


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_counts_too():
    table = small_table()
    expected = np.asarray(table.tally([("v1", ["v0"])], threads=2)["v1", ["v0"]]).tolist()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_counts_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join(60)


def test_equal_rows_are_gathered_when_it_pays_and_change_nothing():
    rng = np.random.default_rng(5)
    table = cr.read({f"v{i}": rng.integers(0, 2, 200_000) for i in range(8)})
    families = pairs(table)
    assert table.block.compact is not None and table.block.compact.rows == 256
    from credo.stats.plan import tally_block

    assert table.tally(families) == tally_block(table.block, families, kernel="histogram")
    spread = cr.read({f"v{i}": rng.integers(0, 4, 100_000) for i in range(20)})
    assert spread.block.compact is None
