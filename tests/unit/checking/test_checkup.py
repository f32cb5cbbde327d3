"""The whole check: one report, ranked findings, the same every time, and kind refusals."""

import json
import time

import numpy as np
import pytest
from tests.unit.checking.nets import SPRINKLER, gaussian, mixed, with_gaps

import credo as cr
from credo.checking.report import SECTIONS
from credo.errors import CredoWarning

QUICK = {"draws": 30, "edges": 5, "folds": 4}


@pytest.fixture(scope="module")
def report():
    rows = SPRINKLER.sample(400, rng=0)
    return cr.check(cr.fit(SPRINKLER.dag, rows, prior=cr.BDeu(1)), rows, **QUICK)


def test_every_section_is_there(report):
    assert tuple(report.sections) == SECTIONS
    assert not report.left_out
    assert {f.kind for f in report.findings} <= set(SECTIONS)


def test_findings_are_ranked_sentences_with_numbers(report):
    order = ["problem", "warning", "note", "good"]
    places = [order.index(f.severity) for f in report.findings]
    assert places == sorted(places)
    for f in report.findings:
        assert f.sentence.endswith(".") and any(c.isdigit() for c in f.sentence)
        assert np.isfinite(f.number)
        assert f.advice or f.severity == "good"


def test_a_true_model_has_no_problems(report):
    assert report.is_sound and not report.problems
    assert report.sentence in ("no problem found", "1 warning found", "2 warnings found")


def test_it_prints_and_shows_and_dumps(report):
    text = str(report)
    for section in report.sections.values():
        assert str(section) in text
    page = report._repr_html_()
    assert page.count("<details>") == len(SECTIONS)
    document = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert document["version"] == 1 and document["rows"] == 400
    assert len(document["findings"]) == len(report.findings)
    assert document["predictive"]["checks"][0]["name"]
    assert "generated" not in document["predictive"] and "bits" not in document["outliers"]


def test_names_are_escaped_in_html():
    nasty = "<img onerror=1>"
    rows = {nasty: ["a", "b"] * 10, "y": ["u", "v"] * 10}
    net = cr.fit(cr.Dag([(nasty, "y")]), rows, prior=cr.BDeu(1))
    assert nasty not in cr.check(net, rows, **QUICK)._repr_html_()


def test_the_same_seed_the_same_report():
    rows = with_gaps(mixed().sample(80, rng=0), 0.1, 1)
    one, two = (cr.check(mixed(), rows, rng=5, **QUICK).to_dict() for _ in range(2))
    one.pop("seconds"), two.pop("seconds")
    assert one == two
    other = cr.check(mixed(), rows, rng=6, **QUICK).to_dict()
    assert other["predictive"] != one["predictive"]


def test_a_learner_is_run_again_without_each_fold():
    rows = SPRINKLER.sample(200, rng=0)
    seen = []

    def learner(part):
        seen.append(len(part))
        return cr.learn(part, search="hill-climb")

    found = cr.check(learner(rows), rows, learner=learner, folds=4, sections=["held_out"])
    assert seen == [200, 150, 150, 150, 150]
    assert found.how == "Learned again by learner in 4 folds."
    by_name = cr.check(SPRINKLER, rows, learner="chow-liu", folds=4, sections=["held_out"])
    assert by_name.how == "Learned again by chow-liu in 4 folds."


def test_rows_of_its_own_are_recognised():
    rows = mixed().sample(60, rng=0)
    net = cr.fit(mixed().dag, rows)
    assert "learned again" in cr.check(net, rows, sections=["held_out"]).how
    assert "as it is" in cr.check(net, mixed().sample(60, rng=1), sections=["held_out"]).how
    assert "as it is" in cr.check(net, rows, held_out=True, sections=["held_out"]).how


def test_a_saved_network_still_knows_its_rows(tmp_path):
    rows = SPRINKLER.sample(60, rng=0)
    cr.fit(SPRINKLER.dag, rows, prior=cr.BDeu(1)).save(tmp_path / "net.credo")
    again = cr.load(tmp_path / "net.credo")
    assert "learned again" in cr.check(again, rows, sections=["held_out"]).how


def test_columns_that_the_network_lacks_do_not_matter_and_hidden_ones_are_summed_out():
    rows = SPRINKLER.sample(200, rng=0)
    frame = {n: list(rows[n]) for n in ("sprinkler", "wet", "late")}
    found = cr.check(SPRINKLER, {**frame, "other": [1] * 200}, **QUICK)
    assert found.variables == 3
    assert "rain: not observed" in found.notes[0]
    assert "edges" in found.left_out  # no search can learn the edges of a hidden variable


def test_one_row_and_few_rows_and_constant_columns():
    one = cr.check(SPRINKLER, SPRINKLER.sample(1, rng=0), draws=20, edges=0)
    assert one.held_out is None and "one row" in one.left_out["held_out"]
    rows = cr.read({"a": ["x"] * 6, "b": ["u", "v"] * 3}, schema={"a": ["x"]})
    with pytest.warns(cr.errors.CredoWarning):
        net = cr.fit("[a][b]", rows, prior=cr.BDeu(1))
    assert str(cr.check(net, rows, draws=20, edges=2, folds=3))


def test_gaussian_networks_with_a_posterior():
    rows = gaussian().sample(150, rng=0)
    net = cr.fit(gaussian().dag, rows, prior=cr.LinePrior())
    found = cr.check(net, rows, **QUICK)
    assert found.is_sound
    assert found.parameters.widest[0].name.startswith("slope of")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"draws": 5}, "draws must be a whole number of 20 or more"),
        ({"folds": 1}, "folds must be a whole number of 2 or more"),
        ({"level": 1.5}, "level must lie between 0 and 1"),
        ({"sections": ["calibraton"]}, "Did you mean 'calibration'"),
        ({"statistics": 3}, "statistics must map each name to a function"),
        ({"learner": "hill-clim"}, "Did you mean 'hill-climb'"),
        ({"learner": 7}, "A learner is a function"),
        ({"rng": "x"}, "rng must be"),
    ],
)
def test_bad_options_are_refused_in_a_sentence(options, said):
    with pytest.raises(cr.errors.CredoError, match=said):
        cr.check(SPRINKLER, SPRINKLER.sample(20, rng=0), **options)


def test_bad_models_and_tables():
    with pytest.raises(cr.errors.InputError, match="check needs a Network"):
        cr.check("asia", {"a": [1]})
    with pytest.raises(cr.errors.CredoError, match="no column of the model"):
        cr.check(SPRINKLER, {"x": [1, 2]})
    with pytest.raises(cr.errors.CredoError, match="no rows"):
        cr.check(SPRINKLER, SPRINKLER.sample(5, rng=0).take([]))
    with pytest.raises(cr.errors.InputError, match="must give a network"):
        cr.check(SPRINKLER, SPRINKLER.sample(20, rng=0), learner=lambda rows: 3)


def test_parameters_are_the_intervals_of_the_tables():
    rows = SPRINKLER.sample(30, rng=0)
    net = cr.fit(SPRINKLER.dag, rows, prior=cr.BDeu(1))
    found = cr.check(net, rows, sections=["parameters"]).parameters
    low, high = net.cpt("wet").interval(0.95)
    widest = max(found.widest, key=lambda w: w.width if w.variable == "wet" else 0)
    assert widest.width == pytest.approx((high - low).max())
    assert found.count == 1 + 2 + 4 + 6


def test_edges_are_those_of_the_bootstrap():
    rows = SPRINKLER.sample(300, rng=0)
    net = cr.fit(SPRINKLER.dag.remove(("rain", "wet")), rows, prior=cr.BDeu(1))
    found = cr.check(net, rows, sections=["edges"], edges=10).edges
    assert {(e.parent, e.child) for e in found.edges} == set(net.dag.edges)
    assert frozenset(("rain", "wet")) in {frozenset((e.parent, e.child)) for e in found.lacking}
    assert found.edges[0].strength == min(e.strength for e in found.edges)


def test_few_rows_say_nothing_of_edges():
    found = cr.check(SPRINKLER, SPRINKLER.sample(4, rng=0), sections=["edges"])
    assert found.edges is None and not found.findings
    assert found.left_out["edges"] == "4 rows; edges are judged on 30 or more"


def test_constant_columns_have_no_edges():
    frame = {n: list(SPRINKLER.sample(60, rng=0)[n]) for n in SPRINKLER.names}
    frame["wet"] = ["no"] * 60
    found = cr.check(SPRINKLER, frame, sections=["edges"], edges=5)
    assert all("wet" not in (e.parent, e.child) for e in found.edges.edges + found.edges.lacking)
    assert "wet: the same in all rows" in str(found.edges)
    for name in ("rain", "late"):
        frame[name] = [frame[name][0]] * 60
    assert "never varies" in cr.check(SPRINKLER, frame, sections=["edges"]).left_out["edges"]


def test_many_rows_are_checked_by_parts_that_are_told():
    rows = SPRINKLER.sample(200_000, rng=0)
    found = cr.check(SPRINKLER, rows, draws=20, rows=2000, edges=2, folds=2)
    assert found.rows == 200_000
    assert "2,000 of 200,000 rows, drawn at random" in str(found.predictive)
    assert "2,000 of 200,000 rows, drawn at random" in str(found.calibration)
    assert found.outliers.scored == 200_000
    assert found.is_sound


def test_a_row_of_weight_k_is_k_rows_everywhere():
    rows = SPRINKLER.sample(50, rng=4)
    times = np.random.default_rng(0).integers(0, 4, 50)
    frame = {n: np.array(rows[n], dtype=object) for n in rows.schema.names}
    weighted = cr.read({**{n: c.tolist() for n, c in frame.items()}, "w": times.tolist()},
                       schema={n: list(SPRINKLER.variable(n).states) for n in frame},
                       weights="w")  # fmt: skip
    plain = cr.read({n: np.repeat(c, times).tolist() for n, c in frame.items()},
                    schema=SPRINKLER.schema)  # fmt: skip
    net = cr.fit(SPRINKLER, plain, prior=cr.BDeu(1))
    one, two = (cr.check(net, t, draws=30, edges=0, folds=5) for t in (weighted, plain))
    assert "learned again in 5 folds" in one.how
    for name in ("held_out", "predictive", "calibration", "parameters"):
        assert getattr(one, name).to_dict() == getattr(two, name).to_dict()
    for a, b in zip(one.independence.tests, two.independence.tests, strict=True):
        assert (a.name, a.test.p) == (b.name, pytest.approx(b.test.p))
    assert one.influence.total == pytest.approx(two.influence.total)
    kept = times[times > 0]
    assert np.repeat(one.influence.nats, kept) == pytest.approx(two.influence.nats)
    starts = np.concatenate([[0], np.cumsum(kept)[:-1]])
    mean = np.add.reduceat(two.outliers.bits, starts) / kept
    assert one.outliers.bits == pytest.approx(mean)


def test_one_of_a_kind_is_told_as_one():
    net = cr.fit("[a]", {"a": ["x", "y"] * 20}, prior=cr.BDeu(1))
    text = str(cr.check(net, {"a": ["x"]}, draws=20, edges=0))
    assert "check of 1 variable on 1 row:" in text
    for wrong in ("1 rows", "1 variables", "1 have", "1 parameters", "report."):
        assert wrong not in text.replace("11 ", "").replace("of 21 ", "")


def test_columns_that_no_row_has_together_are_no_error():
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(3, 80))
    half = np.arange(80) < 40
    rows = {"x": np.where(half, x, np.nan), "y": np.where(half, np.nan, y), "z": z}
    net = cr.fit("[x][y][z]", rows, prior=cr.LinePrior())
    report = cr.check(net, rows, edges=0, draws=20)
    assert report.independence.too_few == 1 and len(report.independence.tests) == 2


def test_a_section_that_is_late_is_left_out_and_named():
    rows = cr.examples.play_tennis()
    net = cr.fit("[Outlook][PlayTennis|Outlook]", rows, prior=cr.BDeu(1))

    def slow(_):
        time.sleep(0.5)
        return 0.0

    report = cr.check(net, rows, statistics={"slow": slow}, seconds=10, edges=0)
    assert report.predictive is None and report.held_out is not None
    assert report.left_out["predictive"].startswith("There was no time left for")
    whole = cr.check(net, rows, seconds=None, sections=["predictive"], draws=20)
    assert not whole.left_out
    assert "predictive" in cr.check(net, rows, seconds=1e-9).left_out
    with pytest.warns(DeprecationWarning, match="budget= of check is now seconds="):
        assert "predictive" in cr.check(net, rows, budget=1e-9).left_out


def test_a_check_without_time_says_what_it_did_not_check():
    rng = np.random.default_rng(0)
    table = cr.read({f"v{i}": rng.normal(size=40) for i in range(40)})
    net = cr.learn(table, search="chow-liu")
    report = cr.check(net, table, seconds=1e-6)
    assert {"held_out", "predictive", "edges", "outliers"} <= set(report.left_out)
    assert report.sentence == "no problem found in the time there was"
    assert "above inf bits" not in str(report)


def test_a_graph_without_edges_is_no_worse_than_itself():
    rows = {"g": ["a", "b", "b"] * 20, "h": ["x", "y"] * 30}
    report = cr.check(cr.learn(rows), rows, sections=["held_out", "edges"], edges=5)
    (found,) = report.of("held_out")
    assert found.severity == "note" and found.sentence.startswith("The graph has no edge")
    alone = {"g": rows["g"]}
    report = cr.check(cr.learn(alone), alone, sections=["edges"])
    assert report.left_out == {"edges": "one variable has no edges"}


def test_an_exact_relation_is_no_problem_of_its_distribution():
    rng = np.random.default_rng(0)
    now, change = rng.normal(5, 2, 60).round(1), rng.normal(size=60).round(1)
    rows = {"now": now, "change": change, "before": now - change}
    with pytest.warns(CredoWarning, match="do not vary around their line"):
        net = cr.learn(rows)
    report = cr.check(net, rows, sections=["calibration"])
    assert {f.severity for f in report.findings} == {"note"}
    assert any("follows from the others more closely" in f.sentence for f in report.findings)
