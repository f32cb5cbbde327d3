"""Each way to model numbers, learned from rows: calibrated on new ones, and on odd columns too."""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import kstest

import credo as cr


def skewed(rng, n):
    sex = rng.choice(["f", "m"], n)
    return {"sex": sex, "fare": rng.lognormal(np.where(sex == "f", 3.0, 2.0), 0.6)}


def straight(rng, n):
    sex = rng.choice(["f", "m"], n)
    return {"sex": sex, "fare": rng.normal(np.where(sex == "f", 3.0, 2.0), 0.6)}


@pytest.mark.parametrize(
    ("way", "rows"),
    [("gaussian", straight), ("transformed", skewed), ("binned", skewed), ("auto", skewed)],
)
def test_pit_of_new_rows_is_uniform(way, rows):
    """F(x | sex) of rows that were not learned from."""
    rng = np.random.default_rng(4)
    net = cr.learn(rows(rng, 2000), numbers=way)
    new = rows(rng, 800)
    given = {s: net.p("fare", given={"sex": s}) for s in "fm"}
    pit = np.array([given[s].cdf(x) for s, x in zip(new["sex"], new["fare"], strict=True)])
    assert kstest(pit, "uniform").pvalue > 0.01
    inside = [given[s].interval(0.9) for s in new["sex"]]
    held = np.mean([low <= x <= high for (low, high), x in zip(inside, new["fare"], strict=True)])
    assert held == pytest.approx(0.9, abs=0.04)


def _columns():
    rng = np.random.default_rng(7)
    n = 200
    x = rng.normal(10, 2, n)
    return {
        "zeros": np.where(rng.random(n) < 0.6, 0.0, rng.gamma(2, 3, n)),
        "ties": np.round(rng.gamma(3, 2, n)),
        "outlier": np.where(np.arange(n) == 17, 1e12, x),
        "seconds": 1.7e9 + rng.uniform(0, 3.2e7, n),
        "tiny": x * 1e-9,
        "one value but one": np.where(np.arange(n) == 3, 5.0, 1.0),
    }


@pytest.mark.parametrize("way", ["auto", "transformed", "binned"])
@pytest.mark.parametrize("name", _columns())
def test_odd_columns_are_proper_densities(way, name):
    """A density that holds every row, whose ranges add up, and from which numbers can be drawn."""
    x = _columns()[name]
    y = np.where(np.arange(len(x)) % 3, "a", "b")
    table = cr.read({"x": x, "y": y}, schema={"x": "continuous"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net = cr.learn(table, numbers=way)
    assert math.isfinite(net.log_likelihood(table))
    answer = net.p("x")
    low, middle, high = answer.quantile([0.01, 0.5, 0.99])
    assert low <= middle <= high and np.isfinite([low, high]).all()
    at = np.unique([x.min(), *np.quantile(x, [0.2, 0.5, 0.8]), x.max()])
    below = np.asarray(answer.cdf(at))
    assert (np.diff(below) >= -1e-12).all() and below[0] >= 0 and below[-1] <= 1 + 1e-12
    parts = net.p({"x": cr.between(-math.inf, at[0])}) + net.p({"x": cr.between(at[0], math.inf)})
    assert parts <= 1 + 1e-9 and parts + (x == at[0]).mean() > 0.9
    drawn = np.asarray(net.sample(50, rng=0).values("x"))
    assert np.isfinite(drawn).all()


def test_a_column_of_one_value_is_set_aside_and_dates_are_numbers():
    n = 120
    rng = np.random.default_rng(1)
    day = np.datetime64("2024-01-01") + rng.integers(0, 365, n).astype("timedelta64[D]")
    late = np.where(day > np.datetime64("2024-07-01"), "yes", "no")
    rows = {"one": np.ones(n), "day": day.astype("datetime64[s]").astype(float), "late": late}
    net = cr.learn(rows, numbers="auto")
    assert set(net.names) == {"day", "late"}
    july = float(np.datetime64("2024-09-01").astype("datetime64[s]").astype(float))
    assert net.p({"late": "yes"}, given={"day": july}) > 0.9
