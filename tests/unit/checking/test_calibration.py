"""Calibration: conditionals against brute force, tests that mean what they say, errors found."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from tests.unit.checking.nets import SPRINKLER, gaussian, kolmogorov, mixed, with_gaps

import credo as cr
from credo.checking.again.conditionals import probabilities, ranks
from credo.checking.again.folds import Judge
from credo.checking.again.row_scores import score_rows
from credo.checking.sections.calibration import calibration
from credo.checking.sections.honesty import judged as _judged
from credo.checking.sections.multiplicity import count_p


def judged(net, rows):
    return calibration([Judge(net, np.arange(len(rows)))], rows, score_rows(net, rows), 0.05)


@pytest.mark.parametrize("name", ["rain", "wet", "late"])
def test_probabilities_of_states_given_the_rest(name):
    rows = with_gaps(SPRINKLER.sample(30, rng=0), 0.2, 1)
    p, known = probabilities(SPRINKLER, rows, name)
    assert known.all()
    for i in range(len(rows)):
        seen = {n: rows[n][i] for n in rows.schema.names if n != name and rows[n][i] is not None}
        want = SPRINKLER.p(name, given=seen)
        assert p[i] == pytest.approx(list(want.values()))


def test_probabilities_of_a_state_beside_numbers_with_gaps():
    net = mixed()
    rows = with_gaps(net.sample(40, rng=0), 0.3, 1)
    p, known = probabilities(net, rows, "s")
    assert known.all()
    frame = {n: list(rows[n]) for n in "xyz"}
    logs = [
        score_rows(net, cr.read({**frame, "s": [state] * 40}, schema=net.schema)).log
        for state in ("off", "on")
    ]
    assert p[:, 1] == pytest.approx(1 / (1 + np.exp(logs[0] - logs[1])))


def test_ranks_of_numbers_given_the_rest():
    net = mixed()
    rows = net.sample(30, rng=2)
    for name in "xyz":
        found, known = ranks(net, rows, name)
        assert known.all()
        grid = np.linspace(-12, 16, 6001)
        for i in range(0, 30, 7):
            frame = {n: [rows[n][i]] * len(grid) for n in rows.schema.names}
            frame[name] = grid.tolist()
            density = np.exp(score_rows(net, cr.read(frame, schema=net.schema)).log)
            below = density[grid <= rows[name][i]].sum() / density.sum()
            assert found[i] == pytest.approx(below, abs=0.01)


def test_ranks_with_gaps_in_the_blanket():
    net = gaussian()
    rows = cr.read({"x": [0.5, None, 0.5], "y": [None, 1.0, None], "z": [-2.0, 0.3, None]},
                   schema=net.schema)  # fmt: skip
    found, known = ranks(net, rows, "x")
    assert known.tolist() == [True, False, True]
    # x given z alone: joint Gaussian by hand
    cov_xz, var_z = -1.2 * 0.8 * 2.0, 1.44 * (0.64 * 2 + 0.5) + 1
    mean = 1.0 + cov_xz / var_z * (-2.0 + 1.96)
    sd = (2.0 - cov_xz**2 / var_z) ** 0.5
    assert found[0] == pytest.approx(norm.cdf((0.5 - mean) / sd))
    assert found[2] == pytest.approx(norm.cdf((0.5 - 1.0) / 2**0.5))


@pytest.mark.parametrize("states", [2, 4])
def test_p_values_of_honest_probabilities_are_uniform(states):
    rng = np.random.default_rng(0)
    found = []
    for _ in range(200):
        p = rng.dirichlet(np.full(states, 0.7), size=300)
        codes = (rng.random((300, 1)) > p.cumsum(axis=1)).sum(axis=1)
        found.append(_judged(p, np.minimum(codes, states - 1))[3])
    # twice the smaller of two p-values: at most the level of false alarms
    assert np.mean(np.array(found) < 0.05) < 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5
    assert np.mean(np.array(found) < 0.05) > 0.005  # and not empty of power


def test_the_error_expected_of_honest_probabilities():
    rng = np.random.default_rng(1)
    seen, expected = [], 0.0
    for _ in range(100):
        p1 = rng.random(500)
        p = np.stack([1 - p1, p1], axis=1)
        error, expected, _, _ = _judged(p, (rng.random(500) < p1).astype(int))
        seen.append(error)
    assert expected == pytest.approx(np.mean(seen), rel=0.1)


def test_probabilities_too_sure_are_found():
    rng = np.random.default_rng(2)
    truth = rng.random(2000)
    odds = (truth / (1 - truth)) ** 2  # twice as sure as is right
    p1 = odds / (1 + odds)
    _, _, z, p = _judged(np.stack([1 - p1, p1], axis=1), (rng.random(2000) < truth).astype(int))
    assert z > 4 and p < 1e-4


def test_kolmogorov_p_values_are_uniform_for_the_true_model():
    net = gaussian()
    p = [judged(net, net.sample(80, rng=500 + seed))["y"].p for seed in range(80)]
    assert kolmogorov(p) > 0.01


def test_a_true_model_is_called_honest_and_a_wrong_one_is_not():
    rows = SPRINKLER.sample(3000, rng=7)
    report = cr.check(SPRINKLER, rows, sections=["calibration"])
    assert report.findings[0].severity == "good"
    wrong = cr.fit("[rain][sprinkler][wet|rain][late]", SPRINKLER.sample(50, rng=1))
    twisted = cr.Network(SPRINKLER.dag, {**dict(SPRINKLER.distributions),
                         "late": {"no": {"a": 0.1, "b": 0.1, "c": 0.8},
                                  "yes": {"a": 0.8, "b": 0.1, "c": 0.1}}})  # fmt: skip
    found = cr.check(twisted, rows, sections=["calibration"])
    assert found.findings[0].severity == "problem"
    assert found.calibration["late"].adjusted < 1e-6
    assert len(cr.check(wrong, rows, sections=["calibration"]).calibration.discrete) == 4


def test_coverage_of_a_variance_that_is_too_small():
    net = gaussian()
    tight = cr.Network(net.dag, {n: cr.LinearGaussian(d.child, d.parents, d.intercept, d.coefficients,
                       d.variance / 4) for n, d in net.distributions.items()})  # fmt: skip
    found = cr.check(tight, net.sample(500, rng=0), sections=["calibration"]).calibration
    assert found["y"].coverage[0.9] == pytest.approx(norm.cdf(0.8224) * 2 - 1, abs=0.07)
    assert found["y"].adjusted < 1e-6


def yes_and_no(share, rows, hits):
    net = cr.Network("[x]", {"x": {"no": 1 - share, "yes": share}})
    frame = {"x": ["yes"] * hits + ["no"] * (rows - hits)}
    return cr.check(net, cr.read(frame, schema=net.schema), sections=["calibration"])


def test_what_hardly_ever_happens_is_tested_exactly():
    found = yes_and_no(1e-5, 5000, 8)
    assert found.calibration["x"].adjusted < 1e-9 and found.calibration["x"].tested
    assert "are too sure" in found.findings[0].sentence
    assert yes_and_no(1e-3, 5000, 5).calibration["x"].p > 0.5


@pytest.mark.parametrize("chances", [np.full(40, 0.1), np.linspace(0.001, 0.6, 25)])
def test_counts_by_their_exact_distribution(chances):
    rng = np.random.default_rng(0)
    counts = (rng.random((100_000, len(chances))) < chances).sum(axis=1)
    for seen in (0, 3, int(chances.sum()), 9):
        want = 2 * min((counts <= seen).mean(), (counts >= seen).mean(), 0.5)
        assert count_p(chances, seen) == pytest.approx(want, abs=0.01)


def test_few_rows_are_not_called_honest():
    for rows, hits in ((1, 0), (4, 2), (5000, 0)):
        found = yes_and_no(0.5 if rows < 10 else 1e-5, rows, hits)
        assert not found.calibration["x"].tested
        assert [f.severity for f in found.findings] == ["note"]
        assert "cannot tell" in found.findings[0].sentence
    one = cr.check(gaussian(), gaussian().sample(1, rng=0), sections=["calibration"])
    assert "1 row cannot tell" in one.findings[0].sentence


def test_only_what_was_tested_is_called_honest():
    net = cr.Network("[a][b]", {"a": 0.5, "b": 1e-6})
    found = cr.check(net, net.sample(200, rng=0), sections=["calibration"])
    assert "of 1 of 2 variables" in found.findings[0].sentence
    assert "b: too few rows" in str(found.calibration)
    alone = yes_and_no(0.5, 100, 50).findings[0].sentence
    assert "of the one variable given" in alone


def test_off_is_not_too_sure():
    blank = judged(SPRINKLER, SPRINKLER.sample(100, rng=0))
    for z, said in ((1.9, "are off"), (-1.9, "are off"), (2.1, "too sure"), (-2.1, "too careful")):
        worst = replace(blank.discrete[0], z=z, adjusted=0.001)
        assert said in replace(blank, discrete=(worst,)).findings()[0].sentence


def test_many_variables_that_are_off_are_told_together():
    rng = np.random.default_rng(0)
    rows = {f"x{i}": rng.exponential(1.0, 400) for i in range(8)}
    net = cr.fit("".join(f"[{n}]" for n in rows), rows, prior=cr.LinePrior())
    report = cr.check(net, rows, sections=["calibration"])
    assert len(report.findings) == 6
    first, last = report.findings[0], report.findings[-1]
    assert "% of its values lie where the model puts the lowest" in first.sentence
    assert first.p < 0.05 and first.variables == (first.where,)
    assert last.sentence.startswith("3 more variables are off given the others: x")
    assert len({n for f in report.findings for n in f.variables}) == 8
    assert report.findings[0].to_dict()["variables"] == [first.where]
