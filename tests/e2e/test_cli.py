"""The command line, as a person calls it: in a process of its own, or through its front door."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.in_process import credo

import credo as cr

CREDO = Path(sys.executable).with_name("credo")


def run(*args, cwd=None):
    done = subprocess.run([CREDO, *args], capture_output=True, text=True, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def inside(*args, cwd=None):
    """The same without a process; one for each kind of answer is enough."""
    done = credo(*args, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def test_help_and_version():
    code, out, _ = run("--help")
    assert code == 0 and "schema" in out and "demo" in out
    assert run("--version")[1].startswith("credo, version")
    code, out, _ = run("schema", "--help")
    assert code == 0 and "--kind NAME=KIND" in out and "Examples:" in out


def test_schema_as_text_and_as_json():
    path = str(cr.examples.path("play_tennis"))
    code, out, err = run("schema", path)
    assert code == 0 and err == ""
    assert out.splitlines()[0] == "play_tennis.csv: 14 rows, 5 variables, 1 column set aside"
    assert "3: Overcast, Rain, Sunny" in out and "identifier" in out
    code, out, _ = inside("schema", path, "--json")
    report = json.loads(out)
    assert code == 0 and report["version"] == 1 and report["rows"] == 14
    assert report["variables"][0] == {
        "name": "Outlook",
        "kind": "discrete",
        "states": ["Overcast", "Rain", "Sunny"],
        "ordered": False,
        "missing_rate": 0.0,
    }
    assert report["columns"][0]["kind"] == "identifier"


def test_schema_options(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age;stage;name;w\n50;II;a;1\n60;I;b;2\n-9;III;c;1\n1;2\n")
    code, out, err = inside(
        "schema", str(path), "--states", "stage=III,II,I", "--drop", "name", "--weights", "w",
        "--missing", "-9", "--kind", "age=continuous", "--skip-ragged", "--delimiter", ";", "--json",
    )  # fmt: skip
    assert code == 0, err
    report = json.loads(out)
    kinds = {c["name"]: c["kind"] for c in report["columns"]}
    assert kinds == {"age": "continuous", "stage": "discrete", "name": "dropped", "w": "weights"}
    assert report["variables"][1]["states"] == ["III", "II", "I"]
    assert report["columns"][0]["missing_as"] == {"-9": 1}
    assert report["notes"] == ["1 line with too many or too few cells skipped"]


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["schema", "nope.csv"], "Error: There is no file nope.csv."),
        (
            ["schema", "bad.csv"],
            "Error: Line 3 of bad.csv has 1 cell, but the header has 2. Mend the line, or skip such lines with --skip-ragged.",
        ),
        (
            ["schema", "ok.csv", "--kind", "a"],
            "Error: --kind must have the form NAME=KIND, got 'a'.",
        ),
        (["schema", "ok.csv", "--kind", "a=x"], "Error: The kind of 'a' must be 'discrete'"),
        (
            ["schema", "ok.csv", "--drop", "aa"],
            "Error: Column 'aa' is not in the table. Did you mean 'a'?",
        ),
        (["schema", "ok.csv", "--memory", "much"], "Error: --memory must be a number of bytes"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(tmp_path, args, sentence):
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3\n")
    (tmp_path / "ok.csv").write_text("a,b\n1,2\n3,4\n1,2\n")
    code, out, err = inside(*args, cwd=tmp_path)
    assert code == 2 and out == ""
    assert err.startswith(sentence) and len(err.strip().splitlines()) == 1


def test_unknown_commands_and_options():
    code, _, err = run("schme")
    assert code == 2 and "There is no command 'schme'. Did you mean 'schema'?" in err
    code, _, err = inside("schema", "t.csv", "--jsn")
    assert code == 2 and "--json" in err and len(err.strip().splitlines()) == 1
    code, _, err = inside("schema", str(cr.examples.path("play_tennis")), "--drop", "Dy")
    assert code == 2 and err.startswith(
        "Error: Column 'Dy' is not in the table. Did you mean 'Day'?"
    )
    assert inside("schema")[0] == 2


def test_demo_tells_the_whole_story(tmp_path):
    code, out, err = run("demo", cwd=tmp_path)
    assert code == 0 and err == ""
    for part in ("titanic.csv: 891 rows", "female          81         233", "Beta(234, 82)",
                 "lime with probability 0.886", "179 gaps", "structural EM", "├─ ", "95 %", "Next"):  # fmt: skip
        assert part in out, part
    assert (tmp_path / "credo-demo" / "titanic.credo").exists()
    code, out, err = inside("demo", "--course", cwd=tmp_path)
    assert code == 0 and err == ""
    for figure in ("play_tennis.csv: 14 rows", "0.885976", "Beta(6, 6)", "powers of 2", "0.6"):
        assert figure in out, figure
