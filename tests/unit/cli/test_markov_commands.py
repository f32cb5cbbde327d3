"""Undirected models on the command line: ask, show, convert, fit-markov, sample."""

import json

import pytest
from tests.in_process import call

import credo as cr
from credo.errors import CredoError

PNEUMONIA = str(cr.examples.path("pneumonia"))


@pytest.fixture
def model(tmp_path):
    agree = {"no": {"no": 30, "yes": 5}, "yes": {"no": 1, "yes": 10}}
    path = tmp_path / "friends.uai"
    cr.MarkovNetwork({("Ann", "Bob"): agree, ("Bob", "Cat"): agree}).save(path)
    return path


def test_ask(model):
    assert call("ask", model, "P(Ann=yes | Bob=yes)").strip() == "0.666667"
    document = json.loads(call("ask", model, "argmax P(Ann, Bob, Cat)", "--json"))
    assert document["answers"][0]["states"] == dict.fromkeys(("Ann", "Bob", "Cat"), "no")
    with pytest.raises(CredoError, match="needs directions"):
        call("ask", model, "P(Ann | do(Bob=yes))")


def test_show(model, tmp_path):
    assert call("show", model).startswith("MarkovNetwork(3 variables, 2 edges, 2 potentials)")
    assert "φ(Ann, Bob)" in call("show", model, "--table", "Ann")
    assert "φ(Bob, Cat)" not in call("show", model, "--table", "Ann")
    assert '"Ann" -- "Bob";' in call("show", model, "--dot")
    assert "shape=box" in call("show", model, "--dot", "--factors")
    call("show", model, "--factors", "--svg", tmp_path / "f.svg")
    assert (tmp_path / "f.svg").read_text().count('class="factor"') == 2
    document = json.loads(call("show", model, "--json"))
    assert document["edges"] == [["Ann", "Bob"], ["Bob", "Cat"]]
    assert document["potentials"][0]["variables"] == ["Ann", "Bob"]
    with pytest.raises(CredoError, match=r"'Anna' is not in the model. Did you mean 'Ann'"):
        call("show", model, "--table", "Anna")


def test_convert_there_and_back(model, tmp_path):
    directed, again = tmp_path / "friends.bif", tmp_path / "again.uai"
    with pytest.raises(CredoError, match="this model has no directions"):
        call("convert", model, directed)
    assert "no pair had to be joined" in call("convert", model, directed, "--directed")
    call("convert", directed, again, "--markov")
    assert again.read_text().startswith("MARKOV")
    for path in (directed, again):
        assert call("ask", path, "P(Ann=yes | Cat=yes)") == call(
            "ask", model, "P(Ann=yes | Cat=yes)"
        )
    call("convert", directed, tmp_path / "plain.uai")
    assert (tmp_path / "plain.uai").read_text().startswith("BAYES")
    with pytest.raises(CredoError, match="not both"):
        call("convert", model, directed, "--directed", "--markov")


def test_fit(tmp_path):
    out = tmp_path / "p.uai"
    said = call("fit-markov", PNEUMONIA, "-e", "Pneu", "Fev", "-o", out, "--l2", "0")
    assert "maximum likelihood" in said and f"wrote {out}" in said
    assert call("ask", out, "P(Fev=T | Pneu=T)").strip() == "0.6"
    document = json.loads(call("fit-markov", PNEUMONIA, "--like", out, "--json"))
    assert document["method"] == "likelihood" and document["edges"] == [["Pneu", "Fev"]]
    document = json.loads(
        call("fit-markov", PNEUMONIA, "--like", out, "--method", "pseudo-likelihood", "--json")
    )
    assert document["method"] == "pseudo-likelihood" and document["iterations"] > 0


def test_fit_like_a_bayesian_network(tmp_path):
    path = tmp_path / "p.bif"
    table = {"F": {"F": 0.5, "T": 0.5}, "T": {"F": 0.5, "T": 0.5}}
    cr.Network("[Pneu][Fev|Pneu]", {"Pneu": {"F": 0.5, "T": 0.5}, "Fev": table}).save(path)
    out = tmp_path / "p.credo"
    call("fit-markov", PNEUMONIA, "--like", path, "-o", out)
    assert cr.load(out).graph == cr.UndirectedGraph([("Pneu", "Fev")])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "either by --edge, once for each edge, or by --like"),
        (("-e", "Pneu", "Fever"), "Variable 'Fever' is not in the table"),
        (("-e", "Pneu", "Fev", "-o", "x.bif"), "written as .uai or .credo, got 'x.bif'"),
        (("-e", "Pneu", "Fev", "--method", "best"), "method must be 'auto'"),
    ],
)
def test_refusals(options, says):
    with pytest.raises(CredoError, match=says):
        call("fit-markov", PNEUMONIA, *options)


def test_sample(model):
    said = call("sample", model, 4, "--given", "Bob=yes", "--seed", 1)
    assert said.splitlines()[0] == "Ann,Bob,Cat"
    assert all(line.split(",")[1] == "yes" for line in said.splitlines()[1:])
