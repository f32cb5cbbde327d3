"""Laws of the discrete distributions and their beliefs, on random data."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credo.core.schema import Variable
from credo.model.answers.distribution import Distribution
from credo.model.distributions.beta import Beta
from credo.model.distributions.categorical import Bernoulli, Categorical
from credo.model.distributions.dirichlet import Dirichlet
from credo.stats.counts import Counts

STATES = ("a", "b", "c")
rows = st.lists(st.sampled_from(STATES), max_size=30)
some = st.lists(st.sampled_from(STATES), min_size=1, max_size=30)
whole = st.lists(st.integers(1, 50), min_size=3, max_size=3)
alphas = st.lists(st.floats(0.05, 40), min_size=3, max_size=3)
weights = st.lists(st.floats(0, 1e6), min_size=3, max_size=3).filter(lambda w: sum(w) > 1e-3)


def counts(data) -> Counts:
    v = Variable("x", "discrete", STATES)
    return Counts((v,), np.array([data.count(s) for s in STATES]))


@given(whole, rows, rows)
def test_sequential_is_batch_exactly(alpha, first, second):
    prior = Dirichlet(alpha, STATES)
    batch = prior.update(first + second)
    assert prior.update(first).update(second) == batch
    assert prior.update(second).update(first) == batch
    assert prior + counts(first) + counts(second) == batch
    assert prior + (counts(first) + counts(second)) == batch


@given(st.integers(1, 50), st.integers(1, 50), st.lists(st.booleans(), max_size=30))
def test_a_beta_is_a_dirichlet_of_two_states(a, b, data):
    beta, dirichlet = Beta(a, b), Dirichlet({False: b, True: a})
    assert beta.update(data).pseudocounts.tolist() == dirichlet.update(data).alpha.tolist()
    assert beta.log_marginal(data) == pytest.approx(dirichlet.log_marginal(data), abs=1e-12)
    assert beta.predictive() == dirichlet.predictive()
    assert beta.logpdf(0.3) == pytest.approx(dirichlet.logpdf([0.7, 0.3]), abs=1e-10)


@given(alphas, rows)
def test_marginal_likelihood_is_the_chain_of_predictions(alpha, data):
    prior = Dirichlet(alpha, STATES)
    belief, chain = prior, 0.0
    for value in data:
        chain += belief.predictive().log_p(value)
        belief = belief.update([value])
    assert prior.log_marginal(data) == pytest.approx(chain, abs=1e-10)


def test_marginal_likelihood_of_all_sequences_adds_up_to_one():
    import itertools

    prior = Dirichlet([0.5, 1.5, 2.0], STATES)
    total = sum(math.exp(prior.log_marginal(s)) for s in itertools.product(STATES, repeat=4))
    assert total == pytest.approx(1, abs=1e-12)


@given(alphas, rows, st.permutations(range(3)))
def test_the_order_of_states_does_not_matter(alpha, data, order):
    here = Dirichlet(alpha, STATES).update(data)
    there = Dirichlet([alpha[i] for i in order], [STATES[i] for i in order]).update(data)
    assert here.predictive().isclose(there.predictive(), 1e-15)
    assert here.log_marginal(data) == pytest.approx(there.log_marginal(data), abs=1e-12)
    for s in STATES:
        assert tuple(here.interval(of=s)) == pytest.approx(tuple(there.interval(of=s)), abs=1e-12)


@given(some, st.randoms())
def test_the_order_of_rows_does_not_matter(data, random):
    mixed = list(data)
    random.shuffle(mixed)
    assert Categorical.fit(data) == Categorical.fit(mixed)


@given(some)
def test_statistic_and_rows_give_the_same(data):
    fitted = Categorical.fit(data, states=STATES)
    assert fitted == Categorical.fit(counts(data))
    assert fitted.log_likelihood(data) == fitted.log_likelihood(counts(data))
    assert fitted.log_likelihood(data) == pytest.approx(fitted.logpdf(data).sum(), abs=1e-10)


@given(some, st.lists(st.floats(0.01, 1), min_size=3, max_size=3))
def test_no_parameter_beats_maximum_likelihood(data, other):
    best = Categorical.fit(data, states=STATES).log_likelihood(data)
    p = np.array(other) / sum(other)
    assert Categorical(p, STATES).log_likelihood(data) <= best + 1e-12


@given(weights)
def test_distributions_are_normalised(w):
    d = Distribution((Variable("x", "discrete", STATES),), np.array(w) / sum(w))
    assert abs(d.p.sum() - 1) < 1e-12 and (d.p >= 0).all()
    assert 0 <= d.entropy() <= math.log2(3) + 1e-12
    assert d[d.mode] == d.p.max()


@given(alphas, rows)
def test_answers_are_normalised(alpha, data):
    belief = Dirichlet(alpha, STATES).update(data)
    assert abs(belief.predictive().p.sum() - 1) < 1e-12
    assert abs(belief.mean().p.sum() - 1) < 1e-12
    for s in STATES:
        low, high = belief.interval(0.9, of=s)
        assert 0 <= low <= high <= 1


@given(st.floats(0.6, 20), st.floats(0.6, 20), st.lists(st.booleans(), min_size=1, max_size=20))
def test_posterior_is_prior_times_likelihood(a, b, data):
    prior, posterior = Beta(a, b), Beta(a, b).update(data)
    grid = np.linspace(0.02, 0.98, 25)
    likelihood = np.array([Bernoulli(p).log_likelihood(data) for p in grid])
    rest = prior.logpdf(grid) + likelihood - posterior.logpdf(grid)
    assert rest == pytest.approx(np.full(25, prior.log_marginal(data)), abs=1e-9)


@given(st.integers(1, 12), st.integers(1, 12))
def test_density_integrates_to_one_with_its_mean(a, b):
    x, w = np.polynomial.legendre.leggauss(40)
    grid, w = (x + 1) / 2, w / 2
    density = np.exp(Beta(a, b).logpdf(grid))
    assert w @ density == pytest.approx(1, abs=1e-10)
    assert w @ (grid * density) == pytest.approx(Beta(a, b).mean().p, abs=1e-10)


@given(alphas)
def test_quantiles_and_densities_agree(alpha):
    beta = Dirichlet(alpha, STATES).marginal("a")
    low, high = beta.interval(0.5)
    grid = np.linspace(low, high, 4001)
    density = np.exp(beta.logpdf(np.clip(grid, 1e-300, 1 - 1e-16)))
    if np.isfinite(density).all() and beta.a > 1 and beta.b > 1:
        assert np.trapezoid(density, grid) == pytest.approx(0.5, abs=1e-5)


@given(st.floats(1.01, 60), st.floats(1.01, 60), st.floats(0.5, 0.99))
def test_shortest_interval_holds_its_level(a, b, level):
    from scipy.special import betainc

    short = Beta(a, b).interval(level, hpd=True)
    held = betainc(a, b, short.upper) - betainc(a, b, short.lower)
    assert held == pytest.approx(level, abs=1e-9)
    assert short.width <= Beta(a, b).interval(level).width + 1e-9


def test_samples_have_the_moments():
    n = 100_000
    p = Dirichlet([2, 3, 5]).sample(n, rng=0)
    assert p.sum(axis=1) == pytest.approx(np.ones(n))
    assert p.mean(axis=0) == pytest.approx([0.2, 0.3, 0.5], abs=5 * 0.16 / math.sqrt(n))
    assert p.var(axis=0) == pytest.approx([0.16 / 11, 0.21 / 11, 0.25 / 11], rel=0.03)
    assert Beta(2, 6).sample(n, rng=1).mean() == pytest.approx(0.25, abs=5 * 0.15 / math.sqrt(n))
    drawn = Categorical([0.2, 0.3, 0.5], STATES).sample(n, rng=2)
    shares = [drawn.count(s) / n for s in STATES]
    assert shares == pytest.approx([0.2, 0.3, 0.5], abs=5 * 0.5 / math.sqrt(n))


def test_the_same_seed_gives_the_same_draws():
    assert (Beta(2, 3).sample(9, rng=4) == Beta(2, 3).sample(9, np.random.default_rng(4))).all()
    assert Bernoulli(0.3).sample(9, rng=4) == Bernoulli(0.3).sample(9, rng=4)
