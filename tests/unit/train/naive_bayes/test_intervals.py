"""Credible intervals of P(class | row) heed what a prediction heeds."""

import numpy as np
import pytest
from scipy import stats

import credo as cr
from credo.estimators import NaiveBayes

ROWS, Y = [["u"], ["u"], ["v"], ["u"], ["v"], ["v"], ["v"]], [0, 0, 0, 0, 1, 1, 1]
EMPTY = [[None]]  # nothing is known of the row: P(class) alone


def test_the_classes_have_their_dirichlet_posterior():
    for smoothing, imagined in ((0, 1), (0.5, 1), (30, 30)):
        clf = NaiveBayes(class_smoothing=smoothing).fit(ROWS, Y)
        found = clf.predict_interval(EMPTY, 0.9, draws=40_000)[0, 0]
        expected = stats.beta(4 + imagined, 3 + imagined).ppf([0.05, 0.95])
        np.testing.assert_allclose(found, expected, atol=0.01)


@pytest.mark.parametrize("given", [[0.9, 0.1], {0: 0.9, 1: 0.1}])
def test_a_prior_that_was_given_is_not_drawn(given):
    clf = NaiveBayes(class_prior=given).fit(ROWS, Y)
    np.testing.assert_allclose(clf.predict_interval(EMPTY), [[[0.9, 0.9], [0.1, 0.1]]])
    theta = np.random.default_rng(5)
    draws = 0.9 * theta.beta(4, 2, 40_000), 0.1 * theta.beta(1, 4, 40_000)
    expected = np.quantile(draws[0] / (draws[0] + draws[1]), [0.025, 0.975])
    found = clf.predict_interval([["u"]], draws=40_000)[0, 0]
    np.testing.assert_allclose(found, expected, atol=0.01)


def test_a_class_that_was_ruled_out_stays_so():
    clf = NaiveBayes(class_prior=[1, 0]).fit(ROWS, Y)
    assert clf.predict_interval([["u"], ["v"]]).tolist() == [[[1, 1], [0, 0]]] * 2


def test_a_state_never_seen():
    clf = NaiveBayes(class_prior=[0.5, 0.5], unseen="smooth").fit(ROWS, Y)
    rng = np.random.default_rng(5)
    new = rng.beta(1, 4 + 2, 40_000), rng.beta(1, 3 + 2, 40_000)  # l of l / (N + l·(J + 1))
    expected = np.quantile(new[0] / (new[0] + new[1]), [0.025, 0.975])
    found = clf.predict_interval([["w"]], draws=40_000)[0, 0]
    np.testing.assert_allclose(found, expected, atol=0.015)
    low, high = found
    assert low < clf.predict_proba([["w"]])[0, 0] < high
    known = clf.predict_interval([["u"]], draws=4000)
    plain = NaiveBayes(class_prior=[0.5, 0.5]).fit(ROWS, Y).predict_interval([["u"]], draws=4000)
    np.testing.assert_allclose(known, plain, atol=0.02)


def test_states_that_have_no_name_take_their_share():
    table = {"a": [r[0] for r in ROWS], "y": Y}
    model = cr.naive_bayes(table, "y", min_states=8, class_prior=[0.5, 0.5])
    rng = np.random.default_rng(5)
    theta = rng.beta(4, 4 + 8 - 4, 40_000), rng.beta(1, 3 + 8 - 1, 40_000)
    expected = np.quantile(theta[0] / (theta[0] + theta[1]), [0.025, 0.975])
    found = model.interval({"a": "u"}, draws=40_000)[0]
    np.testing.assert_allclose(list(found), expected, atol=0.01)


def test_a_row_that_is_ruled_out_is_refused():
    clf = NaiveBayes(smoothing=0, unseen="smooth").fit([["u"], ["v"]] * 2, [0, 0, 1, 1])
    with pytest.raises(cr.errors.ImpossibleError, match="probability zero in every class"):
        clf.predict_interval([["w"]])
