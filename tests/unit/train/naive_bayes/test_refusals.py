"""What cannot be is said in a sentence, and leaves the estimator as it was."""

import numpy as np
import pytest

from credo.errors import InputError
from credo.estimators import NaiveBayes

RNG = np.random.default_rng(0)
Y = np.arange(40) % 2
X = RNG.normal(size=(40, 2)) + Y[:, None]


@pytest.mark.parametrize(
    "given", ["uniform", ["a", "b"], [[0.5, 0.5]], [None, 1], {0: "x", 1: 1}, 0.5]
)
def test_a_prior_that_is_none(given):
    with pytest.raises(InputError, match="class_prior must be a mapping or a list"):
        NaiveBayes(class_prior=given).fit(X, Y)


def test_a_prior_that_leaves_a_class_out():
    with pytest.raises(InputError, match="no probability for the class 1"):
        NaiveBayes(class_prior={0: 1}).fit(X, Y)
    with pytest.raises(InputError, match="must not be negative"):
        NaiveBayes(class_prior={0: 1.5, 1: -0.5}).fit(X, Y)


def test_kernel_densities_at_any_scale():
    expected = NaiveBayes(kinds="kernel").fit(X, Y).predict_proba(X)
    for scale in (2.0**-600, 2.0**-900, 2.0**600, 2.0**900):
        found = NaiveBayes(kinds="kernel").fit(X * scale, Y).predict_proba(X * scale)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    with pytest.raises(InputError, match="'x0' are too close together"):
        NaiveBayes(kinds="kernel").fit([[0.0], [5e-324], [1e-323]], [0, 1, 0])
    with pytest.raises(InputError, match="'x0' are too far apart"):
        NaiveBayes(kinds="kernel").fit([[-1.5e308], [1.5e308], [0.0]], [0, 1, 0])


@pytest.mark.parametrize("scale", [1e-160, 1e-200, 1e-300, 1e200])
def test_squares_that_vanish_are_refused_also_together(scale):
    with pytest.raises(InputError, match="'x0' are too"):
        NaiveBayes(covariance="full").fit(X * scale, Y)


@pytest.mark.parametrize("wrong", [{"smoothing": -1}, {"kinds": "none"}, {"class_prior": [1]}])
def test_a_fit_that_is_refused_changes_nothing(wrong):
    clf = NaiveBayes()
    for learn in (clf.fit, clf.partial_fit):
        with pytest.raises(ValueError):
            learn(X, Y[:3])
        assert not hasattr(clf, "classes_") and not hasattr(clf, "n_features_in_")
    expected = clf.fit(X, Y).predict_proba(X)
    clf.set_params(**wrong)
    with pytest.raises(ValueError):
        clf.fit(X[:, :1], Y)
    np.testing.assert_array_equal(clf.predict_proba(X), expected)
    clf.set_params(smoothing=1.0, kinds="auto", class_prior=None)
    with pytest.raises(ValueError):
        clf.partial_fit(X, Y[:3])
    np.testing.assert_array_equal(clf.predict_proba(X), expected)
