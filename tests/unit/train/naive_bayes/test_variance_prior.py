"""variance="shrunk": l more rows in each class, which vary as the feature does within the classes."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB

import credo as cr
from credo.estimators import NaiveBayes

PEOPLE = {"sex": ["f", "f", "f", "m", "m"], "height": [1.6, 1.7, 1.65, 1.8, 1.8]}


def variances(**options):
    model = cr.naive_bayes(PEOPLE, "sex", kinds={"height": "gaussian"}, **options)
    return model.feature("height").variance


@pytest.mark.filterwarnings("ignore:.*no spread")
def test_the_formula_by_hand():
    scatter = np.array([0.005, 0.0])
    within = scatter.sum() / 5
    n = np.array([3, 2])
    np.testing.assert_allclose(variances(), (scatter + within) / (n + 1))
    np.testing.assert_allclose(variances(smoothing=3), (scatter + 3 * within) / (n + 3))
    named = variances(smoothing={"height": 0.5})
    np.testing.assert_allclose(named, (scatter + 0.5 * within) / (n + 0.5))
    exact = scatter / n
    exact[1] = 1e-9 * within  # the floor
    np.testing.assert_allclose(variances(smoothing=0), exact)
    np.testing.assert_allclose(variances(variance="ml"), exact)
    np.testing.assert_allclose(variances(variance="sample"), [0.0025, 1e-9 * within])


@pytest.mark.filterwarnings("ignore:.*no spread")
def test_covariances_have_the_same_prior():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.repeat([0, 1, 2], 10)
    X[:10] *= 5
    clf = NaiveBayes(covariance="full").fit(X, y)
    parts = [np.cov(X[y == c].T, bias=True) * 10 for c in range(3)]
    expected = [(s + sum(parts) / 30) / 11 for s in parts]
    np.testing.assert_allclose(clf.model_.features[0].covariance, expected)


@pytest.mark.filterwarnings("ignore")
def test_pixels_that_a_class_never_has():
    """Hand-written digits: a variance of 0 in a class was 1e-9 of the others', and decided alone."""
    X, y = load_digits(return_X_y=True)
    told = ["accuracy", "neg_log_loss"]
    ours = cross_validate(NaiveBayes(kinds="gaussian"), X, y, cv=3, scoring=told)
    theirs = cross_validate(GaussianNB(), X, y, cv=3, scoring=told)
    for name in told:
        assert ours[f"test_{name}"].mean() > theirs[f"test_{name}"].mean() + 0.02


def test_intervals_of_a_class_whose_rows_agree():
    X = np.array([[1.0], [1.0], [1.0], [5.0], [6.0], [8.0]])
    with pytest.warns(
        cr.errors.CredoWarning, match="no spread in class 0 .*comes from all classes"
    ):
        clf = NaiveBayes(kinds="gaussian").fit(X, [0, 0, 0, 1, 1, 1])
    low, high = clf.predict_interval([[1.0]])[0, 0]
    assert low < clf.predict_proba([[1.0]])[0, 0] <= high <= 1
