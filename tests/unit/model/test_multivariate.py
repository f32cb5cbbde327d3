"""Several columns together: the multivariate Gaussian, Student t and the belief about them."""

from __future__ import annotations

import numpy as np
import pytest

from credo.errors import InputError
from credo.model.distributions.gaussian import Gaussian
from credo.model.distributions.multivariate import MultivariateGaussian
from credo.model.distributions.normal_inverse_gamma import NormalInverseGamma
from credo.model.distributions.normal_inverse_wishart import NormalInverseWishart
from credo.model.distributions.student import MultivariateT
from credo.stats.moments import Moments

WAITS = [4.0, 8.0, 6.0]
ROWS = {"a": [1.0, 2.0, 3.0, 6.0], "b": [0.0, 1.0, 5.0, 2.0]}
NIG = NormalInverseGamma
NIW = NormalInverseWishart


# --- several columns ------------------------------------------------------------------------


def test_multivariate_by_hand():
    g = MultivariateGaussian.fit(ROWS)
    assert g.mean.tolist() == [3, 2] and g.covariance.tolist() == [[3.5, 1.25], [1.25, 3.5]]
    assert g.variance.tolist() == [3.5, 3.5] and g.names == ("a", "b")
    assert MultivariateGaussian.fit(ROWS, sample_variance=True).covariance[0, 1] == pytest.approx(
        5 / 3
    )
    assert g.marginal("b") == Gaussian(2, 3.5) and g.interval(0.9, of="b") == g.marginal(
        "b"
    ).interval(0.9)
    assert MultivariateGaussian.fit(np.array([ROWS["a"], ROWS["b"]]).T).names == ("x1", "x2")
    assert MultivariateGaussian.fit(ROWS, names=["b", "a"]).mean.tolist() == [2, 3]
    assert MultivariateGaussian([0], [[1]]).names == ("x",)


def test_belief_about_several_columns():
    prior = NIW([0, 0], 1, 4, np.eye(2), names=("a", "b"))
    after = prior + Moments.of({"b": ROWS["b"], "a": ROWS["a"]})
    assert after.mu.tolist() == [2.4, 1.6] and (after.kappa, after.dof) == (5, 8)
    assert np.allclose(
        after.scale,
        np.eye(2) + 4 * np.array([[3.5, 1.25], [1.25, 3.5]]) + 0.8 * np.outer([3, 2], [3, 2]),
    )
    assert after.mean().covariance[0, 0] == pytest.approx(after.scale[0, 0] / 5)
    assert after.map().covariance[0, 0] == pytest.approx(after.scale[0, 0] / 12)
    assert after.marginal("b").alpha == 3.5
    assert after.interval(0.9, of="b", parameter="variance") == after.marginal("b").interval(
        0.9, of="variance"
    )
    assert after.predictive().marginal("a").dof == after.marginal("a").predictive().dof
    assert MultivariateGaussian.fit(ROWS, prior=prior) == after.mean()
    assert MultivariateGaussian.posterior(ROWS).dof == 3


def test_one_dimension_is_the_normal_inverse_gamma():
    wide = NIW([5], 1, 4, [[4]]).update(WAITS)
    assert wide.marginal("x") == NIG(5, 1, 2, 2).update(WAITS)
    assert wide.log_marginal(WAITS) == pytest.approx(
        NIG(5.75, 4, 3.5, 6.375).log_marginal(WAITS), abs=1e-12
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: MultivariateGaussian.fit(
                {**ROWS, "c": [1.0, 3.0, 8.0, 8.0], "d": [1, 0, 0, 3]}
            ),
            r"4 rows are too few for the covariance of 4 columns \(a, b, c, d\): at least 5",
        ),
        (
            lambda: MultivariateGaussian.fit(
                {"a": [1, 2, 4, 3, 9], "b": [1, 0, 1, 2, 5], "c": [3, 4, 9, 8, 23]}
            ),
            "the column 'c' is a linear combination of 'a', 'b'. Leave 'c' out, or use a prior",
        ),
        (
            lambda: MultivariateGaussian.fit({"a": [1, 2, 4, 3], "b": [7, 7, 7, 7]}),
            "The column 'b' is constant",
        ),
        (lambda: MultivariateGaussian([0, 0], [[1, 2], [2, 1]]), "contradict each other"),
        (lambda: MultivariateGaussian([0, 0], [[1, 0], [0, 0]]), "the variance of 'x2' is 0"),
        (lambda: MultivariateGaussian([0, 0], [[1, 0.5], [0, 1]]), "must be symmetric"),
        (lambda: MultivariateGaussian("x", [[1]]), "The mean must be a row of numbers"),
        (lambda: MultivariateGaussian([0], [[1]], ["a", "b"]), "1 different names are needed"),
        (lambda: MultivariateGaussian.fit(ROWS).logpdf([1.0]), "Each point must have 2 numbers"),
        (
            lambda: NIW([0, 0], 1, 4, [[1, 1], [1, 1]]),
            "column 'x2' is a linear combination of 'x1'",
        ),
        (lambda: NIW.default([0, 0], [1, 0]), "sd must hold a number above 0 for each mean"),
        (lambda: NIW.default([0, 0], [1, 1]).interval(), "Say which column .* Write of='x1'"),
        (lambda: NIW.default([0, 0], [1, 1]).logpdf([0, 0]), "Give a mean and a covariance"),
        (lambda: NIW.default([0, 0], [1, 1]).logpdf([0, 0], [1, 1]), r"must have the shape \(2, 2"),
        (lambda: NIW.default([0, 0], [1, 1]).update([[1.0, 2.0, 3.0]]), "must have 2 columns"),
        (lambda: MultivariateT(2, [0], [[1]]).variance, "has no covariance: it needs more than 2"),
    ],
)
def test_several_columns_refuse(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_prior_carries_collinear_columns():
    rows = {"a": [1.0, 2.0, 4.0], "b": [2.0, 4.0, 8.0]}
    after = NIW.default([0, 0], [1, 1], ["a", "b"]).update(rows)
    assert after.is_proper and np.isfinite(after.predictive().logpdf([1.0, 2.0]))


def test_likelihood_over_the_mean_of_one_column():
    curve = MultivariateGaussian.likelihood_curve(ROWS, of="a")
    best = MultivariateGaussian.fit(ROWS)
    assert curve.maximum == 3 and curve.parameters == ("μ a",)
    assert curve.highest == pytest.approx(best.log_likelihood(ROWS))
    # at μ_a = 4 the best mean of the other column follows the regression line
    other = MultivariateGaussian([4, 2 + 1.25 / 3.5], best.covariance, best.names)
    at = MultivariateGaussian.likelihood_curve(ROWS, [4.0], of="a")
    assert at.highest == pytest.approx(other.log_likelihood(ROWS), abs=1e-12)


def test_nested_rows_with_a_bad_cell():
    with pytest.raises(InputError, match="The values must be numbers, got 'x'"):
        MultivariateGaussian.fit([[1.0, 2.0], [3.0, "x"]])
    with pytest.raises(InputError, match="The values must be numbers"):
        MultivariateGaussian.fit([[1.0, 2.0], [3.0]])
    assert (
        MultivariateGaussian.fit([*np.array(list(ROWS.values())).T.tolist(), [None, 1]]).mean[0]
        == 3
    )
