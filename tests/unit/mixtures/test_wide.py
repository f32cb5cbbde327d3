"""More columns than rows: the same covariances as by all eigenvalues, and a limit in words."""

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError, LimitError
from credo.train.mixtures.maximise import raised


def by_all_eigenvalues(matrix, floor):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, floor)) @ vectors.T


@pytest.mark.parametrize(
    ("columns", "rank"), [(60, 5), (60, 19), (60, 30), (60, 60), (5, 0), (3, 1)]
)
def test_few_eigenvalues_are_raised_as_all_would_be(columns, rank):
    rng = np.random.default_rng(rank)
    x = rng.normal(size=(3, rank, columns)) * np.geomspace(1, 1e-4, columns)
    matrices = x.transpose(0, 2, 1) @ x / max(rank, 1)
    for floor in (1e-6, 1e-3):
        found = raised(matrices, floor)
        for one, matrix in zip(found, matrices, strict=True):
            np.testing.assert_allclose(one, by_all_eigenvalues(matrix, floor), atol=1e-13)
            np.testing.assert_array_equal(one, one.T)


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_a_wide_table_is_learned_and_its_trace_never_falls(covariance):
    x = np.random.default_rng(0).normal(size=(12, 40)) + 3.0 * np.repeat([0, 1], 6)[:, None]
    mixture = cr.gaussian_mixture(x, 2, covariance=covariance)
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


def test_too_many_columns_for_a_covariance_are_refused_with_what_helps():
    x = np.random.default_rng(0).normal(size=(10, 3_000))
    for learn in (cr.gaussian_mixture, lambda x: cr.cluster(x, "gaussian")):
        with pytest.raises(LimitError, match=r"3,000 columns .* covariance='diagonal'"):
            learn(x)
    assert cr.gaussian_mixture(x, 2, covariance="diagonal").k == 2


def test_an_average_over_k_needs_k_to_be_open():
    with pytest.raises(InputError, match="average=True keeps every number of classes"):
        cr.gaussian_mixture(np.arange(20.0)[:, None], 3, average=True)


@pytest.mark.filterwarnings("error")
def test_numbers_too_large_are_refused_without_a_warning():
    with pytest.raises(InputError, match="too large"):
        cr.cluster(np.array([[1e200], [2e200], [3.0]]), "gaussian", k=2)
