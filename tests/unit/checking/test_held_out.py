"""Held-out likelihood: against folds learned by hand; weights; rows that are ruled out."""

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.checking.nets import SPRINKLER, with_gaps

import credo as cr
from credo.checking.again.folds import deal
from credo.checking.again.row_scores import Score, mean_error
from credo.checking.sections.held_out import HeldOut

SECTION = ["held_out"]


def held(net, rows, **options):
    return cr.check(net, rows, sections=SECTION, **options).held_out


def test_rows_the_network_has_not_seen_judge_it_as_it_is():
    rows = SPRINKLER.sample(500, rng=1)
    report = cr.check(SPRINKLER, rows, sections=SECTION)
    assert report.how == "The network is judged as it is, on rows it has not seen."
    assert report.held_out.model.nats == pytest.approx(SPRINKLER.log_likelihood(rows) / 500)
    each = np.array([SPRINKLER.log_likelihood(rows.take([i])) for i in range(500)])
    assert report.held_out.model.error == pytest.approx(each.std(ddof=1) / 500**0.5)
    assert report.held_out.model.bits == pytest.approx(report.held_out.model.nats / np.log(2))


def test_own_rows_judge_parameters_learned_without_them():
    rows = SPRINKLER.sample(200, rng=1)
    net = cr.fit(SPRINKLER.dag, rows, prior=cr.BDeu(4))
    report = cr.check(net, rows, sections=SECTION, folds=5)
    assert "learned again in 5 folds" in report.how
    seed = int(np.random.default_rng(0).integers(2**62))
    total = 0.0
    for part in deal(200, 5, seed):
        rest = np.setdiff1d(np.arange(200), part)
        fold = cr.fit(SPRINKLER.dag, rows.take(rest), prior=cr.BDeu(4))
        total += fold.log_likelihood(rows.take(part))
    assert report.held_out.model.nats == pytest.approx(total / 200)
    assert report.held_out.model.nats < net.log_likelihood(rows) / 200  # no flattery


def test_baselines_are_behind_the_true_model_by_what_they_lack():
    rows = SPRINKLER.sample(4000, rng=2)
    found = held(SPRINKLER, rows)
    alone = found["independent columns"]
    # the information that the columns have on each other, exactly
    asked = [SPRINKLER.p(n) for n in SPRINKLER.names], [SPRINKLER.p(list(SPRINKLER.names))]
    alone_h, joint_h = (sum(-sum(p * np.log(p) for p in d.values()) for d in ds) for ds in asked)
    gap = alone_h - joint_h
    assert alone.lead == pytest.approx(gap, abs=4 * alone.lead_error)
    assert found["best tree"].lead > 0
    assert {b.name for b in found.baselines} == {"independent columns", "best tree", "saturated"}


def test_the_paired_error_is_that_of_the_differences():
    rows = SPRINKLER.sample(300, rng=3)
    found = held(SPRINKLER, rows)
    assert found["saturated"].lead_error < found.model.error / 2  # what is hard for both cancels


def test_a_weight_is_a_number_of_copies():
    rows = SPRINKLER.sample(60, rng=4)
    frame = {n: list(rows[n]) for n in rows.schema.names}
    weights = np.random.default_rng(0).integers(0, 4, 60)
    weighted = cr.read({**frame, "w": weights.tolist()}, schema=None, weights="w")
    copies = cr.read({n: np.repeat(np.array(c, dtype=object), weights).tolist() for n, c in frame.items()},
                     schema=SPRINKLER.schema)  # fmt: skip
    one = held(SPRINKLER, weighted, held_out=True).model
    two = held(SPRINKLER, copies, held_out=True).model
    assert (one.nats, one.error, one.rows) == pytest.approx((two.nats, two.error, two.rows))


def test_rows_ruled_out_are_counted_and_told():
    net = cr.fit("[a][b|a]", {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]})
    rows = {"a": [0, 1, 0, 0], "b": [0, 1, 1, 0]}
    report = cr.check(net, rows, sections=SECTION, held_out=True)
    assert report.held_out.model.impossible == 1
    assert report.held_out.model.nats == pytest.approx(np.log(0.5))
    top = report.findings[0]
    assert (top.severity, top.number) == ("problem", 1)
    assert "rules out 1 of 4 rows (25.00%)" in top.sentence and "prior" in top.advice


def test_a_model_worse_than_independent_columns_is_a_problem():
    wrong = cr.Network(
        "[a][b|a]", {"a": 0.5, "b": {0: 0.1, 1: 0.9}}, states={"a": (0, 1), "b": (0, 1)}
    )
    rng = np.random.default_rng(0)
    rows = {"a": rng.integers(0, 2, 400).tolist(), "b": rng.integers(0, 2, 400).tolist()}
    report = cr.check(wrong, rows, sections=SECTION)
    assert report.findings[0].severity == "problem"
    assert "worse than independent columns" in report.findings[0].sentence


def test_gaps_are_summed_out_and_learned_with():
    rows = with_gaps(SPRINKLER.sample(300, rng=5), 0.15, 6)
    net = cr.em(SPRINKLER.dag, rows, cr.BDeu(2))
    report = cr.check(net, rows, sections=SECTION, folds=3, held_out=False)
    assert "learned again in 3 folds" in report.how
    assert report.held_out.model.unknown == 0
    assert report.held_out["independent columns"].lead > 0
    assert "saturated" in report.held_out.left_out


def test_mean_and_error_with_weights():
    values, weights = np.array([1.0, 2.0, 4.0]), np.array([2.0, 1.0, 3.0])
    copies = np.repeat(values, weights.astype(int))
    assert mean_error(values, weights) == pytest.approx(
        (copies.mean(), copies.std(ddof=1) / 6**0.5)
    )
    assert mean_error(np.zeros(0), np.zeros(0)) == (0.0, 0.0)


def test_a_lead_of_next_to_nothing_is_none():
    model, alone = (Score(n, -3.0, 0.01, 100.0) for n in ("the model", "independent columns"))
    for lead, said in ((-6.8e-17, "note"), (-0.005, "warning"), (-0.5, "problem")):
        baseline = replace(alone, lead=lead, lead_error=abs(lead) / 100)
        (found,) = HeldOut("", model, (baseline,), {}).findings()
        assert found.severity == said
        assert ("does worse" in found.sentence) == (said == "problem")
