"""One row as a question: what is not understood is refused, and every form of the answer agrees."""

import numpy as np
import pandas as pd
import pytest

import credo as cr
from credo.errors import CredoWarning, ImpossibleError, InputError, UnknownNameError
from credo.estimators import NaiveBayes

FRAME = pd.DataFrame(
    {
        "sex": ["f", "f", "m", "m", "m", "f"],
        "pclass": [1, 2, 3, 3, 1, 2],
        "age": [21.5, 30.5, 41.0, 12.5, 33.0, 60.5],
    }
)
CLASSES = [1, 1, 0, 0, 1, 0]


@pytest.fixture(scope="module")
def model():
    return NaiveBayes(kinds={"pclass": "categorical"}).fit(FRAME, CLASSES).model_


@pytest.mark.parametrize("ask", ["p", "log_joint", "explain"])
@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        ({"pclass": "3"}, UnknownNameError, "Did you mean the number 3, not the text '3'?"),
        ({"sex": "F"}, UnknownNameError, "State 'F' is not one of 'sex'. Did you mean 'f'?"),
        ({"sexx": "f"}, UnknownNameError, "Feature 'sexx' is not in the model"),
        ({"sex": ["f"]}, InputError, "The value of 'sex' must be one state, got ['f']."),
        ({"y": 1}, InputError, "'y' is the class, which is what is asked for. Leave it out."),
        ({"age": "old"}, InputError, "The value of 'age' must be a number, got 'old'."),
        (["f"], InputError, "A row is a mapping"),
    ],
)
def test_a_row_that_is_not_understood_is_refused(model, ask, row, error, message):
    with pytest.raises(error) as caught:
        getattr(model, ask)(row)
    assert message in str(caught.value)


def test_a_new_state_is_missing_with_a_warning_where_that_is_asked_for(model):
    with pytest.warns(CredoWarning, match="taken as missing: 'sex' \\('x'\\)"):
        found = model.p({"sex": "x", "age": 30.0}, unseen="missing")
    assert list(found.values()) == pytest.approx(list(model.p({"age": 30.0}).values()))


@pytest.mark.parametrize("unseen", ["missing", "smooth"])
@pytest.mark.parametrize("cell", ["f", "zz", None])
@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
def test_predictions_explanations_and_linear_forms_agree(unseen, cell):
    clf = NaiveBayes(unseen=unseen).fit(FRAME, CLASSES)
    row = {"sex": cell, "pclass": 2, "age": 25.5}
    log_p = clf.predict_log_proba(pd.DataFrame([row]))[0]
    odds = log_p[1] - log_p[0]
    assert clf.explain(row, of=1, against=0).total * np.log(2) == pytest.approx(odds)
    form = clf.linear_form(reference=False)
    assert form.decide(row)[0] == pytest.approx(odds)
    assert (form.bias + form.weights @ form.at(row))[0] == pytest.approx(odds)
    folded = clf.linear_form()
    if cell == "f" or (cell == "zz" and unseen == "smooth"):
        assert (folded.bias + folded.weights @ folded.at(row))[0] == pytest.approx(odds)
        assert folded.decide(row)[0] == pytest.approx(odds)
    else:
        with pytest.raises(InputError, match="Rows with gaps need linear_form"):
            folded.decide(row)


def test_odds_of_two_impossible_classes_are_refused():
    clf = NaiveBayes(smoothing=0).fit(
        [["a", "s"], ["b", "t"], ["c", "t"], ["a", "t"]], [0, 1, 2, 2]
    )
    with pytest.raises(ImpossibleError) as caught:
        clf.explain(["a", "t"], of=0, against=1)
    assert "impossible in 0 and in 1, so their odds are not defined" in str(caught.value)
    assert "x1=t was never seen with y=0; x0=a was never seen with y=1" in str(caught.value)
    assert clf.explain(["a", "t"], of=2, against=0).total == np.inf
    assert clf.explain(["a", "t"], against=2).of == 0
    with pytest.raises(InputError, match="got 2 twice"):
        clf.explain(["a", "t"], of=2, against=2)


def test_a_new_state_that_is_impossible_is_named():
    clf = NaiveBayes(0, unseen="smooth").fit([["a"], ["b"]], [0, 1])
    with pytest.raises(ImpossibleError, match="x0=zz was never seen with y=0; x0=zz was never"):
        clf.predict_proba([["zz"]])


def test_numbers_above_one_are_above_zero_in_the_linear_form():
    clf = NaiveBayes(kinds="bernoulli").fit([[0], [1], [1]], [0, 1, 1])
    log_p = clf.predict_log_proba([[3]])[0]
    assert clf.linear_form().decide({"x0": 3})[0] == pytest.approx(log_p[1] - log_p[0])


def test_numbers_far_from_zero_do_not_cancel():
    X = 1e9 + np.array([[0.0], [1], [2], [1], [2], [3]])
    clf = NaiveBayes(kinds="gaussian").fit(X, [0, 0, 0, 1, 1, 1])
    log_p = clf.predict_log_proba([[1e9 + 1.0]])[0]
    decided = clf.linear_form().decide({"x0": 1e9 + 1.0})[0]
    assert decided == pytest.approx(log_p[1] - log_p[0])


def test_the_linear_form_of_few_classes():
    one = NaiveBayes().fit([["a"], ["b"]], ["only", "only"]).linear_form()
    assert "only" in str(one) and "bias" in str(one)
    table = cr.read({"y": ["a", "b"], "x": ["u", "v"]}, {"y": ["a", "b", "c"]})
    with pytest.raises(InputError, match=r"class 'c' has probability zero.*class_smoothing"):
        cr.naive_bayes(table, "y").linear_form()


def test_a_network_answers_as_the_model_with_states_in_reserve():
    X = [["a"], ["b"], ["a"], ["c"], ["a"], ["a"], ["b"]]
    model = NaiveBayes(min_states=6).fit(X, [0, 0, 1, 1, 1, 1, 1]).model_
    net = model.network()
    assert net.variable("x0").states == ("a", "b", "c", "(not seen)")
    for state in "abc":
        expected = list(model.p({"x0": state}).values())
        assert list(net.p("y", {"x0": state}).values()) == pytest.approx(expected, abs=1e-14)
    assert net.p("x0", {"y": 0})["(not seen)"] == pytest.approx(3 / (2 + 6))


def test_a_feature_with_the_name_of_the_class_needs_another_name():
    model = NaiveBayes().fit(pd.DataFrame({"y": ["a", "b", "a"]}), [0, 1, 1]).model_
    with pytest.raises(InputError, match=r"both called 'y'.*target='class'"):
        model.network()
    net = model.network(target="class")
    assert list(net.p("class", {"y": "a"}).values()) == pytest.approx(
        list(model.p({"y": "a"}).values())
    )
