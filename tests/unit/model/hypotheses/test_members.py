"""What belongs to a set or a range, and what is refused as a space is made."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import credo as cr
from credo.errors import ImpossibleError, InputError, UnknownNameError
from credo.model.hypotheses.hypotheses import Hypotheses

# --- Which observations belong to a set, a range, and a generalisation ---


LONG = {"a": range(1, 10**12), "b": range(1, 100)}
SET = {"s": {1, 2}, "f": lambda x: 0.1}


@pytest.mark.parametrize(
    "five", [5, 5.0, np.int64(5), np.uint8(5), np.float32(5), Decimal(5), Fraction(5), 5 + 0j]
)
def test_a_whole_number_of_any_type_is_in_a_long_range(five):
    h = Hypotheses(LONG).observe_one(five)
    assert h.posterior["b"] == pytest.approx(1 / (1 + 99 / (10**12 - 1)), rel=1e-12)
    assert Hypotheses({"down": range(10**12, 0, -1)}).observe_one(five).n == 1


@pytest.mark.parametrize(
    "other",
    [
        5.5, "q", "5", np.float64(5.5), Fraction(11, 2), 5 + 1j, np.inf, Decimal("1e999999999"),
        0, 10.0**13, True, np.True_, (5,), [5], np.array([5, 6]), np.timedelta64(5, "s"),
    ],
    ids=repr,
)  # fmt: skip
def test_everything_else_is_not_at_once(other):
    with pytest.raises(ImpossibleError, match="has probability 0 under the last hypotheses left"):
        Hypotheses(LONG).observe_one(other)


def test_a_step_leaves_numbers_out():
    assert Hypotheses({"odd": range(1, 10**12, 2), "any": range(10**12)}).observe_one(
        np.int64(4)
    ).ruled_out == {"odd": 4}


@pytest.mark.parametrize("sampling", ["strong", "weak"])
def test_a_long_range_beyond_the_outcomes_given_is_refused_at_once(sampling):
    with pytest.raises(InputError, match="'a' has the outcome 3, which is not one of the outcomes"):
        Hypotheses({"a": range(1, 10**12)}, outcomes=[1, 2], sampling=sampling)


def test_what_cannot_be_hashed_is_in_no_set():
    assert dict(Hypotheses(SET).observe_one([1, 2]).ruled_out) == {"s": [1, 2]}
    h = Hypotheses(SET).observe(np.array([[1, 2], [3, 4]]))
    assert h.n == 2 and list(h.ruled_out) == ["s"]


def test_true_and_1_are_two_outcomes_of_a_generalisation():
    h = Hypotheses({"a": {True, 2}, "b": {1, 2}}).observe(True)
    g = h.generalise()
    assert g[True] == 1.0 and g[1] == 0.0 and g[2.0] == 1.0
    assert True in g and 7 not in g and [1] not in g
    assert [g[x] for x in g] == g.p.tolist()
    assert h.predict()[True] == 0.5 and h.predict()[1] == 0.0
    bits = Hypotheses({"a": {0, 1}, "b": {1}}).observe(1).generalise()
    assert bits[True] == bits[1] == 1.0
    with pytest.raises(UnknownNameError, match="Outcome 7 is not an outcome of any hypothesis"):
        g[7]


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


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, np.datetime64("NaT")])
def test_missing_outcomes(missing):
    with pytest.raises(InputError, match="The outcomes cannot hold the missing value"):
        Hypotheses({"a": lambda x: 0.5}, outcomes=[missing, 1])


@pytest.mark.parametrize("kind", [cr.Beta, cr.Gaussian, cr.Bernoulli, dict])
def test_a_class_is_no_hypothesis(kind):
    name = kind.__name__
    with pytest.raises(
        InputError, match=rf"'a' is the class {name}, not a distribution\. Make one of it: {name}\("
    ):
        Hypotheses({"a": kind})


def test_a_class_that_answers_itself_is_one():
    class Even:
        @staticmethod
        def logpmf(x):
            return np.log(0.5)

    assert Hypotheses({"a": Even}).observe(1).log_evidence == pytest.approx(np.log(0.5))


def test_a_series_is_read_by_its_labels():
    h = Hypotheses(COIN, prior=pd.Series([0.8, 0.2], index=["b", "a"]))
    assert h.prior["b"] == 0.8
    assert Hypotheses(COIN, prior=pd.Series([0.8, 0.2])).prior["a"] == 0.8
    assert Hypotheses(COIN, bits=pd.Series([1, 2], index=["b", "a"])).choose() == "b"
    numbered = Hypotheses({1: {0: 1.0}, 0: {0: 1.0}}, prior=pd.Series([0.8, 0.2]))
    assert numbered.prior[0] == 0.8
    with pytest.raises(UnknownNameError, match="Hypothesis 'c' is not in the space"):
        Hypotheses(COIN, prior=pd.Series([0.8, 0.2], index=["b", "c"]))
    with pytest.raises(InputError, match="The prior has 'b' twice"):
        Hypotheses(COIN, prior=pd.Series([0.8, 0.1, 0.1], index=["b", "b", "a"]))
    with pytest.raises(InputError, match="Missing in the prior: 'a'"):
        Hypotheses(COIN, prior=pd.Series([0.8], index=["b"]))


def test_a_long_unknown_outcome_is_shortened():
    with pytest.raises(UnknownNameError, match="is not an outcome of any hypothesis") as caught:
        Hypotheses({"a": {"x", "y"}}).observe("x" * 100_000)
    assert len(str(caught.value)) < 300
    with pytest.raises(ImpossibleError) as impossible:
        Hypotheses({"a": lambda x: 0.0}).observe_one(list(range(10_000)))
    assert len(str(impossible.value)) < 300
