"""Questions about numbers with a scale: answers equal integration and brute force."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import credo as cr
from credo.core.scales import Bins, Transform
from credo.errors import InputError, UnknownNameError

BINS = Bins(
    [10.0, 50.0], [-0.5, 0.5, 10.0, 20.0, 50.0, 80.0], [0.01, 0.2, 0.3, 0.1, 0.2, 0.1, 0.09],
    [np.nan, 0.0, *[np.nan] * 5], (1.0, 20.0),
)  # fmt: skip
KINDS = [
    Transform("log"),
    Transform("log1p", spread=3.0),
    Transform("square-root", 4.0, 2.0),
    Transform("logit", low=0.0, high=30.0),
    Transform("yeo-johnson", 2.0, 3.0, 0.2),
    Transform("yeo-johnson", 2.0, 3.0, 1.8),
]


def lines(scale):
    """sex → fare → tip, the fare behind a transform."""
    sex = cr.Variable("sex", "discrete", ("f", "m"))
    fare = cr.Variable("fare", "continuous", scale=scale)
    tip = cr.Variable("tip", "continuous")
    return cr.Network(
        "[sex][fare|sex][tip|fare]",
        [
            cr.Cpt(sex, (), [0.4, 0.6]),
            cr.LinearGaussian(fare, (sex,), [0.5, -0.4], [], [0.3, 0.8]),
            cr.LinearGaussian(tip, (fare,), 1.0, [2.0], 0.5),
        ],
    )


def tables():
    """sex → fare → port, the fare in bins."""
    sex = cr.Variable("sex", "discrete", ("f", "m"))
    fare = cr.Variable("fare", "discrete", scale=BINS)
    port = cr.Variable("port", "discrete", ("C", "S"))
    return cr.Network(
        "[sex][fare|sex][port|fare]",
        [
            cr.Cpt(sex, (), [0.4, 0.6]),
            cr.Cpt(fare, (sex,), [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]),
            cr.Cpt(port, (fare,), [[0.1, 0.9], [0.5, 0.5], [0.8, 0.2]]),
        ],
    )


def integral(f, answer):
    ends = answer.quantile([1e-14, 1e-9, 1e-5, 0.01, 0.2, 0.5, 0.8, 0.99, 1 - 1e-5, 1 - 1e-9])
    top = answer.quantile(1 - 1e-13)
    knots = sorted(
        {*ends, top, 2.0, 4.0} & {x for x in (*ends, top, 2.0, 4.0) if ends[0] <= x <= top}
    )
    return sum(quad(f, a, b, epsabs=0, epsrel=1e-10, limit=200)[0] for a, b in pairwise(knots))


@pytest.mark.parametrize("scale", KINDS, ids=repr)
@pytest.mark.parametrize("given", [{}, {"tip": 2.5}, {"sex": "m"}], ids=repr)
def test_transformed_answers_are_those_of_integration(scale, given):
    net = lines(scale)
    answer = net.p("fare", given=given)
    assert integral(answer.pdf, answer) == pytest.approx(1, abs=1e-6)
    mean = integral(lambda x: x * answer.pdf(x), answer)
    assert answer.mean == pytest.approx(mean, rel=1e-6, abs=1e-6)
    square = integral(lambda x: (x - mean) ** 2 * answer.pdf(x), answer)
    assert answer.variance == pytest.approx(square, rel=1e-5)
    for q in (0.01, 0.3, 0.9):
        assert answer.cdf(answer.quantile(q)) == pytest.approx(q, abs=1e-9)
    x = float(answer.quantile(0.7))
    assert net.p({"fare": cr.between(x, None)}, given=given) == pytest.approx(0.3, abs=1e-7)


@pytest.mark.parametrize("scale", KINDS, ids=repr)
def test_evidence_is_a_density_of_the_users_number(scale):
    net = lines(scale)
    x = float(scale.backward(0.3))
    z, slope = float(scale.forward(x)), float(np.exp(scale.log_slope(x)))
    each = np.array([0.4, 0.6]) * norm.pdf(z, [0.5, -0.4], np.sqrt([0.3, 0.8])) * slope
    assert net.log_evidence({"fare": x}) == pytest.approx(math.log(each.sum()))
    np.testing.assert_allclose(net.p("sex", given={"fare": x}).p, each / each.sum())
    low = float(scale.backward(-0.5))
    share = norm.cdf([(0.3 - 0.5) / 0.3**0.5, 0.7 / 0.8**0.5])
    share -= norm.cdf([-1.0 / 0.3**0.5, -0.1 / 0.8**0.5])
    found = net.p("sex", given={"fare": cr.between(low, x)}).p
    np.testing.assert_allclose(found, share * [0.4, 0.6] / (share @ [0.4, 0.6]), rtol=1e-6)
    inside = net.p("fare", given={"fare": cr.between(low, x)})
    assert low < inside.quantile(0.001) < inside.mean < inside.quantile(0.999) < x
    assert integral(inside.pdf, inside) == pytest.approx(1, abs=1e-6)
    assert net.p("tip", given={"fare": x}).mean == pytest.approx(1 + 2 * z)


def test_transformed_intervals_and_joints():
    rng = np.random.default_rng(0)
    rows = {"sex": rng.choice(["f", "m"], 400), "fare": np.exp(rng.normal(2, 0.7, 400))}
    table = cr.read(rows).scaled({"fare": Transform("log")})
    net = cr.fit("[sex][fare|sex]", table, prior=cr.BDeu(1))
    wide = net.p("fare", interval=0.95)
    low, high = wide.mean_interval
    assert low < wide.mean < high and low < np.mean(rows["fare"]) < high
    assert "95 %:" in str(wide) and "density" in wide._repr_html_()
    alone = net.p("fare", given={"sex": "f"}, interval=0.95)
    se = alone.sd / math.sqrt((rows["sex"] == "f").sum())
    assert (alone.mean_interval.upper - alone.mean_interval.lower) / 4 == pytest.approx(se, rel=0.3)
    both = net.p(["sex", "fare"])
    assert both["f"].mean == pytest.approx(alone.mean)
    assert both.marginal.mean == pytest.approx(net.p("fare").mean)
    assert both.marginal.cdf(7.0) == pytest.approx(net.p("fare").cdf(7.0))
    again = net.p(["sex", "fare"], interval=0.9)
    assert again.mean_interval is not None
    assert set(net.marginals(interval=0.9)) == {"sex", "fare"}


def test_what_a_transform_cannot_take_is_told():
    net = lines(Transform("log"))
    with pytest.raises(InputError, match="'fare' is -1, but its log takes numbers above 0 only"):
        net.p("sex", given={"fare": -1.0})
    assert net.ask("P(fare > -3)") == pytest.approx(1)
    assert net.ask("P(fare < -3)") == pytest.approx(0)


@pytest.mark.parametrize("scale", KINDS[::2], ids=lambda s: s.kind)
def test_several_numbers_together(scale):
    """The joint density is the chain of densities, given a state and over all of them."""
    net = lines(scale)
    both = net.p(["fare", "tip"], given={"sex": "m"})
    x = net.p("fare").quantile([0.2, 0.7])
    at = np.array([[x[0], 1.5], [x[1], 0.2]])
    for fare, tip in at:
        one = net.p("fare", given={"sex": "m"}).pdf(fare)
        chain = one * net.p("tip", given={"fare": fare, "sex": "m"}).pdf(tip)
        assert both.pdf([fare, tip]) == pytest.approx(chain, rel=1e-9)
    np.testing.assert_allclose(both.logpdf(at), [both.logpdf(row) for row in at])
    assert both.log_likelihood(at) == pytest.approx(both.logpdf(at).sum())
    for name, k in (("fare", 0), ("tip", 1)):
        one = net.p(name, given={"sex": "m"})
        assert both.mean[k] == pytest.approx(one.mean) and both.sd[k] == pytest.approx(one.sd)
        assert both.interval(0.9, of=name).upper == pytest.approx(one.interval(0.9).upper)
    assert both.marginal(["tip", "fare"]).pdf(at[0][::-1]) == pytest.approx(both.pdf(at[0]))
    rows = both.sample(4000, rng=1)
    inside = ((rows[:, 0] > x[0]) & (rows[:, 1] > 1)).mean()
    chance = net.p(
        {"fare": cr.between(x[0], math.inf), "tip": cr.between(1, math.inf)}, {"sex": "m"}
    )
    assert inside == pytest.approx(chance, abs=0.03)
    every = net.p(["sex", "fare", "tip"])
    assert every.pdf("m", at[0]) == pytest.approx(0.6 * both.pdf(at[0]))
    whole = sum(p * every[s].pdf(at[0]) for s, p in (("f", 0.4), ("m", 0.6)))
    assert every.marginal.pdf(at[0]) == pytest.approx(whole)
    assert net.p(["fare", "tip"]).pdf(at[0]) == pytest.approx(whole)
    assert "mean tip" in str(every) and "behind their transforms" in str(both)
    assert both.to_dict()["names"] == ["fare", "tip"]


def test_several_numbers_have_no_intervals_together():
    rng = np.random.default_rng(0)
    rows = {n: np.exp(rng.normal(2, 0.7, 60)) for n in "ab"}
    net = cr.fit("[a][b|a]", rows, cr.BDeu(1), numbers={"a": "log"})
    with pytest.raises(InputError, match="'a' has a transform, so it has no credible interval"):
        net.p(["a", "b"], interval=0.9)


def test_the_most_probable_behind_a_transform_is_in_the_users_numbers():
    fare = cr.Variable("fare", "continuous", scale=Transform("log"))
    tip = cr.Variable("tip", "continuous")
    net = cr.Network(
        "[fare][tip|fare]",
        [cr.LinearGaussian(fare, (), 2.0, [], 0.25), cr.LinearGaussian(tip, (fare,), 0, [1.0], 1)],
    )
    best = net.mpe({"tip": 3.0})
    assert best["fare"] == pytest.approx(math.exp(2.2))
    assert best.log_p == pytest.approx(net.log_evidence({"fare": best["fare"], "tip": 3.0}))
    assert net.do({"fare": math.exp(2.5)}).p("tip").mean == pytest.approx(2.5)


def brute(net, fare_weights, sex=None, port=None):
    """P(sex, bin, port) with a weight for each bin."""
    joint = np.einsum(
        "s,sf,fp->sfp", *(net.distributions[n].values for n in ("sex", "fare", "port"))
    )
    joint = joint * np.asarray(fare_weights)[None, :, None]
    if sex is not None:
        joint[[i for i in range(2) if i != sex]] = 0
    if port is not None:
        joint[:, :, [i for i in range(2) if i != port]] = 0
    return joint


def test_binned_posteriors_are_those_of_brute_force():
    net = tables()
    for port in (None, 0, 1):
        given = {} if port is None else {"port": "CS"[port]}
        p = brute(net, np.ones(3), port=port).sum((0, 2))
        p /= p.sum()
        answer = net.p("fare", given=given)
        np.testing.assert_allclose(answer.bins.p, p)
        assert answer.mean == pytest.approx(float(BINS.mean(p)))
        assert answer.sd == pytest.approx(float(np.sqrt(BINS.variance(p))))
        x = np.array([-2.0, 0.2, 7.0, 33.0, 200.0])
        np.testing.assert_allclose(answer.pdf(x), BINS.pdf(x, p))
        np.testing.assert_allclose(answer.cdf(x), BINS.cdf(x, p))
        for low, high in ((15.0, math.inf), (-math.inf, 5.0), (12.0, 60.0), (50.0, math.inf)):
            share = BINS.between(low, high)
            found = net.p({"fare": cr.between(low, high)}, given=given)
            assert found == pytest.approx(p @ share)
            joint = brute(net, share, port=port)
            with_range = {**given, "fare": cr.between(low, high)}
            sex = joint.sum((1, 2)) / joint.sum()
            np.testing.assert_allclose(net.p("sex", given=with_range).p, sex)
            assert net.log_evidence(with_range) == pytest.approx(math.log(joint.sum()))
            cut = net.p("fare", given=with_range)
            for q in (0.02, 0.5, 0.97):
                below = p @ BINS.between(low, cut.quantile(q)) / (p @ share)
                if cut.quantile(q) == 0.0:  # the atom
                    assert below < q < cut.cdf(0.0)
                else:
                    assert below == pytest.approx(q, abs=1e-6)


def test_evidence_by_number_is_evidence_by_state_times_its_density():
    net = tables()
    for x in (-1.0, 0.0, 7.0, 10.0, 10.5, 300.0):
        state = BINS.labels[int(BINS.codes(x)[0])]
        np.testing.assert_allclose(
            net.p("sex", given={"fare": x}).p, net.p("sex", given={"fare": state}).p
        )
        log = net.log_evidence({"fare": state}) + float(BINS.log_density(x))
        assert net.log_evidence({"fare": x}) == pytest.approx(log)
        assert net.ask(f"P(sex=f | fare={x})") == net.p("sex", given={"fare": x})["f"]
        best = net.mpe({"fare": x})
        assert best.log_p == pytest.approx(net.log_evidence({**best, "fare": x}))


def test_ranges_of_an_atom_know_their_ends():
    net = tables()
    p = net.p("fare").bins.p
    zero = p[0] * 0.2 / 0.51
    assert net.ask("P(fare > 0)") == pytest.approx(1 - p[0] * 0.01 / 0.51 - zero)
    assert net.ask("P(fare >= 0)") == pytest.approx(1 - p[0] * 0.01 / 0.51)
    assert net.ask("P(fare <= 0)") == pytest.approx(p[0] * 0.01 / 0.51 + zero)
    assert net.ask("P(0 <= fare <= 0.5)") == pytest.approx(zero)


def test_binned_answers_with_intervals_and_words():
    rng = np.random.default_rng(1)
    rows = {"sex": rng.choice(["f", "m"], 500), "fare": rng.exponential(25, 500)}
    table = cr.read(rows).scaled({"fare": BINS})
    net = cr.fit("[sex][fare|sex]", table, prior=cr.BDeu(1))
    answer = net.p("fare", interval=0.9)
    low, high = answer.mean_interval
    assert low < answer.mean < high and "90 %:" in str(answer)
    assert answer.bins.interval is not None
    event = net.ask("P(fare > 15 | sex=f)", interval=0.9)
    assert event.low < event < event.high
    assert 0 < event.high - event.low < 0.2
    cut = net.p("fare", given={"fare": cr.between(20, None)}, interval=0.9)
    assert cut.mean_interval.lower < cut.mean < cut.mean_interval.upper
    both = net.p(["sex", "fare"])
    assert both["f"].mean == pytest.approx(net.p("fare", given={"sex": "f"}).mean)
    assert both.marginal.mean == pytest.approx(net.p("fare").mean)
    told = net.marginals(interval=0.9)["fare"]
    assert told.mean == pytest.approx(answer.mean)
    sampled = net.p("fare", method="importance", budget="20000 samples")
    assert sampled.mean == pytest.approx(answer.mean, rel=0.05)
    assert answer.to_dict()["bins"].keys() == set(BINS.labels)
    draws = answer.sample(20_000, rng=0)
    assert draws.mean() == pytest.approx(answer.mean, rel=0.05)


def test_numbers_in_bins_are_no_states():
    net = tables()
    with pytest.raises(InputError, match="P\\(fare=…\\) is for discrete variables"):
        net.ask("P(fare=20)")
    with pytest.raises(InputError, match="P\\(fare=…\\) is for discrete variables"):
        net.p({"fare": 20})
    assert net.ask('P(fare="≤ 10")') == pytest.approx(net.p("fare").bins["≤ 10"])
    with pytest.raises(InputError, match="observed as one number"):
        net.p("sex", given={"fare": [5, 20]})
    with pytest.raises(InputError, match="a number for 'fare'"):
        net.ask("P(sex | fare=cheap)")
    with pytest.raises(UnknownNameError):
        net.p("sex", given={"fare": "cheap"})
    with pytest.raises(InputError, match="must be a finite number"):
        net.p("sex", given={"fare": math.inf})
    with pytest.raises(InputError, match="asked about and observed"):
        net.p({"fare": cr.between(5, 6)}, given={"fare": 5.5})
    assert net.do({"fare": 60.0}).p("port")["C"] == pytest.approx(0.8)
