"""What belongs to a set or a range, and what is refused as a space is made."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import credo as cr
from credo.errors import ImpossibleError, InputError, UnknownNameError
from credo.model.hypotheses.hypotheses import Hypotheses

# --- Which observations belong to a set, a range, and a generalisation ---


LONG = {"a": range(1, 10**12), "b": range(1, 100)}
SET = {"s": {1, 2}, "f": lambda x: 0.1}


@pytest.mark.parametrize(
    "five", [5, 5.0, np.int64(5), np.uint8(5), np.float32(5), Decimal(5), Fraction(5)]
)
def test_a_whole_number_of_any_type_is_in_a_long_range(five):
    h = Hypotheses(LONG).observe_one(five)
    assert h.posterior["b"] == pytest.approx(1 / (1 + 99 / (10**12 - 1)), rel=1e-12)
    assert Hypotheses({"down": range(10**12, 0, -1)}).observe_one(five).n == 1


@pytest.mark.parametrize(
    "other",
    [
        5.5, "q", "5", np.float64(5.5), Fraction(11, 2), 5 + 1j, np.inf, Decimal("1e999999999"),
        0, 10.0**13, (5,), [5], np.array([5, 6]), np.timedelta64(5, "s"),
    ],
    ids=repr,
)  # fmt: skip
def test_everything_else_is_not_at_once(other):
    with pytest.raises(ImpossibleError, match="has probability 0 under the last hypotheses left"):
        Hypotheses(LONG).observe_one(other)


@pytest.mark.parametrize("sampling", ["strong", "weak"])
def test_a_long_range_beyond_the_outcomes_given_is_refused_at_once(sampling):
    with pytest.raises(InputError, match="'a' has the outcome 3, which is not one of the outcomes"):
        Hypotheses({"a": range(1, 10**12)}, outcomes=[1, 2], sampling=sampling)


def test_a_name_that_is_not_there_is_answered_with_those_near_it():
    h = Hypotheses({"fair": {1}, "bent": {1, 2}}).observe(1)
    for mapping in (h.log_posterior, h.log_likelihood):
        with pytest.raises(UnknownNameError, match=r"Hypothesis 'fare' is not in .* 'fair'\?"):
            mapping["fare"]
        with pytest.raises(UnknownNameError, match="is not in the space"):
            mapping[["fair"]]
        assert mapping.get("fare") is None and "fare" not in mapping


# --- What is refused as a space is made, and priors with labels ---


COIN = {"a": {0: 0.5, 1: 0.5}, "b": {0: 0.9, 1: 0.1}}


@pytest.mark.parametrize("kind", [cr.Beta, cr.Gaussian, cr.Bernoulli, dict])
def test_a_class_is_no_hypothesis(kind):
    name = kind.__name__
    with pytest.raises(
        InputError, match=rf"'a' is the class {name}, not a distribution\. Make one of it: {name}\("
    ):
        Hypotheses({"a": kind})
