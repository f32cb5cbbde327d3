"""`credo ask`, `credo show` and `credo convert`."""

import json

import pytest
from click.testing import CliRunner
from tests.in_process import call, credo

import credo as cr
from credo import cli


@pytest.fixture
def model(tmp_path):
    net = cr.Network(
        "[Burglary][Earthquake][Alarm|Burglary:Earthquake][John|Alarm]",
        {
            "Burglary": {"no": 0.999, "yes": 0.001},
            "Earthquake": {"no": 0.998, "yes": 0.002},
            "Alarm": [[[0.999, 0.001], [0.71, 0.29]], [[0.06, 0.94], [0.05, 0.95]]],
            "John": {"no": {"no": 0.95, "yes": 0.05}, "yes": {"no": 0.1, "yes": 0.9}},
        },
        states={"Alarm": ["no", "yes"]},
    )
    path = tmp_path / "alarm.bif"
    net.save(path)
    return path


def test_ask(model):
    out = call("ask", model, "P(Burglary | John=yes)")
    assert out.splitlines()[0].split() == ["Burglary", "p"]
    assert call("ask", model, "P(Burglary=yes | John=yes)").strip() == "0.0162837"
    out = call("ask", model, "P(Burglary=yes)", "argmax P(Alarm | John=yes)")
    assert "P(Burglary=yes)\n0.001" in out and "ln P" in out
    assert "bits that each item" in call("ask", model, "P(Burglary | John=yes)", "--explain")


def test_ask_as_json(model):
    document = json.loads(
        call(
            "ask",
            model,
            "P(Burglary | John=yes)",
            "P(Burglary=yes, Alarm=yes)",
            "argmax P(Alarm | John=yes)",
            "P(Burglary, Alarm)",
            "--json",
        )
    )
    one, two, three, four = document["answers"]
    assert document["version"] == 1 and one["variables"] == ["Burglary"]
    assert one["distribution"][1]["p"] == pytest.approx(0.016283729946769937)
    assert two["probability"] == pytest.approx(0.001 * (0.94 * 0.998 + 0.95 * 0.002))
    assert three["states"] == {"Alarm": "no"} and three["log_p"] < 0
    assert four["distribution"][0]["state"] == ["no", "no"]
    explained = json.loads(call("ask", model, "P(Alarm)", "--explain", "--json"))
    assert "largest table" in explained["answers"][0]["account"]


def test_show(model, tmp_path):
    assert "4 variables, 3 edges" in call("show", model)
    assert call("show", model, "--table", "John").startswith("P(John | Alarm)")
    assert "digraph" in call("show", model, "--dot")
    call("show", model, "--svg", tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    shown = json.loads(call("show", model, "--json"))
    assert shown["variables"][2]["parents"] == ["Burglary", "Earthquake"]


def test_convert(model, tmp_path):
    for ending in ("xml", "net", "dsc", "xdsl", "uai", "credo", "bif.gz"):
        target = tmp_path / f"again.{ending}"
        assert "wrote" in call("convert", model, target)
        again = cr.load(target)
        assert len(again.names) == 4
    done = json.loads(call("convert", model, tmp_path / "b.credo", "--json"))
    assert done["version"] == 1


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["ask", "nope.bif", "P(A)"], "Error: There is no file nope.bif"),
        (
            ["ask", "{model}", "P(Burglar)"],
            "Error: Variable 'Burglar' (character 3) is not in the model. Did you mean 'Burglary'?",
        ),
        (["ask", "{model}", "P(Burglary | Alarm=maybe)"], "Error: State 'maybe'"),
        (["ask", "{model}", "Burglary"], "Error: Expected 'P('"),
        (
            ["show", "{model}", "--table", "Jon"],
            "Error: Variable 'Jon' is not in the model. Did you mean 'John'?",
        ),
        (["convert", "{model}", "x.pdf"], "Error: "),
        (["ask"], "Error: Missing argument"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(model, args, sentence, tmp_path):
    args = [a.format(model=model) for a in args]
    done = credo(*args, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    first, *pointer = done.stderr.rstrip().splitlines()
    assert first.startswith(sentence)
    assert not pointer or (len(pointer) == 2 and pointer[1].strip() == "^")


def test_ask_approximately(model):
    text = call("ask", model, "P(Burglary | John=yes)", "--method", "importance", "--error", "0.01")
    assert "approximate: importance sampling" in text and "±" in text
    event = call("ask", model, "P(Burglary=yes | John=yes)", "--method", "loopy")
    assert "no guarantee" in event
    how = ("--method", "weighting", "--budget", "5000 samples", "--seed", "7", "--json")
    found = json.loads(call("ask", model, "P(Earthquake | John=yes)", *how))["answers"][0]
    assert found["approximation"]["samples"] == 5000 and found["approximation"]["seed"] == 7
    assert len(found["approximation"]["interval"]) == len(found["distribution"]) == 2
    assert "approximation" not in call("ask", model, "P(Alarm)", "--budget", "2 s", "--json")
    why = call("ask", model, "P(Burglary=yes | John=yes)", "--method", "importance", "--explain")
    assert "stopped because" in why


def test_bad_budgets_are_one_sentence(model):
    for args, said in [
        (("--budget", "soon"), "budget must be a time"),
        (("--method", "magic"), "method must be"),
        (("--method", "loopy", "--error", "0.1"), "Use --method importance"),
        (("--error", "x"), "not a valid float"),
    ]:
        done = credo("ask", model, "P(Alarm)", *args)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


def test_the_place_of_an_error_stands_under_the_question(model):
    done = credo("ask", model, "P(Burglary | John)")
    lines = done.stderr.splitlines()
    assert lines[1] == "  P(Burglary | John)"
    assert lines[2].index("^") == lines[1].index(")")


def test_an_earlier_answer_is_given_and_the_wrong_question_named(model):
    asked = ["P(Burglary)", "P(burglary)"]
    done = credo("ask", model, *asked)
    assert done.returncode == 2 and done.stdout.startswith("P(Burglary)\n")
    assert done.stderr.startswith("Error: P(burglary): Variable 'burglary'")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("ask rows.csv P(A)", "rows.csv is a table; a model was expected here"),
        ("impute rows.csv m.credo", "rows.csv is a table"),
        ("fit A->B rows.csv", "Write '[A][B|A]' for A -> B."),
        ("ask m P(A)", "There is no model 'm'. Did you mean 'm.credo'?"),
        ("learn rows.csv --search foo", "The search 'foo' is not one"),
        ("learn rows.csv --search tan", "--search tan needs the class"),
        ("learn rows.csv --forbid Foo->A", "Variable 'Foo' is not in the table"),
        ("fit rows.csv m.credo", "For example: credo fit model.credo table.csv."),
        ("ask P(A) m.credo", "'P(A)' is a question; the model comes before it."),
        ("ask . P(A)", ". is a folder; a model file was expected."),
        ("fit A rows.csv", "There is no model 'A'. A graph in text has brackets: '[A]' alone"),
        ("learn m.credo", "m.credo is a model; a table was expected here"),
        ("learn rows.csv --score bicc", "Did you mean 'bic'?"),
        ("learn rows.csv --ess 0", "Error: --ess must be a number above 0"),
        ("learn rows.csv --score bde", "Give --prior-network FILE"),
        ("learn rows.csv --search pc --alpha 2", "--alpha must be between 0 and 1, got 2."),
        (
            "learn rows.csv --search tan --target a",
            "Variable 'a' is not in the table. Did you mean 'A'?",
        ),
        ("learn rows.csv --search k2 --order A,C", "Variable 'C' is not in the table"),
        (
            "learn rows.csv other.csv",
            "(other.csv); credo learn takes TABLE. See 'credo learn --help'.",
        ),
        ("learn rows.csv --drop", "requires an argument. See 'credo learn --help'."),
        ("classify rows.csv", "Missing option '--target': the column with the classes. See"),
        ("classify rows.csv --target A --predict rows.csv -o no/p.csv", "There is no folder 'no'"),
        ("cluster rows.csv -k 0", "k must be a whole number, 1 or more, got 0."),
        ("report m.credo -o r.pdf", "The report is an HTML page, and 'r.pdf' has another ending."),
    ],
)
def test_arguments_in_the_wrong_place_are_named_before_anything_is_printed(
    line, sentence, tmp_path
):
    (tmp_path / "rows.csv").write_text("A,B\n" + "y,n\nn,y\ny,y\n" * 5)
    (tmp_path / "m.credo").write_text("")
    done = credo(*line.split(), cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert sentence in done.stderr


def test_one_tier_says_which_variables_it_leaves_free(tmp_path):
    (tmp_path / "rows.csv").write_text("A,B,C\n" + "y,n,a\nn,y,b\ny,y,a\n" * 5)
    line = ["learn", "rows.csv", "--tier", "A", "--no-check", "-o", "m.credo"]
    done = credo(*line, cwd=tmp_path)
    assert "In no tier, and free of them: B, C. One tier alone forbids nothing" in done.stdout


@pytest.mark.parametrize(
    ("question", "better"),
    [
        ("P(Alarm given John=yes)", "What is known stands after '|': P(Alarm | John=yes)."),
        ("Alarm given John=yes", "What is known stands after '|': P(Alarm | John=yes)."),
        ("P(Alarm | John)", "What is known has its value: P(Alarm | John=no)."),
        ("P(Alarm | do(John))", "What is known has its value: P(Alarm | do(John=no))."),
        ("P(Alarm=yes or John=yes)", "There is no 'or'"),
        ("E[Alarm | John=yes]", "Ask for P(Alarm | John=yes): of a number"),
        ("is there an alarm?", "A question is written like P(Burglary | Earthquake=no)."),
    ],
)
def test_a_question_written_otherwise_is_told_how_it_is_written(model, question, better):
    done = credo("ask", model, question)
    assert done.returncode == 2 and better in done.stderr.splitlines()[0]


def test_advice_has_the_words_of_the_command_line(model, tmp_path):
    done = credo("ask", model, "P(Alarm)", "--draws", 30)
    assert "such as --interval 0.95, or leave --draws out" in done.stderr
    (tmp_path / "rows.csv").write_text("a;b\n" + "1,5;x\n2,5;y\n1,5;x\n" * 4)
    done = credo("schema", "rows.csv", cwd=tmp_path)
    assert "--decimal ," in done.stdout and "decimal=" not in done.stdout


BAD = """network x { }
variable A { type discrete [2] { yes, no }; }
probability ( A ) { table 0.9, 0.05; }
"""
READING = {
    "ask": ("P(A)",),
    "check": ("rows.csv",),
    "compare": ("good.bif",),
    "convert": ("out.net",),
    "em": ("rows.csv",),
    "fit": ("rows.csv",),
    "impute": ("rows.csv", "-o", "out.csv"),
    "report": ("-o", "out.html"),
    "sample": ("3",),
    "score": ("rows.csv",),
    "sensitivity": ("P(A=yes)",),
    "show": (),
    "sql": ("--target", "A"),
    "value": ("A",),
}


@pytest.mark.parametrize("command", READING)
def test_every_command_that_reads_a_model_can_normalise_it(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.bif").write_text(BAD)
    (tmp_path / "rows.csv").write_text("A\nyes\nno\n")
    done = credo(command, "bad.bif", *READING[command])
    assert done.returncode == 2
    assert done.stderr == (
        "Error: bad.bif, line 3: The probabilities of 'A' add up to 0.95, not to 1. "
        "Give --normalise to divide each row by its sum.\n"
    )
    assert "--normalise" in credo(command, "--help").stdout


@pytest.mark.parametrize("command", ["classify", "fit-markov", "learn"])
def test_commands_that_may_read_a_model_can_normalise_it(command):
    assert "--normalise" in credo(command, "--help").stdout


def test_normalise_is_said(tmp_path):
    (tmp_path / "bad.bif").write_text(BAD)
    done = credo("ask", tmp_path / "bad.bif", "P(A=yes)", "--normalise")
    assert done.stdout == "0.947368\n"
    assert done.stderr == (
        "Noticed: bad.bif: 1 row was divided by the sum, which missed 1 by at most 0.05.\n"
    )


def test_a_network_of_netica_comes_by_standard_input():
    text = "// Netica\nbnet x { node A { states = (a, b); parents = (); probs = (0.25, 0.75); }; };"
    done = CliRunner().invoke(cli.app, ["ask", "-", "P(A=a)"], input=text)
    assert done.output == "0.25\n"
