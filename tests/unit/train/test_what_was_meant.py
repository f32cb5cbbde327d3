"""Calls that are nearly right are refused with what was meant."""

import numpy as np
import pytest

import credo as cr
from credo.errors import CredoError

ROWS = cr.examples.pneumonia()
NET = cr.fit("[Pneu][Fev|Pneu]", ROWS, prior=cr.BDeu(1))
NB = cr.naive_bayes(ROWS, "Pneu")


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: cr.learn(ROWS, target="Pneu"), "target= goes with search='tan'"),
        (lambda: cr.learn(ROWS, forbid=[("Pneu", "Fev")]), "are forbidden="),
        (lambda: cr.learn(ROWS, whitelist=[("Pneu", "Fev")]), "are required="),
        (lambda: cr.learn(ROWS, max_parent=2), "Did you mean 'max_parents'"),
        (lambda: cr.learn(ROWS, columns=["Fev"]), "schema={'name': 'drop'}"),
        (lambda: cr.learn(ROWS, seed=3), "Did you mean 'rng'"),
        (lambda: cr.learn(ROWS, prior=cr.BDeu(1)), r"parameters=cr\.BDeu\(1\)"),
        (lambda: cr.learn(ROWS, "hill-climb"), "is a search, not a score. Give search='hill-climb'"),
        (lambda: cr.learn(ROWS, search="hc"), "Did you mean 'hill-climb'"),
        (lambda: cr.learn(ROWS, search="taboo"), "Did you mean 'tabu'"),
        (lambda: cr.fit(ROWS, "[Pneu][Fev|Pneu]"), "The graph comes first and the rows second"),
        (lambda: cr.score(ROWS, "[Pneu]", "bdeu"), "The graph comes first and the rows second"),
        (lambda: cr.em(ROWS, "[Pneu]"), "The graph comes first and the rows second"),
        (lambda: cr.learn("[Pneu][Fev|Pneu]", ROWS), "cr.learn takes the rows alone"),
        (lambda: cr.learn(cr.Dag.parse("[Pneu]")), "cr.learn takes the rows alone"),
        (lambda: cr.Network("[A]", {"A": 1.5}), r"P\(A=True\) must be between 0 and 1, got 1.5"),
        (lambda: cr.fit("[Pneu]", ROWS, prior="bdeu"), r"Give prior=cr\.BDeu\(1\)"),
        (lambda: cr.fit("[Pneu]", ROWS, prior="K2"), r"Give prior=cr\.K2\(\)"),
        (lambda: cr.fit("[Pneu][Fev|Pneu,Cou][Cou]", ROWS), r"separated by ':', as in \[Fev\|Pneu:C"),
        (lambda: cr.fit("Pneu->Fev", ROWS), r"with brackets, as in '\[Pneu\]\[Fev\|Pneu\]'"),
        (lambda: cr.fit("Pneu -> Fev; Fev -> Cou", ROWS), r"as in '\[Pneu\]\[Fev\|Pneu\]'"),
        (lambda: cr.check(NB, ROWS), r"cr\.check\(model\.network\(\), rows\)"),
        (lambda: cr.write_report(NB, "x.html"), r"model\.network\(\)"),
        (lambda: cr.write_report("r.html", NET), "The model comes first"),
        (lambda: cr.load(5), "A model is loaded from a path, got int"),
        (lambda: NET.sample(3), r"net\.sample\(3, rng=0\)"),
        (lambda: cr.naive_bayes({"x": [0.5, 1.5, 2.25] * 9, "c": ["a", "b", "a"] * 9}, "x"),
         "learn a network that predicts numbers"),
    ],
)  # fmt: skip
def test_what_was_meant_is_said(call, meant):
    with pytest.raises(CredoError, match=meant):
        call()


def test_a_naive_bayes_model_points_to_its_network():
    for name in ("ask", "save"):
        with pytest.raises(AttributeError, match=rf"model\.network\(\)\.{name}"):
            getattr(NB, name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        NB.nothing


def test_cross_validation_tells_the_search_its_class():
    found = cr.cross_validate(["naive-bayes", "tan"], ROWS, folds=3, target="Pneu")
    by_hand = cr.cross_validate(
        lambda rows: cr.learn(rows, search="naive-bayes", target="Pneu"), ROWS, 3, target="Pneu"
    )
    nats = {s.name: s.nats for s in found.scores}
    assert nats["naive-bayes"] == pytest.approx(by_hand.scores[0].nats)
    assert np.isfinite(nats["tan"])
