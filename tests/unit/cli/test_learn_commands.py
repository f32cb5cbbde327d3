"""`credo learn` and `credo score` as a person types them."""

import json

import pytest
from click.testing import CliRunner

import credo as cr
from credo.cli import app
from credo.errors import CredoError


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "tennis.csv"
    path.write_bytes(cr.examples.path("play_tennis").read_bytes())
    return path


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), standalone_mode=False)


def test_learning_writes_a_network_that_can_be_asked(table, tmp_path):
    out = tmp_path / "net.bif"
    result = run("learn", table, "-o", out, "--score", "bic", "--search", "tabu")
    assert result.exception is None, result.exception
    assert "learned by tabu with bic" in result.output and f"written to {out}" in result.output
    assert cr.load(out).dag == cr.learn(cr.read(table), "bic", "tabu").dag


def test_rules_and_options_reach_the_search(table):
    result = run(
        "learn", table, "--json", "--require", "Wind->PlayTennis", "--forbid", "Outlook → Wind",
        "--tier", "Outlook,Wind", "--tier", "PlayTennis", "--max-parents", "1", "--ess", "2",
    )  # fmt: skip
    found = json.loads(result.output)
    assert ["Wind", "PlayTennis"] in found["edges"] and found["proven"]
    assert found["how"] == "learned by auto (exact) with bdeu"
    net = run("learn", table, "--search", "naive-bayes", "--target", "PlayTennis", "--json")
    assert len(json.loads(net.output)["edges"]) == 4


def test_scoring_a_graph(table, tmp_path):
    text = "[Outlook][PlayTennis|Outlook]"
    result = run("score", text, table, "--score", "bdeu", "--ess", "3", "--json")
    found = json.loads(result.output)
    assert found["score"] == pytest.approx(cr.score(text, cr.read(table), "bdeu", ess=3))
    assert found["families"][1] == {
        "child": "PlayTennis",
        "parents": ["Outlook"],
        "score": pytest.approx(found["score"] - found["families"][0]["score"]),
    }
    path = tmp_path / "net.bif"
    cr.learn(cr.read(table)).save(path)
    assert run("score", path, table, "--score", "mdl").output.startswith("mdl -")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["learn", "{}", "--search", "magic"], "The search 'magic' is not one that credo knows"),
        (["learn", "{}", "--require", "Wind"], "--require must have the form 'A->B'"),
        (["learn", "{}", "--forbid", "Wnd->Outlook"], "Did you mean 'Wind'"),
        (["score", "[Wnd]", "{}"], "Did you mean 'Wind'"),
        (["learn", "{}", "--search", "tan"], "needs the class"),
    ],
)
def test_bad_input_is_one_sentence(table, arguments, text):
    result = run(*(a.replace("{}", str(table)) for a in arguments))
    assert isinstance(result.exception, CredoError) and text in str(result.exception)
