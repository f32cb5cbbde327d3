"""`credo em` and `credo impute`."""

import json

import pytest
from click.testing import CliRunner
from tests.in_process import call

import credo as cr
from credo import cli
from credo.errors import CredoError

ROWS = "Burglary,Alarm\nno,off\nno,off\n,on\nyes,on\n"


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text(ROWS)
    return path


GRAPH = "[Burglary][Alarm|Burglary]"


def test_em_learns_and_writes(tmp_path, rows):
    model = tmp_path / "m.credo"
    out = call("em", GRAPH, rows, "-o", model)
    assert "em from days.csv" in out and "stopped: a step changed no parameter" in out
    assert "Alarm | Burglary" in out and "wrote m.credo" in out
    assert cr.load(model).p("Burglary")["yes"] == pytest.approx(0.5)
    report = json.loads(call("em", GRAPH, rows, "--prior", "k2", "--json", "--max-iter", "3"))
    assert len(report["trace"]) == report["iterations"] + 1
    assert report["missing"] == {"Burglary": 0.25}
    again = json.loads(call("em", model, rows, "--start", model, "--json"))
    assert again["log_likelihood"] == pytest.approx(cr.load(model).log_likelihood(rows))
    hidden = call("em", "[C][Burglary|C][Alarm|C]", rows, "--hidden", "C=2", "--restarts", "2")
    assert "names of the states are arbitrary" in hidden


def test_impute_fills(tmp_path, rows):
    model = tmp_path / "m.credo"
    call("em", GRAPH, rows, "-o", model)
    out = call("impute", model, rows)
    assert "1 gap filled in 1 column of 4 rows" in out and "yes" in out
    filled = tmp_path / "filled.csv"
    call("impute", model, rows, "-o", filled)
    assert cr.read(filled).values("Burglary").tolist() == ["no", "no", "yes", "yes"]
    known = json.loads(call("impute", model, rows, "--method", "posterior", "--json"))
    assert known["gaps"][0]["row"] == 3
    assert known["gaps"][0]["distribution"]["yes"] == pytest.approx(1)
    assert "most probable" in call("impute", model, rows, "--method", "posterior")
    for ending in ("csv", "parquet", "jsonl"):
        name = tmp_path / f"c.{ending}"
        call("impute", model, rows, "--copies", "2", "-o", name, "--seed", "3")
        for k in (1, 2):
            assert len(cr.read(tmp_path / f"c-{k}.{ending}")) == 4
    whole = json.loads(call("impute", model, rows, "--json"))
    assert whole["filled"] == {"Burglary": 1} and whole["table"][2]["Burglary"] == "yes"


def test_stepwise_keeps_the_states_of_the_file(tmp_path):
    rows, model, made = (tmp_path / n for n in ("rows.csv", "m.credo", "made.credo"))
    rows.write_text("A\n" + "yes\n" * 90 + "no\n" * 10)
    cr.Network("[A]", {"A": {"yes": 0.5, "no": 0.5}}).save(model)
    for given in ((model, rows), ("[A]", rows, "--start", model)):
        call("em", *given, "--method", "stepwise", "-o", made)
        assert cr.load(made).p("A")["yes"] == pytest.approx(0.9)


def test_nothing_to_impute_is_no_success(tmp_path, rows):
    model, other = tmp_path / "m.credo", tmp_path / "other.csv"
    call("em", GRAPH, rows, "-o", model)
    other.write_text("z\n1\n2\n1\n")
    done = CliRunner().invoke(cli.app, ["impute", str(model), str(other)])
    assert isinstance(done.exception, CredoError)
    assert "The rows have no column of the model" in str(done.exception)


def test_bad_options_are_one_sentence(tmp_path, rows):
    model = tmp_path / "m.credo"
    call("em", GRAPH, rows, "-o", model)
    for args, text in [
        (("impute", model, rows, "--copies", "2"), "--copies needs --output"),
        (("impute", model, rows, "-o", tmp_path / "x.xyz"), "not that of a file of rows"),
        (("impute", model, rows, "--method", "posterior", "-o", "x.csv"), "leave -o out"),
        (("em", GRAPH, rows, "--hidden", "C"), "NAME=STATES"),
        (("em", GRAPH, rows, "--hidden", "C=x"), "must be a number"),
    ]:
        with pytest.raises(CredoError, match=text):
            CliRunner().invoke(cli.app, [str(a) for a in args], catch_exceptions=False)
