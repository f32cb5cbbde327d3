"""The same numbers as scikit-learn's classes, what its suite asks, its names."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

import credo as cr
from credo.errors import InputError, UnknownNameError
from credo.estimators import NaiveBayes, NetworkClassifier, TextNaiveBayes

# --- The same numbers as scikit-learn's classes wherever both apply, to 1e-12 of their size ---


def close(a, b):
    assert np.abs(a - b).max() <= 1e-12 * max(1.0, np.abs(b).max())


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("classes", [2, 3, 5, 9, 20])
@pytest.mark.parametrize("weighted", [False, True])
def test_categorical(rng, classes, weighted):
    y = rng.integers(0, classes, 400)
    X = (rng.integers(0, 6, (400, 7)) + y[:, None]) % 6
    w = rng.random(400) if weighted else None
    for alpha in (1.0, 0.3):
        ours = NaiveBayes(alpha).fit(X, y, sample_weight=w)
        theirs = CategoricalNB(alpha=alpha).fit(X, y, sample_weight=w)
        close(ours.predict_log_proba(X), theirs.predict_log_proba(X))
        assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize(
    "dtype", [np.int8, np.int32, np.int64, np.uint16, np.float32, np.float64, bool]
)
def test_bernoulli(rng, dtype):
    y = rng.integers(0, 3, 300)
    X = (rng.random((300, 6)) < 0.2 + 0.2 * y[:, None]).astype(dtype)
    ours, theirs = NaiveBayes(kinds="bernoulli").fit(X, y), BernoulliNB().fit(X, y)
    close(ours.predict_log_proba(X), theirs.predict_log_proba(X))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gaussian(rng, order, weighted):
    y = rng.integers(0, 4, 500)
    X = np.array(rng.normal(size=(500, 5)) + y[:, None], order=order)
    w = rng.integers(1, 4, 500) if weighted else None
    ours = NaiveBayes(variance="ml").fit(X, y, sample_weight=w)
    theirs = GaussianNB(var_smoothing=0).fit(X, y, sample_weight=w)
    close(ours.predict_log_proba(X), theirs.predict_log_proba(X))


@pytest.mark.parametrize(
    "form, peer",
    [("multinomial", MultinomialNB), ("bernoulli", BernoulliNB), ("complement", ComplementNB)],
)
@pytest.mark.parametrize("kind", ["dense", "csr", "csc", "int64"])
def test_counts(rng, form, peer, kind):
    y = rng.integers(0, 4, 200)
    X = rng.poisson(0.4 + 0.3 * np.eye(30)[y * 3], (200, 30)).astype(float)
    given = {
        "dense": X,
        "csr": sp.csr_matrix(X),
        "csc": sp.csc_array(X),
        "int64": X.astype(np.int64),
    }
    w = rng.random(200)
    ours = TextNaiveBayes(form).fit(given[kind], y, sample_weight=w)
    theirs = peer().fit(given[kind], y, sample_weight=w)
    close(ours.predict_log_proba(given[kind]), theirs.predict_log_proba(given[kind]))
    if form == "multinomial":
        mixed = NaiveBayes(kinds="counts").fit(X, y, sample_weight=w)
        close(mixed.predict_log_proba(X), theirs.predict_log_proba(X))


def test_the_words_of_count_vectorizer(shared_tables):
    import csv
    import gzip
    import io

    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    with gzip.open(shared_tables / "sms_spam.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.reader(io.StringIO(file.read())))[1:]
    labels, texts = [r[0] for r in rows], [r[1] for r in rows]
    ours = TextNaiveBayes(shortest=2).fit(texts, labels)
    theirs = make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts, labels)
    assert list(ours.vocabulary_) == sorted(theirs[0].vocabulary_)
    close(ours.predict_log_proba(texts), theirs.predict_log_proba(texts))
    assert ours.score(texts, labels) > 0.98


def test_pipelines_and_searches(rng):
    import joblib
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 3)) + y[:, None]
    assert cross_val_score(make_pipeline(StandardScaler(), NaiveBayes()), X, y).mean() > 0.7
    found = GridSearchCV(NaiveBayes(kinds="kernel"), {"variance_floor": [1e-9, 1e-3]}).fit(X, y)
    assert found.best_score_ > 0.7
    import io

    fitted = clone(found.best_estimator_).fit(X, y)
    file = io.BytesIO()
    joblib.dump(fitted, file)
    file.seek(0)
    close(joblib.load(file).predict_proba(X), fitted.predict_proba(X))


# --- What scikit-learn's own suite asks of its naive Bayes classes, asked of ours ---


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


# --- `score` takes the name of the class, as `fit` does ---


@pytest.mark.parametrize("make", [NaiveBayes, NetworkClassifier])
def test_score_by_the_name_of_the_class(make, tmp_path):
    table = cr.examples.pneumonia()
    frame = table.to("pandas")
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    clf = make().fit(path, "Pneu")
    told = clf.score(frame.drop(columns="Pneu"), frame["Pneu"])
    assert 0.5 < told < 1
    for rows in (path, str(path), frame, table, cr.read(path, memory=1)):
        assert clf.score(rows, "Pneu") == told
    wrong = clf.predict(frame) != frame["Pneu"].to_numpy()
    assert clf.score(path, "Pneu", sample_weight=wrong.astype(float)) == 0
    assert clf.score(cr.read(frame, weights=wrong + 1), "Pneu") == pytest.approx(
        (~wrong).sum() / (wrong + 1).sum()
    )
    frame["Pneu"] = frame["Pneu"].astype(object)
    frame.loc[np.flatnonzero(wrong), "Pneu"] = None  # a class that is missing is not scored
    assert clf.score(frame, "Pneu") == 1
    with pytest.raises(UnknownNameError, match="Did you mean 'Pneu'"):
        clf.score(path, "Pnu")


def test_a_class_of_which_nothing_is_known_cannot_be_scored():
    clf = NaiveBayes().fit({"a": [1, 2] * 5, "y": [True, False] * 5}, "y")
    assert clf.score({"a": [1, 2, 1], "y": [True, False, None]}, "y") == 1
    with pytest.raises(InputError):
        clf.score({"a": [1, 2], "y": [None, None]}, "y")
