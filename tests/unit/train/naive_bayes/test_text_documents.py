"""Documents: every kind of list, streams, merging, and why a document is impossible."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

from credo.errors import ImpossibleError, InputError
from credo.estimators import TextNaiveBayes

DOCS, Y = ["a b a", "c d", "a c", "b"], ["x", "y", "x", "z"]
COUNTS = csr_matrix([[2, 1, 0], [0, 0, 3], [1, 0, 0.5]])
FORMS = ("multinomial", "bernoulli", "complement")


@pytest.mark.parametrize(
    "kind",
    [
        tuple,
        np.array,
        pd.Series,
        pl.Series,
        pa.array,
        lambda d: pa.chunked_array([d]),
        lambda d: pd.Series(d, dtype="string"),
        lambda d: pd.DataFrame({"t": d}),
        lambda d: pl.DataFrame({"t": d}),
        lambda d: pa.table({"t": d}),
        lambda d: np.array(d, dtype=object)[:, None],
    ],
)
def test_every_kind_of_list_is_documents(kind):
    X = kind(DOCS)
    expected = TextNaiveBayes().fit(DOCS, Y).predict_proba(DOCS)
    clf = TextNaiveBayes().fit(X, Y)
    assert clf.vocabulary_ == ("a", "b", "c", "d")
    assert (clf.predict_proba(X) == expected).all()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: TextNaiveBayes().fit([b"a", b"b"], [0, 1]), "Document 1 is bytes, not a text"),
        (lambda: TextNaiveBayes().fit(["a", None], [0, 1]), "Document 2 must be a text"),
        (
            lambda: TextNaiveBayes().fit(pd.DataFrame({"a": ["u"], "b": ["v"]}), [0]),
            "X has 2 columns and holds text; documents are one column",
        ),
        (lambda: TextNaiveBayes(smoothing=[1, 2]).fit(["a b c"] * 4, Y), "2 numbers for 3 words"),
        (lambda: TextNaiveBayes(smoothing=[1, -2]).fit(["a b"] * 4, Y), "0 or more, got -2"),
        (lambda: TextNaiveBayes(norm=True).fit(DOCS, Y), "norm=True is for form='complement'"),
        (lambda: TextNaiveBayes().fit(iter(DOCS), iter([*Y, "x"])), "more classes in y than docu"),
        (
            lambda: TextNaiveBayes().fit(iter(DOCS), iter(Y), iter([1] * 5)),
            "more weights than documents",
        ),
        (lambda: TextNaiveBayes().fit(iter(DOCS), iter(Y), iter([0] * 4)), "Every sample weight"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(make, says):
    with pytest.raises(InputError, match=says):
        make()


def test_a_batch_of_a_stream_may_weigh_nothing(monkeypatch):
    monkeypatch.setattr("credo.estimators.text._BATCH", 2)
    clf = TextNaiveBayes().fit(iter(DOCS), iter(Y), iter([0, 0, 1, 2]))
    plain = TextNaiveBayes().fit(DOCS[2:], Y[2:], [1, 2])
    assert clf.vocabulary_ == plain.vocabulary_
    assert clf.class_count_.tolist() == plain.class_count_.tolist()


def test_matrices_merge_and_others_do_not():
    X = COUNTS.toarray()
    whole = TextNaiveBayes().fit(X, [0, 1, 0])
    merged = TextNaiveBayes().fit(X[:2], [0, 1]).merge(TextNaiveBayes().fit(X[2:], [0]))
    assert merged.predict_proba(X) == pytest.approx(whole.predict_proba(X), abs=1e-15)
    with pytest.raises(InputError, match="fitted to matrices with other columns"):
        whole.merge(TextNaiveBayes().fit(X[:, :2], [0, 1, 0]))
    text = TextNaiveBayes().fit(DOCS, Y)
    with pytest.raises(InputError, match="differ in what they were fitted to"):
        text.merge(whole)
    with pytest.raises(InputError, match="differ in form="):
        text.merge(TextNaiveBayes("bernoulli").fit(DOCS, Y))


def test_an_impossible_document_names_its_words():
    clf = TextNaiveBayes(smoothing=0).fit(["a b", "c d"], ["x", "y"])
    says = "'d' was never seen in class 'x'; 'b' was never seen in class 'y'"
    with pytest.raises(ImpossibleError, match=f"Document 2 has probability zero .*{says}"):
        clf.predict(["a", "b d"])
    with pytest.raises(ImpossibleError, match=f"odds are not defined: {says}"):
        clf.explain("b d")
    dense = TextNaiveBayes(smoothing=0).fit([[1, 0], [0, 1]], ["x", "y"])
    with pytest.raises(ImpossibleError, match="'x1' was never seen in class 'x'; 'x0' was never"):
        dense.predict([[1, 1]])
    assert clf.telling_words(2)["x"] == [("a", math.inf), ("b", math.inf)]
    assert clf.explain("a").total == math.inf and "∞" in str(clf.explain("a"))


@pytest.mark.parametrize("form", FORMS)
def test_explanations_add_up(form):
    clf = TextNaiveBayes(form).fit(DOCS, Y)
    found = clf.explain("a b b", of="x", against="z")
    joint = clf.predict_joint_log_proba(["a b b"])[0]
    assert found.total == pytest.approx((joint[0] - joint[2]) / np.log(2))
    with pytest.raises(InputError, match="got 'x' twice"):
        clf.explain("a", of="x", against="x")
    with pytest.raises(InputError, match="one class only"):
        TextNaiveBayes(form).fit(["a b", "c"], ["x", "x"]).explain("a")


@pytest.mark.parametrize("row", [COUNTS[0], COUNTS[0].toarray()[0], [2, 1, 0]])
def test_a_row_of_a_matrix_is_explained(row):
    clf = TextNaiveBayes().fit(COUNTS, [0, 1, 0])
    found = clf.explain(row)
    joint = clf.predict_joint_log_proba(COUNTS[:1])[0]
    assert found.total == pytest.approx((joint[0] - joint[1]) / np.log(2))
    assert clf.explain([2.5, 0, 1]).cells[0][1] == 2.5
    with pytest.raises(InputError, match="One document is explained at a time, got 3"):
        clf.explain(COUNTS)
