"""The kernel of mixtures against its twin, on every path and any number of threads."""

import numpy as np
import pytest
from scipy.special import logsumexp
from tests.kernels.mixture_twin import log_joint, twin_step

from credo import _core
from credo.predict.rows.mixture_rows import Parameters, laid

PATHS = _core.paths()


def problem(seed, n=300, d=5, k=3, gaps=0.2, arities=(2, 3, 5, 4, 7)):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2, (n, d))
    x[rng.random(x.shape) < gaps] = np.nan
    codes = np.stack([rng.integers(0, a + (gaps > 0), n) for a in arities], axis=1).reshape(n, -1)
    weights = rng.dirichlet(np.ones(k))
    tables = tuple(rng.dirichlet(np.ones(a), size=k) for a in arities)
    means = rng.normal(0, 1, (k, d))
    root = rng.normal(0, 0.4, (k, d, d)) + np.eye(d)
    covs = root @ root.transpose(0, 2, 1)
    return x, codes, rng.gamma(2, 1, n), weights, tables, means, covs


def lay(x, codes, w, tables, joint, k):
    arities = [t.shape[1] for t in tables]
    return laid(x.T.copy(), np.zeros((0, len(x))), list(codes.T), arities, w, joint, k)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("gaps", [0.0, 0.25])
def test_joint_columns(path, d, gaps):
    k = 1 + d % 4
    x, codes, w, weights, tables, means, covs = problem(d, 150, d, k, gaps, (2, 3))
    rows = lay(x, codes, w, tables, True, k)
    numbers = Parameters(weights, tables, means, covs, np.zeros((k, 0)))
    height, mass, counts, first, second, share = twin_step(
        x, codes, w, weights, tables, means, covs
    )
    found, log = rows.expect(numbers, 1, path)
    assert log == pytest.approx(height, rel=1e-12)
    np.testing.assert_allclose(found.mass, mass, rtol=1e-11)
    for a, b in zip(found.counts, counts, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.first, first, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.second, second, rtol=1e-9, atol=1e-10)
    got, logs = rows.score(numbers, 1, path)
    np.testing.assert_allclose(got, share / w[:, None], rtol=1e-9, atol=1e-13)
    assert float(w @ logs) == pytest.approx(height, rel=1e-12)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("d", [33, 70, 150])
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_many_joint_columns(path, d, gaps):
    x, codes, w, weights, tables, means, covs = problem(d, 12, d, 2, gaps, (2,))
    covs = covs + np.eye(d)
    rows = lay(x, codes, w, tables, True, 2)
    numbers = Parameters(weights, tables, means, covs, np.zeros((2, 0)))
    height, mass, _, first, second, share = twin_step(x, codes, w, weights, tables, means, covs)
    found, log = rows.expect(numbers, 1, path)
    assert log == pytest.approx(height, rel=1e-12)
    np.testing.assert_allclose(found.mass, mass, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(found.first, first, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.second, second, rtol=1e-8, atol=1e-9)
    got, _ = rows.score(numbers, 1, path)
    np.testing.assert_allclose(got, share / w[:, None], rtol=1e-8, atol=1e-13)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8, 9, 13, 17])
def test_columns_apart_and_many_classes(path, k):
    x, codes, w, weights, tables, means, _ = problem(k, 257, 3, k, 0.2)
    rng = np.random.default_rng(k)
    variances = rng.gamma(2, 1, (k, 3))
    covs = variances[:, :, None] * np.eye(3)
    rows = lay(x, codes, w, tables, False, k)
    numbers = Parameters(weights, tables, means, variances, np.zeros((k, 0)))
    joint = log_joint(x, codes, weights, tables, means, covs)
    logs = logsumexp(joint, axis=1)
    share = np.exp(joint - logs[:, None])
    found, log = rows.expect(numbers, 1, path)
    assert log == pytest.approx(float(w @ logs), rel=1e-12)
    np.testing.assert_allclose(found.mass, w @ share, rtol=1e-11)
    there = ~np.isnan(x)
    for c in range(k):
        r = (w * share[:, c])[:, None]
        z = np.where(there, x - means[c], 0.0)
        np.testing.assert_allclose(found.there[c], (r * there).sum(0), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(found.first[c], (r * z).sum(0), rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(found.second[c], (r * z * z).sum(0), rtol=1e-9, atol=1e-10)
    for j, table in enumerate(found.counts):
        for s in range(table.shape[1]):
            expected = (w[:, None] * share)[codes[:, j] == s].sum(axis=0)
            np.testing.assert_allclose(table[:, s], expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(rows.score(numbers, 1, path)[0], share, rtol=1e-9, atol=1e-13)


def test_rates():
    rng = np.random.default_rng(0)
    n, k = 400, 3
    counts = rng.poisson(4, (2, n)).astype(float)
    counts[rng.random(counts.shape) < 0.2] = np.nan
    rates, weights = rng.gamma(2, 2, (k, 2)), rng.dirichlet(np.ones(k))
    rows = laid(np.zeros((0, n)), counts, [], [], None, False, k)
    numbers = Parameters(weights, (), np.zeros((k, 0)), np.zeros((k, 0)), rates)
    terms = counts[:, :, None] * np.log(rates.T)[:, None, :] - rates.T[:, None, :]
    joint = np.log(weights) + np.nansum(terms, axis=0)
    logs = logsumexp(joint, axis=1)
    share = np.exp(joint - logs[:, None])
    found, log = rows.expect(numbers)
    assert log == pytest.approx(logs.sum(), rel=1e-12)
    np.testing.assert_allclose(found.first, np.nansum(counts[:, :, None] * share, axis=1).T)
    np.testing.assert_allclose(found.there, ((~np.isnan(counts)) @ share).T)


@pytest.mark.parametrize("joint", [True, False])
def test_any_number_of_threads_gives_the_same_bits(joint):
    x, codes, w, weights, tables, means, covs = problem(1, 30_000, 4, 3, 0.1)
    rows = lay(x, codes, w, tables, joint, 3)
    spread = covs if joint else covs.diagonal(0, 1, 2)
    numbers = Parameters(weights, tables, means, np.ascontiguousarray(spread), np.zeros((3, 0)))
    (one, log), (many, log_many) = rows.expect(numbers, 1), rows.expect(numbers, 5)
    assert log == log_many
    np.testing.assert_array_equal(one.second, many.second)
    for a, b in zip(one.counts, many.counts, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(rows.score(numbers, 1)[0], rows.score(numbers, 4)[0])


@pytest.mark.parametrize("path", PATHS)
def test_rows_far_from_everything_and_rows_that_cannot_be(path):
    far = np.array([[0.0, 1e160, -1e160, np.nan]])
    rows = laid(far, np.zeros((0, 4)), [np.array([0, 0, 0, 1])], [2], None, True, 2)
    tables = (np.array([[1.0, 0.0], [1.0, 0.0]]),)
    means, spread = np.array([[0.0], [1.0]]), np.ones((2, 1, 1))
    numbers = Parameters(np.array([0.5, 0.5]), tables, means, spread, np.zeros((2, 0)))
    share, logs = rows.score(numbers, 1, path)
    assert np.isfinite(share).all() and np.allclose(share.sum(axis=1), 1)
    assert np.isneginf(logs).tolist() == [False, False, False, True]
    found, log = rows.expect(numbers, 1, path)
    assert log == -np.inf and np.isfinite(found.mass).all()


def test_a_covariance_without_a_root_is_refused_in_words():
    from credo.errors import InputError

    rows = laid(np.zeros((2, 5)), np.zeros((0, 5)), [], [], None, True, 1)
    bad = Parameters(np.ones(1), (), np.zeros((1, 2)), -np.ones((1, 2, 2)), np.zeros((1, 0)))
    with pytest.raises(InputError, match="not positive definite"):
        rows.expect(bad)
    with pytest.raises(InputError, match="not positive definite"):
        rows.score(bad)
