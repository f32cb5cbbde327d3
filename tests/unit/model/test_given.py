"""Some variables become known: against the formulas with inverses, densities, and rows."""

import numpy as np
import pytest
from scipy import stats

import credo as cr
from credo.errors import InputError, UnknownNameError

NAMES = ("a", "b", "c", "d")


def spread(d, seed=0):
    root = np.random.default_rng(seed).normal(size=(d, d))
    return root @ root.T + 0.1 * np.eye(d)


def gaussian(d=4, seed=0):
    mean = np.random.default_rng(seed + 1).normal(size=d)
    return cr.distributions.MultivariateGaussian(mean, spread(d, seed), NAMES[:d])


@pytest.mark.parametrize("known", [["a"], ["c"], ["d", "a"], ["b", "c", "a"]])
def test_a_gaussian_by_the_textbook(known):
    g = gaussian()
    values = dict(zip(known, [0.7, -1.3, 2.0], strict=False))
    at = [NAMES.index(n) for n in known]
    rest = [i for i in range(4) if i not in at]
    s = g.covariance
    gain = s[np.ix_(rest, at)] @ np.linalg.inv(s[np.ix_(at, at)])
    mean = g.mean[rest] + gain @ (np.array(list(values.values())) - g.mean[at])
    covariance = s[np.ix_(rest, rest)] - gain @ s[np.ix_(at, rest)]
    found = g.given(values)
    if len(rest) == 1:
        assert isinstance(found, cr.Gaussian) and found.name == NAMES[rest[0]]
        np.testing.assert_allclose([found.mean, found.variance], [mean[0], covariance[0, 0]])
    else:
        assert found.names == tuple(NAMES[i] for i in rest)
        np.testing.assert_allclose(found.mean, mean)
        np.testing.assert_allclose(found.covariance, covariance)


@pytest.mark.parametrize("known", [["a"], ["c", "b"], ["d", "a", "c"]])
@pytest.mark.parametrize("kind", ["gaussian", "t"])
def test_the_joint_density_is_that_of_the_known_times_that_of_the_rest(kind, known):
    g = gaussian(4, 3)
    joint = (
        g
        if kind == "gaussian"
        else cr.distributions.MultivariateT(2.5, g.mean, g.covariance, NAMES)
    )
    row = dict(zip(NAMES, [0.3, -2.0, 1.1, 4.0], strict=True))
    values = {n: row[n] for n in known}
    left = joint.given(values)
    rest = [row[n] for n in NAMES if n not in known]
    told = joint.marginal(known).logpdf(list(values.values()))
    found = left.logpdf(rest if len(rest) > 1 else rest[0])
    assert told + found == pytest.approx(joint.logpdf(list(row.values())), rel=1e-10)


def test_one_thing_after_another_is_both_at_once():
    for joint in (gaussian(), cr.distributions.MultivariateT(3, np.arange(4.0), spread(4), NAMES)):
        both, after = joint.given({"a": 1.0, "c": 2.0}), joint.given({"c": 2.0}).given({"a": 1.0})
        middle = ("mean", "covariance") if hasattr(both, "sd") else ("location", "shape")
        for what in middle:
            np.testing.assert_allclose(getattr(both, what), getattr(after, what), rtol=1e-9)
        assert joint.given({}) is joint


def test_rows_near_the_value_look_so():
    g = gaussian(3, 5)
    rows = g.sample(400_000, rng=0)
    near = rows[np.abs(rows[:, 1] - 0.5) < 0.02]
    left = g.given({"b": 0.5})
    np.testing.assert_allclose(near[:, [0, 2]].mean(axis=0), left.mean, atol=0.08)
    np.testing.assert_allclose(np.cov(near[:, [0, 2]].T), left.covariance, rtol=0.1, atol=0.05)


def test_a_line_is_what_is_left_of_two():
    rng = np.random.default_rng(0)
    x = rng.normal(size=50)
    rows = {"x": x, "y": 2 * x + rng.normal(size=50)}
    slope, intercept = np.polyfit(rows["x"], rows["y"], 1)
    left = cr.distributions.MultivariateGaussian.fit(rows).given({"x": 1.5})
    assert left.mean == pytest.approx(intercept + 1.5 * slope)
    away = rows["y"] - intercept - slope * rows["x"]
    assert left.variance == pytest.approx((away**2).mean())


def test_digits_are_kept_where_little_is_left():
    step = 1e-4
    g = cr.distributions.MultivariateGaussian([0, 0], [[1, 1], [1, 1 + step**2]], names=("x", "y"))
    assert g.given({"x": 1.0}).sd == pytest.approx(step, rel=1e-7)
    scales = np.array([1e-100, 1.0, 1e120])
    g = cr.distributions.MultivariateGaussian(
        [0, 0, 0], spread(3) * np.outer(scales, scales), names=NAMES[:3]
    )
    plain = cr.distributions.MultivariateGaussian([0, 0, 0], spread(3), names=NAMES[:3])
    left, alike = g.given({"a": 1e-100, "c": 1e120}), plain.given({"a": 1, "c": 1})
    assert left.mean == pytest.approx(alike.mean) and left.sd == pytest.approx(alike.sd)


def test_marginals_of_one_and_of_several():
    g = gaussian()
    two = g.marginal(["c", "a"])
    assert two.names == ("c", "a") and two.mean.tolist() == g.mean[[2, 0]].tolist()
    assert two.covariance.tolist() == g.covariance[np.ix_([2, 0], [2, 0])].tolist()
    assert two.marginal("a") == g.marginal("a")
    assert g.marginal(("a",)).names == ("a",)
    t = cr.distributions.MultivariateT(3, g.mean, g.covariance, NAMES).marginal(["d", "b"])
    assert t.dof == 3 and t.location.tolist() == g.mean[[3, 1]].tolist()
    at = [0.3, 0.4]
    true = stats.multivariate_t(t.location, t.shape, df=3).logpdf(at)
    assert t.logpdf(at) == pytest.approx(true)


@pytest.mark.parametrize(
    ("ask", "kind", "text"),
    [
        (lambda g: g.given({"e": 1}), UnknownNameError, "Variable 'e' is not in the distribution"),
        (
            lambda g: g.given([1, 2]),
            InputError,
            r"mapping from name to value.*given\(\{'a': 1.0\}\)",
        ),
        (lambda g: g.given({"a": None}), InputError, "The value of 'a' must be a finite number"),
        (lambda g: g.given(dict.fromkeys(NAMES, 0.0)), InputError, "so that nothing is left"),
        (lambda g: g.marginal([]), InputError, "Name at least one variable, got"),
        (lambda g: g.marginal(["a", "a"]), InputError, "2 different names are needed"),
        (lambda g: g.marginal(7), UnknownNameError, "Variable 7 is not in the distribution"),
    ],
)
@pytest.mark.parametrize("student", [False, True])
def test_what_is_refused(ask, kind, text, student):
    g = gaussian()
    joint = cr.distributions.MultivariateT(3, g.mean, g.covariance, NAMES) if student else g
    with pytest.raises(kind, match=text):
        ask(joint)


def test_a_covariance_without_an_inverse_is_refused_in_a_sentence():
    with pytest.raises(InputError, match="'b' is a linear combination of 'a'"):
        cr.distributions.MultivariateGaussian([0, 0], [[1, 2], [2, 4]], names=("a", "b")).given(
            {"a": 1}
        )
