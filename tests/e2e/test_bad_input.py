"""Bad input through the command line: exit code 2, one sentence, never a traceback."""

import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.cli_stage import ASIA

import credo as cr
from credo.cli import app
from credo.errors import CredoError

CREDO = Path(sys.executable).with_name("credo")


def refusal(*words):
    """The sentence with which a command refuses."""
    result = CliRunner().invoke(app, list(map(str, words)), standalone_mode=False)
    assert isinstance(result.exception, CredoError), (words, result.exception, result.output)
    said = str(result.exception)
    assert said.strip().endswith((".", "?", ")", "^", "parquet", "…")), said
    return said


# --- tables -------------------------------------------------------------------------------

TABLES = {
    "ragged": (b"a,b\n1,2\n3\n", "Line 3 of t.csv has 1 cell"),
    "empty": (b"", "is empty"),
    "header only": (b"a,b\n", "has a header but no rows"),
    "all missing": (b"a,b\n,\n,\n", "Every cell of t.csv is missing"),
    "nul": (b"a,b\n1,\x002\n", "t.csv"),
    "latin-1": (b"a,b\nna\xefve,1\nx,2\n", "--encoding"),
    "unclosed quote": (b'a,b\n1,"' + b"x" * 100_000, "quote"),
    "not gzip": (b"a,b\n1,2\n", "gz"),
}


@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("command", ["schema", "learn", "classify"])
def test_bad_tables(case, command, tmp_path):
    data, says = TABLES[case]
    path = tmp_path / ("t.csv.gz" if case == "not gzip" else "t.csv")
    path.write_bytes(data)
    more = ["--target", "a"] if command == "classify" else []
    said = refusal_in_options(command, path, *more)
    assert says in said, said
    assert [p.name for p in tmp_path.iterdir()] == [path.name]  # nothing was written


def refusal_in_options(*words):
    from credo.cli.words import in_options

    return in_options(refusal(*words))


def test_numbers_that_are_none_are_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1.5,a\n1e309,b\n2.5,a\n0x10,b\n1_000,a\n")
    done = subprocess.run([CREDO, "schema", path, "--kind", "x=continuous"],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "'x'" in done.stderr and len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("weight", ["-1", "nan", "0"])
def test_bad_weights(tmp_path, weight):
    path = tmp_path / "t.csv"
    path.write_text(f"x,w\na,{weight}\nb,{weight}\na,{weight}\n")
    said = refusal("learn", path, "--weights", "w")
    assert "weight" in said or "column 'w'" in said


# --- network files ------------------------------------------------------------------------


def changed(old, new):
    assert old in ASIA
    return ASIA.replace(old, new)


NETWORKS = {
    "row adds up to 0.95": (changed("0.95, 0.05;", "0.9, 0.05;"), "add up to 0.95"),
    "negative": (changed("(yes) 0.2, 0.8", "(yes) -0.2, 1.2"), "-0.2"),
    "not a number": (changed("table 0.4, 0.6", "table nan, 0.6"), ""),
    "cycle": (changed("( age ) { table 0.4, 0.6; }",
                      "( age | dysp ) { (yes) 0.4, 0.6; (no) 0.4, 0.6; }"), "cycle"),
    "missing table": (changed("probability ( age ) { table 0.4, 0.6; }", ""), "age"),
    "two tables": (ASIA + "probability ( age ) { table 0.4, 0.6; }", "age"),
    "missing row": (changed("(no) 0.05, 0.95; }\n", "}\n"), "lung"),
    "unknown parent": (changed("( lung | smoke )", "( lung | smok )"), "smok"),
    "duplicate state": (changed("[ 2 ] { old, young }", "[ 2 ] { old, old }"), "old"),
    "a million states": (changed("type discrete [ 2 ] { old", "type discrete [ 1000000 ] { old"), ""),
    "cut off": (ASIA[:700], ""),
    "garbage": ("{{{{" * 1000, ""),
    "blanks": (" " * 200_000, ""),
}  # fmt: skip


@pytest.mark.parametrize("case", NETWORKS)
def test_bad_network_files(case, tmp_path):
    text, says = NETWORKS[case]
    path = tmp_path / "n.bif"
    path.write_text(text)
    for words in (["ask", path, "P(age)"], ["show", path], ["convert", path, tmp_path / "o.xdsl"]):
        assert says in refusal(*words)
    assert not (tmp_path / "o.xdsl").exists()


def test_a_pickle_and_a_flipped_bit_are_refused(tmp_path):
    path = tmp_path / "m.credo"

    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "owned"), "w"))

    path.write_bytes(pickle.dumps(Evil()))
    refusal("show", path)
    assert not (tmp_path / "owned").exists()
    (tmp_path / "asia.bif").write_text(ASIA)
    cr.load(tmp_path / "asia.bif").save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(bytes(data))
    refusal("ask", path, "P(age)")
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("model.json", "[" * 100_000)
    refusal("show", path)


# --- learning and asking ------------------------------------------------------------------


@pytest.fixture
def model(tmp_path):
    (tmp_path / "asia.bif").write_text(ASIA)
    return tmp_path / "asia.bif"


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("P(lug)", "Did you mean 'lung'?"),
        ("P(lung | smoke=maybe)", "State 'maybe'"),
        ("P(lung | lung=yes)", "at once"),
        ("P(lung | smoke=yes, smoke=no)", "given twice"),
        ("P(lung", "Expected"),
        ("", "A question is a text"),
        ("P(lung) ; rm", "Expected the end"),
    ],
)
def test_bad_questions(model, question, says):
    assert says in refusal("ask", model, question)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--interval", "0.95"], "no posterior"),
        (["--interval", "1.5"], "between 0 and 1"),
        (["--method", "magic"], "magic"),
        (["--budget", "soon"], "budget"),
        (["--error", "-1"], "error"),
    ],
)
def test_bad_ways_of_asking(model, words, says):
    assert says in refusal("ask", model, "P(lung)", *words)


def test_states_never_seen(model, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("smoke,lung\nyes,no\nperhaps,no\n")
    said = refusal_in_options("fit", model, path)
    assert "perhaps" in said or "age" in said
    assert "perhaps" in refusal("impute", model, path)


def test_output_that_cannot_be_written(model):
    done = subprocess.run([CREDO, "convert", model, "/no/such/folder/x.bif"],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 2 and done.stderr.startswith("Error: ")
    assert len(done.stderr.strip().splitlines()) == 1
    with open("/dev/full", "w") as full:
        done = subprocess.run([CREDO, "sample", model, "100000"], stdout=full,
                              stderr=subprocess.PIPE, text=True)  # fmt: skip
    assert done.returncode == 2 and "No space left" in done.stderr
