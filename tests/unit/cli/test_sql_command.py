"""`credo sql`: the statement on standard output, in a file, and as JSON."""

import json

import duckdb
import pytest
from tests.cli_stage import build
from tests.in_process import call, credo

import credo as cr


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    return build(tmp_path_factory.mktemp("sql"))


def test_the_statement_answers_as_the_model(stage, tmp_path):
    net = cr.load(stage / "asia.bif")
    rows = cr.read(stage / "gaps.csv").to("pandas")
    con = duckdb.connect()
    con.register("patients", rows)
    text = call("sql", stage / "asia.bif", "--target", "lung", "--table", "patients")
    assert text == net.to_sql("duckdb", target="lung", table="patients")
    found = con.execute(text).fetchall()
    assert max(abs(a - b) for p, q in zip(found, net.predict_proba(rows, "lung").tolist(), strict=True)
               for a, b in zip(p, q, strict=True)) < 1e-9  # fmt: skip
    out = tmp_path / "lung.sql"
    said = call("sql", stage / "asia.bif", "--target", "lung", "--dialect", "Spark", "-o", out,
                "--keep", "id", "--keep", "day", "-c", "smoke", "--gaps", "null")  # fmt: skip
    assert said.startswith(f"wrote {out}: ") and said.endswith(" bytes of spark\n")
    assert out.read_text() == net.to_sql("spark", target="lung", keep=["id", "day"],
                                         columns=["smoke"], gaps="null")  # fmt: skip
    told = json.loads(call("sql", stage / "asia.bif", "--target", "lung", "--json"))
    assert told["sql"] == net.to_sql("duckdb", target="lung") and told["dialect"] == "duckdb"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--target", "lungs"], "Variable 'lungs' is not in the model. Did you mean 'lung'?"),
        (["--target", "lung", "--dialect", "duck"],
         "The dialect 'duck' is not one that credo writes. Did you mean 'duckdb'?"),
        
        (["--target", "lung", "--gaps", "no"], "--gaps is 'sum' or 'null', got 'no'."),
        (["--target", "lung", "-c", "xray", "--gaps", "null"],
         "'smoke' is in the Markov blanket of 'lung' and not among the columns, so --gaps null "
         "would answer no row. Leave --gaps out, which sums over what is missing."),
        (["--target", "lung", "--table", "a..b"],
         "--table is a name such as 'rows' or 'shop.rows', got 'a..b'. Give the parts as a list "
         "where a name holds a dot, or a query in brackets."),
        
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(stage, words, sentence):
    done = credo("sql", stage / "asia.bif", *words)
    assert (done.returncode, done.stderr) == (2, f"Error: {sentence}\n")


def test_a_model_that_is_no_network(stage, tmp_path):
    cr.load(stage / "asia.bif").to_markov_network().save(tmp_path / "m.uai")
    done = credo("sql", tmp_path / "m.uai", "--target", "X0")
    assert done.returncode == 2 and "holds a MarkovNetwork; a Bayesian network is" in done.stderr
