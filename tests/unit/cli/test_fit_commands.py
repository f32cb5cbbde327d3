"""'credo fit', 'credo em' and 'credo impute'."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.in_process import call

import credo as cr
from credo import cli
from credo.errors import CredoError

# --- `credo fit` and `credo ask --interval` ---


PATH = str(cr.examples.path("pneumonia"))


def test_fit_ask_and_update(tmp_path):
    model = tmp_path / "m.credo"
    out = call("fit", "[Pneu][Fev|Pneu]", PATH, "-o", model, "--prior", "bdeu", "--ess", "4")
    assert (
        "fit from pneumonia.csv" in out and "Fev | Pneu  BDeu(4)" in out and "wrote m.credo" in out
    )
    net = cr.load(model)
    assert net == cr.fit("[Pneu][Fev|Pneu]", PATH, cr.BDeu(4))
    out = call("ask", model, "P(Fev=T | Pneu=T)", "--interval", "0.9")
    assert "90 %: " in out and "1,000 draws" in out
    report = json.loads(
        call("ask", model, "P(Fev=T | Pneu=T)", "P(Fev)", "--interval", "0.9", "--json")
    )
    first, second = report["answers"]
    answer = net.ask("P(Fev=T | Pneu=T)", interval=0.9)
    assert first["interval"] == {
        "level": 0.9, "low": answer.low, "high": answer.high, "draws": 1000, "error": answer.error,
    }  # fmt: skip
    assert [c["low"] for c in second["distribution"]] == net.p("Fev", interval=0.9).low.tolist()
    out = call("fit", model, PATH, "--update", "-o", model, "--json")
    assert json.loads(out)["rows"] == 24
    assert cr.load(model) == net.update(PATH)


def test_fit_keeps_the_states_of_a_network(tmp_path):
    v = cr.Variable("Pneu", "discrete", ("T", "?", "F"))
    cr.Network("[Pneu]", {"Pneu": cr.Cpt(v, (), [0.2, 0.3, 0.5])}).save(tmp_path / "n.credo")
    call("fit", tmp_path / "n.credo", PATH, "--prior", "k2", "-o", tmp_path / "o.credo")
    assert cr.load(tmp_path / "o.credo").cpt("Pneu").counts.tolist() == [6, 1, 8]
    report = json.loads(call("fit", "[Pneu]", PATH, "--states", "Pneu=T,maybe,F", "--json"))
    assert report["families"][0]["zeros"] == 1 and report["log_marginal"] is None


def test_fit_with_weights_lines_and_laplace(tmp_path):
    path = str(cr.examples.path("spam_emails_weighted"))
    report = json.loads(call("fit", "[Spam][Free|Spam]", path, "--weights", "Weight", "--json",
                             "--prior", "laplace", "--ess", "0.5", "--estimate", "mean"))  # fmt: skip
    assert report["rows"] == 3 and report["families"][0]["prior"] == "Laplace(0.5)"
    rng = np.random.default_rng(0)
    x = rng.normal(size=30)
    cr.read({"x": x, "y": x + rng.normal(size=30)}).to("pandas").to_csv(
        tmp_path / "l.csv", index=False
    )
    call("fit", "[x][y|x]", tmp_path / "l.csv", "--prior", "bdeu", "-o", tmp_path / "l.credo")
    report = json.loads(
        call("ask", tmp_path / "l.credo", "P(y | x=1)", "--interval", "0.9", "--json")
    )
    assert report["answers"][0]["mean_interval"]["low"] < report["answers"][0]["mean"]
    assert "sd_interval" in report["answers"][0]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["fit", "[A]", PATH], "Variable 'A' is not in the table"),
        (["fit", "[Pneu", PATH], "The graph cannot be read"),
        (["fit", "nowhere.bif", PATH], "nowhere.bif"),
        (["fit", "[Pneu]", PATH, "--ess", "3"], "--ess goes with --prior bdeu or laplace"),
        (["fit", "[Pneu]", PATH, "--prior", "bdeu", "--ess", "-3"], "The ess of BDeu"),
        (["fit", "[Pneu]", PATH, "--update"], "--update needs a network file"),
        (["fit", "[Pneu]", PATH, "--update", "--prior", "k2"], "--update keeps the prior"),
        (["fit", "[Pneu]", PATH, "--estimate", "map"], "estimate='map' needs a prior"),
    ],
)
def test_bad_input_is_one_sentence(args, says):
    with pytest.raises(CredoError, match=says):
        CliRunner().invoke(cli.app, args, catch_exceptions=False)


def test_a_network_without_posterior_says_what_to_do(tmp_path):
    cr.Network("[a]", {"a": 0.3}).save(tmp_path / "a.bif")
    with pytest.raises(CredoError, match="has no posterior"):
        CliRunner().invoke(
            cli.app,
            ["ask", str(tmp_path / "a.bif"), "P(a)", "--interval", "0.9"],
            catch_exceptions=False,
        )


# --- `credo em` and `credo impute` ---


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


# --- `credo impute` gives back the file it was given: every column in its place, gaps filled ---


ROWS_IMPUTE_FILES = 'id,Name,Burglary,n,Alarm\n1,"Doe, J",no,1,off\n007,"a ""b""",no,2,off\n3,,,1,on\n4,é,yes,0,on\n'


@pytest.fixture
def place(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS_IMPUTE_FILES)
    table = {
        "Burglary": {"no": 0.9, "yes": 0.1},
        "Alarm": {"no": {"off": 0.99, "on": 0.01}, "yes": {"off": 0.01, "on": 0.99}},
    }
    cr.Network("[Burglary][Alarm|Burglary]", table).save(tmp_path / "m.credo")
    return tmp_path


def test_a_text_file_changes_in_its_gaps_alone(place):
    out = call("impute", place / "m.credo", place / "rows.csv", "-o", place / "f.csv")
    assert "Kept as they are, since the model does not have them: id, Name, n." in out
    assert (place / "f.csv").read_text() == ROWS_IMPUTE_FILES.replace("3,,,1,on", "3,,yes,1,on")
    call("impute", place / "m.credo", place / "rows.csv", "-o", place / "f.tsv")
    assert (place / "f.tsv").read_text().splitlines()[3] == "3\t\tyes\t1\ton"


def test_other_forms_keep_all_columns_too(place):
    names = ["id", "Name", "Burglary", "n", "Alarm"]
    for ending in ("jsonl", "json", "parquet", "arrow"):
        path = place / f"f.{ending}"
        call("impute", place / "m.credo", place / "rows.csv", "-o", path)
        if ending.startswith("json"):
            rows = [json.loads(line) for line in path.read_text().splitlines()]
            assert list(rows[0]) == names
            assert rows[2] == {"id": "3", "Name": None, "Burglary": "yes", "n": "1", "Alarm": "on"}
    again = place / "again.parquet"
    call("impute", place / "m.credo", place / "f.parquet", "-o", again)
    assert pq.read_table(again).to_pylist() == pq.read_table(place / "f.parquet").to_pylist()
    assert pq.read_table(again).column_names == names
    document = json.loads(call("impute", place / "m.credo", place / "rows.csv", "--json"))
    assert list(document["table"][0]) == names and document["filled"] == {"Burglary": 1}


def test_rows_of_weight_zero_stay_out_and_the_others_in_their_place(place):
    path = place / "f.csv"
    call("impute", place / "m.credo", place / "rows.csv", "--weights", "n", "-o", path)
    assert path.read_text() == "\n".join(
        line.replace("3,,,1", "3,,yes,1") for line in ROWS_IMPUTE_FILES.splitlines()[:4]
    ) + "\n"  # fmt: skip


def test_gaps_are_told_with_rows_that_count_from_one(place):
    out = call("impute", place / "m.credo", place / "rows.csv", "--method", "posterior")
    assert out.splitlines()[0].split() == ["row", "variable", "most", "probable", "p"]
    assert out.splitlines()[1].split()[:2] == ["3", "Burglary"]
    told = call("impute", place / "m.credo", place / "rows.csv", "--method", "posterior", "--json")
    assert [(g["row"], g["variable"]) for g in json.loads(told)["gaps"]] == [(3, "Burglary")]


def test_rows_of_weight_zero_have_their_number(place):
    path = place / "w.csv"
    path.write_text(ROWS_IMPUTE_FILES.replace(",no,1,off", ",no,0,off"))  # the first row is absent
    asked = ("impute", place / "m.credo", path, "--weights", "n", "--method", "posterior")
    assert call(*asked).splitlines()[1].split()[:2] == ["3", "Burglary"]
    assert [g["row"] for g in json.loads(call(*asked, "--json"))["gaps"]] == [3]
