"""`credo identify` and `credo effect`: what they print, and bad input in one sentence."""

import json

import pytest
from click.testing import CliRunner

import credo as cr
from credo.cli import app, main

GRAPH = "[size][treatment|size][success|treatment:size]"


@pytest.fixture
def stones(tmp_path):
    path = tmp_path / "stones.csv"
    path.write_text(cr.examples.path("kidney_stones").read_text())
    return str(path)


def run(*words):
    result = CliRunner().invoke(app, list(words), standalone_mode=False)
    assert result.exception is None, result.exception
    return result.stdout


def test_identify_prints_formula_sets_and_ways_round(tmp_path):
    out = run("identify", "[X][M|X][Y|M] X<->Y", "P(Y | do(X))")
    assert "Σ_M P(M | X) Σ_X' P(X') P(Y | X', M)" in out and "front doors" in out
    out = run("identify", "[Z][X|Z][Y|X] X<->Y", "P(Y | do(X))")
    assert "cannot be computed" in out and "instruments" in out
    path = tmp_path / "graph.txt"
    path.write_text("dag { Z -> X -> Y; Z -> Y }")
    assert run("identify", str(path), "P(Y | do(X))", "--latex").startswith("P(Y \\mid do(X)) =")
    found = json.loads(run("identify", "[X][Y|X] X<->Y", "P(Y | do(X))", "--json"))
    assert found["identified"] is False and found["hedge"] == [["X", "Y"], ["Y"]]


def test_effect_equals_the_function(stones):
    words = ["--weights", "Count", "-g", GRAPH, "--values", "B,A", "--json"]
    found = json.loads(run("effect", stones, "treatment", "success", *words))
    want = cr.effect(cr.examples.kidney_stones(), "treatment", "success", GRAPH, values=("B", "A"))
    assert found["difference"]["value"] == float(want.difference)
    assert found["difference"]["interval"]["low"] == want.interval.lower
    assert found["adjustment"] == ["size"] and found["values"] == ["B", "A"]
    text = run("effect", stones, "treatment", "success", *words[:-1])
    assert "only seen" in text and "bits apart" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["treatment", "success"], "--graph"),
        (["treatment", "success", "-g", "nothing"], "There is no graph 'nothing'"),
        (["treatment", "sucess", "-g", GRAPH], "Did you mean 'success'"),
        (["treatment", "success", "-g", GRAPH, "--values", "A"], "two values"),
        (["treatment", "success", "-g", "[treatment][success|treatment] treatment<->success"],
         "hedge"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_and_exit_code_2(stones, words, said, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["credo", "effect", stones, "--weights", "Count", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err
