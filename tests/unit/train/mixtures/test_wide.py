"""More columns than rows: the same covariances as by all eigenvalues, and a limit in words."""

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError, LimitError
from credo.predict.rows.mixture_rows import Parameters, roots_of
from credo.train.mixtures.choose import _different
from credo.train.mixtures.maximise import raised


def by_all_eigenvalues(matrix, floor):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, floor)) @ vectors.T


@pytest.mark.parametrize(
    ("columns", "rank"), [(60, 5), (60, 19), (60, 30), (60, 59), (60, 60), (5, 0), (3, 1)]
)
@pytest.mark.parametrize("least", [1.0, 1e-4])
def test_few_eigenvalues_are_raised_as_all_would_be(columns, rank, least):
    rng = np.random.default_rng(rank)
    x = rng.normal(size=(3, rank, columns)) * np.geomspace(1, least, columns)
    matrices = x.transpose(0, 2, 1) @ x / max(rank, 1)
    for floor in (1e-6, 1e-3):
        found = raised(matrices, floor)
        for one, matrix in zip(found, matrices, strict=True):
            np.testing.assert_allclose(one, by_all_eigenvalues(matrix, floor), atol=1e-13)
            np.testing.assert_array_equal(one, one.T)


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_a_wide_table_is_learned_and_its_trace_never_falls(covariance):
    x = np.random.default_rng(0).normal(size=(12, 40)) + 3.0 * np.repeat([0, 1], 6)[:, None]
    mixture = cr.mixture(x, 2, covariance=covariance)
    assert (np.diff(mixture.record.trace) >= 0).all()
    part = mixture.gaussians
    logs = np.stack(
        [
            np.log(w)
            - 0.5 * np.einsum("ni,ij,nj->n", x - m, np.linalg.inv(s), x - m)
            - 0.5 * np.linalg.slogdet(2 * np.pi * s)[1]
            for w, m, s in zip(mixture.weights, part.means, part.matrices, strict=True)
        ]
    )
    by_hand = np.logaddexp.reduce(logs, axis=0)
    np.testing.assert_allclose(mixture.log_densities(x), by_hand, rtol=1e-8)


@pytest.mark.parametrize("columns", [3, 60, 150])
@pytest.mark.parametrize("shared", [False, True])
def test_inverse_roots_say_what_inverses_and_determinants_do(columns, shared):
    rng = np.random.default_rng(columns)
    a = rng.normal(size=(1 if shared else 4, columns, columns + 3))
    s = np.broadcast_to(a @ a.transpose(0, 2, 1) / columns, (4, columns, columns))
    roots, inverse = roots_of(s), np.linalg.inv(s)
    x, other = rng.normal(size=(4, columns)), s[::-1] + np.eye(columns)
    np.testing.assert_allclose(roots.inverse.transpose(0, 2, 1) @ roots.inverse, inverse, rtol=1e-6)
    assert not np.triu(roots.inverse, 1).any()
    np.testing.assert_allclose(roots.log_det, np.linalg.slogdet(s)[1], rtol=1e-9)
    np.testing.assert_allclose(roots.trace(), np.trace(inverse, axis1=1, axis2=2), rtol=1e-9)
    np.testing.assert_allclose(
        roots.trace(other), np.trace(inverse @ other, axis1=1, axis2=2), rtol=1e-9
    )
    np.testing.assert_allclose(
        roots.squares(x), np.einsum("ci,cij,cj->c", x, inverse, x), rtol=1e-9
    )
    with pytest.raises(InputError, match="not positive definite"):
        roots_of(-s)


@pytest.mark.parametrize("covariance", ["full", "tied"])
@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_many_columns_by_roots_are_what_the_kernel_makes(covariance, prior, monkeypatch):
    x = np.random.default_rng(0).normal(size=(90, 140)) + 2.0 * np.repeat([0, 1, 2], 30)[:, None]
    found = cr.mixture(x, 3, covariance=covariance, prior=prior)
    monkeypatch.setattr("credo.predict.rows.mixture_rows.WIDE", 10**9)
    plain = cr.mixture(x, 3, covariance=covariance, prior=prior)
    np.testing.assert_allclose(found.record.trace, plain.record.trace, rtol=1e-9)
    np.testing.assert_allclose(found.log_densities(x), plain.log_densities(x), rtol=1e-7)


def test_an_average_of_wide_mixtures_says_its_likelihood():
    x = np.random.default_rng(2).normal(size=(14, 40)) + np.repeat([0, 3], 7)[:, None]
    found = cr.mixture(x, average=True, max_components=2, prior=1.0)
    assert found.record.score == pytest.approx(found.log_likelihood(x), rel=1e-8)


def test_the_prior_holds_the_floor_by_itself():
    x = np.random.default_rng(1).normal(size=(12, 30))
    mixture = cr.mixture(x, 2, prior=1.0)
    floor = 1e-6 * x.var(axis=0).min()
    for matrix in mixture.gaussians.matrices:
        assert np.linalg.eigvalsh(matrix).min() > floor


def test_a_start_that_comes_twice_is_climbed_once():
    x = Parameters(np.array([0.4, 0.6]), (), np.array([[1.0], [2.0]]), np.ones((2, 1, 1)),
                np.zeros((2, 0)))  # fmt: skip
    turned = Parameters(x.weights[::-1], (), x.means[::-1], x.spread, x.rates)
    other = Parameters(x.weights, (), x.means + 1, x.spread, x.rates)
    assert _different([x, turned, other, x]) == [x, other]


def test_too_many_columns_for_a_covariance_are_refused_with_what_helps():
    x = np.random.default_rng(0).normal(size=(10, 3_000))
    for learn in (cr.mixture, lambda x: cr.cluster(x, "gaussian")):
        with pytest.raises(LimitError, match=r"3,000 columns .* covariance='diagonal'"):
            learn(x)
    assert cr.mixture(x, 2, covariance="diagonal").k == 2


def test_an_average_over_k_needs_k_to_be_open():
    with pytest.raises(InputError, match="average=True keeps every number of classes"):
        cr.mixture(np.arange(20.0)[:, None], 3, average=True)


@pytest.mark.filterwarnings("error")
def test_numbers_too_large_are_refused_without_a_warning():
    with pytest.raises(InputError, match="too large"):
        cr.cluster(np.array([[1e200], [2e200], [3.0]]), "gaussian", k=2)
