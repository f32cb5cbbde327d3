"""Every form of hypothesis, prior, and observation."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.stats

from credo.core.schema import Variable
from credo.errors import ImpossibleError, InputError, UnknownNameError
from credo.model.answers.distribution import Distribution
from credo.model.distributions.categorical import Bernoulli, Categorical
from credo.model.hypotheses.hypotheses import Hypotheses
from credo.stats.counts import Counts

COIN = {"fair": {"H": 0.5, "T": 0.5}, "bent": {"H": 0.75, "T": 0.25}}


@pytest.mark.parametrize(
    "many",
    [
        ["H", "H", "T"],
        np.array(["H", "H", "T"]),
        pd.Series(["H", "H", "T"]),
        pl.Series(["H", "H", "T"]),
        pa.array(["H", "H", "T"]),
        Counter("HHT"),
    ],
    ids=lambda m: f"{type(m).__module__}.{type(m).__name__}",
)
def test_many_observations(many):
    h = Hypotheses(COIN).observe(many)
    assert h.n == 3
    assert h.posterior["bent"] == pytest.approx(9 / 17, rel=1e-14)


def test_one_observation():
    h = Hypotheses(COIN)
    assert h.observe("H").n == 1
    assert h.observe(np.str_("H")).n == 1
    assert h.observe(np.array("H")).n == 1
    numbers = Hypotheses({"low": range(1, 5), "high": {4, 5, 6}})
    assert numbers.observe(4).posterior["high"] == pytest.approx(4 / 7, rel=1e-15)
    assert numbers.observe(np.int64(4)).observe(4.0).n == 2
    assert numbers.observe(range(1, 5)).posterior["low"] == 1.0


def test_observations_that_are_tuples_or_lists():
    pairs = {"h": {(1, 2): 0.5, (2, 1): 0.5}, "g": {(1, 2): 1.0}}
    h = Hypotheses(pairs)
    assert h.observe_one((1, 2)).posterior == h.observe([(1, 2)]).posterior
    assert h.observe_one((1, 2), count=3).n == 3
    f = Hypotheses({"a": lambda row: row[0], "b": lambda row: row[1]})
    assert f.observe_one([0.2, 0.6]).posterior["b"] == pytest.approx(0.75, rel=1e-15)
    assert f.observe(np.array([[0.2, 0.6], [0.5, 0.5]])).n == 2
    records = Hypotheses({"a": lambda r: r["x"], "b": lambda r: 1 - r["x"]})
    assert records.observe({"x": 0.25}).posterior["a"] == pytest.approx(0.25, rel=1e-15)


def test_counts():
    h = Hypotheses(COIN)
    same = h.observe(["H", "T", "H"])
    assert h.observe(["H", "T"], counts=[2, 1]).posterior == same.posterior
    assert h.observe({"H": 2, "T": 1}, counts=True).posterior == same.posterior
    assert h.observe({"H": 0}, counts=True) is h
    statistic = Counts((Variable("coin", "discrete", ("H", "T")),), np.array([2, 1]))
    assert h.observe(statistic).posterior == same.posterior
    assert math.isfinite(h.observe({"H": 1e15, "T": 1e15}, counts=True).log_evidence)
    half = h.observe({"H": 0.5}, counts=True)
    assert half.n == 0.5
    assert half.observe({"H": 0.5}, counts=True).posterior["bent"] == pytest.approx(0.6)


def test_distributions():
    h = Hypotheses({"a": Bernoulli(0.25), "b": Bernoulli(0.75)}).observe([True, True])
    assert h.posterior["b"] == pytest.approx(0.9, rel=1e-15)
    assert h.predict().to_dict() == pytest.approx({False: 0.3, True: 0.7})
    c = Categorical([0.5, 0.5], states=("x", "y"))
    d = Distribution.of({"y": 0.25, "z": 0.75})
    h = Hypotheses({"c": c, "d": d})
    assert h.outcomes == ("x", "y", "z")
    assert h.observe("y").posterior["c"] == pytest.approx(2 / 3, rel=1e-15)


def test_densities():
    normal = scipy.stats.norm
    h = Hypotheses({"0": normal(0, 1), "1": normal(1, 1)})
    data = [0.2, 0.9, 1.4, 0.1]
    got = h.observe(data)
    one, two = normal(0, 1).logpdf(data).sum(), normal(1, 1).logpdf(data).sum()
    assert got.posterior["1"] == pytest.approx(1 / (1 + math.exp(one - two)), rel=1e-12)
    assert got.log_evidence == pytest.approx(np.logaddexp(one, two) - math.log(2), rel=1e-12)
    step = h
    for x in data:
        step = step.observe(x)
    np.testing.assert_allclose(step.posterior.p, got.posterior.p, rtol=1e-12)
    assert got.p(0.5) == pytest.approx(normal(0, 1).pdf(0.5), rel=1e-12)
    assert got.history.predictions(0.5)["map"][-1] == pytest.approx(normal(1).pdf(0.5))
    assert got.outcomes is None
    assert got.compare().predictions == (None,) * 4
    assert str(got.compare()).splitlines()[1].split()[:2] == ["average", "all"]
    assert "0.352" in str(got.compare(0.5))
    with (
        np.errstate(over="ignore"),
        pytest.raises(ImpossibleError, match=r"Observation 1, 1e\+200"),
    ):
        h.observe([1e200])


def test_many_densities_at_once_are_one_call_each():
    calls = []

    class Spy:
        def logpdf(self, x):
            calls.append(np.shape(x))
            return -np.abs(x)

    h = Hypotheses({"s": Spy(), "f": lambda x: 1.0}).observe([1.0, 2.0, 3.0])
    assert calls == [(3,)] and h.log_likelihood["s"] == -6.0


def test_outcomes_make_functions_predict():
    h = Hypotheses(
        {"up": lambda x: x / 6, "down": lambda x: (4 - x) / 6}, outcomes=[1, 2, 3]
    ).observe([3, 3])
    assert h.posterior["up"] == pytest.approx(0.9, rel=1e-14)
    assert h.predict()[3] == pytest.approx(0.9 / 2 + 0.1 / 6, rel=1e-14)
    mixed = Hypotheses(
        {"set": {1, 2}, "p": {1: 0.5, 3: 0.5}, "f": lambda x: 1 / 3}, outcomes=[1, 2, 3]
    )
    assert mixed.predict()[3] == pytest.approx((0 + 1 / 2 + 1 / 3) / 3, rel=1e-14)
    weak = Hypotheses({"set": {1, 2}}, outcomes=[1, 2, 3], sampling="weak")
    assert weak.generalise()[3] == 0.0


def test_a_mapping_that_lacks_an_outcome_gives_it_zero():
    h = Hypotheses({"a": {"x": 1}, "b": {"x": 0.5, "y": 0.5}})
    assert h.observe("y").posterior["a"] == 0.0
    assert h.outcomes == ("x", "y")


def test_long_ranges_are_asked_not_listed():
    tanks = {n: range(1, n + 1) for n in (100, 10**6, 10**12)}
    h = Hypotheses(tanks).observe([60, 61])
    assert h.choose() == 100
    assert dict(h.observe(10**6).ruled_out) == {100: 10**6}
    with pytest.raises(InputError, match="do not list their outcomes"):
        h.predict()
    assert h.p(60) == pytest.approx(0.01, rel=1e-6)


def test_weak_sampling():
    sets = {"small": {1, 2}, "large": set(range(1, 9))}
    strong = Hypotheses(sets).observe([1, 2])
    weak = Hypotheses(sets, sampling="weak").observe([1, 2])
    assert strong.posterior["small"] == pytest.approx(16 / 17, rel=1e-15)
    assert weak.posterior["small"] == 0.5
    assert weak.generalise()[3] == 0.5
    assert "P(" not in str(weak.history)
    assert weak.compare().predictions == (None,) * 4
    for ask in (weak.predict, lambda: weak.p(1), lambda: weak.history.predictions(1)):
        with pytest.raises(InputError, match="Under weak sampling a set says what is possible"):
            ask()


def test_outcomes_of_sets_are_sorted():
    assert Hypotheses({"a": {3, 1}, "b": {2}}).outcomes == (1, 2, 3)
    assert Hypotheses({"a": {"b", 1}, "b": {"a"}}).outcomes == (1, "a", "b")


# --- refusals -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hypotheses", "options", "text"),
    [
        ([1, 2], {}, "Hypotheses must be a mapping from name to hypothesis, got list instead."),
        ({}, {}, "A space needs at least one hypothesis, got none."),
        ({None: {1}}, {}, "The name of a hypothesis cannot be missing, got None."),
        (
            {"a": {"x": 0.5, "y": 0.4}},
            {},
            "The probabilities of the hypothesis 'a' must sum to 1, they sum to 0.9.",
        ),
        (
            {"a": {"x": 1.5, "y": -0.5}},
            {},
            "The hypothesis 'a' must map each outcome to a probability, got 'y': -0.5.",
        ),
        ({"a": set()}, {}, "The hypothesis 'a' is an empty set: it could produce no example."),
        ({"a": {1.0, float("nan")}}, {}, "The set 'a' cannot hold the missing value nan."),
        (
            {"a": [1, 2]},
            {},
            "The hypothesis 'a' must be a mapping from outcome to probability, a distribution, a "
            "likelihood function or a set, got [1, 2] instead. A concept is a set: {1, 2, 4}.",
        ),
        (
            COIN,
            {"prior": [1, 2, 3]},
            "The prior must have one number for each of the 2 hypotheses, got 3.",
        ),
        (
            COIN,
            {"prior": [1, -1]},
            "The prior of 'bent' must be a finite number and not negative, got -1.",
        ),
        (
            COIN,
            {"prior": "ab"},
            "The prior must be a sequence or a mapping of numbers, got 'ab' instead.",
        ),
        (
            COIN,
            {"prior": [0, 0]},
            "The prior is zero for every hypothesis. At least one must be possible.",
        ),
        (
            COIN,
            {"prior": {"fair": 1, "bnt": 2}},
            "Hypothesis 'bnt' is not in the space, but in the prior. Did you mean 'bent'?",
        ),
        (COIN, {"outcomes": ["H", "H"]}, "The outcomes must be given once each, and at least one."),
        (
            COIN,
            {"outcomes": ["H"]},
            "The hypothesis 'fair' has the outcome 'T', which is not one of the outcomes given.",
        ),
        (
            {"f": lambda x: 0.3},
            {"outcomes": ["H", "T"]},
            "Over the outcomes given, the hypothesis 'f' must sum to 1, it sums to 0.6.",
        ),
    ],
)
def test_bad_spaces(hypotheses, options, text):
    with pytest.raises((InputError, UnknownNameError)) as caught:
        Hypotheses(hypotheses, **options)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("data", "options", "text"),
    [
        ("h", {}, "Outcome 'h' is not an outcome of any hypothesis. Did you mean 'H'?"),
        (["H", None], {}, "Observation 2 of 2 is missing (None). Leave missing observations out."),
        ({"H": 2}, {}, "{'H': 2} cannot be an outcome here. For counts pass counts=True."),
        (
            {"H"},
            {},
            "A set has neither an order nor repeats, got {'H'}. Give a list of observations; "
            "observe_one takes a set as one observation.",
        ),
        (
            pd.DataFrame({"a": ["H"]}),
            {},
            "A table of several columns is not a list of observations. Give one column, or "
            "observe(frame.to_dict('records')) for rows as mappings.",
        ),
        (
            ["H"],
            {"counts": True},
            "With counts=True the data must be a mapping from outcome to count, got ['H'].",
        ),
        (
            {"H": -1},
            {"counts": True},
            "The count of 'H' must be a number from 0 to 1e+15, got -1.",
        ),
        (
            ["H"],
            {"counts": [1, 2]},
            "The counts must be True or one number for each of the 1 observations, got [1, 2].",
        ),
    ],
)
def test_bad_observations(data, options, text):
    h = Hypotheses(COIN)
    with pytest.raises((InputError, UnknownNameError)) as caught:
        h.observe(data, **options)
    assert str(caught.value) == text
    assert h.n == 0


def test_impossible_data_are_refused():
    h = Hypotheses({"a": {"x": 1.0}, "b": {"y": 1.0}, "c": {"x": 0.5, "y": 0.5, "z": 0.0}})
    before = h.observe(["x", "x"])
    with pytest.raises(ImpossibleError) as caught:
        before.observe(["y", "z", "y"])
    assert str(caught.value) == (
        "Observation 4, 'z', has probability 0 under the last hypothesis left: 'c'; "
        "2 had been ruled out before. Check the observation, or add a hypothesis that allows it."
    )
    assert before.n == 2 and before.posterior["a"] == pytest.approx(0.8)
    with pytest.raises(ImpossibleError) as caught:
        h.observe("z")
    assert str(caught.value).startswith(
        "Observation 1, 'z', has probability 0 under the last hypotheses left: 'a', 'b', 'c'."
    )
    zero = Hypotheses({"a": {"x": 1.0}, "b": {"y": 1.0}}, prior=[1, 0])
    with pytest.raises(ImpossibleError, match="under the last hypothesis left: 'a'"):
        zero.observe("y")


@pytest.mark.parametrize(
    ("function", "options", "text"),
    [
        (
            lambda x: -0.5,
            {},
            "The likelihood of the hypothesis 'f' must be a probability or "
            "density, got -0.5 for 'x'. For log-probabilities pass log=True.",
        ),
        (
            lambda x: math.nan,
            {},
            "The likelihood of the hypothesis 'f' must be a probability or "
            "density, got nan for 'x'.",
        ),
        (
            lambda x: math.inf,
            {"log": True},
            "The likelihood of the hypothesis 'f' must be a log-probability, got inf for 'x'.",
        ),
        (lambda x: {}[x], {}, "The likelihood of the hypothesis 'f' failed on 'x': KeyError('x')."),
        (  # the return was forgotten
            lambda x: None,
            {},
            "The likelihood of the hypothesis 'f' must be a probability or "
            "density, got None for 'x'.",
        ),
    ],
)
def test_bad_likelihoods(function, options, text):
    with pytest.raises(InputError) as caught:
        Hypotheses({"f": function}, **options).observe("x")
    assert str(caught.value).startswith(text)


def test_a_bad_density_is_named_in_a_batch():
    class Bad:
        def logpdf(self, x):
            return np.where(np.asarray(x) > 1, np.nan, 0.0)

    with pytest.raises(InputError, match="'bad' must be a log-probability, got nan for 2"):
        Hypotheses({"bad": Bad()}).observe([1.0, 2.0])


def test_bad_questions():
    h = Hypotheses(COIN)
    with pytest.raises(UnknownNameError, match="The rule 'mpa' is not a way to predict"):
        h.predict(by="mpa")
    with pytest.raises(UnknownNameError, match="'average' is not one that picks a hypothesis"):
        h.choose("average")
    with pytest.raises(InputError, match=r"'map' is not an outcome. Write predict\(by='map'\)."):
        h.predict("map")
    with pytest.raises(UnknownNameError, match="Outcome 'h' is not an outcome of any hypothesis"):
        h.p("h")
    with pytest.raises(InputError, match="Only sets of listed outcomes have members"):
        h.generalise()
    with pytest.raises(UnknownNameError, match="Hypothesis 'fiar' is not in the space"):
        h.history.of("fiar")
