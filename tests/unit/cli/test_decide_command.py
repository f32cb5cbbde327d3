"""`credo decide`, and what other commands say to a decision network."""

import json

import pytest
from tests.cli_stage import build
from tests.in_process import call, credo

import credo as cr


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    return build(tmp_path_factory.mktemp("decide"))


def test_the_best_strategy(stage):
    out = call("decide", stage / "oil.xdsl")
    assert "expected utility 32.5" in out and "closed  yes" in out
    document = json.loads(call("decide", stage / "oil.xdsl", "--json"))
    assert document["utility"] == pytest.approx(32.5) and document["exact"]
    [policy] = document["policy"]
    assert policy["knows"] == ["Test"]
    assert {s["known"]["Test"]: s["choice"] for s in policy["situations"]} == {
        "none": "no", "open": "yes", "closed": "yes"}  # fmt: skip


def test_questions_and_what_is_given(stage):
    oil = stage / "oil.xdsl"
    out = json.loads(call("decide", oil, "EU(Drill=yes)", "argmax EU(Drill)", "P(Oil)",
                          "EU(Drill)", "EU", "--given", "Test=none", "--json"))  # fmt: skip
    first, best, oils, ranking, whole = out["answers"]
    assert first["value"] == pytest.approx(-12.5 / 0.41) and best["choice"] == "no"
    assert oils["distribution"][0]["p"] == pytest.approx(0.3 / 0.41)
    assert ranking["ranking"][0] == {"choice": "no", "utility": pytest.approx(0)}
    assert whole["value"] == pytest.approx(0)
    assert "given Test=open" in call("decide", oil, "--given", "Test=open")


def test_what_is_worth_knowing(stage):
    out = json.loads(call("decide", stage / "oil.xdsl", "--value", "--next", "--cost", "Oil=30",
                          "--json"))  # fmt: skip
    [item] = out["information"]
    assert item["variables"] == ["Oil"] and item["value"] == pytest.approx(22.5)
    assert out["next"]["question"] is None and out["next"]["exact"]


def test_a_learned_network_decides(stage, tmp_path):
    cr.fit(cr.load(stage / "asia.bif").dag, str(stage / "patients.csv"), prior=cr.BDeu(4)).save(
        tmp_path / "fitted.credo"
    )
    out = json.loads(call("decide", tmp_path / "fitted.credo", "--decision", "treat|xray=no,yes",
                          "--utility", stage / "costs.csv", "--draws", 200, "--json",
                          "-o", tmp_path / "treat.credo"))  # fmt: skip
    assert out["interval"]["low"] < out["utility"] < out["interval"]["high"]
    assert 0 <= out["p_best"] <= 1 and out["regret"] >= 0
    kept = cr.load(tmp_path / "treat.credo")
    assert kept.solve(draws=200).utility == pytest.approx(out["utility"])
    limited = call("decide", tmp_path / "treat.credo", "--memory", "limited")
    assert "expected utility" in limited


def test_show_and_convert(stage, tmp_path):
    assert "Drill   decision" in call("show", stage / "oil.xdsl")
    assert "soaking     200" in call("show", stage / "oil.xdsl", "--table", "Profit")
    document = json.loads(call("show", stage / "oil.xdsl", "--json"))
    assert document["decisions"] == ["Drill"] and document["utilities"] == ["Profit"]
    call("show", stage / "oil.xdsl", "--svg", tmp_path / "oil.svg")
    assert 'class="utility"' in (tmp_path / "oil.svg").read_text()
    call("convert", stage / "oil.xdsl", tmp_path / "oil.net")
    assert "expected utility 32.5" in call("decide", tmp_path / "oil.net")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ask", "oil.xdsl", "P(Oil)"], "holds a decision network; credo ask needs a network"),
        (["decide", "asia.bif"], "asia.bif is a network without decisions"),
        (["decide", "oil.xdsl", "--decision", "x=1,2"], "has its decisions"),
        (["decide", "oil.xdsl", "--cost", "Oil"], "--cost must have the form NAME=NUMBER"),
        (["decide", "oil.xdsl", "--given", "Test=opne"], "Did you mean 'open'"),
        (["decide", "oil.xdsl", "EU(Drll)"], "Did you mean 'Drill'"),
        (["decide", "asia.bif", "--decision", "treat=no,yes", "--utility", "none.csv"],
         "none.csv cannot be read: No such file"),
        (["show", "oil.xdsl", "--factors"], "has no factor graph"),
    ],
)  # fmt: skip
def test_refusals(stage, monkeypatch, words, said):
    monkeypatch.chdir(stage)
    result = credo(*words)
    assert result.returncode == 2 and said in result.stderr


def test_decisions_over_the_graphs_of_a_posterior(stage, tmp_path):
    graphs, costs = tmp_path / "graphs.credo", tmp_path / "costs.csv"
    post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
    post.save(graphs)
    rows = ["no,F,0", "no,T,-100", "yes,F,-10", "yes,T,-30"]
    costs.write_text("\n".join(["treat,Pneu,harm", *rows]) + "\n")
    worth = {"no": {"F": 0, "T": -100}, "yes": {"F": -10, "T": -30}}
    own = post.decide({"treat|Cou": ["no", "yes"]}, {"harm|treat:Pneu": worth})
    how = ("--decision", "treat|Cou=no,yes", "--utility", costs, "--draws", 100)
    document = json.loads(call("decide", graphs, *how, "--json"))
    assert document["utility"] == pytest.approx(own.solve(interval=None).utility)
    assert document["interval"]["low"] < document["utility"] < document["interval"]["high"]
    out = call("decide", graphs, *how, "EU(treat=no)", "--given", "Cou=T")
    assert "-57.742" in out and "averaged over 3 graphs" in out
    out = call("decide", graphs, *how, "--value", "--next", "--cost", "Pneu=5")
    assert "before treat" in out and "Pneu" in out
    said = credo("decide", graphs, *how, "--sensitivity")
    assert said.returncode and "--sensitivity is of one network" in said.stderr
    said = credo("decide", graphs)
    assert said.returncode and "is a posterior over graphs without decisions" in said.stderr
