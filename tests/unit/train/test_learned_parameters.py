"""The parameters of a learned graph: posterior means, or maximum likelihood by name."""

import numpy as np
import pandas as pd
import pytest
from tests.structure_data import discrete, random_table

import credo as cr


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(11)
    return discrete(random_table(rng, 400, [2, 3, 2, 2, 3, 2, 2]), [2, 3, 2, 2, 3, 2, 2])


@pytest.mark.parametrize("score", ["bic", "aic", "loglik", "fnml", lambda statistic: 0.0])
def test_a_score_without_a_prior_gives_posterior_means_and_maximum_likelihood_by_name(small, score):
    means = cr.learn(small, score, "hill-climb", max_parents=2)
    for name in means.names:
        sure = cr.fit(means.dag, small, cr.BDeu(10)).cpt(name)
        assert np.array_equal(means.cpt(name).values, sure.values)
    net = cr.learn(small, score, "hill-climb", max_parents=2, parameters="mle")
    plain, sure = cr.fit(net.dag, small), cr.fit(net.dag, small, cr.BDeu(1))
    for name in net.names:
        assert np.array_equal(net.cpt(name).values, plain.cpt(name).values)
        assert np.array_equal(net.cpt(name).counts, sure.cpt(name).counts)
    asked, other = (n.p("v0", interval=0.9) for n in (net, sure))
    assert np.array_equal(asked.low, other.low) and np.array_equal(asked.high, other.high)
    assert "prior BDeu(1): maximum likelihood, the posterior beside" in str(net.record)


def test_lines_keep_a_posterior_beside_maximum_likelihood():
    rng = np.random.default_rng(3)
    kind = rng.choice(["u", "v"], 120)
    x = rng.normal(size=120) + 2 * (kind == "u")
    rows = cr.read({"kind": kind, "x": x, "y": x + rng.normal(size=120)})
    net = cr.learn(rows, parameters="mle")
    reference = {"kind": cr.BDeu(1), "x": cr.LinePrior(), "y": cr.LinePrior()}
    plain, sure = cr.fit(net.dag, rows), cr.fit(net.dag, rows, reference)
    for name in ("x", "y"):
        mine, other = net.cpt(name), plain.cpt(name)
        for part in ("intercept", "coefficients", "variance"):
            assert getattr(mine, part) == pytest.approx(getattr(other, part), rel=1e-12)
        both = (n.cpt(name).interval(0.9, of="intercept") for n in (net, sure))
        assert len({str(i) for i in both}) == 1
    asked = net.p("kind", {"x": 1.0, "y": 0.5}, interval=0.95)
    assert (asked.low < asked.p).all() and (asked.p < asked.high).all()
    few = rows.take(np.arange(6))  # as few rows as before are enough
    assert cr.learn(few, forbidden=[("x", "y"), ("y", "x")]).record.details["rows"] == 6


def test_structural_em_keeps_a_posterior_beside_maximum_likelihood(small):
    gaps = pd.DataFrame({n: small[n] for n in small.schema.names}).astype(object)
    gaps.iloc[::7, 1] = None
    net = cr.learn(gaps, "bic", "hill-climb", max_parents=2, parameters="mle")
    plain = cr.learn(gaps, "bic", "hill-climb", max_parents=2, parameters=None)
    assert net.dag == plain.dag and net.record.score == pytest.approx(plain.record.score)
    for name in net.names:
        assert net.cpt(name).values == pytest.approx(plain.cpt(name).values, abs=1e-12)
        assert plain.cpt(name).counts is None and net.cpt(name).counts is not None


def test_em_climbs_the_likelihood_whatever_posterior_is_kept_beside():
    """Lines too: the reference prior adds nothing to what is climbed."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=150)
    rows = pd.DataFrame({"c": rng.choice(["u", "v"], 150), "x": x, "y": x + rng.normal(size=150)})
    rows.loc[::4, "x"] = np.nan
    rows.loc[::5, "c"] = None
    plain = cr.em("[c][x|c][y|c:x]", rows)
    beside = cr.em("[c][x|c][y|c:x]", rows, cr.BDeu(1), estimate="mle")
    assert beside.record.trace == pytest.approx(plain.record.trace, rel=1e-12)
    assert beside.cpt("y").coefficients == pytest.approx(plain.cpt("y").coefficients, rel=1e-9)
    assert plain.cpt("y").posterior is None and beside.cpt("y").posterior is not None
    stepwise = cr.em("[c][x|c][y|c:x]", rows, cr.BDeu(1), estimate="mle", method="stepwise")
    assert stepwise.cpt("c").counts is not None
    ridged = cr.em("[c][x|c][y|c:x]", rows, cr.LinePrior(kappa=50, ridge=9), estimate="mle")
    assert ridged.cpt("y").coefficients == pytest.approx(plain.cpt("y").coefficients, rel=1e-9)
    assert ridged.cpt("y").posterior is None
