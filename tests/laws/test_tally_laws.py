"""The law of merging, and its companions, for every statistic (RELIABILITY test 9)."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import credo as cr
from credo.stats.family import Families
from credo.stats.plan import Plan, tally_block
from tests.laws.tables import blocks, families_of, part


def alike(a, b):
    """Whole counts equal to the last, fractional ones and moments to rounding."""
    if isinstance(a, cr.Moments) or a.values.dtype.kind == "f":
        return a.close_to(b)
    return a == b


def same(a, b):
    """Every statistic of two tallies alike."""
    assert set(a) == set(b)
    for family in a:
        assert alike(a[family], b[family]), family
    assert a.rows == b.rows if isinstance(a.rows, int) else a.rows == pytest.approx(b.rows, 1e-12)
    return True


def brute_counts(block, names):
    """A NumPy twin: one row at a time, in Python."""
    variables = [block.schema[n] for n in names]
    columns = [block.arrays[block.schema.index(n)] for n in names]
    out = np.zeros([v.arity for v in variables], dtype=float)
    skipped = 0.0
    for i in range(block.rows):
        codes = tuple(int(c[i]) for c in columns)
        w = 1 if block.weights is None else block.weights[i]
        if any(c == v.arity for c, v in zip(codes, variables, strict=True)):
            skipped += w
        else:
            out[codes] += w
    return out, skipped


@given(blocks(continuous=False), st.integers(0, 2**32 - 1))
def test_counts_equal_a_loop_over_rows(block, seed):
    families = families_of(block, np.random.default_rng(seed))
    for family, counts in tally_block(block, families).items():
        expected, skipped = brute_counts(block, family.names)
        np.testing.assert_allclose(np.asarray(counts), expected, rtol=1e-12)
        assert counts.skipped == pytest.approx(skipped)
        assert counts.names == family.names


@given(blocks(min_rows=1), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_the_tally_of_two_parts_is_the_sum_of_their_tallies(block, seed, share):
    rng = np.random.default_rng(seed)
    families = families_of(block, rng)
    cut = int(share * block.rows)
    whole = tally_block(block, families)
    a = tally_block(part(block, slice(0, cut)), families)
    b = tally_block(part(block, slice(cut, None)), families)
    assert same(whole, a + b)
    assert same(a + b, b + a)


@given(blocks(), blocks(), blocks(), st.integers(0, 2**32 - 1))
def test_merging_is_associative_with_an_identity(a, b, c, seed):
    families = families_of(a, np.random.default_rng(seed))
    n = a.rows
    thirds = [
        part(a, slice(0, n // 3)),
        part(a, slice(n // 3, n // 2)),
        part(a, slice(n // 2, None)),
    ]
    x, y, z = (tally_block(t, families) for t in thirds)
    empty = tally_block(part(a, slice(0, 0)), families)
    assert same((x + y) + z, x + (y + z))
    assert same(x + empty, x) and same(empty + x, x)


@given(blocks(min_rows=1), st.integers(0, 2**32 - 1))
def test_the_order_of_rows_is_irrelevant(block, seed):
    rng = np.random.default_rng(seed)
    families = families_of(block, rng)
    shuffled = part(block, rng.permutation(block.rows))
    assert same(tally_block(block, families), tally_block(shuffled, families))


@given(blocks(min_rows=1, weights=(None,)), st.integers(0, 2**32 - 1))
def test_weight_k_is_k_copies(block, seed):
    rng = np.random.default_rng(seed)
    families = families_of(block, rng)
    k = rng.integers(1, 4, block.rows)
    from credo.stats.block import Block

    weighted = Block(block.schema, block.arrays, k)
    copies = part(block, np.repeat(np.arange(block.rows), k))
    assert same(tally_block(weighted, families), tally_block(copies, families))


@given(blocks(min_rows=1), st.integers(0, 2**32 - 1))
def test_kernels_paths_and_threads_agree(block, seed):
    from credo import _core

    families = families_of(block, np.random.default_rng(seed))
    expected = tally_block(block, families, threads=1)
    kernels = ["histogram", "sparse"] + (["popcount", "records"] if block.weights is None else [])
    for kernel in kernels:
        for path in _core.paths():
            for threads in (1, 2, 3):
                got = tally_block(block, families, kernel=kernel, path=path, threads=threads)
                assert same(got, expected)


@given(blocks(min_rows=1), st.integers(0, 2**32 - 1), st.integers(1, 7))
def test_a_plan_over_chunks_is_the_whole(block, seed, pieces):
    families = families_of(block, np.random.default_rng(seed))
    plan = Plan.of(block.schema, Families.of(families), block.rows)
    cuts = np.array_split(np.arange(block.rows), pieces)
    assert same(plan.finish(plan.count(part(block, c)) for c in cuts), tally_block(block, families))


@given(blocks(continuous=False, min_rows=1), st.integers(0, 2**32 - 1))
def test_dense_and_sparse_counts_answer_alike(block, seed):
    rng = np.random.default_rng(seed)
    for family, counts in tally_block(block, families_of(block, rng)).items():
        sparse = counts.sparse()
        assert not sparse.is_dense and sparse == counts and counts == sparse
        assert sparse.dense().is_dense and sparse.dense() == counts
        assert sparse.total == pytest.approx(counts.total, 1e-12)
        kept = list(rng.permutation(family.names)[: int(rng.integers(0, len(family.names) + 1))])
        a, b = counts.marginal(kept), sparse.marginal(kept)
        assert alike(a, b)
        assert np.array_equal(np.asarray(sparse + sparse), 2 * np.asarray(counts))
        assert sparse + counts == counts + counts
        for labels, value in counts.items():
            assert counts[dict(zip(counts.names, labels, strict=True))] == value
            assert sparse[dict(zip(counts.names, labels, strict=True))] == value


@given(blocks(continuous=False, min_rows=1))
def test_the_marginal_of_a_family_is_the_family_of_the_marginal_when_nothing_is_missing(block):
    from credo.stats.block import Block

    arrays = tuple(
        np.minimum(a, v.arity - 1).astype(np.uint8)
        for a, v in zip(block.arrays, block.schema.variables, strict=True)
    )
    whole = Block(block.schema, arrays, block.weights)
    names = list(block.schema.names)
    joint = tally_block(whole, [(names[0], names[1:])])[names[0], names[1:]]
    for name in names:
        single = tally_block(whole, [name])[name]
        assert alike(single, joint.marginal(name))


# --- rows ---------------------------------------------------------------------------------


@given(blocks(continuous=False, min_rows=1), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_rows_merge_and_keep_every_count(block, seed, share):
    rng = np.random.default_rng(seed)
    cut = int(share * block.rows)
    whole = block.unique()
    fractional = block.weights is not None and block.weights.dtype.kind == "f"
    if 0 < cut < block.rows:
        a, b = part(block, slice(0, cut)).unique(), part(block, slice(cut, None)).unique()
        assert (a + b).close_to(whole) and (a + b).close_to(b + a)
        assert fractional or a + b == whole == b + a
    assert whole.total == (pytest.approx(block.weight, 1e-12) if fractional else block.weight)
    for family, counts in tally_block(block, families_of(block, rng)).items():
        assert alike(counts, whole.counts(family.names))


@given(blocks(continuous=False, min_rows=1, weights=(None,)))
def test_rows_are_the_different_rows_in_order(block):
    rows = block.unique()
    matrix = np.stack(block.arrays, axis=1)
    expected, counts = np.unique(matrix, axis=0, return_counts=True)
    assert np.array_equal(np.stack(rows.codes, axis=1), expected)
    assert np.array_equal(rows.weights, counts)
    assert rows.marginal(rows.names[:1]).total == block.rows


# --- moments ------------------------------------------------------------------------------


@given(blocks(min_rows=1), st.integers(0, 2**32 - 1))
def test_moments_equal_a_two_pass_twin(block, seed):
    rng = np.random.default_rng(seed)
    names = block.schema.names
    continuous = block.schema.continuous
    if not continuous:
        return
    groups = [str(n) for n in rng.permutation(block.schema.discrete)[:2]]
    moments = tally_block(block, [(continuous[0], [*groups, *continuous[1:]])])[
        continuous[0], [*groups, *continuous[1:]]
    ]
    assert set(moments.names) == {*groups, *continuous} and names
    keep = np.ones(block.rows, dtype=bool)
    for name in moments.names:
        v, a = block.schema[name], block.arrays[block.schema.index(name)]
        keep &= (a != v.arity) if v.is_discrete else ~np.isnan(a)
    w = np.ones(block.rows) if block.weights is None else block.weights.astype(float)
    x = np.stack([block.arrays[block.schema.index(v.name)] for v in moments.continuous], axis=1)
    codes = [block.arrays[block.schema.index(v.name)] for v in moments.discrete]
    for row, n, mean, scatter in zip(
        moments.configurations, moments.n, moments.mean, moments.scatter, strict=True
    ):
        hit = keep.copy()
        for c, code in zip(codes, row, strict=True):
            hit &= c == code
        xs, ws = x[hit].astype(np.longdouble), w[hit].astype(np.longdouble)
        m = (ws[:, None] * xs).sum(axis=0) / ws.sum()
        s = (ws[:, None] * (xs - m)).T @ (xs - m)
        scale = np.abs(x[hit]).max() + 1
        np.testing.assert_allclose(n, float(ws.sum()), rtol=1e-12)
        np.testing.assert_allclose(mean, m.astype(float), rtol=1e-12, atol=1e-12 * scale)
        size = np.sqrt(np.diag(s).astype(float)) + 1e-9 * scale
        assert (np.abs(scatter - s.astype(float)) <= 1e-9 * np.outer(size, size)).all()
    assert moments.total + moments.skipped == pytest.approx(float(w.sum()))


@given(blocks(min_rows=2, weights=(None, "float")), st.integers(0, 2**32 - 1))
def test_marginal_moments_merge_the_groups(block, seed):
    if not block.schema.continuous:
        return
    rng = np.random.default_rng(seed)
    x = block.schema.continuous[0]
    d = str(rng.permutation(block.schema.discrete)[0])
    by_group = tally_block(block, [(x, [d])])[x, [d]]
    keep = block.arrays[block.schema.index(d)] != block.schema[d].arity
    direct = tally_block(part(block, keep), [x])[x]
    merged = by_group.marginal(x)
    assert np.array_equal(merged.configurations, direct.configurations)
    assert replace(merged, skipped=direct.skipped).close_to(direct)


@pytest.mark.parametrize("middle, sd", [(0.0, 1.0), (1e9, 1.0), (-1e-100, 1e-101), (1e100, 1e99)])
@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans())
def test_moments_of_parts_merge_to_rounding(middle, sd, seed, weighted):
    rng = np.random.default_rng(seed)
    x = middle + sd * rng.normal(size=60)
    y = x + sd * rng.normal(size=60)
    w = rng.random(60) * 10.0 ** rng.integers(-3, 4, 60) if weighted else np.ones(60)
    n, mean, scatter = rounded_moments(x, y, w)
    cuts = np.array_split(rng.permutation(60), int(rng.integers(1, 8)))
    parts = [cr.Moments.of({"x": x[c], "y": y[c]}, weights=w[c]) for c in cuts]
    for order in (parts, parts[::-1]):
        whole = sum(order)
        assert whole == sum(order)  # the same parts give the same bits
        np.testing.assert_allclose(whole.n, [n], rtol=1e-12)
        scale = np.sqrt(np.diagonal(scatter))
        assert (np.abs(whole.mean - mean) <= 1e-12 * (np.abs(mean) + sd)).all()
        room = 1e-12 + 1e-15 * abs(middle) / sd
        assert (np.abs(whole.scatter - scatter) <= room * np.outer(scale, scale)).all()


def rounded_moments(x, y, w):
    """A twin in fractions: every sum exact, each number rounded once."""
    fractions = [[Fraction(v) for v in column] for column in (x, y)]
    weights = [Fraction(1 if w is None else w[i]) for i in range(len(x))]
    n = sum(weights)
    mean = [sum(a * b for a, b in zip(weights, c, strict=True)) / n for c in fractions]
    scatter = [
        [
            float(sum(a * (s - m) * (t - k) for a, s, t in zip(weights, c, d, strict=True)))
            for d, k in zip(fractions, mean, strict=True)
        ]
        for c, m in zip(fractions, mean, strict=True)
    ]
    return float(n), [float(m) for m in mean], scatter
