"""NetworkClassifier: names, positions, weights, labels and networks that are given."""

import numpy as np
import pandas as pd
import pytest

import credo as cr
from credo.errors import CredoWarning, ImpossibleError, InputError, UnknownNameError
from credo.estimators import NaiveBayes, NetworkClassifier

X = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0], [0.0, 5.0], [3.0, 2.0]])
METHODS = ("tan", "aode", "naive-bayes")


@pytest.mark.parametrize("method", METHODS)
def test_a_row_of_weight_0_is_absent(method):
    rows = [["u", 1.5], ["v", 2.5], ["w", 9.0]]
    clf = NetworkClassifier(method).fit(rows, [0, 1, 2], sample_weight=[1, 1, 0])
    plain = NetworkClassifier(method).fit(rows[:2], [0, 1])
    assert clf.classes_.tolist() == [0, 1]
    assert (clf.predict_proba(rows[:2]) == plain.predict_proba(rows[:2])).all()


def test_small_probabilities_keep_their_logarithm():
    rows, y = np.array([[0.0], [1], [100], [101]]), [0, 0, 1, 1]
    net = NetworkClassifier("naive-bayes", bins=None).fit(rows, y)
    other = NaiveBayes(kinds="gaussian").fit(rows, y)
    new = [[0.5], [40.0], [1e4], [np.nan]]
    np.testing.assert_allclose(
        net.predict_log_proba(new), other.predict_log_proba(new), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("method", METHODS)
def test_logarithms_are_those_of_the_probabilities(shared_tables, method):
    table = cr.read(shared_tables / "house_votes_84.csv")
    clf = NetworkClassifier(method).fit(table, "Class")
    p = clf.predict_proba(table)
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(table)), p, atol=1e-12)


def test_the_name_of_the_class():
    frame = pd.DataFrame({"y": ["a", "b", "a"], "z": ["s", "t", "t"]})
    fit = NetworkClassifier().fit
    assert fit(frame, pd.Series([0, 1, 1], name="income")).network_.names == ("income", "y", "z")
    assert fit(frame, [0, 1, 1]).network_.names == ("class", "y", "z")
    assert fit(frame[["z"]], [0, 1, 1]).network_.names == ("y", "z")
    with pytest.raises(InputError, match=r"both called 'y'. Give the class another name"):
        NetworkClassifier(target="y").fit(frame, [0, 1, 1])


def test_a_network_must_fit_the_rows():
    frame = pd.DataFrame({"a": ["u", "v", "u", "v"], "b": ["s", "s", "t", "t"]})
    net = NetworkClassifier(target="c").fit(frame, ["no", "yes", "no", "no"]).network_
    with pytest.raises(InputError, match="X has no column of the network but the class 'c'"):
        NetworkClassifier(net, target="c").fit(frame.rename(columns=str.upper), ["no"] * 4)
    with pytest.raises(UnknownNameError, match="The class 'maybe' is not one of 'c' in the net"):
        NetworkClassifier(net, target="c").fit(frame, ["no", "maybe", "no", "no"])
    clf = NetworkClassifier(net, target="c").fit(frame, ["no"] * 4)
    assert clf.classes_.tolist() == ["no", "yes"]
    with pytest.raises(InputError, match=r"no column of the model. Its features are 'a', 'b'"):
        clf.predict({"zz": [1, 2]})
    with pytest.warns(CredoWarning, match="'a' is not in the rows .* did you mean 'A'"):
        clf.predict({"A": ["u"], "b": ["s"]})


@pytest.mark.parametrize("method", METHODS)
def test_rows_without_a_class_are_left_out(method):
    labels = [0, 1, None, 1, 1]
    with pytest.warns(CredoWarning, match="1 rows without a class were left out"):
        clf = NetworkClassifier(method).fit(X, labels)
    kept = [0, 1, 3, 4]
    plain = NetworkClassifier(method).fit(X[kept], [labels[i] for i in kept])
    assert (clf.predict_proba(X) == plain.predict_proba(X)).all()


def test_aode_names_the_cells_that_are_impossible():
    rows = [["a", "t"], ["b", "s"], ["a", "t"]]
    clf = NetworkClassifier("aode", smoothing=0).fit(rows, [0, 0, 1])
    with pytest.raises(ImpossibleError) as caught:
        clf.predict_proba([["a", "t"], ["a", "s"]])
    assert str(caught.value) == (
        "Row 2 has probability zero in every class: x0=a with x1=s was never seen with y=0; "
        "x1=s was never seen with y=1. Use smoothing above 0."
    )


@pytest.mark.parametrize("method", METHODS)
def test_explanations_add_up_to_the_odds(shared_tables, method):
    frame = pd.read_csv(shared_tables / "titanic.csv")
    clf = NetworkClassifier(method).fit(frame, "Survived")
    log_p = clf.predict_log_proba(frame)
    for i in (0, 5, 61):
        row = {n: frame[n][i] for n in clf.feature_names_in_}
        account = clf.explain(row, of=1, against=0)
        assert account.total == pytest.approx((log_p[i, 1] - log_p[i, 0]) / np.log(2))
        assert account.p == pytest.approx(np.exp(log_p[i, 1]))
        assert account.target == "Survived"


def test_rows_that_cannot_be_explained():
    clf = NetworkClassifier().fit([["u", 1], ["v", 1], ["u", 0]], [0, 1, 1])
    with pytest.raises(UnknownNameError, match="Feature 'xx0' is not in the model"):
        clf.explain({"xx0": "u"})
    with pytest.raises(InputError, match="'y' is the class"):
        clf.explain({"y": 1, "x0": "u"})
    with pytest.raises(InputError, match="has no cell"):
        clf.explain({})
    with pytest.raises(InputError, match="1 values for 2 features"):
        clf.explain(["u"])


@pytest.mark.parametrize("bins", [3, None, {"a": [0.0]}])
@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_an_infinity_is_refused_in_training_and_in_prediction(bins, infinity):
    numbers = np.random.default_rng(3).normal(size=(40, 2))
    rows = pd.DataFrame(numbers, columns=["a", "b"])
    labels = (numbers[:, 0] > 0).astype(int)
    bad = rows.copy()
    bad.loc[3, "a"] = infinity
    told = r"Row 4 of 'a' is infinite: a value must be finite"
    clf = NetworkClassifier("naive-bayes" if bins is None else "tan", bins=bins)
    with pytest.raises(InputError, match=told):
        clf.fit(bad, labels)
    clf.fit(rows, labels)
    for ask in (clf.predict, clf.predict_proba, clf.predict_log_proba):
        with pytest.raises(InputError, match=told):
            ask(bad)


def test_numbers_are_cut_for_the_class():
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 1, (1000, 3))
    y = (abs(x[:, 0] - 0.5) < 0.2).astype(int)  # the third tells nothing
    y = np.where(rng.random(1000) < 0.1, 1 - y, y)
    clf = NetworkClassifier("naive-bayes").fit(x, y)
    np.testing.assert_allclose(clf.cuts_["x0"], [0.3, 0.7], atol=0.02)
    np.testing.assert_allclose(clf.cuts_["x2"], [np.median(x[:, 2])], atol=0.005)
    shares = NetworkClassifier("naive-bayes", bins=4).fit(x, y)
    np.testing.assert_allclose(
        shares.cuts_["x0"], np.quantile(x[:, 0], [0.25, 0.5, 0.75]), atol=0.01
    )
    some = NetworkClassifier("naive-bayes", bins={"x2": [0.1]}).fit(x, y)
    assert some.cuts_["x2"].tolist() == [0.1]
    assert some.cuts_["x0"].tolist() == clf.cuts_["x0"].tolist()
    with pytest.raises(InputError, match=r"bins must be .*'auto' or None, got 'many'"):
        NetworkClassifier(bins="many").fit(x, y)


def test_numbers_that_tell_only_together_are_kept():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(800, 2))
    y = (x[:, 0] * x[:, 1] > 0).astype(int)
    assert NaiveBayes().fit(x, y).score(x, y) < 0.65
    assert NetworkClassifier("tan").fit(x, y).score(x, y) > 0.9
