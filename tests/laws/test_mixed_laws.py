"""Laws of mixed networks: probabilities add up, the chain rule, Bayes' rule, averages."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import credo as cr
from tests.mixed_networks import mixed_network

networks = st.integers(0, 10_000).map(mixed_network)
values = st.floats(-4, 4)
few = settings(max_examples=25, deadline=None)


@few
@given(networks, values, values)
def test_chain_rule_of_two_numbers(net, a, b):
    """ln p(a, b) = ln p(a) + ln p(b | a)."""
    whole = net.log_evidence({"x3": a, "x1": b})
    parts = net.log_evidence({"x3": a}) + net.p("x1", {"x3": a}).logpdf(b)
    assert np.isclose(whole, parts, rtol=1e-9, atol=1e-9)


@few
@given(networks, values)
def test_bayes_rule(net, y):
    """P(d | y) p(y) = p(y | d) P(d)."""
    after, before = net.p("d0", {"x3": y}), net.p("d0")
    evidence = net.log_evidence({"x3": y})
    assert abs(after.p.sum() - 1) < 1e-12
    for state in before:
        one = net.p("x3", {"d0": state}).logpdf(y) + before.log_p(state)
        assert np.isclose(after[state] * np.exp(evidence), np.exp(one), rtol=1e-9)


@few
@given(networks, values)
def test_a_mixture_is_the_average_over_its_states(net, y):
    """p(x | y) = Σ_d P(d | y) p(x | d, y), in its mean and at a point."""
    whole = net.p("x0", {"x3": y})
    parts = [(p, net.p("x0", {"x3": y, "d1": s})) for s, p in net.p("d1", {"x3": y}).items()]
    assert np.isclose(whole.mean, sum(p * g.mean for p, g in parts), rtol=1e-9, atol=1e-9)
    assert np.isclose(whole.pdf(0.3), sum(p * g.pdf(0.3) for p, g in parts), rtol=1e-9)


@few
@given(networks, st.floats(0.001, 0.999), st.integers(0, 3))
def test_quantiles_undo_shares(net, q, i):
    found = net.p(f"x{i}")
    assert abs(found.cdf(found.quantile(q)) - q) < 1e-9
    if not isinstance(found, cr.Gaussian):
        assert abs(found.weights.sum() - 1) < 1e-12


@few
@given(networks, values)
def test_marginals_of_a_joint(net, y):
    """The joint of both kinds has the marginals of each."""
    joint = net.p(["d0", "x0"], {"x3": y})
    assert np.allclose(joint.discrete.p, net.p("d0", {"x3": y}).p, atol=1e-12)
    assert np.isclose(joint.marginal.mean, net.p("x0", {"x3": y}).mean, rtol=1e-9, atol=1e-9)
    pair = net.p(["x0", "x1"], {"x3": y})
    one = net.p("x1", {"x3": y})
    assert np.isclose(pair.mean[1], one.mean, rtol=1e-9, atol=1e-9)
    assert np.isclose(pair.covariance[1, 1], one.variance, rtol=1e-9)
