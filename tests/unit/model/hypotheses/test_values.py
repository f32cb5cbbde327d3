"""Spaces of hypotheses as values: equal, kept, printed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import credo as cr
import credo.distributions as m
from credo.core.render import width
from credo.model.hypotheses.hypotheses import Hypotheses

# --- Two spaces are equal when their hypotheses, prior, bits and observations are ---


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


# --- The record of observations: what was observed stays what it was ---


def half(x):
    return 0.5


def fifth(x):
    return 0.2


FUNCTIONS = {"half": half, "fifth": fifth}


def test_an_array_that_is_changed_later_does_not_change_the_history():
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    h = Hypotheses(FUNCTIONS).observe(rows)
    rows[:] = 99
    assert [x.tolist() for x in h.history.observations[1:]] == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="read-only"):
        h.history.observations[1][0] = 99


# --- What is printed of names and observations that are long, wide or hold control characters ---


ODD = "x\n\x1b[31m"


@pytest.fixture
def odd():
    return Hypotheses({"a\n\x1b": {ODD: 0.5, "y": 0.5}, "日本": {ODD: 1.0}}).observe(ODD)


def test_control_characters_are_written_out(odd):
    for printed in (
        str(odd),
        str(odd.history),
        str(odd.history.predictions(ODD)),
        str(odd.compare()),
        str(odd.compare(ODD)),
    ):
        assert all(line.isprintable() for line in printed.splitlines())
    for printed in (repr(odd.compare()), repr(odd.history.predictions(ODD)), repr(odd.history)):
        assert printed.isprintable()
    assert repr(odd.compare()) == "<Comparison: map '日本', mle '日本', mdl '日本'>"
    first = str(odd.history.predictions(ODD)).splitlines()[0]
    assert first == r"P(x\n\x1b[31m next)"


def test_curves_stand_below_each_other(odd):
    one, two = str(odd.history).splitlines()[-2:]
    assert one == r"a\n\x1b  ▄▃" and two == "日本     ▄▅"
    assert width(one) == width(two)


def test_long_observations_are_shortened():
    h = Hypotheses({"a": lambda x: 0.5, "b": lambda x: 0.25})
    numbers = np.linspace(0, 1, 10_000)
    for long in (numbers, numbers.tolist(), "x" * 10_000):
        seen = h.observe_one(long)
        for printed in (
            str(seen.history),
            seen.history._repr_html_(),
            str(seen.history.predictions(long)),
            repr(seen.history.predictions(long)),
            str(seen.compare(long)),
        ):
            assert len(printed) < 1500
        assert "…" in str(seen.history)
