"""A conversation with a model: evidence, questions, commands, completion, from a pipe too."""

import json

import pytest
from click.testing import CliRunner
from tests.cli_stage import ASIA

import credo as cr
from credo.cli import app
from credo.cli.session import WORDS, Session, completions, fragment
from credo.errors import CredoError


@pytest.fixture
def net(tmp_path):
    path = tmp_path / "asia.bif"
    path.write_text(ASIA)
    return cr.load(path)


def test_evidence_is_kept_and_questions_use_it(net):
    session = Session(net)
    assert session.take("smoke=yes").text == "given smoke=yes, which has probability 0.48"
    for line in ("lung", "P(lung)", "P(lung | smoke=yes)", "'lung'"):
        assert session.take(line).value == net.p("lung", given={"smoke": "yes"})
    assert session.take("P(lung=yes)").value == pytest.approx(0.2)
    assert session.take("lung, bronc").value == net.p(["lung", "bronc"], given={"smoke": "yes"})
    # a question's own evidence goes first
    assert session.take("P(lung=yes | smoke=no)").value == pytest.approx(0.05)
    session.take("xray != yes, dysp in {yes, no}")
    assert session.given == {"smoke": "yes", "xray": ["no"], "dysp": ["yes", "no"]}
    wanted = net.p("lung", given={"smoke": "yes", "xray": "no"})
    assert session.take("lung").value == pytest.approx(wanted, abs=1e-12)


def test_changes_can_be_undone_and_cleared(net):
    session = Session(net)
    session.take("smoke=yes")
    session.take("smoke=no")  # given anew
    assert session.given == {"smoke": "no"}
    assert session.take("undo").text == "given smoke=yes"
    session.take("do(age=old)")
    assert session.take("evidence").text == "given smoke=yes, do(age=old)"
    assert session.take("clear age").text == "given smoke=yes"
    assert session.take("clear").text == "nothing is given"
    assert session.take("undo").text == "given smoke=yes"
    session.take("undo"), session.take("undo"), session.take("undo")
    assert session.take("undo").text == "nothing to undo"


def test_interventions_differ_from_evidence(net):
    seen, done = Session(net), Session(net)
    seen.take("smoke=yes")
    done.take("do(smoke=yes)")
    assert seen.take("P(age=old)").value == pytest.approx(0.5)
    assert done.take("P(age=old)").value == pytest.approx(0.4)


def test_the_other_commands(net):
    session = Session(net)
    session.take("smoke=yes")
    assert dict(session.take("mpe").value) == dict(net.mpe({"smoke": "yes"}))
    assert "smoke=yes" in session.take("variables").text
    assert all(word in session.take("help").text for word in WORDS)
    assert session.take("marginals").text.count("xray") == 1
    assert session.take("").text == "" and session.take("# a note").text == ""
    assert session.take("quit").done and session.take("exit").done


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("lug", "Did you mean 'lung'?"),
        ("smoke=maybe", "State 'maybe'"),
        ("smoke", "Type: clear smoke"),
        ("P(lung", "Expected"),
        ("clear lung", "'lung' is not given"),
        ("clear lug", "Did you mean 'lung'"),
        ("xyzzy!", "Type help"),
    ],
)
def test_bad_lines_are_one_sentence_and_change_nothing(net, line, says):
    session = Session(net)
    session.take("smoke=yes")
    with pytest.raises(CredoError, match=says.replace("?", r"\?")):
        session.take(line)
    assert session.given == {"smoke": "yes"}


def test_impossible_evidence_is_refused_and_not_kept():
    net = cr.Network("[a][b|a]", {"a": {"n": 0.5, "y": 0.5}, "b": {"n": {"n": 1.0, "y": 0.0},
                                                                   "y": {"n": 0.5, "y": 0.5}}})  # fmt: skip
    session = Session(net)
    session.take("a=n")
    with pytest.raises(CredoError, match="probability zero"):
        session.take("b=y")
    assert session.given == {"a": "n"}


def test_awkward_names_and_states():
    net = cr.Network(
        "[my var][1st|my var]",
        {"my var": {"a, b": 0.5, "in": 0.5}, "1st": {"a, b": {0: 0.1, 1: 0.9}, "in": {0: 0.5, 1: 0.5}}},
    )  # fmt: skip
    session = Session(net)
    session.take('my var="a, b"')
    assert session.take("1st").value[1] == pytest.approx(0.9)
    assert session.take("P(1st=1)").value == pytest.approx(0.9)
    session.take("clear")
    session.take("1st=1")
    assert session.take("my var").value["in"] == pytest.approx(0.5 / 1.4)
    assert fragment(net, "my var=")[1] == ['"a, b"', '"in"']
    assert fragment(net, "my")[1] == ['"my var"']


def test_completion_of_names_states_and_commands(net):
    assert fragment(net, "sm") == (0, ["smoke"])
    assert fragment(net, "ev") == (0, ["evidence"])
    assert fragment(net, "smoke=y") == (6, ["yes"])
    assert fragment(net, "P(lung | smoke=yes, x") == (20, ["xray"])
    assert fragment(net, "dysp in {ye") == (9, ["yes"])
    assert fragment(net, "do(ag") == (3, ["age"])
    assert completions(net, "P(lu") == ["P(lung"]
    assert completions(net, "ev") == []


def piped(tmp_path, text, *options):
    (tmp_path / "asia.bif").write_text(ASIA)
    words = ["ask", str(tmp_path / "asia.bif"), *options]
    return CliRunner().invoke(app, words, input=text, standalone_mode=False)


def test_lines_from_a_pipe(tmp_path):
    result = piped(tmp_path, "smoke=yes\nP(lung=yes)\n\nquit\nnonsense\n")
    assert result.exception is None
    assert result.output.splitlines() == ["given smoke=yes, which has probability 0.48", "0.2"]
    quiet = piped(tmp_path, "smoke=yes\nP(lung=yes)\n", "--quiet")
    assert quiet.output == "0.2\n"
    result = piped(tmp_path, "smoke=yes\nP(lung=yes)\nmpe\n", "--json")
    answers = json.loads(result.output)["answers"]
    assert answers[0]["question"] == "P(lung=yes | smoke=yes)"
    assert answers[0]["probability"] == pytest.approx(0.2)
    assert answers[1]["states"]["lung"] == "no"


def test_a_bad_line_of_a_pipe_names_its_number(tmp_path):
    result = piped(tmp_path, "smoke=yes\nlug\n")
    assert isinstance(result.exception, CredoError)
    assert str(result.exception).startswith("Line 2: 'lug' is neither")


def test_evidence_on_numbers(tmp_path):
    table = cr.read(cr.examples.path("gender_measurements"))
    net = cr.fit("[sex][height|sex]", table)
    session = Session(net)
    assert session.take("height=6").text == "given height=6.0"
    assert session.take("sex").value["male"] > 0.5
