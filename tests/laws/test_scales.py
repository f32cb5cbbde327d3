"""Scales: maps onto the line and back, and densities of binned numbers that are proper."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from credo.core.scales import Bins, Transform
from credo.core.schema import Variable
from credo.errors import SchemaError

TRANSFORMS = [
    Transform("log"),
    Transform("log", low=-3.0, spread=20.0),
    Transform("log1p", spread=0.01),
    Transform("square-root", centre=5.0, spread=2.0),
    Transform("logit", low=-1.0, high=4.0),
    *(Transform("yeo-johnson", 1.0, 3.0, power) for power in (0.0, 1e-9, 0.3, 1.0, 1.7, 2.0)),
]


def bins_of(seed: int, k: int = 4, atoms: bool = False) -> Bins:
    rng = np.random.default_rng(seed)
    edges = np.cumsum(rng.exponential(size=12)) - 3
    cuts = np.sort(rng.choice(edges, k - 1, replace=False))
    masses = rng.dirichlet(np.ones(13))
    values = np.full(13, np.nan)
    if atoms:
        at = rng.choice(np.arange(1, 12), 3, replace=False)
        values[at] = (edges[at - 1] + edges[at]) / 2
    return Bins(cuts, edges, masses, values, tuple(rng.exponential(size=2) + 0.1))


@pytest.mark.parametrize("t", TRANSFORMS, ids=repr)
def test_a_transform_goes_onto_the_line_and_back(t):
    z = np.linspace(-30, 30, 301)
    x = t.backward(z)
    there = t.holds(x) & (np.abs(x) < 1e6)
    assert (np.diff(x) >= 0).all() and there.sum() > 100
    again = t.backward(t.forward(x[there]))
    np.testing.assert_allclose(again, x[there], rtol=1e-9, atol=1e-9)
    assert np.isnan(t.forward(np.nan)) and np.isnan(t.log_slope(np.nan))


@pytest.mark.parametrize("t", TRANSFORMS, ids=repr)
def test_the_slope_is_that_of_the_map(t):
    x = t.backward(np.linspace(-2, 2, 41))
    step = 1e-6 * (1 + np.abs(x)) * (t.spread if t.kind == "log1p" else 1)
    slope = (t.forward(x + step) - t.forward(x - step)) / (2 * step)
    np.testing.assert_allclose(np.exp(t.log_slope(x)), slope, rtol=2e-4)


@pytest.mark.parametrize("t", TRANSFORMS, ids=repr)
def test_a_gaussian_behind_a_transform_is_a_proper_density(t):
    def density(x):
        return norm.pdf(float(t.forward(x)), 0.4, 0.8) * np.exp(float(t.log_slope(x)))

    ends = t.backward(np.linspace(-7, 7, 29))
    total = sum(quad(density, a, b)[0] for a, b in pairwise(ends))
    assert total == pytest.approx(1, abs=1e-8)


def test_numbers_outside_the_domain_are_gaps():
    t = Transform("logit")
    assert t.domain == (0.0, 1.0)
    assert np.isnan(t.forward([0.0, 1.0, -2.0, 5.0])).all()
    assert t.holds([0.5, np.nan, 1.0]).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"kind": "cube"}, "A transform is one of log, log1p"),
        ({"kind": "log", "spread": 0.0}, "a spread above 0"),
        ({"kind": "yeo-johnson", "power": 2.1}, "lies in"),
        ({"kind": "logit", "low": 2.0, "high": 1.0}, "low < high"),
    ],
)
def test_a_transform_that_is_none_is_refused(given, told):
    with pytest.raises(SchemaError, match=told):
        Transform(**given)


@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 6))
def test_binned_densities_are_proper(seed, atoms, k):
    bins = bins_of(seed, k, atoms)
    p = np.random.default_rng(seed).dirichlet(np.ones(k))
    ends = bins.edges
    total = sum(quad(bins.pdf, a, b, args=(p,))[0] for a, b in pairwise(ends))
    total += quad(bins.pdf, -np.inf, ends[0], args=(p,))[0]
    total += quad(bins.pdf, np.nextafter(ends[-1], np.inf), np.inf, args=(p,))[0]
    assert total == pytest.approx(1, abs=1e-6)
    # given each bin alone, its density is that of the numbers in it
    for b in range(k):
        one = np.eye(k)[b]
        x = bins.quantile(np.linspace(0.01, 0.99, 25), one)
        assert (bins.codes(x) == b).all()
        np.testing.assert_allclose(bins.pdf(x, one), np.exp(bins.log_density(x)))


@given(st.integers(0, 10_000), st.integers(1, 6))
def test_moments_and_quantiles_are_those_of_the_density(seed, k):
    bins = bins_of(seed, k)
    p = np.random.default_rng(seed).dirichlet(np.ones(k))
    q = np.linspace(0.001, 0.999, 97)
    x = bins.quantile(q, p)
    np.testing.assert_allclose(bins.cdf(x, p), q, atol=1e-12)

    def integral(f):
        ends = [-np.inf, *bins.edges]
        total = sum(quad(f, a, b)[0] for a, b in pairwise(ends))
        return total + quad(f, np.nextafter(ends[-1], np.inf), np.inf)[0]

    mean = integral(lambda x: float(x * bins.pdf(x, p)))
    square = integral(lambda x: float((x - mean) ** 2 * bins.pdf(x, p)))
    assert bins.mean(p) == pytest.approx(mean, rel=1e-6, abs=1e-6)
    assert bins.variance(p) == pytest.approx(square, rel=1e-6)


@given(st.integers(0, 10_000), st.booleans())
def test_a_range_holds_what_is_drawn_in_it(seed, atoms):
    bins = bins_of(seed, 3, atoms)
    low, high = np.sort(np.random.default_rng(seed).uniform(-4, 10, 2))
    even = (np.arange(4000) + 0.5) / 4000
    for b, share in enumerate(bins.between(low, high)):
        x = bins.draw(np.full(4000, b), even)
        assert share == pytest.approx(((x > low) & (x < high)).mean(), abs=1e-3)


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([0, 1, 2, 3]))
def test_a_range_cuts_off_what_lies_outside(seed, atoms, open_end):
    bins, rng = bins_of(seed, 3, atoms), np.random.default_rng(seed)
    low, high = np.sort(rng.uniform(-6, 14, 2))
    low, high = (-np.inf if open_end == 1 else low), (np.inf if open_end == 2 else high)
    share = bins.between(low, high)
    if not share.any():
        with pytest.raises(SchemaError, match="No number of the bins"):
            bins.within(low, high)
        return
    cut, kept = bins.within(low, high)
    p = rng.dirichlet(np.ones(3))
    assume(p @ share > 1e-6)  # else what it is compared with is rounding
    inside = (p * share)[kept] / (p * share).sum()
    start, end = bins.cdf(low, p), float(p @ bins.between(-np.inf, high))
    x = bins.quantile(np.linspace(start, end, 31)[1:-1], p)
    x = x[(x > low) & (x < high)]
    np.testing.assert_allclose(
        cut.cdf(x, inside), (bins.cdf(x, p) - start) / (p * share).sum(), atol=1e-9
    )
    plain = np.isnan(bins.atoms[np.searchsorted(bins.edges, x)])
    np.testing.assert_allclose(
        cut.pdf(x, inside)[plain], (bins.pdf(x, p) / (p * share).sum())[plain], rtol=1e-7
    )
    even = cut.quantile((np.arange(20_000) + 0.5) / 20_000, inside)
    assert ((even >= low) & (even <= high)).all()
    spread = np.sqrt(cut.variance(inside))
    assert cut.mean(inside) == pytest.approx(even.mean(), abs=0.002 * spread + 1e-9)
    assert spread == pytest.approx(even.std(), rel=0.01, abs=1e-9)


def test_an_atom_comes_back_as_itself():
    bins = Bins([0.5], [-0.5, 0.5, 9.0], [0.01, 0.6, 0.3, 0.09], [np.nan, 0, np.nan, np.nan])
    p = [0.61, 0.39]
    assert bins.quantile(0.3, p) == 0.0
    assert bins.cdf(0.0, p) == pytest.approx(0.61)
    assert bins.cdf(-1e-9, p) == pytest.approx(0.01)
    assert bins.between(0.0, np.inf).tolist() == [0.0, 1.0]  # above 0: the atom is not
    assert bins.between(-np.inf, 1e-9)[0] == 1.0
    assert bins.variance([1.0, 0.0]) < 0.1
    far = bins.between(100.0, np.inf)[1]  # exp(−91) of the tail
    assert far == pytest.approx(0.09 / 0.39 * np.exp(-91.0)) and bins.within(100.0, 101.0)[1][1]


def test_distributions_of_many_rows_at_once():
    bins, rng = bins_of(3), np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), size=7)
    x, q = rng.uniform(-3, 8, 7), rng.uniform(size=7)
    for name, at in (("pdf", x), ("cdf", x), ("quantile", q)):
        each = [getattr(bins, name)(a, row) for a, row in zip(at, p, strict=True)]
        np.testing.assert_allclose(getattr(bins, name)(at, p), each)
    np.testing.assert_allclose(bins.mean(p), [bins.mean(row) for row in p])
    np.testing.assert_allclose(bins.variance(p), [bins.variance(row) for row in p])
    low, high = bins.interval(0.9, p)
    np.testing.assert_allclose(bins.cdf(high, p) - bins.cdf(low, p), 0.9)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (([], [], [1.0]), "at least one"),
        (([2.0], [1.0, 3.0], [1, 1, 1]), "among the edges"),
        (([1.0], [1.0], [1, 1, 1]), "3 masses"),
        (([1.0], [1.0], [1, 0]), "mass above 0"),
        (([1.0], [1.0, 2.0], [1, 1, 1], [np.nan, 9, np.nan]), "in its interval"),
        (([1.0], [1.0], [1, 1], [], (0, 1)), "tails"),
    ],
)
def test_bins_that_are_none_are_refused(given, told):
    with pytest.raises(SchemaError, match=told):
        Bins(*given)


def test_a_variable_is_told_by_its_scale():
    bins = bins_of(1)
    fare = Variable("fare", "discrete", scale=bins)
    assert fare.states == bins.labels and fare.ordered
    assert fare != Variable("fare", "discrete", bins.labels)
    assert fare == pickle.loads(pickle.dumps(fare)) and hash(fare) == hash(
        pickle.loads(pickle.dumps(fare))
    )
    dose = Variable("dose", "continuous", scale=Transform("log"))
    assert dose != Variable("dose", "continuous")
    assert dose == Variable("dose", "continuous", scale=Transform("log"))
    with pytest.raises(SchemaError, match="kind must be 'continuous'"):
        Variable("dose", "discrete", ("a",), scale=Transform("log"))
    with pytest.raises(SchemaError, match="those of its bins"):
        Variable("fare", "discrete", ("a", "b"), scale=bins)
    with pytest.raises(SchemaError, match="a Transform or Bins, got 'log'"):
        Variable("fare", "continuous", scale="log")
