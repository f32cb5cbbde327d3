"""Implied independences: p-values that mean what they say, missing edges found, many tests."""

import numpy as np
import pytest
from scipy.stats import f as f_distribution
from scipy.stats import false_discovery_control
from tests.unit.checking.nets import SPRINKLER, gaussian, kolmogorov, mixed, with_gaps

import credo as cr
from credo.checking.sections.independence import independence, line_test
from credo.checking.sections.multiplicity import benjamini_hochberg, holm

# --- Implied independences: p-values that mean what they say, missing edges found ---


def implied_of(net, rows):
    return independence(net, rows, level=0.05, rng=0)


def test_the_statements_are_those_of_the_graph():
    found = implied_of(SPRINKLER, SPRINKLER.sample(2000, rng=0))
    assert {t.name for t in found.tests} == {
        str(s) for s in SPRINKLER.dag.independences("pairwise")
    }
    assert found.implied == len(found.tests) and found.too_few == 0


def test_p_values_are_uniform_when_the_model_is_true():
    by_name = {}
    for seed in range(150):
        for t in implied_of(SPRINKLER, SPRINKLER.sample(400, rng=seed)).tests:
            by_name.setdefault(t.name, []).append(t.test.p)
    for p in by_name.values():
        assert kolmogorov(p) > 0.005


def test_p_values_of_lines_are_uniform_when_the_model_is_true():
    net = mixed()
    found = {}
    for seed in range(150):
        for t in implied_of(net, net.sample(120, rng=seed)).tests:
            found.setdefault(t.name, []).append(t.test.p)
    assert set(found) == {"s ⊥ z | y", "x ⊥ z | y"} or len(found) == 2
    for p in found.values():
        assert kolmogorov(p) > 0.005


def test_a_line_test_is_the_f_test_of_least_squares():
    rng = np.random.default_rng(0)
    g = rng.integers(0, 3, 90)
    x, y = rng.normal(size=90), rng.normal(size=90)
    rows = cr.read({"g": g.tolist(), "x": x.tolist(), "y": y.tolist()}, schema={"g": "discrete"})
    moments = rows.tally([("y", ["x", "g"])])["y", ["x", "g"]]
    found = line_test(moments, "g", "y", ["x"])

    def rss(design):
        return float(np.linalg.lstsq(design, y, rcond=None)[1][0])

    one = np.eye(3)[g]
    full, null = np.hstack([one, one * x[:, None]]), np.stack([np.ones(90), x], axis=1)
    f = (rss(null) - rss(full)) / 4 / (rss(full) / 84)
    assert found.p == pytest.approx(f_distribution.sf(f, 4, 84))


def test_missing_edges_are_refuted_and_named():
    rows = SPRINKLER.sample(2000, rng=1)
    net = cr.fit(SPRINKLER.dag.remove(("sprinkler", "wet")), rows, prior=cr.BDeu(1))
    report = cr.check(net, rows, sections=["independence"])
    worst = report.independence.tests[0]
    assert {worst.test.x, worst.test.y} == {"sprinkler", "wet"}
    assert report.findings[0].severity == "problem"
    assert "Consider the edge" in report.findings[0].advice


def test_gaussian_and_mixed_edges_are_missed_too():
    for net, edge in ((gaussian(), ("y", "z")), (mixed(), ("s", "x"))):
        rows = net.sample(500, rng=1)
        less = cr.fit(net.dag.remove(edge), rows)
        found = cr.check(less, rows, sections=["independence"]).independence
        assert set(edge) in [{t.test.x, t.test.y} for t in found.refuted]


def test_too_few_rows_for_a_table_are_told_not_tested():
    rows = SPRINKLER.sample(20, rng=0)
    found = implied_of(SPRINKLER, rows)
    assert found.too_few > 0
    assert "too few rows" in str(found)


def test_columns_that_are_not_observed_are_told():
    rows = SPRINKLER.sample(300, rng=0).select(["sprinkler", "wet", "late"])
    found = cr.check(SPRINKLER, rows, sections=["independence"])
    assert "columns that are not observed" in str(found.independence)
    assert "rain: not observed in the table" in found.notes[0]


def test_gaps_leave_each_test_the_rows_it_has():
    rows = with_gaps(SPRINKLER.sample(1000, rng=0), 0.1, 1)
    found = implied_of(SPRINKLER, rows)
    assert not found.refuted
    assert "in which its variables were observed" in str(found)


# --- ---


def test_benjamini_and_hochberg_as_scipy_has_them():
    p = np.random.default_rng(0).random(50) ** 3
    assert np.allclose(benjamini_hochberg(p), false_discovery_control(p))


def test_holm_by_its_definition():
    p = np.random.default_rng(1).random(20) ** 3
    order = np.argsort(p)
    want = np.empty(20)
    for i, k in enumerate(order):
        want[k] = min(1.0, max((20 - j) * p[order[j]] for j in range(i + 1)))
    assert np.allclose(holm(p), want)
    assert holm([]).tolist() == []
