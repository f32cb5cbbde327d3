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
    assert "tabu with bic" in result.output and f"written to {out}" in result.output
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


def test_the_settings_of_searches_have_options(table, tmp_path):
    rows = cr.read(table)
    order = ["Outlook", "Temperature", "Humidity", "Wind", "PlayTennis"]
    found = json.loads(
        run("learn", table, "--json", "--score", "k2", "--search", "k2", "--order", ",".join(order))
        .output
    )  # fmt: skip
    assert {tuple(e) for e in found["edges"]} == set(
        cr.learn(rows, "k2", "k2", order=order).dag.edges
    )
    begin = tmp_path / "begin.bif"
    cr.fit("[Outlook][Temperature][Humidity][Wind][PlayTennis|Wind]", rows).save(begin)
    one = run(
        "learn", table, "--json", "--score", "loglik", "--search", "hill-climb", "--start", begin,
        "--candidates", "Wind=Outlook", "--candidates", "Outlook=", "--max-parents", "1",
    )  # fmt: skip
    edges = [tuple(e) for e in json.loads(one.output)["edges"]]
    assert all(b != "Outlook" for _, b in edges)
    assert {a for a, b in edges if b == "Wind"} <= {"Outlook"}
    prior = run("score", begin, table, "--score", "bde", "--ess", "3", "--prior-network", begin)
    net = cr.load(begin)
    assert prior.exception is None, prior.exception
    assert f"{cr.score(net, rows, 'bde', prior=net, ess=3):.6f}" in prior.output


def test_a_matrix_of_edge_priors_is_a_file(table, tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("parent,Wind,PlayTennis\nWind,0,0.9\nPlayTennis,0.2,0\n")
    text = "[Wind][PlayTennis|Wind]"
    found = json.loads(run("score", text, table, "--edge-prior", path, "--json").output)
    same = cr.score(text, cr.read(table), "bdeu", edge_prior={("Wind", "PlayTennis"): 0.9})
    assert found["score"] == pytest.approx(same)
    path.write_text("parent,Wind\nWind,0,1\n")
    assert "expected a name and 1 numbers" in str(
        run("score", text, table, "--edge-prior", path).exception
    )
    path.write_text("parent,Wind\nOutlook,often\n")
    assert "line 2: expected a probability, got 'often'" in str(
        run("score", text, table, "--edge-prior", path).exception
    )


def test_an_exact_search_tells_its_bound(table):
    told = run(
        "learn", table, "--search", "exact", "--no-check", "--details", "-o",
        table.with_suffix(".bif"),
    )  # fmt: skip
    assert "\n  score bdeu -" in told.output and ": proven optimal" in told.output
    found = json.loads(run("learn", table, "--search", "exact", "--json").output)
    assert found["bound"] == pytest.approx(found["score"]) and found["proven"]
    assert json.loads(run("learn", table, "--search", "tabu", "--json").output)["bound"] is None


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["learn", "--search", "k2"], "--search k2 needs --order"),
        (["learn", "--search", "order", "--restarts", "3"],
         "--restarts is for --search hill-climb and tabu, not order"),
        (["learn", "--candidates", "Wind"], "--candidates must have the form 'CHILD=A,B,C'"),
        (["score", "[Wind]", "--edge-prior", "often"],
         "--edge-prior must be a number between 0 and 1 or a CSV file, got 'often'"),
    ],
)  # fmt: skip
def test_cures_that_the_command_line_has(table, arguments, text):
    command, *rest = arguments
    graph = [rest.pop(0)] if command == "score" else []
    assert text in str(run(command, *graph, table, *rest).exception)


def test_a_graph_without_arrows_is_refused(table, tmp_path):
    markov = tmp_path / "markov.credo"
    run("fit-markov", table, "-e", "Wind", "PlayTennis", "-o", markov, "-q")
    for command in (["score", markov, table], ["learn", table, "--start", markov]):
        assert "holds a MarkovNetwork" in str(run(*command).exception)


def test_the_words_of_bde_are_options(table):
    from credo.cli.words import in_options

    result = run("score", "[Wind]", table, "--score", "bde")
    assert "Give --prior-network FILE" in in_options(str(result.exception))


def test_a_file_without_a_header_is_told_and_named(tmp_path):
    path = tmp_path / "raw.csv"
    path.write_text("".join(f"{i % 3}.5,{i % 7}.25,{'xyz'[i % 3]}{i % 2}\n" for i in range(40)))
    path.write_text(path.read_text().replace("x0", "7"))
    said = run("learn", path, "--no-check", "-o", tmp_path / "a.credo").output
    assert "the names in the first line are numbers (0.5, 0.25, 7)" in said
    assert "name the columns with --names A,B,C" in said and "39 rows" in said
    named = ("--names", 'a,"b,c",d')
    said = run("learn", path, *named, "--no-check", "-o", tmp_path / "b.credo").output
    assert "40 rows" in said and "the first line" not in said
    assert cr.load(tmp_path / "b.credo").names == ("a", "b,c", "d")
    with pytest.raises(CredoError, match=r"Line 1 of raw\.csv has 3 cells"):
        raise run("schema", path, "--names", "a,b").exception


def test_ess_goes_with_the_score_of_mixed_tables(tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text("g,x\n" + "".join(f"{'ab'[i % 2]},{i % 2 + i % 5 / 7}\n" for i in range(40)))
    done = run("learn", path, "--ess", "5", "--json")
    assert done.exception is None and json.loads(done.output)["how"].endswith("with bdeu")
