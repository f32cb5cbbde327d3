"""Checks, pictures, reports and commands of networks whose numbers have a scale."""

import json
import warnings

import matplotlib
import numpy as np
import pytest
from tests.in_process import credo

import credo as cr
from credo.core.scales import Bins, Transform
from credo.errors import CredoWarning

matplotlib.use("Agg")


def bins_of(numbers, bins=5, atom=None):
    """A fine histogram of a column, with an atom if it is asked for."""
    x = numbers[~np.isnan(numbers)]
    edges = np.unique(np.quantile(x[x != atom], np.linspace(0.05, 0.95, 19)))
    atoms = np.full(len(edges) + 1, np.nan)
    if atom is not None:
        edges = np.concatenate([[atom - 0.005, atom + 0.005], edges[edges > atom + 0.005]])
        atoms = np.full(len(edges) + 1, np.nan)
        atoms[1] = atom
    counts = np.bincount(np.searchsorted(edges, x), minlength=len(edges) + 1) + 0.5
    above = x[x > edges[-1]]
    tails = (max(edges[0] - x.min(), 0.01), max(above.mean() - edges[-1], 0.01))
    return Bins(edges[:: max(len(edges) // bins, 1)], edges, counts, atoms, tails)


def rows_of(n, seed):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    fare = rng.lognormal(np.where(sex == "f", 3.0, 2.0), 0.6)
    visits = np.where(rng.random(n) < 0.4, 0.0, rng.exponential(np.where(sex == "f", 9.0, 3.0)))
    return {"sex": sex, "fare": fare, "visits": visits}


@pytest.fixture(scope="module")
def learned():
    table = cr.read(rows_of(400, 1))
    scales = {"fare": Transform("log"), "visits": bins_of(table["visits"], atom=0.0)}
    table = table.scaled(scales)
    return cr.fit("[sex][fare|sex][visits|sex]", table, prior=cr.BDeu(1)), table


def test_a_right_model_passes_its_check(learned):
    net, table = learned
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CredoWarning)
        report = cr.check(net, table, rng=0, draws=60)
    names = {c.name for c in report.predictive.checks}
    assert {"mean of fare", "largest of visits", "skewness of visits"} <= names
    assert not any("share of visits" in n for n in names)
    seen = report.predictive["mean of fare"].observed
    assert seen == pytest.approx(table["fare"].mean())
    covered = {c.variable: c for c in report.calibration.continuous}
    assert set(covered) == {"fare", "visits"}
    assert not [f for f in report.findings if f.severity == "problem"]
    held = report.held_out
    assert held.model.nats > held["independent columns"].nats
    assert net.log_likelihood(table) / len(table) == pytest.approx(held.model.nats, abs=0.1)


def test_held_out_rows_compare_over_scales(learned):
    net, table = learned
    new = cr.read(rows_of(500, 2))
    plain = cr.fit("[sex][fare|sex][visits|sex]", table.unscaled, prior=cr.BDeu(1))
    assert net.log_likelihood(new) > plain.log_likelihood(new) + 300
    assert set(dict(cr.compare({"scaled": net, "plain": plain}, new).scores[0].to_dict())) >= {
        "nats"
    }


def test_outliers_show_the_users_numbers(learned):
    net, table = learned
    rows = {n: table.values(n).tolist() for n in table.columns}
    rows["fare"][7] = 4e6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CredoWarning)
        report = cr.check(net, rows, rng=0, draws=60)
    first = report.outliers.rows[0]
    assert first.row == 8 and "fare=4e+06" in first.cell


def test_pictures_and_the_report_of_each_columns_density(learned, tmp_path):
    net, table = learned
    for name in ("fare", "visits"):
        ax = cr.plot.density(net.p(name), table[name])
        line = ax.lines[0]
        area = float(np.trapezoid(line.get_ydata(), line.get_xdata()))
        assert area == pytest.approx(1, abs=0.05)
    assert len(cr.plot.distribution(net.p("visits")).patches) == net.variable("visits").arity
    for target, over in (("sex", "visits"), ("visits", "sex"), ("fare", "visits"), ("sex", "fare")):
        assert cr.plot.response(net, target, over).lines
    path = cr.write_report(net, tmp_path / "report.html", data=table, checks=False)
    text = path.read_text(encoding="utf-8")
    assert text.count('class="fitted"') == 2
    assert f"mean {table['fare'].mean():.5g}" in text


def test_commands_speak_in_numbers(learned, tmp_path):
    net, _ = learned
    net.save(tmp_path / "net.credo")
    path = str(tmp_path / "net.credo")
    found = credo("ask", path, "P(visits | fare=20)", "P(visits > 2)", "--json")
    answers = json.loads(found.stdout)["answers"]
    assert answers[0]["mean"] == pytest.approx(net.p("visits", given={"fare": 20.0}).mean)
    assert answers[1]["probability"] == pytest.approx(net.ask("P(visits > 2)"))
    drawn = credo("sample", path, "5", "--seed", "1")
    lines = drawn.stdout.split()
    assert lines[0] == "sex,fare,visits" and float(lines[1].split(",")[2]) >= -1
    rows = tmp_path / "rows.csv"
    rows.write_text("sex,fare,visits\nf,,3\nm,12.5,\n")
    filled = credo("impute", path, str(rows), "--method", "posterior", "--json")
    gaps = json.loads(filled.stdout)["gaps"]
    assert [g["variable"] for g in gaps] == ["fare", "visits"] and all("mean" in g for g in gaps)
    bad = credo("ask", path, "P(sex | fare=-3)")
    assert bad.returncode == 2 and "its log takes numbers above 0 only" in bad.stderr


@pytest.mark.parametrize(
    "numbers",
    [
        np.r_[np.zeros(60), np.arange(1.0, 41.0)],
        np.repeat([1.0, 2.0, 2.5], 30),
        np.full(50, 7.0),
        np.r_[np.linspace(0, 1, 80), 1e12, -1e12],
    ],
    ids=["zeros", "ties", "one value", "outliers"],
)
def test_hard_columns(numbers):
    """Whatever the column, answers are finite numbers, and rows come back as they were."""
    values, counts = np.unique(numbers, return_counts=True)
    common = values[counts > 1]
    if len(common):
        low = np.concatenate([[v - 0.01, v + 0.01] for v in common])
        atoms = np.full(len(low) + 1, np.nan)
        atoms[1::2] = common
    else:
        low, atoms = np.quantile(numbers, [0.25, 0.5, 0.75]), np.full(4, np.nan)
    mass = np.bincount(np.searchsorted(low, numbers), minlength=len(low) + 1) + 0.01
    spread = max(float(np.ptp(numbers)), 1.0)
    scale = Bins(low[1:2], low, mass, atoms, (spread, spread))
    kinds = [scale, Transform("square-root", 0.5, 1.0), Transform("yeo-johnson", 0.0, 1.0, 0.5)]
    other = np.tile(["a", "b"], len(numbers))[: len(numbers)]
    plain = cr.read({"x": numbers, "y": other}, schema={"x": "continuous"})
    for kind in kinds if len(values) > 1 else kinds[:1]:
        table = plain.scaled({"x": kind})
        net = cr.fit("[y][x|y]", table, prior=cr.BDeu(1))
        np.testing.assert_array_equal(table.to("pandas")["x"].astype(float), numbers)
        assert np.isfinite(net.log_likelihood(table))
        answer = net.p("x", given={"y": "a"})
        told = [answer.mean, answer.sd, *answer.interval(0.9), answer.cdf(values[0])]
        assert np.isfinite(told).all() and "nan" not in str(answer)
        assert answer.quantile(0.01) <= answer.quantile(0.5) <= answer.quantile(0.99)
        assert np.isfinite(net.sample(200, rng=0)["x"]).all()
