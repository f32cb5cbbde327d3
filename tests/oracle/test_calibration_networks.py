"""Are the posteriors of whole networks right? Parameters drawn from the prior, rows from them.

As in `test_calibration.py`, for what `cr.fit` and `interval=` give: RELIABILITY.md, rows 1 to 3.
The rows are drawn for all data sets at once and counted by hand; each data set is then fitted from
its own statistics.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import credo as cr
from credo.model.answers.credible import Credible
from credo.predict.intervals.draws import Draws
from credo.stats.family import Families
from credo.stats.tally import Tally

DATA_SETS, DRAWS, BINS, CHI2 = 2000, 99, 20, 50.80
RUNS, COVERED = 4000, (0.9360, 0.9628)
KOLMOGOROV = 0.0497
N = 15

A = cr.Variable("a", "discrete", ("x", "y"))
B = cr.Variable("b", "discrete", (0, 1, 2))
X, Y = cr.Variable("x", "continuous"), cr.Variable("y", "continuous")
FAMILIES = Families.of([("a", []), ("b", ["a"])])
PRIOR = {"a": cr.Beta(2, 3, states=("x", "y")), "b": cr.Dirichlet({0: 0.7, 1: 2.0, 2: 1.5})}
LINE = cr.LinePrior(mean=1, kappa=2, slope=0.5, ridge=3, alpha=3, beta=4, centre=0.5)


def tables(runs, seed):
    """For each run: the true tables, and the network fitted to N rows of them."""
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 3, runs)
    rows = rng.dirichlet([0.7, 2.0, 1.5], (runs, 2))
    a = (rng.random((runs, N)) < p[:, None]).astype(int)
    chosen = rows[np.arange(runs)[:, None], a]
    b = (rng.random((runs, N, 1)) >= chosen.cumsum(axis=-1)[..., :-1]).sum(axis=-1)
    for i in range(runs):
        n_a = np.bincount(a[i], minlength=2)
        n_b = np.bincount(3 * a[i] + b[i], minlength=6).reshape(2, 3)
        parts = [cr.Counts((A,), n_a), cr.Counts((A, B), n_b)]
        net = cr.fit("[a][b|a]", Tally(FAMILIES, parts.__getitem__, N), PRIOR)
        yield np.array([1 - p[i], p[i]]), rows[i], net


def lines(runs, seed):
    """For each run: intercept, slope and variance of the truth, and the fitted network."""
    rng = np.random.default_rng(seed)
    variance = 4 / rng.gamma(3, size=runs)
    value = 1 + np.sqrt(variance / 2) * rng.normal(size=runs)
    slope = 0.5 + np.sqrt(variance / 3) * rng.normal(size=runs)
    y = rng.normal(2, 1, (runs, N))
    x = value[:, None] + slope[:, None] * (y - 0.5)
    x += np.sqrt(variance)[:, None] * rng.normal(size=(runs, N))
    families = Families.of([("x", ["y"])])
    for i in range(runs):
        moments = cr.Moments.of({"y": y[i], "x": x[i]})
        tally = Tally(families, [moments].__getitem__, N)
        held = cr.LinearGaussian(Y, (), 2.0, np.zeros(0), 1.0)
        yield (value[i] - 0.5 * slope[i], slope[i], variance[i]), moments, tally, held


@cache
def ranks_and_cover():
    """Ranks of the truth among draws, and whether the 95 % intervals held it, by quantity."""
    ranks: dict[str, list[int]] = {"entry": [], "question": []}
    for i, (true_a, true_b, net) in enumerate(tables(DATA_SETS, 1)):
        drawn = Draws(net, i).next(["a", "b"], DRAWS)
        b = drawn["b"].reshape(DRAWS, 2, 3)
        ranks["entry"].append(int((b[:, 1, 2] < true_b[1, 2]).sum()))
        posterior = drawn["a"] * b[:, :, 1]
        answer = posterior[:, 0] / posterior.sum(axis=1)
        truth = true_a[0] * true_b[0, 1] / (true_a * true_b[:, 1]).sum()
        ranks["question"].append(int((answer < truth).sum()))
    return ranks


def uniform(ranks):
    counts = np.bincount(np.array(ranks) * BINS // (DRAWS + 1), minlength=BINS)
    expected = len(ranks) / BINS
    return float(((counts - expected) ** 2 / expected).sum())


@pytest.mark.slow
@pytest.mark.parametrize("what", ["entry", "question"])
def test_1_simulation_based_calibration_of_tables(what):
    assert uniform(ranks_and_cover()[what]) < CHI2


@pytest.mark.slow
def test_2_coverage_of_entries_and_of_questions():
    hits = np.zeros(2)
    for i, (true_a, true_b, net) in enumerate(tables(RUNS, 2)):
        low, high = net.cpt("b").interval(0.95)
        hits[0] += low[0, 0] <= true_b[0, 0] <= high[0, 0]
        truth = true_a[0] * true_b[0, 1] / (true_a * true_b[:, 1]).sum()
        answer = net.ask("P(a=x | b=1)", interval=0.95, draws=400, rng=i)
        hits[1] += answer.low <= truth <= answer.high
    for share in hits / RUNS:
        assert COVERED[0] <= share <= COVERED[1]


@pytest.mark.slow
def test_lines_are_calibrated():
    """Rows 1, 2 and 3 for the slope, the intercept and the variance of a line."""
    from scipy.special import stdtr

    ranks: dict[str, list[int]] = {"intercept": [], "slope": [], "variance": []}
    hits, pit = np.zeros(2), []
    for i, ((a, b, v), _, tally, _) in enumerate(lines(DATA_SETS, 3)):
        from credo.train.parameters.lines import fit_lines

        posterior = fit_lines(tally["x", ["y"]], LINE, "mean").posterior
        gens = [np.random.default_rng((i, k)) for k in (0, 1)]
        intercept, slope, variance = posterior.draw(DRAWS, *gens)
        ranks["intercept"].append(int((intercept < a).sum()))
        ranks["slope"].append(int((slope[:, 0] < b).sum()))
        ranks["variance"].append(int((variance < v).sum()))
        low, high = posterior.interval(0.95, "y", ("y",))
        hits[0] += low <= b <= high
        low, high = posterior.interval(0.95, "variance", ("y",))
        hits[1] += low <= v <= high
        t = (b - posterior.slope[0]) / posterior.scale(0)
        pit.append(float(stdtr(2 * posterior.alpha, t)))
    for what, found in ranks.items():
        assert uniform(found) < CHI2, what
    spread = 1.96 * np.sqrt(0.95 * 0.05 / DATA_SETS) * 1.5
    assert (np.abs(hits / DATA_SETS - 0.95) < spread).all()
    ordered = np.sort(pit)
    grid = np.arange(1, len(ordered) + 1) / len(ordered)
    assert np.abs(ordered - grid).max() < KOLMOGOROV


@pytest.mark.slow
def test_2_coverage_of_a_continuous_answer():
    """The mean of y given x: intervals from draws of lines, through `net.p`."""
    hits, runs = 0, 1000
    rng = np.random.default_rng(5)
    for i, ((a, b, _), moments, _, held) in enumerate(lines(runs, 4)):
        families = Families.of([("y", []), ("x", ["y"])])
        parts = [moments.marginal(["y"]), moments.marginal(["y", "x"])]
        net = cr.fit("[y][x|y]", Tally(families, parts.__getitem__, N), LINE, fixed={"y": held})
        at = rng.normal(2, 1)
        span = net.p("x", {"y": at}, interval=0.95, draws=400, rng=i).mean_interval
        hits += a + b * at in span
    assert abs(hits / runs - 0.95) < 0.022


def test_the_posterior_means_are_the_best_single_answer():
    """The joint probability of a row, averaged over parameters, is that of the mean tables."""
    _, _, net = next(tables(1, 6))
    drawn = Draws(net, 0).next(["a", "b"], 100_000)
    joint = drawn["a"][:, 1] * drawn["b"].reshape(-1, 2, 3)[:, 1, 2]
    error = joint.std() / np.sqrt(len(joint))
    assert joint.mean() == pytest.approx(net.p(["a", "b"])["y", 2], abs=5 * error)
    assert Credible.of(joint, 0.9).draws == 100_000


@pytest.mark.slow
def test_2_coverage_of_mixed_answers():
    """The mean and sd of a mixture, a probability with a hidden number between, a correlation."""
    runs, rng = 250, np.random.default_rng(7)
    line = cr.LinePrior(mean=0, kappa=1, slope=0.5, ridge=2, alpha=4, beta=4)
    c = cr.Variable("c", "discrete", ("a", "b"))
    x, y = cr.Variable("x", "continuous"), cr.Variable("y", "continuous")
    hits = np.zeros(4)
    for i in range(runs):
        p = rng.beta(2, 2)
        variance = 4 / rng.gamma(4, size=3)
        means = np.sqrt(variance[:2]) * rng.normal(size=2)
        slope = 0.5 + np.sqrt(variance[2] / 2) * rng.normal()
        base = np.sqrt(variance[2]) * rng.normal()
        truth = cr.Network(
            "[c][x|c][y|x]",
            [
                cr.Cpt(c, (), [p, 1 - p]),
                cr.LinearGaussian(x, (c,), means, np.zeros((2, 0)), variance[:2]),
                cr.LinearGaussian(y, (x,), base, [slope], variance[2]),
            ],
        )
        prior = {"c": cr.Beta(2, 2, states=("a", "b")), "x": line, "y": line}
        net = cr.fit(truth, truth.sample(20, rng=i), prior)
        options = {"interval": 0.95, "draws": 300, "rng": i}
        both, exact = net.p(["x", "y"], **options), truth.p(["x", "y"])
        hits[0] += exact.mean[1] in one_of(both.mean_interval, 1)
        hits[1] += exact.sd[0] in one_of(both.sd_interval, 0)
        hits[2] += exact.correlation[0, 1] in one_of(both.correlation_interval, (0, 1))
        given = {"y": float(rng.normal())}
        hits[3] += truth.p("c", given)["a"] in one_of(net.p("c", given, **options).interval, 0)
    assert (np.abs(hits / runs - 0.95) < 3 * np.sqrt(0.95 * 0.05 / runs)).all(), hits / runs


def one_of(span, at):
    low, high = (float(end[at]) for end in span)
    return Credible(low, high, span.level)
