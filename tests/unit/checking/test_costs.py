"""Decisions with costs: the cheapest class, thresholds, rejecting, and what check says of them."""

import numpy as np
import pytest

import credo as cr
from credo.checking.sections.costs import cost_curve
from credo.estimators import NaiveBayes, NetworkClassifier
from credo.model.decisions.costs import Costs

SPAM = {"ham": {"spam": 9.0}, "spam": {"ham": 1.0}}


def mail(n=400, seed=0):
    rng = np.random.default_rng(seed)
    spam = rng.random(n) < 0.4
    columns = {f"w{i}": np.where(rng.random(n) < np.where(spam, 0.7, 0.3), "yes", "no")
               for i in range(4)}  # fmt: skip
    return columns, np.where(spam, "spam", "ham")


@pytest.mark.parametrize("classifier", [NaiveBayes, NetworkClassifier])
def test_the_cheapest_class_is_predicted(classifier):
    X, y = mail()
    clf = classifier().fit(X, y)
    p = clf.predict_proba(X)
    cost = np.stack([p[:, 1] * 1.0, p[:, 0] * 9.0], axis=1)  # classes are ham, spam
    assert (clf.predict(X, costs=SPAM) == clf.classes_[cost.argmin(axis=1)]).all()
    assert (clf.predict(X, costs=[[0, 1], [1, 0]]) == clf.predict(X)).all()
    t = clf.threshold(SPAM)
    assert t == pytest.approx(0.9)
    assert ((clf.predict(X, costs=SPAM) == "spam") == (p[:, 1] > t)).all()
    kept = clf.predict(X, reject=0.2)
    assert ((kept == None) == (p.max(axis=1) < 0.8)).all()  # noqa: E711
    assert set(clf.predict(X, costs=SPAM, reject=0.5)) <= {"ham", "spam", None}


def test_costs_are_read_in_several_ways():
    array = np.array([[0.0, 9.0], [1.0, 0.0]])
    names = ["ham", "spam"]
    for given in (SPAM, array, {("ham", "spam"): 9, ("spam", "ham"): 1}, Costs(("h", "s"), array)):
        assert np.array_equal(Costs.of(names, given).matrix, array)
    three = Costs.of("abc", 1 - np.eye(3))
    assert three.choose(np.array([[0.2, 0.5, 0.3]])).tolist() == [1]
    with pytest.raises(cr.errors.InputError, match="no cost for calling 'b' 'a'"):
        Costs.of("ab", {"a": {"b": 1}})
    with pytest.raises(cr.errors.UnknownNameError, match="State 'c' is not one of 'class'"):
        Costs.of("ab", {"a": {"c": 1}})
    with pytest.raises(cr.errors.InputError, match="2 rows of 2 numbers"):
        Costs.of("ab", [[1, 2, 3]])
    with pytest.raises(cr.errors.InputError, match="threshold is for two classes"):
        _ = three.threshold


def test_costs_of_a_network_on_rows():
    X, y = mail(600)
    table = cr.read({**X, "folder": y})
    net = cr.learn(table, search="naive-bayes", target="folder")
    report = cr.check(net, table, sections=["costs"], costs={"folder": SPAM})
    found = report.costs["folder"]
    assert found.paid == pytest.approx(found.promised, abs=4 * found.error)
    assert found.paid <= found.fixed and found.always == "ham"
    assert found.fixed == pytest.approx(float((y == "spam").mean()))
    assert report.findings[0].kind == "costs"
    assert "costs" in report.to_dict() and "promised" in str(report)
    assert cr.check(net, table, sections=["parameters"]).costs is None
    with pytest.raises(cr.errors.UnknownNameError, match="Did you mean 'folder'"):
        cr.check(net, table, sections=["costs"], costs={"foldr": SPAM})


def test_the_area_under_the_cost_curve_is_half_the_brier_score():
    rng = np.random.default_rng(1)
    p = rng.random(2000)
    second = rng.random(2000) < p
    curve = cost_curve(p, second)
    area = np.trapezoid(curve[:, 1], curve[:, 0])
    assert area == pytest.approx(((p - second) ** 2).mean() / 2, abs=2e-3)
    assert (curve[:, 1] <= curve[:, 2] + 0.03).all()
