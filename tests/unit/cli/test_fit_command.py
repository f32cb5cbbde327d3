"""`credo fit` and `credo ask --interval`."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from tests.in_process import call

import credo as cr
from credo import cli
from credo.errors import CredoError

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
