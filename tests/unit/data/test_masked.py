"""What a mask hides is missing at every door that takes arrays, whatever lies under it."""

import numpy as np
import pytest

import credo as cr
from credo.data.sources.unnamed import unmasked
from credo.errors import CredoWarning, InputError
from credo.estimators import GaussianMixture, LatentClasses, NaiveBayes, NetworkClassifier

GONE = [(3, 1), (40, 0)]
CLASS = np.repeat([0, 1], 30)


def plain():
    rng = np.random.default_rng(0)
    return np.r_[rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 6]


def with_nan():
    x = plain()
    for cell in GONE:
        x[cell] = np.nan
    return x


def masked():
    x = np.ma.masked_array(plain(), mask=False)
    for cell in GONE:
        x[cell] = 999.0
        x[cell] = np.ma.masked
    assert 999.0 in x.data
    return x


def columns(x):
    return {"a": x[:, 0], "b": x[:, 1]}


WHOLE = columns(plain())
LEARNED = {
    "cluster": lambda x: cr.cluster(x, k=2).labels,
    "cluster, named": lambda x: cr.cluster(x, k=2, columns=["p", "q"]).labels,
    "cluster, gaussian": lambda x: cr.cluster(x, "gaussian", k=2).membership,
    "which_k": lambda x: cr.which_k(x).k,
    "gaussian_mixture": lambda x: cr.mixture(x, 1).gaussians.means,
    "latent_classes": lambda x: cr.mixture(x, 2).gaussians.means,
    "GaussianMixture": lambda x: GaussianMixture(2, random_state=0).fit(x).means_,
    "LatentClasses": lambda x: LatentClasses(2, random_state=0).fit(x).predict_proba(plain()),
    "NaiveBayes": lambda x: NaiveBayes().fit(x, CLASS).predict_proba(plain()),
    "NaiveBayes, in parts": lambda x: NaiveBayes().partial_fit(x, CLASS).predict_proba(plain()),
    "NaiveBayes, weighted": lambda x: (
        NaiveBayes().fit(x, CLASS, CLASS + np.arange(60) % 2).predict_proba(plain())
    ),
    "NetworkClassifier": lambda x: NetworkClassifier().fit(x, CLASS).predict_proba(plain()),
}
BY_NAME = {
    "gaussian_mixture": lambda x: cr.mixture(x, 1).gaussians.means,
    "GaussianMixture": lambda x: GaussianMixture(2, random_state=0).fit(x).means_,
    "LatentClasses": lambda x: LatentClasses(2, random_state=0).fit(x).predict_proba(WHOLE),
    "NaiveBayes": lambda x: NaiveBayes().fit(x, CLASS).predict_proba(WHOLE),
    "NetworkClassifier": lambda x: NetworkClassifier().fit(x, CLASS).predict_proba(WHOLE),
}


@pytest.mark.parametrize("door", LEARNED)
def test_learning_from_an_array(door):
    np.testing.assert_array_equal(LEARNED[door](masked()), LEARNED[door](with_nan()))


@pytest.mark.parametrize("door", BY_NAME)
def test_learning_from_columns(door):
    np.testing.assert_array_equal(
        BY_NAME[door](columns(masked())), BY_NAME[door](columns(with_nan()))
    )


@pytest.mark.parametrize("model", [NaiveBayes, NetworkClassifier, GaussianMixture, LatentClasses])
def test_answers(model):
    made = model(2, random_state=0) if model in (GaussianMixture, LatentClasses) else model()
    asked = [(plain(), masked(), with_nan()), (WHOLE, columns(masked()), columns(with_nan()))]
    for rows, hidden, gone in asked:
        fitted = made.fit(rows, CLASS)
        np.testing.assert_array_equal(fitted.predict_proba(hidden), fitted.predict_proba(gone))
    lists = made.fit(plain(), CLASS).predict_proba(list(masked()))
    np.testing.assert_array_equal(lists, made.predict_proba(with_nan()))


def test_answers_of_models():
    mixture, named = cr.mixture(plain(), 2), cr.mixture(WHOLE, 2)
    bayes = cr.naive_bayes(WHOLE | {"y": [str(c) for c in CLASS]}, "y")
    groups = cr.cluster(plain(), k=2)
    for ask in (mixture.responsibilities, mixture.log_likelihood, groups.assign):
        np.testing.assert_array_equal(ask(masked()), ask(with_nan()))
    for ask in (named.responsibilities, bayes.predict_proba):
        np.testing.assert_array_equal(ask(columns(masked())), ask(columns(with_nan())))


def test_whole_numbers_and_states():
    x = np.ma.masked_array([[1, 2], [1, 3], [8, 2], [9, 999]], mask=False)
    x[3, 1] = np.ma.masked
    found = cr.mixture(x, 1, covariance="diagonal")
    assert found.gaussians.means.round(9).tolist() == [[4.75, 2.333333333]]
    assert GaussianMixture(1, covariance_type="diag").fit(x).means_.shape == (1, 2)
    s = np.ma.masked_array(np.array(["u", "v", "u", "?"]), mask=[0, 0, 0, 1])
    model = NaiveBayes().fit({"s": s}, [0, 1, 0, 1])
    np.testing.assert_array_equal(
        model.predict_proba({"s": s}), model.predict_proba({"s": ["u", "v", "u", None]})
    )


def test_nothing_is_masked():
    x = np.ma.masked_array(plain(), mask=False)
    assert type(unmasked(x)) is np.ndarray and unmasked(x).base is not None
    np.testing.assert_array_equal(cr.cluster(x, k=2).labels, cr.cluster(plain(), k=2).labels)
    rows = [[1.5, 2.5], [3.5, 4.5]]
    assert unmasked(rows) is rows and unmasked("text") == "text"
    assert unmasked([[1.5, np.ma.masked], (2, 3)]) == [[1.5, None], [2, 3]]


def test_masked_weights_and_centres_are_refused():
    w = np.ma.masked_array(np.ones(60), mask=False)
    w[5] = np.ma.masked
    for model in (GaussianMixture(1), NaiveBayes(), NetworkClassifier()):
        with pytest.raises(InputError, match="sample_weight contains NaN"):
            model.fit(plain(), CLASS, sample_weight=w)
    with pytest.raises(InputError, match="start must be 2 centres"):
        cr.cluster(
            plain(), k=2, start=np.ma.masked_array([[0.0, 0], [6, 6]], mask=[[0, 0], [0, 1]])
        )


def test_a_masked_class_is_a_missing_class():
    y = np.ma.masked_array(CLASS, mask=False)
    y[7] = np.ma.masked
    gone = [None if i == 7 else int(c) for i, c in enumerate(CLASS)]
    found = []
    for labels in (y, gone):
        with pytest.warns(CredoWarning, match="1 rows without a class were left out"):
            found.append(NaiveBayes().fit(plain(), labels).predict_proba(plain()))
    np.testing.assert_array_equal(*found)
