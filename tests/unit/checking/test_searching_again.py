"""Rows that a graph was chosen with do not judge it: the search is made again without each fold."""

import numpy as np
import pytest

import credo as cr
from credo.checking.again.folds import deal
from credo.model.values.record import Record
from credo.train.structure.recipe import arguments_of, recipe_of


def noise(n=60, k=12, seed=0):
    rng = np.random.default_rng(seed)
    return {f"v{i}": [f"s{x}" for x in rng.integers(0, 3, n)] for i in range(k)}


def held(net, rows, **options):
    return cr.check(net, rows, sections=["held_out"], **options)


def test_a_graph_found_in_noise_earns_no_praise():
    rows = noise()
    net = cr.learn(rows, parameters=cr.BDeu(1))
    assert net.dag.edges
    report = held(net, rows)
    assert "graph (by hill-climbing) and parameters learned again in 5 folds" in report.how
    assert not [f for f in report.findings if f.severity == "good"]
    assert report.findings[0].sentence.startswith("On rows not seen the model does worse")


def test_the_score_is_that_of_learning_by_hand_without_each_fold():
    rows = cr.read(noise(40, 5))
    net = cr.learn(rows, "bic", max_parents=1, parameters=cr.BDeu(2))
    report = held(net, rows, folds=4, rng=3)
    from credo.checking.checkup import SECTIONS

    chance = np.random.default_rng(3)
    seeds = {n: int(chance.integers(2**62)) for n in ("folds", "rows", "draws", *SECTIONS)}
    total = 0.0
    for part in deal(40, 4, seeds["folds"]):
        rest = np.setdiff1d(np.arange(40), part)
        by_hand = cr.learn(rows.take(rest), "bic", max_parents=1, parameters=cr.BDeu(2))
        total += by_hand.log_likelihood(rows.take(part))
    assert report.held_out.model.nats == pytest.approx(total / 40, abs=1e-12)


def test_the_record_and_the_file_say_how_the_graph_was_searched(tmp_path):
    rows = cr.read(noise(50, 4))
    net = cr.learn(
        rows, "bdeu", "hill-climb", ess=3, forbidden=[("v0", "v1")], tiers=[["v0", "v1"], ["v2"]],
        max_parents={"v3": 1}, rng=7, restarts=2, seconds=9, parameters=cr.Laplace(0.5),
        candidates={"v2": ["v0", "v3"]},
    )  # fmt: skip
    net.save(tmp_path / "net.credo")
    for one in (net, cr.load(tmp_path / "net.credo")):
        told = arguments_of(one.record)
        assert told == {
            "score": "bdeu", "search": "hill-climb", "ess": 3, "forbidden": [("v0", "v1")],
            "tiers": [["v0", "v1"], ["v2"]], "max_parents": {"v3": 1}, "rng": 7, "restarts": 2,
            "parameters": cr.Laplace(0.5), "candidates": {"v2": ["v0", "v3"]},
        }  # fmt: skip
        assert "graph and parameters" in held(one, rows, folds=3).how


def test_what_cannot_be_searched_again_is_said_and_not_praised():
    rows = cr.examples.play_tennis().take(np.repeat(np.arange(14), 20))
    plain = cr.learn(rows, "bic", parameters=cr.BDeu(1))

    def own(counts):
        return float(-counts.dense().values.size)

    net = cr.learn(rows, own, required=plain.dag.edges, parameters=cr.BDeu(1))
    report = held(net, rows, folds=3)
    assert "the graph was chosen with all rows (its score is a function)" in report.how
    first = report.held_out.findings()[0]
    assert first.severity == "note" and first.sentence.startswith("On rows that its graph")
    assert "flatters" in first.advice
    assert report.held_out.chosen == "its score is a function"
    assert "says how" not in held(plain, rows, folds=3).how


def test_rows_that_are_new_and_graphs_that_were_given_are_judged_as_before():
    rows = cr.read(noise(60, 4))
    net = cr.learn(rows)
    assert "as it is" in held(net, noise(60, 4, seed=1)).how
    given = cr.fit("[v0][v1|v0][v2][v3]", rows, prior=cr.BDeu(1))
    assert "parameters learned again in 5 folds, graph kept" in held(given, rows).how


def test_gaps_are_searched_again_by_structural_em():
    rows = noise(40, 3)
    rows["v1"][3] = rows["v2"][7] = None
    net = cr.learn(rows, max_parents=1)
    assert "parameters learned again in 3 folds" in held(net, rows, folds=3).how


def test_searches_that_are_cut_short_are_said():
    rows = noise(80, 40)
    net = cr.learn(rows, search="order", seconds=1)
    report = held(net, rows, folds=2, seconds=0.6)
    assert "cut short at 0.1 s" in report.how
    with pytest.raises(cr.errors.CredoError, match="seconds must be a number above 0"):
        held(net, rows, seconds=0)


def test_comparing_models_searches_again_too():
    rows = noise()
    net = cr.learn(rows, parameters=cr.BDeu(1))
    empty = cr.Dag([], list(rows))
    found = cr.compare({"learned": net, "empty": empty}, rows, folds=4)
    assert found.best.name == "empty"
    assert (
        found.how["learned"] == "graph (by hill-climbing) and parameters learned again in 4 folds"
    )


def test_settings_without_a_plain_form():
    usual = ("auto", "structural-em", None, "auto")
    assert "cannot" in recipe_of("bic", *usual, {"edge_prior": np.ones((2, 2))})
    assert "read only once" in recipe_of("bic", *usual, {"required": iter([("a", "b")])})["cannot"]
    odd = recipe_of("bic", "auto", "structural-em", None, cr.Beta(1, 1), {})
    assert "Beta, has no plain form" in odd["cannot"]
    line = cr.LinePrior(kappa=1, alpha=2, beta=1, ridge=1)
    plain = recipe_of("bic", "auto", "complete-rows", "[a][b|a]", {"a": line, "b": None}, {})
    record = Record("learned", details={"search": "auto", "recipe": plain})
    told = arguments_of(record)
    assert told["parameters"] == {"a": line, "b": None} and told["missing"] == "complete-rows"
    assert told["start"] == cr.Dag([("a", "b")])
    broken = Record("learned", details={"search": "auto", "recipe": {"parameters": ["No"]}})
    assert arguments_of(broken) == (
        "its record does not say plainly how the graph was searched for"
    )
    old = Record("learned", details={"search": "auto"})
    assert arguments_of(old) == "its record does not say how the graph was searched for"
    assert arguments_of(Record("read")) is None
