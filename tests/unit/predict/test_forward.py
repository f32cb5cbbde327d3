"""The story of a network given evidence is its posterior, checked without drawing anything."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from tests.mixed_networks import mixed_network
from tests.unit.predict.joint import MANY, Joint, random_evidence, random_network

import credo as cr
from credo.core.schema import Variable
from credo.errors import ImpossibleError, InputError, LimitError
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.predict.mixed import gaussian_groups
from credo.predict.questions.evidence import Evidence
from credo.predict.sampling.forward import forward_sampler


def drawn_joint(directed):
    """The joint table of the network that is drawn from."""
    terms = []
    for scope, table in zip(directed.scopes, directed.tables, strict=True):
        terms += [table.reshape([directed.arities[v] for v in scope]), list(scope)]
    for v, code in directed.fixed.items():
        terms += [np.eye(directed.arities[v])[code], [v]]
    return np.einsum(*terms, list(range(len(directed.arities))))


@pytest.mark.parametrize(("n", "seed"), MANY)
@pytest.mark.parametrize("zeros", [0.0, 0.3])
def test_the_posterior_of_discrete_networks(n, seed, zeros):
    net = random_network(seed, n, zeros=zeros)
    given = random_evidence(net, np.random.default_rng(seed), share=0.4)
    whole = Joint(net).times(given)
    if whole.sum() == 0:
        with pytest.raises(ImpossibleError):
            forward_sampler(net, Evidence.of(net, given))
        return
    story = forward_sampler(net, Evidence.of(net, given))
    np.testing.assert_allclose(drawn_joint(story.directed), whole / whole.sum(), atol=1e-12)


def test_what_no_evidence_lies_below_keeps_its_table():
    net = random_network(3, 7)
    leaf = net.dag.order[-1]
    root = net.dag.order[0]
    story = forward_sampler(net, Evidence.of(net, {root: net.variable(root).states[0]}))
    at = net.names.index(leaf)
    table = next(
        t for s, t in zip(story.directed.scopes, story.directed.tables, strict=True) if s[-1] == at
    )
    assert np.array_equal(table, net.cpt(leaf).values.ravel())


# --- mixed networks -----------------------------------------------------------------------


def gaussian_of(net, codes):
    """Mean and covariance of the continuous variables, by matrices, given discrete codes."""
    lines = [d for d in net.distributions.values() if isinstance(d, LinearGaussian)]
    at = {line.name: i for i, line in enumerate(lines)}
    a, b, noise = np.zeros(len(lines)), np.zeros((len(lines), len(lines))), np.zeros(len(lines))
    for i, line in enumerate(lines):
        row = tuple(codes[p.name] for p in line.discrete)
        a[i], noise[i] = line.intercept[row], line.variance[row]
        b[i, [at[p.name] for p in line.continuous]] = line.coefficients[row]
    inverse = np.linalg.inv(np.eye(len(lines)) - b)
    return list(at), inverse @ a, inverse @ np.diag(noise) @ inverse.T


@pytest.mark.parametrize("seed", range(30))
def test_the_posterior_of_mixed_networks(seed):
    rng = np.random.default_rng(100 + seed)
    net = mixed_network(seed, int(rng.integers(0, 4)), 5)
    continuous = [v.name for v in net.variables if not v.is_discrete]
    seen = [n for n in continuous if rng.random() < 0.5]
    values = {n: float(rng.normal()) for n in seen}
    discrete = [v for v in net.variables if v.is_discrete]
    hard = {v.name: v.states[0] for v in discrete if rng.random() < 0.25}
    story = forward_sampler(net, Evidence.of(net, {**values, **hard}))
    # Every configuration by itself: P(u) p(y | u), and the hidden ones conditioned on y.
    joint = drawn_joint(story.directed)
    expected = np.zeros(joint.shape)
    for codes in itertools.product(*(range(v.arity) for v in discrete)):
        here = dict(zip((v.name for v in discrete), codes, strict=True))
        if any(v.states[here[v.name]] != hard[v.name] for v in discrete if v.name in hard):
            continue
        p = 1.0
        for v in discrete:
            local = net.cpt(v.name)
            p *= local.values[tuple(here[u.name] for u in local.variables)]
        names, mean, cov = gaussian_of(net, here)
        k = [names.index(n) for n in seen]
        y = np.array([values[n] for n in seen])
        if seen:
            p *= multivariate_normal(mean[k], cov[np.ix_(k, k)]).pdf(y)
        expected[tuple(here.get(n, 0) for n in net.names)] = p
        for group in story.hidden:
            t = [names.index(n) for n in group.names]
            gain = cov[np.ix_(t, k)] @ np.linalg.inv(cov[np.ix_(k, k)])
            at = tuple(here[p] for p in group.parents)
            np.testing.assert_allclose(
                group.mean[at], mean[t] + gain @ (y - mean[k]), rtol=1e-8, atol=1e-10
            )
            np.testing.assert_allclose(
                group.spread[at] @ group.spread[at].T,
                cov[np.ix_(t, t)] - gain @ cov[np.ix_(k, t)],
                rtol=1e-8,
                atol=1e-10,
            )
    np.testing.assert_allclose(joint, expected / expected.sum(), rtol=1e-8, atol=1e-12)
    drawn = {n for g in story.hidden for n in g.names} | {line.name for line in story.lines}
    assert drawn == set(continuous) - set(seen)


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_mixed_networks_have_the_moments(seed):
    net = mixed_network(seed, 3, 5)
    n = 100_000
    rows = net.sample(n, rng=seed, given={"x4": 0.7, "d0": "a"})
    story = forward_sampler(net, Evidence.of(net, {"x4": 0.7, "d0": "a"}))
    joint = drawn_joint(story.directed)
    discrete = [v for v in net.variables if v.is_discrete]
    first = np.zeros(4)
    second = np.zeros((4, 4))
    for codes in itertools.product(*(range(v.arity) for v in discrete)):
        here = dict(zip((v.name for v in discrete), codes, strict=True))
        p = joint[tuple(here.get(n, 0) for n in net.names)]
        _, mean, cov = gaussian_of(net, here)
        gain = cov[:4, 4] / cov[4, 4]
        m = mean[:4] + gain * (0.7 - mean[4])
        first += p * m
        second += p * (cov[:4, :4] - np.outer(gain, cov[4, :4]) + np.outer(m, m))
    x = np.stack([rows[f"x{i}"] for i in range(4)], axis=1)
    spread = np.sqrt(np.diag(second) - first**2)
    assert (np.abs(x.mean(0) - first) < 5 * spread / np.sqrt(n)).all()
    error = (x[:, :, None] * x[:, None, :]).std(0) / np.sqrt(n)
    assert (np.abs(x.T @ x / n - second) < 6 * error).all()
    assert (rows["x4"] == 0.7).all() and (rows["d0"] == "a").all()


def test_rows_of_mixed_networks_are_the_same_in_threads_and_parts():
    net = mixed_network(1, 3, 5)
    story = forward_sampler(net, Evidence.of(net, {"x4": 0.7}))
    whole = story.rows(20_000, 9)
    threads = story.rows(20_000, 9, threads=3)
    parts = [story.rows(7_001, 9), story.rows(12_999, 9, first=7_001)]
    for k, column in enumerate(whole.block.arrays):
        assert np.array_equal(column, threads.block.arrays[k])
        assert np.array_equal(column, np.concatenate([p.block.arrays[k] for p in parts]))


def test_densities_far_out_in_the_tails_are_compared_not_lost():
    x = Variable("x", "continuous")
    state = Variable("s", "discrete", ("near", "far"))
    line = LinearGaussian(x, (state,), np.array([0.0, 1.0]), np.zeros((2, 0)), np.array([1.0, 1.0]))
    net = cr.Network([("s", "x")], {"s": Cpt(state, (), np.array([0.5, 0.5])), "x": line})
    rows = net.sample(1_000, rng=0, given={"x": 1e4})
    assert (rows["s"] == "far").all()
    sharp = LinearGaussian(x, (state,), np.zeros(2), np.zeros((2, 0)), np.full(2, 1e-20))
    net = cr.Network([("s", "x")], {"s": Cpt(state, (), np.array([0.5, 0.5])), "x": sharp})
    with pytest.raises(LimitError, match="density of 'x' is too small to be told"):
        net.sample(5, rng=0, given={"x": 1e149})


def test_numbers_that_overflow_are_refused():
    lines, parents = {}, ()
    for name in "abc":
        x = Variable(name, "continuous")
        lines[name] = LinearGaussian(x, parents, 1e150, [1e150] * len(parents), 1.0)
        parents = (x,)
    net = cr.Network([("a", "b"), ("b", "c")], lines)
    with pytest.raises(LimitError, match="'c' would pass the largest number"):
        net.sample(5, rng=0)


def test_mixtures_that_would_not_fit_are_refused(monkeypatch):
    net = mixed_network(2, 3, 5)
    monkeypatch.setattr(gaussian_groups, "MAX_NUMBERS", 10)
    with pytest.raises(LimitError, match=r"a mixture of 12 Gaussians, 192 numbers"):
        net.sample(5, rng=0, given={"x4": 0.0, "x3": 0.0})


def test_lines_that_determine_each_other_are_refused():
    a, b, c = (Variable(n, "continuous") for n in "abc")
    net = cr.Network(
        [("a", "b"), ("a", "c")],
        {
            "a": LinearGaussian(a, (), 0.0, [], 1.0),
            "b": LinearGaussian(b, (a,), 0.0, [1.0], 1e-34),
            "c": LinearGaussian(c, (a,), 0.0, [1.0], 1e-34),
        },
    )
    with pytest.raises(InputError, match="'b', 'c' determine each other to the last digit"):
        net.sample(5, rng=0, given={"b": 1.0, "c": 1.0})
