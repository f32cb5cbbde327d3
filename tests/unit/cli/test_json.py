"""What `--json` prints keeps to the schema that the project holds for it."""

import json

import pytest
from click.testing import CliRunner
from tests.cli_stage import build
from tests.json_schema import check

from credo.cli import app
from credo.cli.json_schemas import SCHEMAS


def strict(text):
    def refuse(token):
        raise AssertionError(f"{token} is not JSON")

    return json.loads(text, parse_constant=refuse)


CALLS = [
    "schema patients.csv",
    "schema survey.csv --states smoke=no,yes",
    "learn patients.csv --search hill-climb",
    "learn gaps.csv --check",
    "learn patients.csv -o out.credo",
    "average patients.csv",
    "average pneumonia.csv --method sampled --error 0.1",
    "ask graphs.credo P(lung=yes|smoke=yes) --interval 0.9",
    "score [smoke][lung|smoke] patients.csv",
    "score asia.bif patients.csv --score mdl",
    "fit asia.bif patients.csv",
    "fit [smoke][lung|smoke] patients.csv --prior bdeu -o out.credo",
    "ask asia.bif P(lung|smoke=yes)",
    "ask asia.bif P(lung=yes|smoke=yes) P(lung,bronc) --explain",
    "ask asia.bif argmaxP(lung,bronc|xray=yes)",
    "ask patients.credo P(lung) P(lung=yes|smoke=yes) --interval 0.9",
    "ask asia.bif P(lung) --method weighting",
    "causes patients.csv --alpha 0.05",
    "identify [X][M|X][Y|M]X<->Y P(Y|do(X))",
    "identify [X][Y|X]X<->Y P(Y|do(X))",
    "effect patients.csv smoke lung --graph [age][smoke|age][lung|smoke:age]",
    "effect asia.bif smoke lung",
    "effect patients.csv smoke lung --by instrument --draws 30 --graph [age][smoke|age][lung|smoke]lung<->smoke",
    "effect survey.csv smoke age --graph [smoke][age|smoke]",
    "ask asia.bif P(lung_{smoke=no}=yes|smoke=yes,lung=yes)",
    "em asia.bif gaps.csv -o out.credo",
    "em [B][smoke|B][lung|B] gaps.csv --hidden B=2 --seed 1 --max-iter 20",
    "impute asia.bif gaps.csv",
    "impute asia.bif gaps.csv --method posterior",
    "impute asia.bif gaps.csv --copies 2 -o filled.csv",
    "show asia.bif",
    "sample asia.bif 3",
    "sample asia.bif 3 -o rows.csv",
    "classify patients.csv --target lung",
    "classify patients.csv --target lung --predict more.csv --cv 0",
    "sql asia.bif --target lung --dialect postgres",
    "convert asia.bif out.xdsl",
    "fit-markov patients.csv --like asia.bif",
    "check patients.credo patients.csv --draws 20 --edges 2 --folds 3",
    "check asia.bif gaps.csv --section held_out --draws 20",
    "compare asia.bif patients.credo --data patients.csv --folds 3",
    "compare asia.bif patients.credo",
    "sensitivity asia.bif P(lung=yes|xray=yes)",
    "value asia.bif lung --given smoke=yes",
    "decide oil.xdsl",
    "decide oil.xdsl EU(Drill|Test=open) EU(Drill=yes) argmaxEU(Drill) P(Oil) P(Oil=wet)",
    "decide oil.xdsl --value --next --sensitivity --cost Oil=3",
    "decide patients.credo --decision treat=no,yes --utility costs.csv --draws 50",
    "decide patients.credo EU(treat) EU --decision treat=no,yes --utility costs.csv --draws 50",
    "show oil.xdsl",
    "report asia.bif -o r.html",
    "cluster patients.csv --drop name",
    "cluster survey.csv --drop name --method ward --k 2 --stability 2",
    "cut survey.csv --by smoke",
    "completion zsh",
    "demo",
    "demo --course",
]


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    return build(tmp_path_factory.mktemp("stage"))


@pytest.mark.parametrize("call", CALLS)
def test_output_keeps_to_its_schema(call, stage, monkeypatch):
    monkeypatch.chdir(stage)
    words = [w.replace("argmax", "argmax ") for w in call.split()]
    result = CliRunner().invoke(app, [*words, "--json"], standalone_mode=False)
    assert result.exception is None, result.exception
    document = strict(result.stdout)
    check(document, SCHEMAS[words[0]])
    assert document["version"] == document["credo"]["version"] == 1
    quiet = CliRunner().invoke(app, [*words, "--json", "--quiet"], standalone_mode=False)
    assert set(strict(quiet.stdout)) == set(document)


def test_every_schema_is_exercised():
    elsewhere = {"studio"}  # it stays until Ctrl-C: e2e/test_studio.py reads what it prints
    assert {c.split()[0] for c in CALLS} >= {
        n for n in SCHEMAS if n in app.list_commands(None) and n not in elsewhere
    }  # fmt: skip


def test_undirected_models_too(stage, monkeypatch):
    monkeypatch.chdir(stage)
    run = CliRunner()
    run.invoke(app, ["convert", "asia.bif", "m.uai", "--markov"], standalone_mode=False)
    document = strict(run.invoke(app, ["show", "m.uai", "--json"], standalone_mode=False).stdout)
    check(document, SCHEMAS["show"])
    assert document["kind"] == "MarkovNetwork"


def test_the_checker_refuses_what_it_should():
    for wrong in ({"credo": {}}, {"credo": {"schema": "credo.ask", "version": 1}, "version": 1}):
        with pytest.raises(AssertionError):
            check(wrong, SCHEMAS["ask"])
