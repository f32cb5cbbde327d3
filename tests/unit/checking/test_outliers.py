"""Outliers: false alarms as rare as said, strange rows found with what is strange."""

import numpy as np
import pytest
from tests.unit.checking.nets import SPRINKLER, gaussian, with_gaps

import credo as cr


def found_in(net, rows, **options):
    return cr.check(net, rows, sections=["outliers"], draws=40, **options).outliers


def test_surprise_is_in_bits():
    rows = SPRINKLER.sample(50, rng=0)
    found = found_in(SPRINKLER, rows)
    each = [-SPRINKLER.log_likelihood(rows.take([i])) / np.log(2) for i in range(50)]
    assert found.bits == pytest.approx(each)
    assert found.mean == pytest.approx(np.mean(each))
    assert [o.row for o in found.rows[:3]] == (
        1 + np.argsort(-np.array(each), kind="stable")[:3]
    ).tolist()


def test_one_table_in_twenty_of_the_true_model_has_an_outlier():
    net = gaussian()
    alarms = [bool(found_in(net, net.sample(100, rng=seed), rng=seed).above) for seed in range(40)]
    assert np.mean(alarms) <= 0.05 + 3 * (0.05 * 0.95 / 40) ** 0.5


def test_a_strange_row_is_found_with_its_family():
    net = gaussian()
    rows = net.sample(200, rng=3)
    frame = {n: list(rows[n]) for n in "xyz"}
    frame["y"][17] += 12.0
    report = cr.check(net, frame, sections=["outliers"], draws=50)
    top = report.outliers.rows[0]
    assert top.row == 18 and top.family in ("p(y | x)", "p(z | y)")
    assert "row 18" in report.findings[0].sentence


def test_an_impossible_row_comes_first_and_is_finite_in_json():
    net = cr.fit("[a][b|a]", {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]})
    report = cr.check(net, {"a": [0, 1, 0], "b": [0, 1, 1]}, sections=["outliers"], held_out=True,
                      draws=20)  # fmt: skip
    top = report.outliers.rows[0]
    assert top.row == 3 and top.impossible and np.isfinite(top.bits)
    assert "probability zero" in report.findings[0].sentence


def test_rows_with_gaps_are_judged_by_what_they_have():
    rows = with_gaps(SPRINKLER.sample(100, rng=0), 0.2, 1)
    found = found_in(SPRINKLER, rows)
    assert found.scored == 100 and found.above == 0


def test_rows_in_folds_are_compared_with_rows_of_their_fold():
    rows = gaussian().sample(60, rng=0)
    net = cr.fit(gaussian().dag, rows, prior=cr.LinePrior())
    found = found_in(net, rows)
    assert found.threshold < np.inf and "generated tables, learned again" in found.notes[0]
    assert not found_in(net, gaussian().sample(200, rng=1)).notes


@pytest.mark.slow
def test_small_tables_of_many_states_give_no_false_alarms():
    """Where each row is the only one of its kind, no row is an outlier for being so."""
    states = {n: [f"{n}{i}" for i in range(5)] for n in "abc"}
    rng = np.random.default_rng(0)
    alarms = 0
    for seed in range(12):
        rows = cr.read({n: rng.choice(s, 40).tolist() for n, s in states.items()})
        net = cr.fit("[a][b|a][c|b]", rows, prior=cr.BDeu(1))
        alarms += bool(found_in(net, rows, rng=seed).above)
    assert alarms <= 3  # 5 % of tables are expected: P(more than 3 of 12) is 0.2 %


def test_a_strange_row_of_a_small_table_is_found():
    rows = gaussian().sample(50, rng=3)
    frame = {n: list(rows[n]) for n in "xyz"}
    frame["y"][17] += 15.0
    net = cr.fit(gaussian().dag, frame, prior=cr.LinePrior())
    found = found_in(net, frame)
    assert found.above >= 1 and found.rows[0].row == 18


def test_small_tables_with_gaps_say_that_the_threshold_is_rough():
    rows = with_gaps(SPRINKLER.sample(60, rng=0), 0.1, 1)
    net = cr.em(SPRINKLER.dag, rows, prior=cr.BDeu(1))
    assert any("rough" in note for note in found_in(net, rows).notes)
