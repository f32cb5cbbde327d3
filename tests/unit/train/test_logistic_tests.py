"""Two discrete variables given numbers: against SciPy and scikit-learn, its size, its power."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

import credo as cr
from credo.errors import InputError, SchemaError

STATES = {"x": "discrete", "y": "discrete"}


def odds(t):
    return 1 / (1 + np.exp(-t))


def drawn(rng, p):
    return (rng.random(len(p)) < p).astype(int)


@pytest.mark.parametrize("arities", [(2, 2), (3, 2), (3, 4)])
def test_without_numbers_that_vary_it_is_pearsons_test(arities):
    rng = np.random.default_rng(arities)
    x, y, w = (rng.integers(0, k, 600) for k in (*arities, 2))
    schema = {**STATES, "w": "discrete", "u": "continuous"}
    table = cr.read({"x": x, "y": y, "w": w, "u": np.full(600, 3.5)}, schema=schema)
    found = cr.independence_test(table, "x", "y", given=["u", "w"])
    value = 0.0
    for state in (0, 1):
        counts = np.zeros(arities)
        np.add.at(counts, (x[w == state], y[w == state]), 1)
        value += stats.chi2_contingency(counts, correction=False).statistic
    assert found.statistic == pytest.approx(value, rel=1e-9)
    assert found.freedom == 2 * (arities[0] - 1) * (arities[1] - 1)
    assert found.p == pytest.approx(stats.chi2.sf(value, found.freedom), rel=1e-9)


@pytest.mark.parametrize("states", [2, 3])
def test_the_information_is_what_scikit_learn_gains(states):
    rng = np.random.default_rng(states)
    u, v = rng.normal(size=(2, 400))
    x = rng.integers(0, 3, 400)
    y = np.clip((u + 0.5 * x + rng.normal(size=400)).astype(int), 0, states - 1)
    table = cr.read({"x": x, "a": y, "u": u, "v": v}, schema={"x": "discrete", "a": "discrete"})
    base = np.stack([u, v, u * u, u * v, v * v], axis=1)
    own = [np.stack([x == i, (x == i) * u, (x == i) * v], axis=1) for i in (1, 2)]
    fits = []
    for columns in (base, np.hstack([base, *own])):
        model = LogisticRegression(C=1e10, tol=1e-10, max_iter=10_000).fit(columns, y)
        fits.append(model.predict_log_proba(columns)[np.arange(400), y].mean())
    found = cr.independence_test(table, "x", "a", given=["u", "v"])
    assert found.information == pytest.approx(fits[1] - fits[0], abs=1e-6)
    assert found.freedom == 6 * (states - 1)


def test_the_score_is_that_of_derivatives_by_differences():
    """S of one number and two states each, from the likelihood alone."""
    rng = np.random.default_rng(2)
    u = rng.uniform(-1, 2, 120)
    x, y = drawn(rng, odds(u)), drawn(rng, odds(1 - u))
    columns = np.stack([np.ones(120), u, u * u, x, x * u], axis=1)

    def value(b):
        eta = columns @ b
        return float((y * eta - np.logaddexp(0, eta)).sum())

    model = LogisticRegression(C=1e12, tol=1e-12, max_iter=10_000).fit(columns[:, 1:3], y)
    top = np.array([*model.intercept_, *model.coef_[0], 0, 0])
    step = 1e-4 * np.eye(5)
    slope = np.array([(value(top + e) - value(top - e)) / 2e-4 for e in step])
    curve = np.array([
        [(value(top + e + f) - value(top + e - f) - value(top - e + f) + value(top - e - f)) / 4e-8
         for f in step] for e in step
    ])  # fmt: skip
    found = cr.independence_test(cr.read({"y": x, "x": y, "u": u}, schema=STATES), "x", "y", "u")
    assert found.statistic == pytest.approx(-slope @ np.linalg.solve(curve, slope), rel=1e-3)


def test_order_units_and_weights_are_accidents():
    rng = np.random.default_rng(3)
    u = rng.exponential(size=200)
    x, y = rng.integers(0, 3, 200), drawn(rng, odds(u - 1))
    table = cr.read({"x": x, "y": y, "u": u}, schema=STATES)
    found = cr.independence_test(table, "x", "y", given="u")
    back = np.arange(200)[::-1]
    other = cr.read({"u": 1e6 + 1e3 * u[back], "y": y[back], "x": x[back]}, schema=STATES)
    for again in (
        cr.independence_test(table, "y", "x", given="u"),
        cr.independence_test(other, "x", "y", given="u"),
    ):
        assert again.statistic == pytest.approx(found.statistic, rel=1e-6)
        assert again.freedom == found.freedom
    w = rng.integers(1, 4, 200)
    whole = {n: np.repeat(c, w) for n, c in (("x", x), ("y", y), ("u", u))}
    one = cr.independence_test(cr.read(whole, schema=STATES), "x", "y", given="u")
    weighted = cr.read({"x": x, "y": y, "u": u, "w": w}, schema=STATES, weights="w")
    two = cr.independence_test(weighted, "x", "y", given="u")
    assert two.statistic == pytest.approx(one.statistic, rel=1e-9)
    gaps = [None, *u[1:-1], None]
    some = cr.read({"x": x, "y": y, "u": gaps}, schema=STATES)
    less = cr.read({"x": x[1:-1], "y": y[1:-1], "u": u[1:-1]}, schema=STATES)
    one, two = (cr.independence_test(t, "x", "y", given="u") for t in (some, less))
    assert one.statistic == pytest.approx(two.statistic, rel=1e-9)


def effect(rng, n):
    """u is an effect of x, and scatters differently in its states."""
    x, y = rng.integers(0, 2, (2, n))
    return x, y, x + (1 + x) * rng.normal(size=n)


def cause(rng, n):
    """u is a cause of both, and not Gaussian."""
    u = rng.uniform(-2, 2, n)
    return drawn(rng, odds(1.5 * u)), drawn(rng, odds(-1.2 * u)), u


@pytest.mark.parametrize("story", [effect, cause])
def test_p_is_uniform_where_they_are_independent(story):
    rng = np.random.default_rng(4)
    found = []
    for _ in range(300):
        x, y, u = story(rng, 250)
        table = cr.read({"x": x, "y": y, "u": u}, schema=STATES)
        found.append(cr.independence_test(table, "x", "y", given="u").p)
    assert stats.kstest(found, "uniform").pvalue > 0.01
    assert stats.binomtest(int(np.sum(np.array(found) < 0.05)), 300, 0.05).pvalue > 0.01


def test_dependence_is_found():
    rng = np.random.default_rng(5)
    plain = crossing = 0
    for _ in range(50):
        x, u = rng.integers(0, 2, 500), rng.normal(size=500)
        for turned in (False, True):
            y = drawn(rng, odds((2 * x - 1) * u if turned else x + 0.5 * u - 0.5))
            table = cr.read({"x": x, "y": y, "u": u}, schema=STATES)
            small = cr.independence_test(table, "x", "y", given="u").p < 0.05
            plain, crossing = plain + (small and not turned), crossing + (small and turned)
    assert plain >= 45 and crossing >= 45


def test_states_that_a_number_tells_apart_without_error():
    rng = np.random.default_rng(6)
    u = rng.normal(size=300)
    x = rng.integers(0, 2, 300)
    table = cr.read({"x": x, "y": (u > 0).astype(int), "u": u}, schema=STATES)
    found = cr.independence_test(table, "x", "y", given="u")
    assert found.p > 0.05 and np.isfinite(found.statistic) and found.information < 0.01
    same = cr.read({"x": x, "y": x, "u": u}, schema=STATES)
    found = cr.independence_test(same, "x", "y", given="u")
    assert found.p < 1e-20 and found.information == pytest.approx(np.log(2), abs=0.02)


def test_too_few_rows_say_nothing():
    rng = np.random.default_rng(7)
    x, y, u = effect(rng, 20)
    found = cr.independence_test(cr.read({"x": x, "y": y, "u": u}, schema=STATES), "x", "y", "u")
    assert (found.statistic, found.freedom, found.p, found.information) == (0.0, 0.0, 1.0, None)


def test_refusals(tmp_path):
    x, y, u = effect(np.random.default_rng(8), 60)
    rows = {"x": x, "y": y, "u": u}
    table = cr.read(rows, schema=STATES)
    with pytest.raises(
        SchemaError, match="'g2-mixed' is not for two discrete variables given a co"
    ):
        cr.independence_test(table, "x", "y", given="u", test="g2-mixed")
    for pair, given in ((("x", "u"), "y"), (("x", "y"), ())):
        with pytest.raises(SchemaError, match="'logistic' is for two discrete variables given a c"):
            cr.independence_test(table, *pair, given=given, test="logistic")
    path = tmp_path / "rows.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    stream = cr.read(path, schema=STATES, memory=1)
    with pytest.raises(
        InputError, match=r"only a look at the rows says .* not in memory\. Load them"
    ):
        cr.independence_test(stream, "x", "y", given="u")
    assert cr.independence_test(stream.load(), "x", "y", given="u").test == "logistic"
    with pytest.raises(InputError, match="test must be one of"):
        cr.independence_test(table, "x", "y", given="u", test="probit")
