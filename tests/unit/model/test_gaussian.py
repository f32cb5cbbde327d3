"""Gaussian, Student t and the beliefs about them: exact figures and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from credo.core.schema import Variable
from credo.errors import InputError
from credo.model.distributions.gaussian import Gaussian
from credo.model.distributions.multivariate import MultivariateGaussian
from credo.model.distributions.normal_inverse_gamma import NormalInverseGamma
from credo.model.distributions.normal_inverse_wishart import NormalInverseWishart
from credo.model.distributions.normal_mean import NormalMean
from credo.model.distributions.student import StudentT
from credo.stats.moments import Moments

WAITS = [4.0, 8.0, 6.0]
ROWS = {"a": [1.0, 2.0, 3.0, 6.0], "b": [0.0, 1.0, 5.0, 2.0]}
NIG = NormalInverseGamma
NIW = NormalInverseWishart


# --- fitting --------------------------------------------------------------------------------


def test_maximum_likelihood_divides_by_n():
    g = Gaussian.fit(Moments.of({"wait": WAITS}))
    assert g.mean == 6 and g.variance == pytest.approx(8 / 3, abs=1e-15) and g.name == "wait"
    assert Gaussian.fit(WAITS, sample_variance=True).variance == 4
    assert g.sd == pytest.approx(math.sqrt(8 / 3))


def test_barbershop_model_has_the_sample_mean():
    assert Gaussian.fit(WAITS, known_variance=1) == Gaussian(6, 1)
    assert Gaussian.fit([5.0], known_variance=1) == Gaussian(5, 1)


@pytest.mark.parametrize(
    "data",
    [
        WAITS,
        tuple(WAITS),
        np.array(WAITS),
        np.array(WAITS)[:, None],
        {"w": WAITS},
        [*WAITS, None, float("nan")],
        (w for w in WAITS),
        Moments.of({"w": WAITS}),
        Moments.of({"w": WAITS[:1]}) + Moments.of({"w": WAITS[1:]}),
    ],
)
def test_every_form_of_data_is_the_same(data):
    g = Gaussian.fit(data)
    assert g.mean == 6 and g.variance == pytest.approx(8 / 3, abs=1e-15)


def test_frames_are_columns_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS)
    assert MultivariateGaussian.fit(frame) == MultivariateGaussian.fit(ROWS)
    assert Gaussian.fit(frame["a"]).mean == 3
    assert NIW.default([0, 0], [1, 1], ["b", "a"]).update(frame).mu.tolist() == [1.6, 2.4]


def test_a_large_mean_keeps_its_variance():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(1000)
    g = Gaussian.fit(1e9 + z)
    assert g.variance == pytest.approx(z.var(), rel=1e-6)
    assert g.log_likelihood(1e9 + z) == pytest.approx(g.logpdf(1e9 + z).sum(), rel=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Gaussian.fit([]), "There is no data to fit a Gaussian to by maximum likelihood"),
        (
            lambda: Gaussian.fit({"wait": [5.0]}),
            r"One observation of 'wait' has no spread: its maximum-likelihood variance is 0. "
            r"Give a prior such as prior=cr.distributions.NormalInverseGamma\(0, 1, 2, 2\), known_variance=…",
        ),
        (
            lambda: Gaussian.fit({"wait": [0.1, 0.1, 0.1]}),
            "The column 'wait' is constant: its maximum-likelihood variance is 0",
        ),
        (lambda: Gaussian.fit([1.0, "x"]), "The values must be numbers, got 'x'"),
        (lambda: Gaussian.fit([1.0, math.inf]), "The values must be finite numbers, got inf"),
        (lambda: Gaussian.fit(np.ones((2, 2, 2))), "must be a sequence of numbers, or rows"),
        (lambda: Gaussian.fit([1e200, 2e200]), "are too large: their squares pass 1e308"),
        (lambda: Gaussian.fit([1e152, 2e152]), r"The mean of 'x' is too large: 1.5e\+152 passes"),
        (
            lambda: Gaussian.fit(ROWS),
            r"A Gaussian has one variable, got a, b. Use cr.distributions.Multivar",
        ),
        (lambda: Gaussian.fit({"a": [1], "b": [1, 2]}), "sequences of numbers of the same length"),
        (
            lambda: Gaussian.fit(WAITS, prior=3),
            "must be a cr.distributions.NormalInverseGamma, or a cr.distributions.NormalMean",
        ),
        (lambda: Gaussian(0, 0), "The variance must be above 0, got 0"),
        (lambda: Gaussian(0, 1).logpdf(math.nan), "asked for at numbers, got NaN"),
        (
            lambda: Gaussian.likelihood_curve([]),
            "no data, so the likelihood is the same everywhere",
        ),
        (
            lambda: Gaussian.likelihood_curve([3.0, 3.0]),
            "all the same, .* has no curve. Give the variance: variance=1.0",
        ),
        (lambda: Gaussian(0, 1).interval(95), r"must lie between 0 and 1, got 95. Write 0.95"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_weighted_moments_need_no_whole_rows():
    m = Moments(
        (),
        (Variable("w", "continuous"),),
        np.zeros((1, 0), np.uint32),
        np.array([0.5]),
        np.array([[2.0]]),
        np.array([[[1.0]]]),
    )
    assert Gaussian.fit(m).variance == 2
    with pytest.raises(
        InputError, match="sample variance needs more than one row, got a weight of 0"
    ):
        Gaussian.fit(m, sample_variance=True)


def test_groups_must_be_sliced_first():
    m = Moments(
        (Variable("sex", "discrete", ("f", "m")),),
        (Variable("h", "continuous"),),
        np.array([[0], [1]], np.uint32),
        np.array([2.0, 2.0]),
        np.array([[1.0], [3.0]]),
        np.array([[[1.0]], [[3.0]]]),
    )
    with pytest.raises(InputError, match=r"got a group for each state of sex. Take a slice"):
        Gaussian.fit(m)
    assert Gaussian.fit(m[{"sex": "m"}]).mean == 3
    assert Gaussian.fit(m.marginal("h")).mean == 2


# --- likelihood curves ----------------------------------------------------------------------


def test_likelihood_over_the_mean():
    curve = Gaussian.likelihood_curve(WAITS, variance=1)
    assert curve.maximum == 6
    assert curve.highest == pytest.approx(Gaussian(6, 1).log_likelihood(WAITS))
    at = Gaussian.likelihood_curve(WAITS, [5.0, 6.5], variance=1)
    assert at.log_likelihood.tolist() == pytest.approx(
        [Gaussian(5, 1).log_likelihood(WAITS), Gaussian(6.5, 1).log_likelihood(WAITS)]
    )
    assert "greatest at μ = 6" in str(at)


def test_likelihood_over_mean_and_sd():
    curve = Gaussian.likelihood_curve(WAITS, ([5.0, 6.0], [1.0, 2.0, 3.0]))
    assert curve.maximum == (6.0, 2.0)
    assert curve.log_likelihood[0, 2] == pytest.approx(Gaussian(5, 9).log_likelihood(WAITS))
    assert curve.likelihood.max() == 1 and len(curve.grid) == 2
    assert "greatest at μ = 6, σ = 2" in str(curve)
    assert curve == Gaussian.likelihood_curve(WAITS, ([5.0, 6.0], [1.0, 2.0, 3.0]))


# --- beliefs --------------------------------------------------------------------------------


def test_normal_inverse_gamma_by_hand():
    # κ' = 1+3, μ' = (5 + 3·6)/4, α' = 2 + 3/2, β' = 2 + 8/2 + (1·3/4)·(6−5)²/2
    after = NIG(5, 1, 2, 2) + Moments.of({"wait": WAITS})
    assert after == NIG(5.75, 4, 3.5, 6.375) and after.name == "wait"
    assert after.mean() == Gaussian(5.75, 6.375 / 2.5)
    assert after.map().variance == pytest.approx(6.375 / 5)
    assert Gaussian.fit(WAITS, prior=NIG(5, 1, 2, 2)) == after.mean()
    assert Gaussian.fit(WAITS, prior=NIG(5, 1, 2, 2), estimate="map") == after.map()


def test_known_variance_by_hand():
    after = NormalMean(5, 1, known_variance=1).update(WAITS)
    assert after == NormalMean(5.75, 0.25, 1)
    assert after.predictive() == Gaussian(5.75, 1.25) and after.kappa == 4
    assert Gaussian.fit(WAITS, prior=NormalMean(5, 1, 1), known_variance=1) == Gaussian(5.75, 1)
    flat = Gaussian.posterior(WAITS, known_variance=1)
    assert flat == NormalMean(6, 1 / 3, 1) and flat.map() == Gaussian(6, 1)
    assert NormalMean(5, 1, 1).update([]) == NormalMean(5, 1, 1)


def test_reference_prior_gives_the_classical_interval():
    low, high = Gaussian.posterior(WAITS).interval(0.95)
    half = 4.302652729911275 * 2 / math.sqrt(3)  # t(2) at 0.975, sample sd 2
    assert (low, high) == pytest.approx((6 - half, 6 + half), abs=1e-9)
    assert NIG.reference().update([1.0]).is_proper is False
    assert NIG.reference().update([1.0, 1.0]).is_proper is False


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NIG(0, -1, 1, 1), "kappa must be at least 0, got -1"),
        (lambda: NIG.reference().predictive(), "has no predictive distribution. Update it with"),
        (lambda: NIG.reference().logpdf(0, 1), "it has no density"),
        (lambda: NIG.reference().mean(), "it has no mean"),
        (
            lambda: NIG(0, 1, 1, 1).interval(of="mode"),
            "of must be 'mean', 'variance' or 'sd', got 'mode'",
        ),
        (lambda: NIG(0, 1, 1, 1).logpdf(0), r"Give a mean and a variance: logpdf\(mu, variance\)"),
        (
            lambda: NIG(1e160, 1, 1, 1),
            "mu is too large: 1e\\+160 passes 1e\\+150. Use another unit",
        ),
        (lambda: NIG(0, 1, 1, 1e-300), "beta is too small: 1e-300 is below 1e-290. Use another"),
        (lambda: NormalMean.flat(1).mean(), "it has no mean"),
        (lambda: NormalMean(0, 1, 1).interval(of="variance"), "Only the mean is unknown here"),
        (lambda: StudentT(1, 0, 1).mean, "1 degrees of freedom has no mean: it needs more than 1"),
        (lambda: StudentT(2, 0, 1).variance, "has no variance: it needs more than 2"),
        (lambda: StudentT(3, 0, 1).log_likelihood(Moments.of({"x": WAITS})), "rows themselves"),
    ],
)
def test_beliefs_refuse(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_student_t():
    t = StudentT(4, 1, 2)
    assert t.mean == 1 and t.variance == 8
    assert t.log_likelihood([1.0, 3.0]) == pytest.approx(t.logpdf(1) + t.logpdf(3))
    assert StudentT(1e12, 0, 1).logpdf(1.0) == pytest.approx(Gaussian(0, 1).logpdf(1.0), abs=1e-10)
    assert t.logpdf(1e200) < -1000
    assert t.sample(3, rng=0).shape == (3,) and "95 % of values" in str(t)


def test_data_that_is_far_from_the_prior_moves_it_smoothly():
    heavy = NIG(5, 1000, 2, 2).update([7.0])
    assert heavy.mu == pytest.approx(5 + 2 / 1001, abs=1e-15)
