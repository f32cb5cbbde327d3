"""Predictive checks: p-values that mean what they say, and wrong models found."""

import numpy as np
import pytest
from tests.unit.checking.nets import SPRINKLER, gaussian, kolmogorov, mixed, with_gaps

import credo as cr
from credo.checking.sections.predictive import predictive
from credo.checking.sections.statistics import Statistics


def pairs(names):
    return [(a, b) for i, b in enumerate(names) for a in names[:i]]


def test_statistics_of_states_numbers_and_pairs_by_hand():
    rows = mixed().sample(500, rng=0)
    plan = Statistics(rows, pairs(rows.schema.names))
    found = dict(zip([n.name for n in plan.named], plan.of(rows), strict=True))
    s = rows["s"] == "on"
    x, y = rows["x"], rows["y"]
    assert found["share of s = on"] == pytest.approx(s.mean())
    assert found["mean of x"] == pytest.approx(x.mean())
    assert found["sd of x"] == pytest.approx(x.std())
    assert found["skewness of x"] == pytest.approx((((x - x.mean()) / x.std()) ** 3).mean())
    assert (found["least of x"], found["largest of x"]) == (x.min(), x.max())
    assert found["correlation of x and y"] == pytest.approx(np.corrcoef(x, y)[0, 1])
    between = sum(k.sum() * (x[k].mean() - x.mean()) ** 2 for k in (s, ~s)) / len(x)
    assert found["share of x explained by s"] == pytest.approx(between / x.var())


def test_information_of_pairs_with_gaps_is_of_the_rows_that_have_both():
    rows = with_gaps(SPRINKLER.sample(400, rng=0), 0.2, 1)
    plan = Statistics(rows, pairs(rows.schema.names))
    found = dict(zip([n.name for n in plan.named], plan.of(rows), strict=True))
    a, b = rows["rain"], rows["late"]
    both = np.array([i is not None and j is not None for i, j in zip(a, b, strict=True)])
    n = np.array([[np.sum((a[both] == i) & (b[both] == j)) for j in "abc"] for i in ("no", "yes")])
    p = n / n.sum()
    want = (p * np.log2(p / np.outer(p.sum(1), p.sum(0)))).sum()
    assert found["information of rain on late"] == pytest.approx(want)


@pytest.mark.slow
def test_p_values_are_uniform_when_the_model_is_true():
    net = gaussian()
    found = {"mean of y": [], "correlation of x and z": [], "sd of z": []}
    for seed in range(60):
        rows = net.sample(60, rng=1000 + seed)
        made = predictive(net, rows, draws=40, rng=seed, level=0.05)
        for name, p in found.items():
            p.append(made[name].p)
    for p in found.values():
        # two-sided p-values of 40 draws lie on multiples of 2/41: spread them out
        spread = np.asarray(p) - np.random.default_rng(0).random(len(p)) * 2 / 41
        assert kolmogorov(np.clip(spread, 0, 1)) > 0.01


def test_false_alarms_are_as_rare_as_the_level_says():
    alarms = 0
    for seed in range(40):
        rows = SPRINKLER.sample(150, rng=2000 + seed)
        alarms += bool(predictive(SPRINKLER, rows, draws=40, rng=seed, level=0.05).unrealistic)
    assert alarms <= 6  # Binomial(40, 0.05): more than 6 is one in 300


def test_a_missing_edge_is_found_and_named():
    rows = SPRINKLER.sample(1500, rng=1)
    net = cr.fit(SPRINKLER.dag.remove(("rain", "late")), rows, prior=cr.BDeu(1))
    report = cr.check(net, rows, sections=["predictive"], draws=60)
    bad = report.predictive.unrealistic
    assert {frozenset(c.variables) for c in bad} >= {frozenset(("rain", "late"))}
    sentence = report.findings[0]
    assert sentence.severity == "problem" and "edge between" in sentence.advice


def test_the_shape_of_a_number_is_found():
    rng = np.random.default_rng(0)
    rows = {"x": np.exp(rng.normal(size=400)).tolist(), "y": rng.normal(size=400).tolist()}
    net = cr.fit("[x][y]", rows, prior=cr.LinePrior())
    report = cr.check(net, rows, sections=["predictive"], draws=100)
    assert report.predictive["skewness of x"].adjusted < 0.01
    assert report.predictive["mean of y"].p > 0.01


def test_statistics_of_your_own():
    rows = SPRINKLER.sample(200, rng=0)

    def wet_while_dry(table):
        return float(np.mean((table["wet"] == "yes") & (table["rain"] == "no")))

    found = cr.check(SPRINKLER, rows, sections=["predictive"], draws=50,
                     statistics={"wet while dry": wet_while_dry}).predictive  # fmt: skip
    assert found["wet while dry"].observed == wet_while_dry(rows)
    assert found["wet while dry"].p > 0.01
    with pytest.raises(cr.errors.InputError, match="The statistic 'bad' must be a number"):
        cr.check(SPRINKLER, rows, draws=20, sections=["predictive"], statistics={"bad": str})


def test_generated_tables_have_the_gaps_of_the_one_seen():
    rows = with_gaps(mixed().sample(300, rng=5), 0.2, 1)
    found = cr.check(mixed(), rows, sections=["predictive"], draws=40).predictive
    assert "gaps of the one seen" in "; ".join(found.notes)
    assert not found.unrealistic


def test_more_rows_than_asked_for_are_drawn_from_and_told():
    rows = SPRINKLER.sample(500, rng=0)
    found = cr.check(SPRINKLER, rows, sections=["predictive"], draws=20, rows=100).predictive
    assert found.rows == 100
    assert found.notes[0] == "100 of 500 rows, drawn at random"


def test_whole_weights_stand_for_so_many_rows():
    frame = {"a": ["x", "y"], "w": [30, 10]}
    net = cr.fit("[a]", {"a": ["x", "x", "x", "y"]}, prior=cr.BDeu(1))
    table = cr.read(frame, weights="w")
    found = cr.check(net, table, sections=["predictive"], draws=50).predictive
    assert found.rows == 40
    assert found["share of a = y"].observed == 0.25
