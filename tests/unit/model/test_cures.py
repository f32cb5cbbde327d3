"""What a refusal advises works: names of the right type, grids, threads, columns left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import credo as cr
from credo.errors import CredoError, CredoWarning, InputError, UnknownNameError


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: cr.Beta(2, 3, states=("t", "h")).update(["x"]),
            "State 'x' is not a state of the variable 'x'. There are 't', 'h'.",
        ),
        (
            lambda: cr.number_game().observe(["2"]),
            "Outcome '2' is not an outcome of any hypothesis. Did you mean the number 2, not the "
            "text '2'?",
        ),
        (
            lambda: cr.Categorical([0.5, 0.5], ("1", "20"))[1],
            "State 1 is not one of 'x'. Did you mean the text '1', not the number 1?",
        ),
        (
            lambda: cr.Categorical([0.5, 0.5], (100, 200))[101],
            "State 101 is not one of 'x'. Did you mean 100?",
        ),
        (
            lambda: cr.plot.prior_posterior(cr.Dirichlet([1, 1, 1]), cr.Dirichlet([1, 2, 1])),
            "Say which state the picture is for. Write of=0, or one of [0, 1, 2].",
        ),
        (
            lambda: cr.tally({"x": ["a", "b"]}, ["x"], threads="a"),  # type: ignore[arg-type]
            "threads must be a whole number above 0, got 'a'.",
        ),
        (
            lambda: cr.Bernoulli.likelihood_curve([True, False], grid=[-1, 0.5]),
            "The grid of a probability must lie between 0 and 1, got -1.",
        ),
    ],
)
def test_the_sentence(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(CredoError) as caught:
        call()
    assert str(caught.value) == text


def test_a_grid_may_reach_both_ends() -> None:
    curve = cr.Bernoulli.likelihood_curve([True, True], grid=[0.0, 0.5, 1.0])
    assert curve.log_likelihood.tolist() == [-np.inf, 2 * np.log(0.5), 0.0]


MIXED = {"a": ["u", "v", "u"], "y": [0.5, 0.5, 0.7]}


def test_unique_rows_say_which_columns_they_leave_out() -> None:
    with pytest.warns(CredoWarning, match=r"left out: y\. .*schema=\{'y': 'discrete'\}"):
        assert len(cr.read(MIXED).unique()) == 2
    assert len(cr.read(MIXED, schema={"y": "discrete"}).unique()) == 3
    assert len(cr.read(MIXED).select(["a"]).unique()) == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: cr.Beta(1, 1, states=(1, 2)).update([True]),
        lambda: cr.Bernoulli(0.5, states=(1, 2)).logpdf(np.array([True])),
        lambda: cr.Categorical([0.5, 0.5], (1, 2))[True],
        lambda: cr.Categorical.fit({True: 2, 2: 1}, states=(1, 2)),
    ],
)
def test_true_is_not_the_state_1(call: Callable[[], Any]) -> None:
    with pytest.raises(UnknownNameError, match=r"True_? is not .*There are 1, 2"):
        call()


def test_true_is_the_yes_of_0_and_1() -> None:
    assert cr.Bernoulli(0.3, states=(0, 1))[True] == 0.3
    assert cr.Beta(1, 1).update([1, 1, 0]) == cr.Beta(3, 2)
    h = cr.Hypotheses({"flags": {True: 0.25, False: 0.75}, "numbers": {0: 0.5, 1: 0.5}})
    assert h.outcomes == (True, False)
    assert h.observe([1, True]).posterior["numbers"] == pytest.approx(0.8)


def test_outcomes_given_twice() -> None:
    with pytest.raises(InputError, match="once each"):
        cr.Hypotheses({"a": lambda x: 0.5}, outcomes=[1, 1.0])
