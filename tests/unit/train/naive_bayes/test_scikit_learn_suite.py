"""What scikit-learn's own suite asks of its naive Bayes classes, asked of ours."""

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from credo.errors import InputError, UnknownNameError
from credo.estimators import NaiveBayes, NetworkClassifier, TextNaiveBayes

COUNTS = np.random.default_rng(3).integers(0, 5, (30, 6))
LABELS = np.arange(30) % 3
PEERS = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB, "complement": ComplementNB}


@pytest.mark.parametrize("form", PEERS)
def test_each_word_has_its_own_smoothing(form):
    alpha = np.array([0.1, 0.5, 1.0, 2.0, 0.3, 1e-3])
    ours = TextNaiveBayes(form, smoothing=alpha).fit(COUNTS, LABELS)
    if form == "bernoulli":  # scikit-learn's own cannot; column by column it is the same
        one = [BernoulliNB(alpha=a).fit(COUNTS[:, [j]], LABELS) for j, a in enumerate(alpha)]
        there = np.stack([c.feature_log_prob_[:, 0] for c in one])
        gone = np.stack([np.log1p(-np.exp(c.feature_log_prob_[:, 0])) for c in one])
        np.testing.assert_allclose(ours.model_.table, there - gone)
    else:
        theirs = PEERS[form](alpha=alpha).fit(COUNTS, LABELS)
        expected = theirs.predict_log_proba(COUNTS)
        np.testing.assert_allclose(ours.predict_log_proba(COUNTS), expected, rtol=1e-10)
    named = TextNaiveBayes(form, smoothing={"x1": 0.5, "x5": 1e-3}).fit(COUNTS, LABELS)
    listed = TextNaiveBayes(form, smoothing=[1, 0.5, 1, 1, 1, 1e-3]).fit(COUNTS, LABELS)
    np.testing.assert_array_equal(named.predict_proba(COUNTS), listed.predict_proba(COUNTS))
    with pytest.raises(ValueError, match="smoothing of 'x9' is not in the vocabulary"):
        TextNaiveBayes(form, smoothing={"x9": 1}).fit(COUNTS, LABELS)


def test_the_weights_of_complements_may_be_divided_by_their_sum():
    ours = TextNaiveBayes("complement", norm=True).fit(COUNTS, LABELS)
    theirs = ComplementNB(norm=True).fit(COUNTS, LABELS)
    np.testing.assert_allclose(ours.predict_proba(COUNTS), theirs.predict_proba(COUNTS))
    np.testing.assert_allclose(ours.model_.table.sum(axis=0), 1)


MODELS = [
    (NaiveBayes(), COUNTS.astype(float)),
    (TextNaiveBayes(), COUNTS),
    (NetworkClassifier("tan"), COUNTS > 2),
]


@pytest.mark.parametrize(("clf", "X"), MODELS, ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("first", [None, [0, 1, 2]])
def test_classes_that_are_given_later_are_those_that_are_known(clf, X, first):
    from sklearn.base import clone

    clf = clone(clf).partial_fit(X, LABELS, classes=first)
    clf.partial_fit(X, LABELS, classes=[2, 1, 0])
    assert clf.class_count_.sum() == 60
    for other in ([0, 1], [0, 1, 2, 3]):
        with pytest.raises(InputError, match="Name all classes at the first call"):
            clf.partial_fit(X, LABELS, classes=other)
    with pytest.raises(InputError, match="classes names 1 twice"):
        clone(clf).partial_fit(X, LABELS, classes=[0, 1, 1, 2])


def test_a_state_or_name_that_is_not_there_is_a_value_error():
    with pytest.raises(ValueError, match="'pink' is not one of") as caught:
        NaiveBayes(unseen="error").fit([["red"], ["green"]], [0, 1]).predict([["pink"]])
    assert isinstance(caught.value, UnknownNameError) and isinstance(caught.value, KeyError)
