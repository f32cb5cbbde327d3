"""Mixtures of Gaussians as values: against scipy, their checks, and how they look."""

import pickle

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

import credo as cr
from credo.errors import InputError
from credo.model.mixtures.labels import Labels

W, M, S = np.array([0.2, 0.5, 0.3]), np.array([-3.0, 0.0, 5.0]), np.array([0.5, 1.0, 2.0])


@pytest.fixture
def three():
    v = cr.Variable("v", "discrete", ("a", "b", "c"))
    return cr.distributions.NormalMixture(W, M, S**2, "x", Labels((v,), np.array([[0], [1], [2]])))


def test_densities_shares_and_moments(three):
    x = np.linspace(-8, 12, 41)
    np.testing.assert_allclose(three.pdf(x), norm(M, S).pdf(x[:, None]) @ W, rtol=1e-12)
    np.testing.assert_allclose(three.cdf(x), norm(M, S).cdf(x[:, None]) @ W, rtol=1e-12)
    assert three.mean == pytest.approx(quad(lambda z: z * three.pdf(z), -30, 40)[0], rel=1e-8)
    second = quad(lambda z: (z - three.mean) ** 2 * three.pdf(z), -30, 40)[0]
    assert three.variance == pytest.approx(second, rel=1e-7) and three.sd == three.variance**0.5
    q = np.array([0.001, 0.2, 0.5, 0.99])
    np.testing.assert_allclose(three.cdf(three.quantile(q)), q, atol=1e-12)
    assert three.quantile(0) == -np.inf and three.quantile(1) == np.inf
    assert three.log_likelihood([0.0, 1.0]) == pytest.approx(np.log(three.pdf([0.0, 1.0])).sum())
    drawn = three.sample(20_000, rng=0)
    assert drawn.mean() == pytest.approx(three.mean, abs=0.15)
    assert np.mean(drawn < 1) == pytest.approx(three.cdf(1.0), abs=0.02)
    low, high = three.interval(0.8)
    assert three.cdf(high) - three.cdf(low) == pytest.approx(0.8)
    assert three.logpdf(1e140) < -1e200  # far away is small, not NaN


def test_parts_by_their_states(three):
    assert three["b"] == cr.Gaussian(0.0, 1.0) and len(three) == 3
    with pytest.raises(LookupError, match="is not one of 'v'"):
        three["d"]
    with pytest.raises(InputError, match="A state is needed for each of v"):
        three["a", "b"]
    with pytest.raises(InputError, match="belong to no states"):
        cr.distributions.NormalMixture(W, M, S**2)["a"]
    v = cr.Variable("v", "discrete", ("a", "b", "c"))
    two = cr.distributions.NormalMixture(
        [0.5, 0.5], [0, 1], [1, 1], "x", Labels((v,), np.array([[0], [2]]))
    )
    with pytest.raises(InputError, match="v=b has probability zero"):
        two["b"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([], [], []), "row of finite numbers above 0"),
        (([0.5, -0.5], [0, 1], [1, 1]), "above 0"),
        (([0.5, 0.5], [0, np.nan], [1, 1]), "means of a mixture must be 2 finite"),
        (([0.5, 0.5], [0, 1], [1]), "variances of a mixture must be 2 finite"),
        (([0.5, 0.5], [0, 1], [1, 0]), "must be above 0"),
    ],
)
def test_what_is_not_a_mixture(given, message):
    with pytest.raises(InputError, match=message):
        cr.distributions.NormalMixture(*given)


def test_values_are_values(three):
    assert pickle.loads(pickle.dumps(three)) == three and hash(three) == hash(three)
    assert not three.means.flags.writeable
    assert "<table" in three._repr_html_()
    many = cr.distributions.NormalMixture(np.ones(40), np.arange(40.0), np.ones(40))
    assert str(many).count("\n") == 2 and "█" in str(many)  # mean, interval and density
    assert "… 28 more" in str(many.components) and str(many.components).count("\n") == 15
    found = three.to_dict()
    assert found["components"][1] == {"states": {"v": "b"}, "weight": 0.5, "mean": 0.0, "sd": 1.0}
    assert str(cr.distributions.NormalMixture([1], [0], [1])).startswith(
        "x: a mixture of 1 Gaussian, which .components lists\n"
    )


def test_several_variables_together():
    covs = np.array([[[1.0, 0.5], [0.5, 2.0]], [[1.0, -0.3], [-0.3, 0.5]]])
    means = np.array([[0.0, 1.0], [3.0, -1.0]])
    two = cr.distributions.MultivariateMixture([0.4, 0.6], means, covs, ("a", "b"))
    x = np.array([[0.0, 0.0], [2.5, -1.0]])
    exact = 0.4 * multivariate_normal(means[0], covs[0]).pdf(x)
    exact += 0.6 * multivariate_normal(means[1], covs[1]).pdf(x)
    np.testing.assert_allclose(two.pdf(x), exact, rtol=1e-12)
    assert two.pdf(x[0]) == pytest.approx(exact[0])
    drawn = two.sample(40_000, rng=0)
    np.testing.assert_allclose(drawn.mean(axis=0), two.mean, atol=0.05)
    np.testing.assert_allclose(np.cov(drawn.T), two.covariance, atol=0.1)
    assert two.correlation[0, 1] == pytest.approx(two.covariance[0, 1] / np.prod(two.sd), rel=1e-12)
    one = two.marginal("b")
    assert one.mean == pytest.approx(two.mean[1]) and one.variance == pytest.approx(two.variance[1])
    assert two.marginal(["b", "a"]).mean.tolist() == two.mean[::-1].tolist()
    assert two.interval(0.9, of="a") == two.marginal("a").interval(0.9)
    assert "correlation of a, b" in str(two) and "<table" in two._repr_html_()
    assert pickle.loads(pickle.dumps(two)) == two
    assert two.to_dict()["variables"] == ["a", "b"]
    assert two.log_likelihood(x) == pytest.approx(np.log(exact).sum())
    with pytest.raises(LookupError, match="'c' is not in the distribution"):
        two.marginal("c")
    with pytest.raises(InputError, match="matrix each"):
        cr.distributions.MultivariateMixture([1.0], [[0.0, 1.0]], [[1.0]])
    flat = cr.distributions.MultivariateMixture([1.0], [[0.0, 1.0]], [[[1.0, 1.0], [1.0, 1.0]]])
    with pytest.raises(InputError, match="no joint density"):
        flat.pdf([0.0, 1.0])


def test_both_kinds_together():
    v, w = (cr.Variable(n, "discrete", ("a", "b")) for n in "vw")
    x, y = cr.Variable("x", "continuous"), cr.Variable("y", "continuous")
    net = cr.Network(
        "[v][w][x|v:w][y|x]",
        [
            cr.Cpt(v, (), [1.0, 0.0]),
            cr.Cpt(w, (), [0.25, 0.75]),
            cr.LinearGaussian(x, (v, w), [[0.0, 1.0], [2.0, 3.0]], np.zeros((2, 2, 0)), 1.0),
            cr.LinearGaussian(y, (x,), 0.0, [1.0], 1.0),
        ],
    )
    both = net.p(["v", "x", "y"])
    assert list(both) == ["a"] and len(both) == 1 and both.names == ("v", "x", "y")
    with pytest.raises(InputError, match="probability zero"):
        both["b"]
    assert isinstance(both["a"], cr.distributions.MultivariateMixture)
    assert both.marginal.mean.tolist() == pytest.approx(net.p(["x", "y"]).mean.tolist())
    assert both.pdf("a", [0.5, 0.5]) == pytest.approx(net.p(["x", "y"]).pdf([0.5, 0.5]))
    assert pickle.loads(pickle.dumps(both)) == both and hash(both) == hash(both)
    assert both != net.p(["w", "x", "y"]) and "<table" in both._repr_html_()
    assert repr(both) == "MixedJoint(v, x, y: 1 state)"
    assert both.to_dict()["distribution"][1] == {"state": ["b"], "p": 0.0}
    table = net.p(["v", "w", "x"])
    assert table["a", "b"] == cr.Gaussian(1.0, 1.0)
    assert table.discrete.p.tolist() == [[0.25, 0.75], [0.0, 0.0]]
