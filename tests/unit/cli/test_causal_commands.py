"""`credo identify` and `credo effect`: what they print, and bad input in one sentence."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from tests.experiment_rows import DAG, simulate

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


@pytest.fixture
def cells(tmp_path):
    """Rows of A → B → C of which some had A or B set, and a column that names A alone."""
    rng = np.random.default_rng(0)
    net = cr.Network(
        DAG, {"A": [0.6, 0.4], "B": [[0.8, 0.2], [0.3, 0.7]], "C": [[0.9, 0.1], [0.2, 0.8]]}
    )
    rows = simulate(rng, 400, net, [None, "A", "B"])
    rows["one"] = ["A" if s == "A" else "" for s in rows["set"]]
    rows["IA"] = [int(s == "A") for s in rows["set"]]
    path = tmp_path / "cells.csv"
    lines = [",".join(map(str, r)) for r in zip(*rows.values(), strict=True)]
    path.write_text("\n".join([",".join(rows), *lines]) + "\n")
    return str(path)


def test_commands_know_what_was_set(cells, tmp_path):
    drop = ["--drop", "one", "--drop", "IA"]
    told = [*drop, "--intervened", "set"]
    table = cr.read(cells, {"one": "drop", "IA": "drop"})
    score = run("score", "[A][B|A][C|B]", cells, *told, "--quiet")
    assert float(score) == pytest.approx(cr.score(DAG, table, intervened="set"), abs=1e-5)
    soft = run("score", "[A][B|A][C|B]", cells, *told, "--soft", "--quiet")
    assert float(soft) == pytest.approx(cr.score(DAG, table, intervened="set", soft=True), abs=1e-5)
    model = str(tmp_path / "cells.credo")
    run("learn", cells, *told, "-o", model)
    assert cr.load(model).dag == DAG
    assert cr.load(model).record.details["interventions"] == (("A",), ("B",))
    found = json.loads(run("fit", model, cells, *told, "--json"))
    counted = [f["rows"] for f in found["families"]]
    wanted = cr.fit(DAG, table, intervened="set").record.details["families"]
    assert counted == [f["rows"] for f in wanted]
    found = json.loads(run("em", "[A][B|A][C|B]", cells, *told, "--json"))
    assert found["log_likelihood"] == pytest.approx(
        cr.fit(DAG, table, intervened="set").record.details["log_likelihood"], abs=1e-6
    )
    graphs = str(tmp_path / "graphs.credo")
    found = json.loads(run("average", cells, *told, "--json", "-o", graphs))
    first = found["edges"][0]
    assert {first["parent"], first["child"]} in ({"A", "B"}, {"B", "C"}) and first["p"] > 0.99
    assert "how sure the graph is" in run("effect", graphs, "A", "C")
    other = ["[C][B|C][A|B]", "--json"]
    distances = [
        json.loads(run("compare", *words))["graphs"][0]["shd"]
        for words in ((model, *other), (str(DAG), *other), (str(DAG), *other, "--set", "A"))
    ]
    assert distances == [2, 0, 2]  # what its rows had set, nothing, what is given


def test_a_column_that_names_one_variable(cells):
    rest = ["--drop", "set"]
    by_name = run("score", "[A][B|A][C|B]", cells, *rest, "--intervened", "one", "--quiet")
    by_mask = run("score", "[A][B|A][C|B]", cells, *rest, "--intervened", "A=IA", "--quiet")
    assert by_name == by_mask


def test_unknown_targets_on_the_command_line(cells):
    words = ["--drop", "set", "--drop", "one", "--context", "IA"]
    found = json.loads(run("average", cells, *words, "--json"))
    assert set(found["touched"]["IA"]) == {"A", "B", "C"}
    assert "IA touched, how probably: " in run("average", cells, *words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--intervened", "sett"], "sett"),
        (["--intervened", "A=IA", "--intervened", "set"], "VARIABLE=COLUMN"),
        (["--soft"], "intervened= is needed"),
    ],
)
def test_what_was_set_told_badly(cells, words, said, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["credo", "score", "[A][B|A]", cells, *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_causes_writes_a_class_that_effect_and_identify_read(tmp_path):
    rng = np.random.default_rng(3)
    n = 4000
    u, a = rng.random(n) < 0.5, rng.random(n) < 0.5
    x = rng.random(n) < 0.1 + 0.4 * a + 0.4 * u
    y = rng.random(n) < 0.1 + 0.8 * x
    table, graph = tmp_path / "rows.csv", str(tmp_path / "rows.pag")
    lines = (",".join("yes" if v else "no" for v in row) for row in zip(a, u, x, y, strict=True))
    table.write_text("\n".join(["a,u,x,y", *lines]))
    out = run("causes", str(table), "-o", graph)
    assert "x → y: x causes y" in out and "a o→ x: x does not cause a" in out
    pag = cr.learn(table, search="fci")
    assert cr.Pag.parse((tmp_path / "rows.pag").read_text()) == pag
    assert run("causes", str(table), "-q") == f"{pag}\n"
    found = json.loads(run("effect", str(table), "x", "y", "--graph", graph, "--json"))
    want = cr.effect(table, "x", "y", pag)
    assert found["difference"]["value"] == float(want.difference) and found["formula"] == "P(y | x)"
    assert json.loads(run("identify", graph, "P(y | do(x))", "--json"))["identified"]
    assert "cannot be computed from the class" in run("identify", graph, "P(x | do(a))")
    run("causes", str(table), "-o", str(tmp_path / "rows.svg"), "--seconds", "0")
    assert (tmp_path / "rows.svg").read_text().startswith("<svg")
    short = cr.learn(table, search="fci", seconds=1e-9)
    assert len(short.edges) == 6 and "budget" in short.notes[0]


def test_circles_are_not_taken_for_arcs():
    pag = cr.Pag(("A", "B"), (("A", "B", "o", ">"),))
    for text, said in (
        (pag.dot(), "circles are those of a class"),
        ("dag { A @-> B }", "an edge has a direction"),
        (pag.dagitty(), "directed edges is needed"),
    ):
        with pytest.raises(cr.errors.InputError, match=said):
            cr.CausalGraph(text)
    for marks in ("oo", "o>", ">o", "o-", "-o", "->", ">-", ">>", "--"):
        one = cr.Pag(("a b", "c"), (("a b", "c", *marks),))
        assert cr.Pag.parse(one.dagitty()) == one
    with pytest.raises(cr.errors.InputError, match="one edge between two nodes"):
        cr.Pag.parse("pag { A -> B @-> A }")
