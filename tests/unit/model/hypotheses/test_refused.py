"""What is refused as a space is made, and priors with labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import credo as cr
from credo.errors import ImpossibleError, InputError, UnknownNameError
from credo.model.hypotheses.hypotheses import Hypotheses

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
