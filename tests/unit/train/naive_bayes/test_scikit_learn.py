"""The same numbers as scikit-learn's classes wherever both apply, to 1e-12 of their size."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)

from credo.estimators import NaiveBayes, TextNaiveBayes


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
