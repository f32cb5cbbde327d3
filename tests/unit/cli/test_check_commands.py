"""`credo check`, `credo compare`, `credo sensitivity` and `credo value`."""

import json

import pytest
from click.testing import CliRunner
from tests.in_process import call, credo
from tests.unit.checking.nets import SPRINKLER

import credo as cr
from credo import cli


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("check")
    SPRINKLER.sample(300, rng=0, path=folder / "rows.csv")
    rows = cr.read(str(folder / "rows.csv"))
    cr.fit(SPRINKLER.dag, rows, prior=cr.BDeu(1)).save(folder / "fitted.credo")
    cr.fit("[rain][sprinkler][wet][late]", rows, prior=cr.BDeu(1)).save(folder / "none.credo")
    SPRINKLER.save(folder / "true.bif")
    return folder


def test_check_tells_findings_and_sections(files):
    out = call("check", files / "fitted.credo", files / "rows.csv", "--draws", 30, "--edges", 3)
    assert "parameters learned again in 5 folds" in out
    for said in ("held-out log-likelihood", "generated tables", "calibration of each variable",
                 "independences that the graph implies", "edges learned again", "rows by surprise",
                 "parameters by how open they are", "influence of single rows"):  # fmt: skip
        assert said in out
    brief = call("check", files / "none.credo", files / "rows.csv", "--draws", 40, "--edges", 0,
                 "--brief")  # fmt: skip
    assert "✗" in brief and "rows by surprise" not in brief


def test_check_as_json(files):
    out = call("check", files / "true.bif", files / "rows.csv", "--json", "--draws", 20,
               "--section", "held_out", "--section", "calibration", "--folds", 3)  # fmt: skip
    document = json.loads(out)
    assert document["version"] == 1 and document["rows"] == 300
    assert document["held_out"]["model"]["nats"] < 0
    assert {"held_out", "calibration"} <= set(document) and "predictive" not in document
    assert document["findings"][0]["severity"] in ("problem", "warning", "note", "good")


def test_check_options(files):
    out = call("check", files / "fitted.credo", files / "rows.csv", "--not-seen",
               "--section", "held_out")  # fmt: skip
    assert "judged as it is" in out
    out = call("check", files / "fitted.credo", files / "rows.csv", "--learner", "chow-liu",
               "--section", "held_out", "--folds", 3)  # fmt: skip
    assert "Learned again by chow-liu in 3 folds." in out


def test_compare_graphs_and_models_on_rows(files):
    out = call("compare", "[A][B|A]", "[A][B]")
    assert "SHD([A][B|A], [A][B]) = 1" in out and "missing   1  A → B" in out
    out = call("compare", files / "true.bif", files / "none.credo", files / "fitted.credo",
               "--data", files / "rows.csv")  # fmt: skip
    assert "bits a row" in out and "3 models on 300 rows" in out
    document = json.loads(call("compare", files / "true.bif", files / "none.credo",
                               "--data", files / "rows.csv", "--json"))  # fmt: skip
    assert document["scores"][0]["name"] == "true.bif"
    assert document["graphs"][0]["shd"] == 4


def test_sensitivity(files):
    out = call("sensitivity", files / "true.bif", "P(rain=yes | wet=yes)", "--threshold", 0.7)
    assert out.startswith("P(rain=yes | wet=yes) = ") and "P(rain=yes)" in out
    document = json.loads(
        call("sensitivity", files / "true.bif", "P(rain=yes | wet=yes)", "--json")
    )
    assert document["version"] == 1 and document["parameters"][0]["needed"] is not None


def test_value(files):
    out = call("value", files / "true.bif", "rain", "--given", "sprinkler=no")
    assert out.splitlines()[0] == "what would tell most of rain given sprinkler=no"
    document = json.loads(call("value", files / "true.bif", "rain", "--among", "late", "--cost",
                               "late=2", "--json"))  # fmt: skip
    assert [g["variable"] for g in document["gains"]] == ["late"]
    after = call("value", files / "true.bif", "rain", "--given", "do(sprinkler=no)")
    assert "wet" in after


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["check", "true.bif", "nothing.csv"], "no file"),
        (
            ["check", "true.bif", "rows.csv", "--section", "calibraton"],
            "Did you mean 'calibration'",
        ),
        (["check", "true.bif", "other.csv"], "no column of the model"),
        (["check", "true.bif", "rows.csv", "--folds", "1"], "folds must be"),
        (["compare", "true.bif"], "Two models or more"),
        (["compare", "true.bif", "[A][B]"], "same nodes"),
        (["sensitivity", "true.bif", "P(rain | wet=yes)"], "probability of an event"),
        (["value", "true.bif", "rian"], "Did you mean 'rain'"),
        (["value", "true.bif", "rain", "--cost", "wet"], "NAME=NUMBER"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(files, args, said):
    (files / "other.csv").write_text("x,y\n1,2\n3,4\n")
    done = credo(*args, cwd=files)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: ") and said in done.stderr
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == 1


def test_a_budget_is_for_every_section(files):
    words = ["check", files / "fitted.credo", files / "rows.csv", "--seconds"]
    late = CliRunner().invoke(cli.app, [*map(str, words), "1e-9"], standalone_mode=False)
    assert "There was no time left for" in late.output + str(late.exception or "")
    none = CliRunner().invoke(cli.app, [*map(str, words), "0"], standalone_mode=False)
    assert "--seconds must be a number above 0" in str(none.exception)
