"""Ranges of continuous variables, as evidence and asked about, against integrals and samples."""

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.stats import multivariate_normal, norm

import credo as cr
from credo.errors import CredoError

SEX = cr.Variable("sex", "discrete", ("f", "m"))
HEIGHT, WEIGHT, AGE, PULSE = (
    cr.Variable(n, "continuous") for n in ["height", "weight", "age", "pulse"]
)
STAGE = cr.Variable("stage", "discrete", (1, 2, 3))
NET = cr.Network(
    "[sex][age][height|sex][weight|height:sex][pulse|weight:age][stage|sex]",
    [
        cr.Cpt(SEX, (), [0.4, 0.6]),
        cr.LinearGaussian(AGE, (), 50.0, [], 100.0),
        cr.LinearGaussian(HEIGHT, (SEX,), [1.65, 1.78], [], [0.07**2, 0.08**2]),
        cr.LinearGaussian(WEIGHT, (HEIGHT, SEX), [-52.0, -60.0], [[70.0], [80.0]], [64.0, 81.0]),
        cr.LinearGaussian(PULSE, (WEIGHT, AGE), 40.0, [0.3, 0.2], 25.0),
        cr.Cpt(STAGE, (SEX,), [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]),
    ],
)
ROWS = NET.sample(400_000, rng=1, to="pandas")


def test_a_discrete_variable_given_a_range():
    joint = np.array([0.4 * norm.sf(1.8, 1.65, 0.07), 0.6 * norm.sf(1.8, 1.78, 0.08)])
    found = NET.ask("P(sex | height > 1.8)")
    assert found.p == pytest.approx(joint / joint.sum(), rel=1e-12)
    assert NET.p("sex", {"height": cr.between(1.8)}) == found
    assert NET.log_evidence({"height": cr.between(1.8)}) == pytest.approx(np.log(joint.sum()))
    stage = NET.p("stage", {"height": cr.between(1.8)})
    by_hand = NET.p(["sex", "stage"]).p / np.array([[0.4], [0.6]])
    assert stage.p == pytest.approx(joint / joint.sum() @ by_hand, rel=1e-12)


def test_a_range_far_out_is_as_exact():
    each = np.array([norm.logsf(3, 1.65, 0.07), norm.logsf(3, 1.78, 0.08)])
    joint = np.log([0.4, 0.6]) + each
    assert NET.log_evidence({"height": cr.between(3)}) == pytest.approx(np.logaddexp(*joint))
    found = NET.p("sex", {"height": cr.between(3)})
    assert found["f"] == pytest.approx(np.exp(joint[0] - np.logaddexp(*joint)))
    low = NET.ask("P(height < 1.8000001 | height > 1.8)")
    assert 0 < low < 1e-4


def _both(sex, low, high):
    """P(height and weight in a box | sex), by an integral."""
    m, s, a, b, v = ((1.65, 0.07, -52, 70, 8), (1.78, 0.08, -60, 80, 9))[sex]
    return dblquad(
        lambda w, h: norm.pdf(h, m, s) * norm.pdf(w, a + b * h, v),
        low[0], high[0], low[1], high[1], epsabs=1e-12,
    )[0]  # fmt: skip


def test_joint_bounds_agree_with_an_integral():
    each = [_both(s, (1.6, 60), (1.75, 80)) for s in (0, 1)]
    asked = NET.ask("P(1.6 < height < 1.75, 60 <= weight ≤ 80)")
    assert asked == pytest.approx(0.4 * each[0] + 0.6 * each[1], abs=1e-10)
    assert NET.p({"height": cr.between(1.6, 1.75), "weight": cr.between(60, 80)}) == asked
    with_sex = NET.ask("P(1.6 < height < 1.75, 60 < weight < 80, sex=m)")
    assert with_sex == pytest.approx(0.6 * each[1], abs=1e-10)
    given = NET.ask("P(sex=m, height > 1.6 | height < 1.75, 60 < weight, weight < 80)")
    under = [_both(s, (1.0, 60), (1.75, 80)) for s in (0, 1)]
    assert given == pytest.approx(0.6 * each[1] / (0.4 * under[0] + 0.6 * under[1]), abs=1e-8)


def test_ranges_that_do_not_hang_together_factor():
    found = NET.ask("P(height > 1.7, age > 60 | sex=f)")
    assert found == pytest.approx(norm.sf(1.7, 1.65, 0.07) * norm.sf(60, 50, 10), rel=1e-12)
    assert NET.ask("P(age > 60 | height > 1.7)") == pytest.approx(norm.sf(60, 50, 10), rel=1e-12)
    tied = NET.ask("P(age > 60 | height > 1.7, pulse=90)")  # through the pulse they do
    with_pulse = NET.p(["age", "height"], {"pulse": 90.0})
    drawn = with_pulse.sample(400_000, rng=0)
    assert tied == pytest.approx((drawn[drawn[:, 1] > 1.7, 0] > 60).mean(), abs=0.004)


def test_a_continuous_variable_given_a_range_of_another():
    """x is N(0, 1), y is x + noise: an integral over y gives the moments of x."""
    x, y = cr.Variable("x", "continuous"), cr.Variable("y", "continuous")
    for noise in (1.0, 0.1, 0.01):
        net = cr.Network("[x][y|x]", [
            cr.LinearGaussian(x, (), 0.0, [], 1.0),
            cr.LinearGaussian(y, (x,), 0.0, [1.0], noise**2),
        ])  # fmt: skip
        found = net.p("x", given={"y": cr.between(0.5, 2)})

        def inside(at, noise=noise):
            return norm.pdf(at) * (norm.cdf(2, at, noise) - norm.cdf(0.5, at, noise))

        near = {"points": [0.5, 1, 2], "epsabs": 1e-13, "limit": 500}
        p = quad(inside, -9, 9, **near)[0]
        mean = quad(lambda t: t * inside(t), -9, 9, **near)[0] / p
        second = quad(lambda t: t * t * inside(t), -9, 9, **near)[0] / p
        below = quad(inside, -9, 0.8, points=[0.5], epsabs=1e-13, limit=500)[0] / p
        assert net.log_evidence({"y": cr.between(0.5, 2)}) == pytest.approx(np.log(p), rel=1e-9)
        assert found.mean == pytest.approx(mean, abs=1e-9)
        assert found.variance == pytest.approx(second - mean**2, abs=1e-9)
        assert found.cdf(0.8) == pytest.approx(below, abs=1e-4 if noise == 0.01 else 1e-9)
        assert found.interval(0.9).lower < mean < found.interval(0.9).upper


def test_a_variable_given_its_own_range_is_cut_off():
    found = NET.p("height", given={"height": cr.between(1.7, 1.8), "sex": "f"})
    inside = norm.cdf(1.8, 1.65, 0.07) - norm.cdf(1.7, 1.65, 0.07)
    mean = quad(lambda x: x * norm.pdf(x, 1.65, 0.07), 1.7, 1.8)[0] / inside
    assert found.mean == pytest.approx(mean, rel=1e-10)
    assert found.pdf(1.69) == 0.0
    assert found.pdf(1.75) == pytest.approx(norm.pdf(1.75, 1.65, 0.07) / inside)
    assert found.cdf(found.quantile(0.3)) == pytest.approx(0.3)
    assert found.quantile([0, 1]).tolist() == [1.7, 1.8]
    drawn = found.sample(1000, rng=0)
    assert drawn.min() > 1.7 and drawn.max() < 1.8
    assert "cut off to 1.7 < height < 1.8" in str(found)


@pytest.mark.parametrize("target", ["height", "weight", "pulse", "age"])
def test_samples_agree_where_several_have_ranges(target):
    given = {
        "weight": cr.between(60, None),
        "pulse": cr.between(None, 70),
        "stage": cr.between(2, 3),
    }
    rows = ROWS[(ROWS.weight > 60) & (ROWS.pulse < 70) & (ROWS.stage.astype(int) >= 2)]
    found, x = NET.p(target, given), rows[target]
    assert found.mean == pytest.approx(x.mean(), abs=5 * x.std() / len(x) ** 0.5)
    assert found.sd == pytest.approx(x.std(), rel=0.01)
    assert found.cdf(x.median()) == pytest.approx(0.5, abs=2 / len(x) ** 0.5)
    assert NET.p("sex", given)["m"] == pytest.approx((rows.sex == "m").mean(), abs=0.005)


def test_more_than_two_that_hang_together_say_their_error():
    given = {"height": cr.between(1.6, 1.8), "weight": cr.between(60, None),
             "pulse": cr.between(None, 70)}  # fmt: skip
    log_p = NET.log_evidence(given)
    exact = []
    for m, s, a, b, v in ((1.65, 0.07, -52, 70, 8), (1.78, 0.08, -60, 80, 9)):
        image = np.array([[s, 0, 0, 0], [b * s, v, 0, 0], [0.3 * b * s, 0.3 * v, 2.0, 5.0]])
        mean = [m, a + b * m, 40 + 0.3 * (a + b * m) + 10]
        exact.append(multivariate_normal.cdf(
            [1.8, np.inf, 70], mean, image @ image.T, lower_limit=[1.6, 60, -np.inf],
            maxpts=10**6, rng=0,
        ))  # fmt: skip
    p = 0.4 * exact[0] + 0.6 * exact[1]
    low, high = log_p.approximation.interval
    assert low < np.log(p) < high and high - low < 1e-3
    found = NET.p("sex", given)
    assert found["f"] == pytest.approx(0.4 * exact[0] / p, abs=1e-4)
    assert found.approximation.method == "points" and found.approximation.half_width < 1e-3
    mean = NET.p("age", given)
    rows = ROWS[ROWS.height.between(1.6, 1.8) & (ROWS.weight > 60) & (ROWS.pulse < 70)]
    assert mean.mean == pytest.approx(rows.age.mean(), abs=0.15)
    assert mean.approximation.of == "mean"


def test_explanations_marginals_and_accounts_know_ranges():
    given = {"height": cr.between(1.8, None)}
    every = NET.marginals(given)
    assert set(every) == set(NET.names)
    assert every["height"].mean > 1.8 and every["weight"].mean > NET.p("weight").mean
    assert NET.mpe(given)["sex"] == NET.ask("argmax P(sex | height > 1.8)")["sex"] == "m"
    assert NET.map(["sex"], given).log_p == pytest.approx(np.log(0.6 * norm.sf(1.8, 1.78, 0.08)))
    told = NET.ask("P(sex=m | height > 1.8)", explain=True)
    assert "height > 1.8" in str(told)
    assert NET.ask("P(weight > 90 | height > 1.8)", method="weighting", budget="20000 samples") == (
        pytest.approx(NET.ask("P(weight > 90 | height > 1.8)"), abs=0.02)
    )
    assert NET.ask("P(height > 1.8 | height > 1.8)") == pytest.approx(1.0)
    both = NET.p(["sex", "weight"], given)
    assert both["m"].mean > both["f"].mean


def test_intervals_of_ranges_draw_by_draw():
    net = cr.fit(NET.dag, NET.sample(400, rng=2), prior={"sex": cr.BDeu(1), "stage": cr.BDeu(1)},
                 default=cr.LinePrior())  # fmt: skip
    found = net.ask("P(sex=m | height > 1.75, weight > 70)", interval=0.9)
    assert found.interval.lower < float(found) < found.interval.upper
    truth = NET.ask("P(sex=m | height > 1.75, weight > 70)")
    wide = net.ask("P(sex=m | height > 1.75, weight > 70)", interval=0.999, draws=2000).interval
    assert wide.lower < truth < wide.upper
    each = net.p("stage", {"height": cr.between(1.8)}, interval=0.9)
    assert (each.interval.lower < each.p).all() and (each.p < each.interval.upper).all()
    with pytest.raises(CredoError, match="no credible interval where the evidence has a range"):
        net.p("weight", {"height": cr.between(1.8)}, interval=0.9)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: NET.p(["height", "weight"], {"height": cr.between(1.8)}), "asked about alone"),
        (lambda: NET.sample(5, rng=0, given={"age": cr.between(60)}), "Ranges go with p, ask"),
        (lambda: cr.between(5, 2), "No number lies above 5 and below 2"),
        (lambda: cr.between(), "needs an end"),
        (lambda: cr.between("a", 2), "low end of a range must be a number or None, got 'a'"),
        (lambda: NET.p("age", {"stage": cr.between(4, 9)}), "No state of 'stage' is >= 4"),
        (lambda: NET.p("age", {"sex": cr.between(4, 9)}), "have no order"),
        (lambda: NET.ask("P(age > 60 | age=61)"), "asked about and observed at once"),
        (lambda: NET.p("sex", {"height": cr.between(1e200)}), "its probability is zero"),
        (lambda: NET.p({"height": 1.8}), "or for a range of it"),
        (lambda: NET.p({"sex": {"f": 0.5, "m": 0.2}}), "a state or a set of states"),
        (lambda: NET.p({"sexx": "f"}), "Did you mean 'sex'"),
    ],
)
def test_what_is_refused_is_told(ask, told):
    with pytest.raises(CredoError, match=told):
        ask()


def test_a_variable_cut_into_intervals_is_asked_for_by_its_cuts():
    bins = ("≤ 30", "(30, 60]", "> 60")
    net = cr.Network("[age][b|age]", {"age": [0.2, 0.5, 0.3], "b": {a: 0.1 * i for i, a in enumerate(bins)}},
                     states={"age": bins})  # fmt: skip
    assert net.ask("P(age > 60)") == pytest.approx(0.3)
    assert net.ask("P(30 < age <= 60)") == pytest.approx(0.5)
    assert net.ask("P(b=true | age > 30)") == pytest.approx((0.5 * 0.1 + 0.3 * 0.2) / 0.8)
    with pytest.raises(CredoError, match="cut into intervals at 30, 60, so a bound"):
        net.ask("P(age > 45)")
