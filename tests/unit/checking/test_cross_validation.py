"""Cross-validation of any learner, and comparison of models."""

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.checking.nets import SPRINKLER, mixed, with_gaps

import credo as cr
from credo.checking.again.folds import deal
from credo.estimators import NaiveBayes


def test_folds_hold_every_row_once():
    parts = deal(23, 5, 0)
    assert sorted(np.concatenate(parts).tolist()) == list(range(23))
    assert max(map(len, parts)) - min(map(len, parts)) == 1
    assert len(deal(3, 10, 0)) == 3


def test_a_function_a_search_and_a_graph():
    rows = SPRINKLER.sample(300, rng=0)
    learners = {
        "true graph": SPRINKLER.dag,
        "function": lambda part: cr.fit(SPRINKLER.dag, part, prior=cr.BDeu(1)),
        "nothing": "[rain][sprinkler][wet][late]",
        "tree": "chow-liu",
    }
    found = cr.cross_validate(learners, rows, 5)
    assert found["function"].nats == pytest.approx(found["true graph"].nats)
    assert found.scores[-1].name == "nothing"
    total = 0.0
    for part in deal(300, 5, 0):
        rest = np.setdiff1d(np.arange(300), part)
        net = cr.fit(SPRINKLER.dag, rows.take(rest), prior=cr.BDeu(1))
        total += net.log_likelihood(rows.take(part))
    assert found["function"].nats == pytest.approx(total / 300)
    assert found["nothing"].lead == pytest.approx(found.best.nats - found["nothing"].nats)
    assert "does best" in found.findings()[0].sentence


def test_a_target_and_classifiers():
    pytest.importorskip("pandas")
    from sklearn.linear_model import LogisticRegression

    rows = mixed().sample(200, rng=0)
    found = cr.cross_validate(
        {"ours": NaiveBayes(), "theirs": LogisticRegression(), "net": mixed().dag},
        rows, 4, target="s",
    )  # fmt: skip
    assert found.best.name == "net" and found.accuracy["net"] > 0.7
    assert all(0.5 < a <= 1 for a in found.accuracy.values())
    assert -1 < found["theirs"].nats < 0
    with pytest.raises(cr.errors.InputError, match="predicts one column"):
        cr.cross_validate(NaiveBayes(), rows, 4)


def test_gaps_and_weights():
    rows = with_gaps(SPRINKLER.sample(150, rng=0), 0.1, 1)
    found = cr.cross_validate(["[rain][sprinkler|rain][wet|rain:sprinkler][late|rain]"], rows, 3)
    assert found.best.unknown == 0 and found.rows == 150
    of = cr.cross_validate(SPRINKLER.dag, rows, 3, target="wet")
    assert 0 < of.accuracy[of.best.name] <= 1
    assert of.best.unknown == sum(v is None for v in rows["wet"])


def test_ctrl_c_within_a_fold_stops_everything():
    rows = SPRINKLER.sample(60, rng=0)
    seen = []

    def learner(part):
        seen.append(len(part))
        net = cr.fit(SPRINKLER.dag, part, prior=cr.BDeu(1))
        return net.with_record(replace(net.record, reason="interrupted"))

    for call in (
        lambda: cr.cross_validate(learner, rows, 4),
        lambda: cr.check(SPRINKLER, rows, learner=learner, folds=4),
    ):
        seen.clear()
        with pytest.raises(KeyboardInterrupt):
            call()
        assert len(seen) == 1


def test_ctrl_c_within_a_baseline_stops_everything(monkeypatch):
    from credo.train.structure import searches

    def stopped(search):
        raise KeyboardInterrupt

    monkeypatch.setattr(searches, "_function", stopped)
    with pytest.raises(KeyboardInterrupt):
        cr.check(SPRINKLER, SPRINKLER.sample(60, rng=0), sections=["held_out"], folds=3)


def test_refusals():
    rows = SPRINKLER.sample(30, rng=0)
    for call, said in (
        (lambda: cr.cross_validate("tabuu", rows), "Did you mean 'tabu'"),
        (lambda: cr.cross_validate([], rows), "at least one learner"),
        (lambda: cr.cross_validate("tabu", rows, 1), "folds must be"),
        (lambda: cr.cross_validate("tabu", rows, target="wett"), "Did you mean 'wet'"),
        (lambda: cr.cross_validate("tabu", mixed().sample(9, rng=0), target="x"), "is continuous"),
        (lambda: cr.cross_validate("tabu", rows.take([0])), "at least 2 rows"),
    ):
        with pytest.raises(cr.errors.CredoError, match=said):
            call()


# --- models beside each other ---------------------------------------------------------------


def test_graphs_edge_by_edge():
    found = cr.compare({"one": SPRINKLER, "two": SPRINKLER.dag.remove(("rain", "late"))})
    assert found.distances["one", "two"] == SPRINKLER.dag.shd(
        SPRINKLER.dag.remove(("rain", "late"))
    )
    assert found.graphs["one", "two"].missing == (("rain", "late"),)
    assert "missing   1  rain → late" in str(found)


def test_models_on_rows_with_paired_errors():
    rows = SPRINKLER.sample(500, rng=0)
    less = cr.fit(
        SPRINKLER.dag.remove(("rain", "late")), SPRINKLER.sample(500, rng=1), prior=cr.BDeu(1)
    )
    found = cr.compare({"true": SPRINKLER, "less": less}, rows)
    each = [
        SPRINKLER.log_likelihood(rows.take([i])) - less.log_likelihood(rows.take([i]))
        for i in range(500)
    ]
    assert found.best.name == "true"
    behind = found.scores[1]
    assert behind.lead == pytest.approx(np.mean(each))
    assert behind.lead_error == pytest.approx(np.std(each, ddof=1) / 500**0.5)
    assert found.to_dict()["scores"][1]["lead"] == pytest.approx(np.mean(each))


def test_models_learned_from_the_rows_are_learned_again():
    rows = SPRINKLER.sample(100, rng=0)
    own = cr.fit(SPRINKLER.dag, rows, prior=cr.BDeu(1))
    found = cr.compare({"own": own, "graph": SPRINKLER.dag}, rows, folds=5)
    assert found.how["own"] == "learned again in 5 folds"
    assert found.scores[0].nats == pytest.approx(found.scores[1].nats)


def test_what_cannot_be_compared():
    with pytest.raises(cr.errors.InputError, match="Two models or more"):
        cr.compare({"one": SPRINKLER})
    with pytest.raises(cr.errors.InputError, match="same nodes"):
        cr.compare({"one": SPRINKLER, "two": "[a][b]"})
    with pytest.raises(cr.errors.InputError, match="different variables"):
        cr.compare({"one": SPRINKLER, "two": mixed()}, SPRINKLER.sample(10, rng=0))
    with pytest.raises(cr.errors.InputError, match="A model is a Network"):
        cr.compare([SPRINKLER, 3])
