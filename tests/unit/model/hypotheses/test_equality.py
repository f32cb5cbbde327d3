"""Two spaces are equal when their hypotheses, prior, bits and observations are."""

from __future__ import annotations

import pickle

import credo as cr
import credo.distributions as m

FAIR = {"H": 0.5, "T": 0.5}


def test_equal_spaces():
    a = cr.Hypotheses({"fair": FAIR, "bent": {"H": 0.9, "T": 0.1}})
    b = cr.Hypotheses({"fair": dict(FAIR), "bent": {"H": 0.9, "T": 0.1}})
    assert a == b and hash(a) == hash(b)
    assert a.observe(["H", "T"]) == b.observe("H").observe("T") != a.observe(["T", "H"])
    assert a.observe({"H": 2}, counts=True) != a.observe(["H", "H"])
    assert a != cr.Hypotheses({"fair": FAIR, "bent": {"H": 0.9, "T": 0.1}}, prior=[1, 3])
    assert a != cr.Hypotheses({"fair": FAIR, "bent": {"H": 0.8, "T": 0.2}})
    assert a != cr.Hypotheses({"fair": FAIR, "other": {"H": 0.9, "T": 0.1}})
    assert a != cr.Hypotheses({"fair": FAIR, "bent": {"H": 0.9, "T": 0.1}}, bits=[1, 1])
    assert a != 3
    assert a.history == b.history and a.history != a.history.every(2) and a.history != 3
    assert a.history.predictions("H") == b.history.predictions("H") != a.history.predictions("T")


def test_sets_distributions_and_functions():
    assert cr.number_game(12) == cr.number_game(12) != cr.number_game(12, sampling="weak")

    def gaussians():
        return cr.Hypotheses({"a": m.Gaussian(0, 1), "b": m.Gaussian(1, 1)}).observe([0.5, 2.0])

    assert gaussians() == gaussians() == pickle.loads(pickle.dumps(gaussians()))
    assert gaussians() != cr.Hypotheses({"a": m.Gaussian(0, 2), "b": m.Gaussian(1, 1)}).observe(
        [0.5, 2.0]
    )
    flat = lambda x: 0.5  # noqa: E731
    assert cr.Hypotheses({"f": flat}) == cr.Hypotheses({"f": flat})
    assert cr.Hypotheses({"f": flat}) != cr.Hypotheses({"f": lambda x: 0.5})
