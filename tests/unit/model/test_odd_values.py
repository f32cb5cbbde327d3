"""What is not a real number is refused, what is missing is left out, whatever brings it."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from collections.abc import Hashable
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import credo as cr
import credo.distributions as m
from credo.errors import CredoError, InputError, LimitError

COMPLEX = np.array([1 + 5j, 2 + 1j])
HUGE = 10**400
MASKED = np.ma.array([1.0, 2.0, 300.0], mask=[0, 0, 1])

G = m.Gaussian(0, 1)
NIG = m.NormalInverseGamma(0, 1, 2, 2)
COIN = cr.Hypotheses({"fair": {"H": 0.5, "T": 0.5}, "bent": {"H": 0.9, "T": 0.1}})


@pytest.fixture(autouse=True)
def _no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: m.Gaussian.fit(COMPLEX), "The values must be numbers, got (1+5j)."),
        (lambda: m.Gaussian.fit(["1", "2"]), "The values must be numbers, got '1'."),
        (
            lambda: G.logpdf(COMPLEX),
            "The density is asked for at numbers, got (1+5j).",
        ),
        (
            lambda: G.quantile(COMPLEX),
            "The share of a quantile must lie between 0 and 1, got array",
        ),
        (lambda: G.interval(1 + 2j), "must lie between 0 and 1, got (1+2j). Write 0.95 for 95 %."),
        (lambda: m.Categorical([1e308, 1e308], ["a", "b"]), "they add up to inf."),
        (lambda: m.MultivariateGaussian(COMPLEX, np.eye(2)), "The mean must be a row of numbers"),
        (lambda: m.Gaussian(np.ma.masked, 1), "The mean must be a finite number, got masked."),
        (
            lambda: m.NormalInverseWishart([0, 0], 1, 4, np.eye(2), names=3),
            "The names of the columns must be a list, got 3.",
        ),
        (lambda: m.NormalInverseWishart.reference([math.nan]), "must be a text that is not empty"),
        (lambda: m.NormalMean(0, 1, 1).logpdf(), "Give a mean, and nothing else"),
        (lambda: m.Distribution.of({"a": 1}).isclose(None), "A Distribution is needed to compare"),
        (
            lambda: cr.number_game(scale=None),
            "The scale of the intervals must be above 0, got None.",
        ),
        (lambda: cr.Hypotheses({"a": {1: 1.0}}, outcomes=0), "The outcomes must be a list, got 0."),
        (lambda: cr.Hypotheses({"a": {1}}).generalise().top(1.5), "whole number of 0 or more"),
        (
            lambda: cr.predictive_check(G, [1.0], 0),
            "statistics must be a mapping from name to function, got 0.",
        ),
        (
            lambda: cr.predictive_check(G, [1.0], draws=HUGE),
            "draws must be at most 1,000,000 draws",
        ),
        (
            lambda: cr.predictive_check(G, [1.0], {"s": lambda d: d["x"]}),
            "The statistic 's' failed: IndexError(",
        ),
        (
            lambda: COIN.predict(by=["map"]),
            "by must be 'average', 'map', 'mle' or 'mdl', got ['map']",
        ),
        (lambda: m.Beta(1, 1).interval(hpd=np.array([])), "hpd must be True or False, got array"),
        (lambda: m.Categorical([1.0], "a"), "The states must be a list, got 'a'."),
    ],
)
def test_odd_arguments_are_refused_in_one_sentence(call, text):
    with pytest.raises(CredoError) as caught:
        call()
    assert text in str(caught.value)
    assert isinstance(caught.value, (InputError, LimitError))


@pytest.mark.parametrize(
    "data",
    [
        MASKED,
        pa.array([1, 2, None]),
        pl.Series([1, None, 2]),
        pd.Series([1, 2, None], dtype="Int64"),
        [1.0, None, 2.0, math.nan],
        [Decimal(1), Fraction(2)],
    ],
)
def test_missing_numbers_are_left_out(data):
    assert m.Gaussian.fit(data) == m.Gaussian(1.5, 0.25)
    assert NIG.update(data) == NIG.update([1.0, 2.0])
    assert G.log_likelihood(data) == G.log_likelihood([1.0, 2.0])


def test_missing_states_are_left_out():
    ab = m.Categorical([0.5, 0.5], ["a", "b"])
    data = [
        np.ma.array(["a", "b", "z"], mask=[0, 0, 1]),
        pa.array(["a", "b", None]),
        pl.Series(["a", None, "b"]),
        pd.Series(["a", "b", None]),
    ]
    for values in data:
        assert m.Categorical.fit(values) == ab
    assert m.Bernoulli.fit(np.ma.array([True, False, True], mask=[0, 0, 1])).p == 0.5
    with pytest.raises(InputError, match=r"Observation 2 of 2 is missing \(None\)"):
        COIN.observe(np.ma.array(["H", "T"], mask=[0, 1]))


def test_columns_that_know_their_categories():
    states = ["lo", "mid", "hi"]
    for column in (
        pd.Series(pd.Categorical(["lo", "hi"], categories=states)),
        pd.Categorical(["lo", "hi", None], categories=states),
        pl.Series(["lo", None, "hi"], dtype=pl.Enum(states)),
        pa.DictionaryArray.from_arrays(pa.array([0, 2]), pa.array(states)),
        pd.DataFrame({"v": pd.Categorical(["lo", "hi"], categories=states)}),
    ):
        fitted = m.Categorical.fit(column)
        assert fitted.states == ("lo", "mid", "hi") and fitted.p.tolist() == [0.5, 0, 0.5]
    assert m.Bernoulli.fit(pd.Series(["n", "y", "y"], dtype="category")).states == ("n", "y")


def test_credo_tables():
    table = cr.read(
        {"g": ["a", "b", "a", "b"], "x": [1.5, 2.5, 3.7, 4.1], "y": [1.5, 2.7, 3.7, 1.1]}
    )
    one = table.select(["g", "x"])
    assert (
        m.Gaussian.fit(one) == m.Gaussian.fit(one.values("x")) and m.Gaussian.fit(one).name == "x"
    )
    assert m.MultivariateGaussian.fit(table).names == ("x", "y")
    assert m.MultivariateGaussian.fit(table, names=["y", "x"]).names == ("y", "x")
    assert m.Bernoulli.fit(table).states == ("a", "b") == m.Categorical.fit(table).states
    assert m.Beta(1, 1, ("a", "b")).update(table) == m.Beta(3, 3, ("a", "b"))
    assert cr.predictive_check(G, one, draws=20).n == 4
    assert cr.predictive_check(m.Categorical([0.5, 0.5], ["a", "b"]), table, draws=20).n == 4
    h = cr.Hypotheses({"p": {"a": 0.5, "b": 0.5}})
    assert h.observe(table.select(["g"])) == h.observe(["a", "b", "a", "b"])
    two = cr.read({"g": ["a", "b"] * 2, "h": ["u", "u", "v", "v"]})
    for call, text in [
        (lambda: m.Gaussian.fit(table), "A Gaussian has one variable, got x, y."),
        (lambda: m.Gaussian.fit(two), "A table with a continuous variable is needed here"),
        (lambda: m.Categorical.fit(one.select(["x"])), "this one has none (continuous: x)."),
        (
            lambda: m.Bernoulli.fit(two),
            "A table with one discrete variable is needed here, this one "
            "has 2: g, h. Give one of them, such as table.tally('g')['g'].",
        ),
        (lambda: h.observe(two), "A table with one variable is needed here, this one has 2: g, h."),
        (
            lambda: m.Bernoulli.fit(two.tally([("g", ["h"])])["g", ["h"]]),
            "Counts of one variable are needed, got counts of h, g.",
        ),
        (
            lambda: h.observe(two.tally([("g", ["h"])])["g", ["h"]]),
            "Counts of one variable are needed",
        ),
        (lambda: m.Bernoulli.fit(pd.DataFrame({"a": [1], "b": [2]})), "the frame has 2: a, b."),
    ]:
        with pytest.raises(InputError) as caught:
            call()
        assert text in str(caught.value)


SHARES = [
    0.0,
    5e-324,
    1e-320,
    1e-310,
    1e-200,
    1e-17,
    0.25,
    0.5,
    1 - 1e-10,
    math.nextafter(1, 0),
    1.0,
]


@pytest.mark.parametrize(
    "quantile",
    [
        *(m.Beta(a, b).quantile for a in (1e-5, 0.5, 3, 1000, 1e10) for b in (1e-5, 4, 1000, 1e10)),
        *(m.StudentT(dof, 0, 1).quantile for dof in (1e-3, 1, 3, 100, 1e12)),
        *(m.NormalInverseGamma(0, 1, a, 1).quantile for a in (1e-3, 2, 1e4)),
        lambda q: m.NormalInverseGamma(0, 1, 2, 2).quantile(q, "variance"),
        G.quantile,
    ],
)
def test_quantiles_far_in_the_tails(quantile):
    found = quantile(SHARES)
    assert not np.isnan(found).any()
    assert found.tolist() == sorted(found.tolist())
    assert [quantile(q) for q in SHARES] == found.tolist()


def _values():
    d = m.Distribution.of({"a": 0.1, "b": 0.2, "c": 0.7}).with_interval([0] * 3, [1] * 3, 0.9)
    sets = cr.number_game(12).observe([2, 4])
    open_space = cr.Hypotheses({"p": m.Gaussian(0, 1), "q": m.StudentT(3, 0, 1)}).observe(
        [0.5, 1.5]
    )
    return [
        G, NIG, d, sets, open_space, COIN.observe(["H", "T"]),
        m.Bernoulli(0.3), m.Categorical([1 / 3, 2 / 3], ["a", "b"]), m.Beta(2, 3),
        m.Dirichlet([1, 2, 3]), m.Dirichlet({"a": 1, "b": 2}), m.Categorical.fit([1, 3, 2, 1, 1, 3]),
        m.NormalMean(0, 1, 1), m.NormalMean.flat(1), m.NormalInverseGamma.reference(),
        m.NormalInverseWishart.reference(["a", "b"]), m.Gaussian.likelihood_curve([4.0, 8.0, 6.0]),
        m.MultivariateGaussian.fit({"a": [1.0, 2.0, 3.0, 6.0], "b": [0.0, 1.0, 5.0, 2.0]}),
        m.NormalInverseWishart.default([0, 0], [1, 2]), m.MultivariateGaussian([0, 1], np.eye(2)),
        m.StudentT(3, 0, 1), m.MultivariateT(3, [0, 1], np.eye(2)), m.Interval(0, 1, 0.5),
        m.Bernoulli.likelihood_curve([True, False]), cr.predictive_check(G, [1.0, 2.0], draws=20),
        sets.generalise(), COIN.observe(["H"]).history, COIN.observe(["H"]).history.predictions("H"),
        COIN.observe(["H"]).compare(),
    ]  # fmt: skip


@pytest.mark.parametrize("value", _values(), ids=lambda v: type(v).__name__)
def test_every_value_compares_travels_and_shows_itself(value):
    for again in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), copy.copy(value)):
        assert again == value and type(again) is type(value) and str(again) == str(value)
        if isinstance(value, Hashable):
            assert hash(again) == hash(value)
    assert value != 1 and str(value) and "nan" not in str(value) and repr(value)
    told = isinstance(value, m.Interval)
    assert ("<pre>" if told else "<table>") in value._repr_html_()
    with pytest.raises(AttributeError):
        setattr(value, fields(value)[0].name, 0)


def test_the_tail_of_a_student_t_reaches_beyond_squares():
    t = cr.distributions.StudentT(3, 1, 2)
    for x in (1e20, 1e160, -1e300):  # c - (dof + 1) ln |z|
        c = t.logpdf(1e12) + 4 * np.log(1e12)
        assert t.logpdf(x) == pytest.approx(c - 4 * np.log(abs(x)), rel=1e-9)
    two = cr.distributions.MultivariateT(3, [0, 0], np.eye(2))
    assert two.logpdf([1e200, 0]) == pytest.approx(two.logpdf([1e20, 0]) - 5 * 180 * np.log(10))
    assert cr.distributions.NormalInverseGamma(0, 1, 1, 1).log_marginal([1e140]) > -1e4


def test_a_density_beyond_floats_is_refused():
    many = m.MultivariateGaussian(np.zeros(400), np.eye(400) * 1e-4)
    assert many.logpdf(np.zeros(400)) == pytest.approx(200 * (math.log(1e4) - math.log(2 * np.pi)))
    with pytest.raises(InputError, match=r"range of floats, e to the power 1474.*logpdf"):
        many.pdf(np.zeros((2, 400)))
    assert many.pdf(np.ones(400)) == 0.0


@pytest.mark.parametrize(
    ("kind", "data", "prior"),
    [
        (m.Gaussian, [1.0, 2.0, 4.0], "distributions.NormalInverseGamma"),
        (
            m.MultivariateGaussian,
            {"a": [1.0, 2.0], "b": [2.0, 0.0]},
            "distributions.NormalInverseWishart",
        ),
        (m.Bernoulli, [True, False], "Beta"),
        (m.Categorical, [1, 2, 3], "Dirichlet"),
    ],
)
def test_the_prior_that_is_missing_is_named(kind, data, prior):
    with pytest.raises(InputError, match=f"needs a prior. Give one, such as prior=cr.{prior}"):
        kind.fit(data, estimate="map")


@pytest.mark.parametrize(
    "make",
    [
        lambda name: m.Gaussian(0, 1, name),
        lambda name: m.StudentT(3, 0, 1, name),
        lambda name: m.NormalMean(0, 1, 1, name),
        lambda name: m.NormalInverseGamma(0, 1, 2, 2, name),
        lambda name: m.Beta(1, 1, name=name),
    ],
)
def test_a_name_is_a_text(make):
    for name in (3, "", None):
        with pytest.raises(CredoError, match=r"name must be a .*text"):
            make(name)


@pytest.mark.parametrize(
    "make",
    [
        lambda: m.Dirichlet({1, 2}),
        lambda: m.Dirichlet(1, states={"a", "b"}),
        lambda: m.Dirichlet.uniform(frozenset("ab")),
        lambda: m.Beta(1, 1, states={"a", "b"}),
        lambda: m.Categorical({0.25, 0.75}),
    ],
)
def test_a_set_has_no_order(make):
    with pytest.raises(InputError, match="must be a list, whose order is kept; a set has none"):
        make()
