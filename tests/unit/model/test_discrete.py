"""Bernoulli, Categorical and their beliefs, Beta and Dirichlet: exact figures and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from credo.core.schema import Variable
from credo.errors import InputError, SchemaError, UnknownNameError
from credo.model.answers.distribution import Distribution
from credo.model.distributions.beta import Beta
from credo.model.distributions.categorical import Bernoulli, Categorical
from credo.model.distributions.dirichlet import Dirichlet
from credo.stats.counts import Counts

FEVER = Variable("Fever", "discrete", ("F", "T"))
FEVERS = Counts((FEVER,), np.array([2, 3]))
COIN = [True] * 12 + [False] * 8
BALLS = [1, 3, 2, 1, 1, 3]


# --- the worked figures of the notes --------------------------------------------------------


def test_fever_given_pneumonia():
    assert Bernoulli.fit(FEVERS).p == 0.6
    assert Bernoulli.fit(["F", "F", "T", "T", "T"], states=("F", "T")).p == 0.6
    prior = Beta(3, 4, states=("F", "T"))
    posterior = prior + FEVERS
    assert posterior == Beta(6, 6, states=("F", "T"))
    assert posterior.name == "Fever"
    assert posterior.mean().p == 0.5 and posterior.map().p == 0.5
    assert posterior.predictive() == Distribution((FEVER,), [0.5, 0.5])
    assert Bernoulli.fit(FEVERS, prior=prior).p == 0.5
    assert Bernoulli.fit(FEVERS, prior=prior, estimate="map").p == 0.5


def test_coin():
    b = Bernoulli.fit(COIN)
    assert b.p == 0.6 and b.mean == 0.6 and b.variance == pytest.approx(0.24)
    assert b.log_likelihood(COIN) == pytest.approx(12 * math.log(0.6) + 8 * math.log(0.4))
    curve = Bernoulli.likelihood_curve(COIN)
    assert curve.maximum == 0.6
    assert curve.likelihood.max() == 1.0
    assert curve.grid[0] == 0 and curve.log_likelihood[0] == -np.inf


# --- data in any form -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        COIN,
        tuple(COIN),
        np.array(COIN),
        {True: 12, False: 8},
        [*COIN, None, float("nan")],
        iter(COIN),
        Counts((Variable("c", "discrete", (False, True)),), np.array([8, 12])),
        Counts((Variable("c", "discrete", (True, False)),), np.array([12, 8])),
    ],
)
def test_every_form_of_data_is_the_same(data):
    assert Bernoulli.fit(data, states=(False, True)) == Bernoulli(0.6)


def test_sparse_counts():
    assert Bernoulli.fit(FEVERS.sparse()).p == 0.6


def test_fewer_states_in_the_data_than_in_the_prior():
    d = Dirichlet(1, states=("a", "b", "c")).update(
        Counts((Variable("v", "discrete", ("c", "a")),), np.array([5, 2]))
    )
    assert d.alpha.tolist() == [3, 1, 6]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Bernoulli.fit("TTF"), InputError, "The data must be a sequence of values"),
        (lambda: Categorical.fit([[1], [2]]), InputError, "must be a single state, not a list"),
        (
            lambda: Bernoulli.fit(["T", "F"]),
            InputError,
            r"Which of the states \['F', 'T'\] the probability p is for is not known. Give states=",
        ),
        (
            lambda: Bernoulli.fit(["T", "X"], states=("F", "T")),
            UnknownNameError,
            "State 'X' is not one of 'x'. There are 'F', 'T'.",
        ),
        (
            lambda: Beta(3, 4).update(FEVERS),
            SchemaError,
            r"The states of 'Fever' are \['F', 'T'\], but those wanted here are \[False, True\]. "
            r"Give states=\('F', 'T'\)",
        ),
        (
            lambda: Bernoulli.fit(
                Counts((FEVER, Variable("b", "discrete", (0,))), np.ones((2, 1)))
            ),
            InputError,
            r"got counts of Fever, b. Take a slice such as counts\[\{'Fever': 'F'\}\], or "
            r"counts.marginal\('b'\)",
        ),
        (
            lambda: Beta(1, 1).update({True: -1}),
            InputError,
            "Counts must be finite and not negative",
        ),
    ],
)
def test_bad_data(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --- zeros and no data ----------------------------------------------------------------------


def test_maximum_likelihood_gives_zeros_and_says_so():
    c = Categorical.fit([1, 3], states=[1, 2, 3])
    assert c.zeros == (2,) and c[2] == 0.0 and c.logpdf(2) == -math.inf
    assert c.log_likelihood([1, 3]) == pytest.approx(2 * math.log(0.5))
    assert c.log_likelihood([2]) == -math.inf
    assert str(c).endswith("probability zero: 2")
    assert Bernoulli.fit([True, True]).zeros == (False,)


@pytest.mark.parametrize(
    "c, told",
    [
        (Beta(1, 2).map(), "True"),
        (Dirichlet([1, 2, 1], states=["a", "b", "c"]).map(), "'a', 'c'"),
        (Categorical.fit(["b"], Dirichlet([1, 2], states=["a", "b"]), "map"), "'a'"),
        (Bernoulli(0), "True"),
        (Categorical.fit([0], states=range(20)), ", ".join(map(str, range(1, 13))) + " and 7 more"),
    ],
)
def test_zeros_are_told_without_a_guess_at_where_they_come_from(c, told):
    assert str(c).endswith(f"probability zero: {told}")
    assert "likelihood" not in str(c) and "likelihood" not in c._repr_html_()


@pytest.mark.parametrize("data", [[], [None], {True: 0, False: 0}])
def test_no_data(data):
    with pytest.raises(
        InputError, match="There is no data to fit a Bernoulli to by maximum likeli"
    ):
        Bernoulli.fit(data, states=(False, True))
    assert Bernoulli.fit(data, prior=Beta(3, 1)).p == 0.75
    assert Bernoulli.posterior(data, states=(False, True)) == Beta(1, 1)


# --- estimates and priors -------------------------------------------------------------------


def test_estimates():
    assert Bernoulli.fit(COIN, prior=1.0).p == pytest.approx(13 / 22)
    assert Bernoulli.fit(COIN, prior=2, estimate="map").p == pytest.approx(13 / 22)
    assert Categorical.fit(BALLS, prior=1).p.tolist() == pytest.approx([4 / 9, 2 / 9, 3 / 9])
    assert Categorical.posterior(BALLS, Dirichlet(0.5, (1, 2, 3))).alpha.tolist() == [3.5, 1.5, 2.5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: Bernoulli.fit(COIN, prior=Beta(1, 1), estimate="mle"),
            "Maximum likelihood uses no prior. Leave the prior out",
        ),
        (
            lambda: Bernoulli.fit(COIN, prior=Dirichlet([1, 1], (False, True))),
            "The prior of a Bernoulli must be a cr.Beta, or a number",
        ),
        (
            lambda: Bernoulli.fit(COIN, prior=Beta(1, 1), states=("a", "b")),
            r"The states \['a', 'b'\] are not those of the prior, \[False, True\]",
        ),
        (lambda: Bernoulli(1.2), "p must lie between 0 and 1, got 1.2"),
        (lambda: Bernoulli(0.5, states="ab"), "A Bernoulli has two states, got 'ab'"),
        (lambda: Categorical([0.5, 0.4], ("a", "b")), "must add up to 1, they add up to 0.9"),
        (lambda: Beta(0, 1), "a must be above 0, got 0"),
        (lambda: Dirichlet(1), r"needs to know the states. Write Dirichlet\(1, states="),
        (
            lambda: Dirichlet([1, 2], states=("a",)),
            r"A pseudo-count for each of \['a'\] is needed, got 2",
        ),
        (lambda: Dirichlet({"a": -1.0}), "The pseudo-count of 'a' must be above 0, got -1"),
        (lambda: Dirichlet([1, 1, 1]).interval(0.9), r"Say which state .* Write of=0"),
        (lambda: Beta(1, 1).quantile(2), "The share of a quantile must lie between 0 and 1, got 2"),
        (lambda: Dirichlet([1, 1]).logpdf([0.5, 0.4]), "The probabilities must add up to 1"),
        (lambda: Dirichlet([1, 1]).map(), "has no single mode: its density is flat. Use mean"),
        (lambda: Beta(0.5, 0.5).interval(hpd=True), "highest density at both ends, so no interval"),
        (lambda: Dirichlet(1, ["only"]).marginal("only"), "'only' is the only state of 'x'"),
    ],
)
def test_refusals(call, message):
    with pytest.raises((InputError, SchemaError), match=message):
        call()


def test_the_mode_may_lie_on_the_border():
    assert Beta(1, 3).map().p == 0.0
    assert Dirichlet([1, 2, 3]).map().p.tolist() == pytest.approx([0, 1 / 3, 2 / 3])


def test_dirichlet_forms():
    assert Dirichlet({"a": 1, "b": 2}) == Dirichlet([1, 2], ("a", "b"))
    assert Dirichlet({"a": 1, "b": 2}, states=("b", "a")) == Dirichlet([2, 1], ("b", "a"))
    assert Dirichlet(2, ["a", "b"]) == Dirichlet([2, 2], ("a", "b"))
    assert Dirichlet([1, 1]).states == (0, 1)
    assert Dirichlet.uniform(["a", "b"]) == Dirichlet(1, ["a", "b"])
    assert Dirichlet.jeffreys(["a", "b"]) == Dirichlet(0.5, ["a", "b"])
    assert Beta.uniform(("a", "b")) == Beta(1, 1, ("a", "b"))
    assert Beta.jeffreys().a == 0.5
    assert Dirichlet([1, 2]).weight == 3 and Dirichlet([1, 2]).is_proper


def test_categorical_forms():
    mapped = Categorical({"a": 0.25, "b": 0.75})
    assert mapped == Categorical([0.25, 0.75], ("a", "b"))
    assert Categorical({"a": 0.25, "b": 0.75}, states=["b", "a"]).states == ("b", "a")
    assert Categorical([0.25, 0.75]).states == (0, 1)
    for given, states, says in [
        ({"a": 0.25, "b": 0.75}, ["a"], "in the mapping, or with states="),
        ({"a": 0.25}, (), "must add up to 1"),
        (0.5, (), "The probabilities must be a list, got 0.5."),
    ]:
        with pytest.raises(InputError, match=says):
            Categorical(given, states)


def test_components_of_a_dirichlet_are_betas():
    d = Dirichlet({"a": 1, "b": 2, "c": 4})
    assert d.marginal("b") == Beta(2, 5, ("not b", "b"))
    assert d.interval(0.9, of="b") == Beta(2, 5).interval(0.9)
    assert Beta(2, 5).marginal(False) == Beta(5, 2, (True, False))
    assert Beta(2, 5).interval(0.9, of=False).lower == pytest.approx(
        1 - Beta(2, 5).interval(0.9).upper
    )
    answer = d.intervals(0.9)
    assert answer.interval.level == 0.9 and answer["c"] == pytest.approx(4 / 7)
    assert tuple(Dirichlet(1, ["only"]).interval()) == (1.0, 1.0)


def test_shortest_intervals():
    for a, b in [(2, 5), (5, 2), (30, 3), (1, 4), (4, 1), (0.5, 3), (3, 0.5), (1, 0.5), (0.5, 1)]:
        beta = Beta(a, b)
        short, central = beta.interval(0.9, hpd=True), beta.interval(0.9)
        assert short.width <= central.width
        if a > 1 and b > 1:
            assert beta.logpdf(short.lower) == pytest.approx(beta.logpdf(short.upper), abs=1e-6)
    assert Beta(1, 1).interval(0.9, hpd=True) == Beta(1, 1).interval(0.9)
    low, high = Beta(4, 4).interval(0.9, hpd=True)
    assert low == pytest.approx(1 - high)


def test_log_probabilities_of_many_states():
    c = Categorical([0.25, 0.75], (("a", 1), "b"))
    assert c.logpdf([("a", 1), "b"]).tolist() == np.log([0.25, 0.75]).tolist()
    assert c.pdf(("a", 1)) == pytest.approx(0.25)
    b = Bernoulli(0.25)
    assert b.logpdf(np.array([[True, False]])).shape == (1, 2)
    assert b.pdf([True, False]).tolist() == pytest.approx([0.25, 0.75])


def test_profile_likelihood_of_one_state():
    curve = Categorical.likelihood_curve(BALLS, of=2)
    assert curve.maximum == pytest.approx(1 / 6)
    assert curve.highest == pytest.approx(Categorical.fit(BALLS).log_likelihood(BALLS))
    assert curve.parameters == ("P(2)",)
    only = Categorical.likelihood_curve(["a"], states=["a"])
    assert only.maximum == 1.0


def test_plus_takes_statistics_only():
    with pytest.raises(TypeError):
        Beta(1, 1) + (True,)  # noqa: RUF005


def test_states_of_mixed_kinds_keep_their_order():
    c = Categorical.fit(["b", 1, "b", True])
    assert c.states == ("b", 1, True) and c.p.tolist() == [0.5, 0.25, 0.25]
    assert Categorical.fit({"b": 3, "a": 1}).states == ("b", "a")
    assert Categorical._states_of(FEVERS) == ("F", "T")
    assert Categorical.fit(iter("aab")).p.tolist() == [2 / 3, 1 / 3]
