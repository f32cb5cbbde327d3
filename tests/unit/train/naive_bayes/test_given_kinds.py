"""Kinds that are given hold for every kind of table, and for columns that are constant or empty."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

import credo as cr
from credo.errors import CredoError, CredoWarning, InputError
from credo.estimators import NaiveBayes
from credo.model.naive_bayes.features import Kernel, Normal, States

pytestmark = pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")

RNG = np.random.default_rng(0)
X = RNG.integers(0, 9, (40, 4))
X[:, 3] = 2  # constant
Y = RNG.integers(0, 2, 40)
FRAME = pd.DataFrame(X, columns=list("abcd"))
NAMED = FRAME.assign(y=Y)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    out = tmp_path_factory.mktemp("rows") / "rows.csv"
    NAMED.to_csv(out, index=False)
    return str(out)


def tables(path):
    words = dict.fromkeys("abcd", "discrete")
    return {
        "array": (X, Y),
        "objects": (X.astype(object), Y),
        "dict": (FRAME.to_dict("list"), Y),
        "frame": (FRAME, Y),
        "Int64": (FRAME.astype("Int64"), Y),
        "frame by name": (NAMED, "y"),
        "dict by name": (NAMED.to_dict("list"), "y"),
        "polars by name": (pl.DataFrame(NAMED.to_dict("list")), "y"),
        "read": (cr.read(NAMED, words), "y"),
        "stream": (cr.read(path, words, memory=1), "y"),
        "file": (path, "y"),
    }


@pytest.mark.parametrize("kind", ["bernoulli", "counts"])
def test_numbers_above_0_and_counts_are_those_of_scikit_learn(kind, path):
    if kind == "bernoulli":
        expected = BernoulliNB().fit(X > 0, Y).predict_proba(X > 0)
    else:
        expected = MultinomialNB().fit(X, Y).predict_proba(X)
    for name, (rows, y) in tables(path).items():
        if name == "stream" and kind == "counts":
            continue  # says that it must be loaded
        clf = NaiveBayes(kinds=kind).fit(rows, y)
        np.testing.assert_allclose(clf.predict_proba(rows), expected, rtol=1e-12, err_msg=name)
        assert set(clf.kinds_.values()) == {kind} and len(clf.kinds_) == 4
        if y is not Y:
            model = cr.naive_bayes(rows, "y", kinds=kind)
            np.testing.assert_allclose(model.predict_proba(rows), expected, rtol=1e-12)
            again = cr.naive_bayes(rows, "y", kinds=dict.fromkeys("abcd", kind))
            np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))


def test_two_values_above_0_are_one_state():
    rows, y = [1, 2, 1, 2, 2, 1], [0, 1, 0, 1, 0, 1]
    for given in ({"f": rows}, np.array(rows)[:, None], pd.DataFrame({"f": rows})):
        clf = NaiveBayes(kinds="bernoulli").fit(given, y)
        assert clf.model_.features[0].alpha.tolist() == [[1, 4], [1, 4]]
    clf = NaiveBayes(kinds="bernoulli").fit({"f": [True, False, True, False]}, [0, 1, 0, 0])
    assert clf.model_.features[0].alpha.tolist() == [[2, 3], [2, 1]]
    clf = NaiveBayes(kinds="bernoulli").fit({"f": ["no", "yes", "no"]}, [0, 1, 0])
    assert clf.model_.features[0].variable.states == ("no", "yes")


KINDS = {"categorical": States, "gaussian": Normal, "kernel": Kernel, "bernoulli": States}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_kind_is_what_kinds_says(kind):
    rows = {"f": [None, 2, 0, -3, -3, -2, -1, -2, 2, 2], "g": [1, 2] * 5}
    y = [1, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    table = {**rows, "y": y}
    kinds = {"f": kind, "g": kind}
    models = [NaiveBayes(kinds=kinds).fit(rows, y).model_]
    for source in (table, pd.DataFrame(table), pl.DataFrame(table), cr.read(table)):
        clf = NaiveBayes(kinds=kinds).fit(source, "y")
        assert clf.kinds_ == kinds
        models += [clf.model_, cr.naive_bayes(source, "y", kinds=kinds)]
    for model in models:
        assert all(type(f) is KINDS[kind] for f in model.features)
        np.testing.assert_allclose(model.predict_proba(rows), models[0].predict_proba(rows))


@pytest.mark.parametrize("kind", ["gaussian", "counts", "kernel"])
def test_text_is_no_number(kind):
    table = {"t": ["u", "v", "u", "v"], "y": [0, 1, 0, 1]}
    for source in (table, cr.read(table), pd.DataFrame(table)):
        with pytest.raises(InputError, match=r"'t' holds (the text )?'u'"):
            cr.naive_bayes(source, "y", kinds={"t": kind})
        with pytest.raises(InputError, match=r"'t' holds (the text )?'u'"):
            NaiveBayes(kinds={"t": kind}).fit(source, "y")


def test_a_stream_has_the_kinds_that_are_given(path):
    stream = cr.read(path, {"a": "continuous", "b": "discrete"}, memory=1)
    for kinds in ({"a": "categorical"}, {"b": "gaussian"}):
        found = NaiveBayes(kinds=kinds).fit(stream, "y").predict_proba(stream)
        expected = NaiveBayes(kinds=kinds).fit(stream.load(), "y").predict_proba(stream)
        np.testing.assert_allclose(found, expected)


def test_a_source_says_what_it_cannot_tally(path):
    class Source:
        """Anything that has a schema and can tally."""

        def __init__(self, table):
            self.schema, self.tally = table.schema, table.tally

    table = cr.read(path, {"a": "continuous", "b": "discrete"})
    with pytest.raises(InputError, match=r"'a' of the source is continuous .* 'categorical'"):
        NaiveBayes(kinds={"a": "categorical"}).fit(Source(table), "y")
    found = NaiveBayes().fit(Source(table), "y").predict_proba(table)  # moments: Gaussian
    whole = NaiveBayes(numbers="gaussian").fit(table, "y")
    np.testing.assert_allclose(found, whole.predict_proba(table))
    with pytest.raises(InputError, match=r"'a' of the source is continuous .* 'binned'"):
        NaiveBayes(numbers="binned").fit(Source(table), "y")


# --- constant and empty columns -------------------------------------------------------------

CELLS = {
    "r": ["q"] * 20,
    "x": RNG.normal(size=20).tolist(),
    "e": [None] * 20,
}
OPTIONS = [
    {"kinds": {"r": "categorical"}},
    {"kinds": {"r": "bernoulli"}},
    {"kinds": {"e": "categorical"}},
    {"kinds": {"e": "gaussian"}},
    {"kinds": {"e": "counts"}},
    {"smoothing": {"r": 2}},
    {"min_states": {"r": 2}},
    {"states": {"r": ["q", "s"]}},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("how", ["skip", "em"])
def test_options_of_constant_and_empty_columns(options, how):
    y = [0, 1] * 10
    expected = NaiveBayes().fit({"x": CELLS["x"]}, y).predict_proba({"x": CELLS["x"]})
    named = {**CELLS, "y": y}
    for rows, target in ((CELLS, y), (pd.DataFrame(CELLS), y), (named, "y"), (CELLS | {}, y)):
        clf = NaiveBayes(unlabelled=how, **options).fit(rows, target)
        np.testing.assert_allclose(clf.predict_proba(rows), expected)
    by_place = {
        what: {f"x{'rxe'.index(n)}": v for n, v in given.items()} for what, given in options.items()
    }
    lists = [list(row) for row in zip(*CELLS.values(), strict=True)]
    clf = NaiveBayes(unlabelled=how, **by_place).fit(lists, y)
    np.testing.assert_allclose(clf.predict_proba(lists), expected)
    for wrong in ("smoothing", "min_states"):
        with pytest.raises(CredoError, match="'rr'"):
            NaiveBayes(unlabelled=how, **{wrong: {"rr": 2}}).fit(CELLS, y)


def test_a_table_of_constants_has_the_prior():
    rows, y = {"a": ["q"] * 4}, [0, 1, 0, 0]
    for clf in (
        NaiveBayes().fit(rows, y),
        NaiveBayes(kinds="categorical").fit(rows, y),
        NaiveBayes().fit({**rows, "y": y}, "y"),
        NaiveBayes().partial_fit(rows, y),
        NaiveBayes().fit(cr.read({**rows, "y": y}), "y"),
    ):
        np.testing.assert_allclose(clf.predict_proba(rows), [[0.75, 0.25]] * 4)
    with pytest.warns(CredoWarning, match=r"set aside: 'a' \(every cell is 'q'\)"):
        NaiveBayes().fit(rows, y)


def test_one_class_by_name(tmp_path):
    table = {"a": ["q", "r"] * 3, "y": ["u"] * 6}
    out = tmp_path / "one.csv"
    pd.DataFrame(table).to_csv(out, index=False)
    for source in (table, pd.DataFrame(table), str(out)):
        for how in ("skip", "em"):
            clf = NaiveBayes(unlabelled=how).fit(source, "y")
            assert clf.classes_.tolist() == ["u"]
            assert clf.predict_proba({"a": ["q"]}).tolist() == [[1.0]]
        assert cr.naive_bayes(source, "y").classes == ("u",)


def test_an_identifier_is_a_category_by_name_alone():
    rows = {"who": [f"p{i}" for i in range(40)], "x": (np.arange(40) % 3).tolist()}
    y = np.arange(40) % 2
    with pytest.warns(CredoWarning, match="set aside: 'who'"):
        assert "who" not in NaiveBayes(kinds="categorical").fit(rows, y).kinds_
    assert "who" in NaiveBayes(kinds={"who": "categorical"}).fit(rows, y).kinds_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = cr.read({**rows, "y": (np.arange(40) % 2).tolist()}, {"who": "discrete"})
    assert "who" in NaiveBayes(kinds={"who": "categorical"}).fit(table, "y").kinds_
