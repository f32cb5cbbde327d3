"""Laws of naive Bayes: merging, gaps, weights, order, the linear form, evidence in bits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import credo as cr
from credo.estimators import NaiveBayes, TextNaiveBayes

pytestmark = pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
KINDS = {"a": "categorical", "b": "categorical", "x": "gaussian"}


@st.composite
def tables(draw):
    n = draw(st.integers(2, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    frame = pd.DataFrame(
        {
            "a": rng.choice(np.array(["u", "v", "w", None], dtype=object), n),
            "b": rng.integers(0, 3, n),
            "x": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n).round(3)),
        }
    )
    frame.loc[0, "a"] = "u"
    frame.loc[1, "a"] = "v"
    return frame, rng.choice(["no", "yes", "maybe"], n), rng


def fit(X, y, w=None):
    return NaiveBayes(kinds=KINDS, variance_floor=1e-3).fit(X, y, sample_weight=w)


def alike(p, q, X, tolerance=1e-9):
    return np.abs(p.predict_proba(X) - q.predict_proba(X)).max() <= tolerance


@given(tables(), st.data())
def test_merging_is_fitting_the_whole(given_table, data):
    X, y, _ = given_table
    cut = data.draw(st.integers(1, len(X) - 1))
    whole, a, b = fit(X, y), None, None
    try:
        a, b = fit(X[:cut], y[:cut]), fit(X[cut:], y[cut:])
    except cr.errors.CredoError:
        return  # a part whose column "a" is all missing cannot be told to be categorical
    merged, other = a.merge(b), b.merge(a)
    assert merged.classes_.tolist() == whole.classes_.tolist()
    assert np.array_equal(merged.class_count_, whole.class_count_)
    for name in ("a", "b"):
        assert np.array_equal(merged.model_.feature(name).alpha, whole.model_.feature(name).alpha)
        assert np.array_equal(merged.model_.feature(name).alpha, other.model_.feature(name).alpha)
    f, g = merged.model_.feature("x"), whole.model_.feature("x")
    assert np.allclose(f.mean, g.mean, atol=1e-12) and np.allclose(f.scatter, g.scatter, atol=1e-9)


@given(tables())
def test_weights_are_copies_and_order_does_not_matter(given_table):
    X, y, rng = given_table
    w = rng.integers(1, 4, len(X))
    copies = np.repeat(np.arange(len(X)), w)
    order = rng.permutation(len(X))
    weighted = fit(X, y, w)
    assert alike(weighted, fit(X.iloc[copies], y[copies]), X)
    assert alike(weighted, fit(X.iloc[order], y[order], w[order]), X)
    assert alike(
        weighted,
        NaiveBayes(kinds=KINDS, variance_floor=1e-3).fit(X[["x", "b", "a"]][["a", "b", "x"]], y, w),
        X,
    )


@given(tables())
def test_probabilities_are_probabilities(given_table):
    X, y, _ = given_table
    clf = fit(X, y)
    p = clf.predict_proba(X)
    assert np.isfinite(p).all() and (p >= 0).all() and np.abs(p.sum(axis=1) - 1).max() < 1e-12
    assert np.allclose(np.exp(clf.predict_log_proba(X)), p, atol=1e-12)
    assert (clf.predict(X) == clf.classes_[clf.predict_joint_log_proba(X).argmax(axis=1)]).all()
    nothing = pd.DataFrame({"a": [None], "b": [None], "x": [np.nan]})
    assert clf.predict_proba(nothing)[0] == pytest.approx(clf.class_count_ / clf.class_count_.sum())


@given(tables())
def test_one_row_is_many_rows_and_the_linear_form(given_table):
    X, y, _ = given_table
    clf = fit(X, y)
    form = clf.linear_form(reference=False)
    log_p = clf.predict_log_proba(X)
    for i, row in enumerate(X.to_dict("records")):
        one = np.array(list(clf.model_.p(row).values()))
        assert one == pytest.approx(np.exp(log_p[i]), abs=1e-12)
        score = form.decide(row)
        if len(clf.classes_) == 2:
            score = np.r_[0.0, score]
        score = score - score.max()
        # the linear form of a narrow Gaussian subtracts large numbers
        assert score - np.log(np.exp(score).sum()) == pytest.approx(log_p[i], rel=1e-5, abs=1e-4)


@given(tables())
def test_bits_add_up_to_the_odds(given_table):
    X, y, _ = given_table
    if len(set(y)) < 2:
        return
    clf = fit(X, y)
    for row in X.to_dict("records")[:5]:
        account = clf.explain(row)
        joint = clf.model_.log_joint(row)
        at = [list(clf.classes_).index(c) for c in (account.of, account.against)]
        assert account.total == pytest.approx(
            (joint[at[0]] - joint[at[1]]) / np.log(2), rel=1e-12, abs=1e-9
        )
        assert account.total >= -1e-9


@given(st.lists(st.text(alphabet="ab c", max_size=12), min_size=1, max_size=12), st.data())
def test_documents_merge(docs, data):
    y = [data.draw(st.integers(0, 2)) for _ in docs]
    cut = data.draw(st.integers(0, len(docs)))
    for form in ("multinomial", "bernoulli", "complement"):
        whole = TextNaiveBayes(form).fit(docs, y)
        parts = TextNaiveBayes(form)
        for part in (slice(0, cut), slice(cut, None)):
            if docs[part]:
                parts.partial_fit(docs[part], y[part])
        assert parts.vocabulary_ == whole.vocabulary_
        assert np.array_equal(parts.predict_proba(docs), whole.predict_proba(docs))
