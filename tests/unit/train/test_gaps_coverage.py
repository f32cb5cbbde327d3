"""95 % intervals after EM cover 95 % of truths drawn from the prior, whatever cells are missing.

Cells missing completely at random (20 % and 40 %), and at random: more often where the first column,
which is always there, has one of its states. Beside it what intervals cover that take the gaps as
EM filled them.
"""

import numpy as np
import pytest

import credo as cr

KINDS = ("20 %", "40 %", "at random")
LINE = cr.LinePrior(mean=0.0, kappa=1.0, slope=0.5, ridge=2.0, alpha=3.0, beta=2.0)


def missing(rng, kind, first, column):
    """Which cells of a column are missing; the first one has none at random."""
    if kind == "at random":
        share = np.where(first == 1, 0.6, 0.2) if column else np.zeros(len(first))
    else:
        share = np.full(len(first), 0.2 if kind == "20 %" else 0.4)
    return rng.random(len(first)) < share


def inside(span, truth):
    low, high = span
    return bool(low <= truth <= high)


def tables(seed, kind, draws, n=100):
    """Two entries of tables and two questions: whether each truth is inside its interval."""
    rng = np.random.default_rng([seed, 1])
    a, b, c = rng.dirichlet([1, 1]), rng.dirichlet([0.5, 0.5], 2), rng.dirichlet([0.5, 0.5], 2)
    x = (rng.random(n) < a[1]).astype(int)
    y = (rng.random(n) < b[x, 1]).astype(int)
    z = (rng.random(n) < c[y, 1]).astype(int)
    rows = {
        name: np.where(missing(rng, kind, x, i), None, column.astype(object))
        for i, (name, column) in enumerate({"a": x, "b": y, "c": z}.items())
    }
    table = cr.read(rows, {name: [0, 1] for name in rows})
    net = cr.em("[a][b|a][c|b]", table, cr.BDeu(2), draws=draws, rng=seed)
    joint = a[:, None] * (b @ c)
    spans = [net.cpt(name).interval(0.95) for name in ("b", "c")]
    return [
        inside((spans[0].lower[1, 1], spans[0].upper[1, 1]), b[1, 1]),
        inside((spans[1].lower[0, 1], spans[1].upper[0, 1]), c[0, 1]),
        inside(net.ask("P(c=1)", interval=0.95).interval, joint[:, 1].sum()),
        inside(net.ask("P(a=1 | c=1)", interval=0.95).interval, joint[1, 1] / joint[:, 1].sum()),
    ]


def line(rng, configurations):
    variance = 2.0 / rng.gamma(3.0, size=configurations)
    return rng.normal(0.0, np.sqrt(variance)), rng.normal(0.5, np.sqrt(variance / 2)), variance


def lines(seed, kind, draws, n=60):
    """An entry of a table, a slope, a mean and a probability given a number."""
    rng = np.random.default_rng([seed, 2])
    p = rng.dirichlet([1, 1])[1]
    (a, _, u), (c, d, v) = line(rng, 2), line(rng, 1)
    g = (rng.random(n) < p).astype(int)
    x = a[g] + np.sqrt(u[g]) * rng.normal(size=n)
    y = c[0] + d[0] * x + np.sqrt(v[0]) * rng.normal(size=n)
    rows = {
        "g": np.where(missing(rng, kind, g, 0), None, g.astype(object)),
        "x": np.where(missing(rng, kind, g, 1), np.nan, x),
        "y": np.where(missing(rng, kind, g, 2), np.nan, y),
    }
    table = cr.read(rows, {"g": [0, 1], "x": "continuous", "y": "continuous"})
    prior = {"g": cr.BDeu(2), "x": cr.LinePrior(kappa=1.0, alpha=3.0, beta=2.0), "y": LINE}
    net = cr.em("[g][x|g][y|x]", table, prior, draws=draws, rng=seed)
    height = np.exp(-0.5 * (0.5 - a) ** 2 / u) / np.sqrt(u) * [1 - p, p]
    mean = c[0] + d[0] * ((1 - p) * a[0] + p * a[1])
    span = net.cpt("g").interval(0.95)
    return [
        inside((span.lower[1], span.upper[1]), p),
        inside(net.cpt("y").interval(0.95, of="x"), d[0]),
        inside(net.p("y", interval=0.95).mean_interval, mean),
        inside(net.ask("P(g=1 | x=0.5)", interval=0.95).interval, height[1] / height.sum()),
    ]


def covered(which, kind, draws, sets):
    return np.array([which(seed, kind, draws) for seed in range(sets)]).mean()


def test_intervals_of_few_tables_cover():
    """A small version of the tests below: 40 % missing, 60 tables, two standard errors wide."""
    before, after = (covered(tables, "40 %", draws, 60) for draws in (0, 100))
    assert before < 0.9 and 0.91 < after < 0.99 and after > before + 0.05


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_tables_and_questions_cover(kind):
    assert 0.936 < covered(tables, kind, 200, 1000) < 0.9628  # 4,000 intervals


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_lines_and_their_questions_cover(kind):
    assert 0.935 < covered(lines, kind, 200, 400) < 0.965  # 1,600 intervals


@pytest.mark.slow
def test_intervals_that_take_the_gaps_as_filled_cover_less():
    assert covered(tables, "40 %", 0, 300) < 0.88
    assert covered(lines, "40 %", 0, 300) < 0.92
