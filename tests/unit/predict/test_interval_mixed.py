"""Intervals of mixed questions: each draw of the parameters as a network of its own."""

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError, LimitError
from credo.predict.intervals import draws as interval_gaussian
from credo.predict.intervals.draws import Draws


@pytest.fixture(scope="module")
def net():
    rng = np.random.default_rng(0)
    c = rng.integers(0, 2, 60)
    x = rng.normal(2.0 * c, 1.0)
    y = 1 + 0.5 * x + rng.normal(0, 0.7, 60)
    rows = {"c": np.array(["a", "b"])[c], "x": x, "y": y}
    return cr.fit("[c][x|c][y|x:c]", rows, prior=cr.BDeu(1))


def one_by_one(net, ask, draws=60):
    """The answers of the networks of the draws, each made and asked by itself."""
    drawn = Draws(net, 0).next(net.names, draws)
    out = []
    for d in range(draws):
        tables = {}
        for name, local in net.distributions.items():
            if isinstance(local, cr.Cpt):
                tables[name] = cr.Cpt(
                    local.child, local.parents, drawn[name][d].reshape(local.shape)
                )
            else:
                parts = (p[d] for p in drawn[name])
                tables[name] = cr.LinearGaussian(local.child, local.parents, *parts)
        out.append(ask(cr.Network(net.dag, tables)))
    return out


def ends(values, level=0.9):
    return np.quantile(np.array(values), [(1 - level) / 2, (1 + level) / 2], axis=0)


@pytest.mark.parametrize(
    "given", [{}, {"y": 2.0}, {"x": 0.4}, {"c": "a"}, {"c": {"a": 0.7, "b": 0.2}}]
)
def test_one_continuous_variable(net, given):
    target = "x" if "x" not in given else "y"
    found = net.p(target, given, interval=0.9, draws=60)
    each = one_by_one(net, lambda n: n.p(target, given))
    np.testing.assert_allclose(tuple(found.mean_interval), ends([e.mean for e in each]), rtol=1e-8)
    np.testing.assert_allclose(tuple(found.sd_interval), ends([e.sd for e in each]), rtol=1e-8)
    point = net.p(target, given)
    assert (found.mean, found.variance) == (point.mean, point.variance) and found.draws == 60
    if isinstance(point, cr.distributions.NormalMixture):
        weights = ends([e.weights for e in each])
        np.testing.assert_allclose(tuple(found.weight_interval), weights, rtol=1e-8)
    assert "90 %" in str(found) and "60 draws; ends: mean ±" in str(found)


@pytest.mark.parametrize("given", [{}, {"c": "b"}])
def test_several_continuous_variables(net, given):
    found = net.ask("P(x, y | c=b)" if given else "P(x, y)", interval=0.9, draws=60)
    each = one_by_one(net, lambda n: n.p(["x", "y"], given))
    np.testing.assert_allclose(tuple(found.mean_interval), ends([e.mean for e in each]), rtol=1e-8)
    sds = [np.sqrt(np.diag(e.covariance)) for e in each]
    np.testing.assert_allclose(tuple(found.sd_interval), ends(sds), rtol=1e-8)
    r = [e.covariance[0, 1] / s.prod() for e, s in zip(each, sds, strict=True)]
    low, high = found.correlation_interval
    np.testing.assert_allclose((low[0, 1], high[0, 1]), ends(r), rtol=1e-8)
    assert low[0, 0] == pytest.approx(1.0) and "r x, y" in str(found)
    assert "<table" in found._repr_html_()


def test_both_kinds_and_discrete_ones_with_hidden_numbers(net):
    found = net.ask("P(c, x | y=2)", interval=0.9, draws=60)
    each = one_by_one(net, lambda n: n.p(["c", "x"], {"y": 2.0}))
    p = ends([e.discrete.p for e in each])
    np.testing.assert_allclose(tuple(found.p_interval), p, rtol=1e-8)
    means = ends([[e["a"].mean, e["b"].mean] for e in each])
    np.testing.assert_allclose(np.squeeze(tuple(found.mean_interval)), means, rtol=1e-8)
    assert "60 draws; ends: p ±" in str(found)
    event = net.ask("P(c=a | y=2)", interval=0.9, draws=60)
    single = [e["a"] for e in one_by_one(net, lambda n: n.p("c", {"y": 2.0}))]
    np.testing.assert_allclose(tuple(event.interval), ends(single), rtol=1e-8)
    every = net.marginals({"y": 2.0}, interval=0.9, draws=60)
    assert list(every) == ["c", "x"]
    assert tuple(every["x"].mean_interval) == tuple(
        net.p("x", {"y": 2.0}, interval=0.9, draws=60).mean_interval
    )
    rows = net.predict_proba({"y": [2.0]}, "c", interval=0.9, draws=60)
    np.testing.assert_allclose([rows.low[0, 0], rows.high[0, 0]], ends(single), rtol=1e-8)


def test_blocks_of_draws_are_the_same(net, monkeypatch):
    whole = net.p(["x", "y"], interval=0.9, draws=60)
    monkeypatch.setattr(interval_gaussian, "_BLOCK", 100)
    again = net.p(["x", "y"], interval=0.9, draws=60)
    assert whole.mean_interval == again.mean_interval
    monkeypatch.setattr(interval_gaussian, "MAX_GAUSSIANS", 100)
    with pytest.raises(LimitError, match="60 draws of 2 Gaussians"):
        net.p(["x", "y"], interval=0.9, draws=60)


def test_a_pure_gaussian_network_has_intervals_of_correlations():
    rng = np.random.default_rng(1)
    a = rng.normal(size=200)
    rows = {"a": a, "b": 0.8 * a + 0.6 * rng.normal(size=200)}
    net = cr.fit("[a][b|a]", rows, prior=cr.LinePrior())
    found = net.p(["a", "b"], interval=0.95, draws=2000)
    low, high = (end[0, 1] for end in found.correlation_interval)
    r = np.corrcoef(rows["a"], rows["b"])[0, 1]
    fisher = np.tanh(np.arctanh(r) + np.array([-1.96, 1.96]) / np.sqrt(197))
    assert (low, high) == pytest.approx(fisher, abs=0.015)
    assert found.correlation_interval.error.shape == (2, 2)


def test_argmax_takes_no_interval_and_draws_need_one(net):
    with pytest.raises(InputError, match="An interval goes with a probability; argmax gives"):
        net.ask("argmax P(c | y=2)", interval=0.9)
    for ask in (
        lambda: net.p("c", draws=50),
        lambda: net.ask("P(c)", draws=50),
        lambda: net.marginals(draws=50),
        lambda: net.predict_proba({"x": [1.0]}, "c", draws=50),
    ):
        with pytest.raises(InputError, match="draws=50 goes with interval="):
            ask()
