"""Standard input, quiet, warnings, what `credo learn` does when it is told nothing."""

import errno
import gzip
import json
import os
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.cli_stage import build

import credo as cr
from credo import cli
from credo.cli import app
from credo.cli.learning import default_output, gaps_line, next_steps
from credo.cli.models import model_format
from credo.cli.terminal import graph_lines
from credo.errors import CredoError

DOUBTFUL = "a,d\n" + "".join(f"{i % 2},{'inf' if i == 9 else i / 7}\n" for i in range(30))
CREDO = Path(sys.executable).with_name("credo")


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    return build(tmp_path_factory.mktemp("stage"))


def run(*words, stdin=None):
    result = CliRunner().invoke(app, list(map(str, words)), input=stdin, standalone_mode=False)
    assert result.exception is None, result.exception
    return result.stdout


def refused(*words, stdin=None):
    result = CliRunner().invoke(app, list(map(str, words)), input=stdin, standalone_mode=False)
    assert isinstance(result.exception, CredoError), result.exception
    return str(result.exception)


# --- standard input -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "ending", ["bif", "xmlbif", "net", "dsc", "xdsl", "uai", "credo", "bif.gz"]
)
def test_models_of_every_format_from_standard_input(stage, tmp_path, ending):
    net = cr.load(stage / "asia.bif")
    path = tmp_path / f"m.{ending}"
    net.save(path)
    data = path.read_bytes()
    wanted = cr.load(path)
    name = wanted.names[2]
    found = json.loads(run("ask", "-", f"P({name})", "--json", stdin=data))
    assert [c["p"] for c in found["answers"][0]["distribution"]] == list(wanted.p(name).values())


def test_formats_by_their_first_bytes():
    assert model_format(b"// a comment\n/* more */ network x {}") == "bif"
    assert model_format(b'\xef\xbb\xbf<?xml version="1.0"?><BIF>') == "xmlbif"
    assert model_format(b"<?xml version='1.0'?><smile>") == "xdsl"
    with pytest.raises(CredoError, match="not a network that credo knows"):
        model_format(b"a,b\n1,2\n")


@pytest.mark.parametrize("form", ["csv", "csv.gz", "jsonl", "parquet", "arrow"])
def test_tables_of_every_form_from_standard_input(stage, tmp_path, form):
    path = tmp_path / f"rows.{form.removesuffix('.gz')}"
    cr.load(stage / "asia.bif").sample(50, 0, path=path)
    data = path.read_bytes()
    if form.endswith(".gz"):
        data = gzip.compress(data)
    found = json.loads(run("schema", "-", "--json", stdin=data))
    assert found["rows"] == 50 and len(found["variables"]) == 6


def test_standard_input_is_read_once_and_not_empty(stage):
    assert "is empty; a table was expected" in refused("schema", "-", stdin=b"")
    assert "is empty; a model was expected" in refused("show", "-", stdin=b" \n")
    said = refused("impute", "-", "-", stdin=(stage / "asia.bif").read_bytes())
    assert "'-' can be given once" in said
    assert "needs its questions" in refused("ask", "-", stdin=b"network")


def test_a_pipe_from_one_command_to_the_next(stage):
    rows = run("sample", stage / "asia.bif", 300, "--seed", 5)
    report = run("schema", "-", stdin=rows.encode())
    assert report.startswith("stdin.csv: 300 rows, 6 variables")


# --- quiet, seed, threads -----------------------------------------------------------------


def test_quiet_says_nothing_but_the_result(stage, tmp_path):
    out = tmp_path / "m.credo"
    assert run("learn", stage / "patients.csv", "-o", out, "--quiet") == ""
    assert run("fit", "[smoke][lung|smoke]", stage / "patients.csv", "-o", out, "-q") == ""
    assert run("convert", out, tmp_path / "m.xdsl", "-q") == ""
    assert run("ask", out, "P(lung=yes)", "P(smoke=yes)", "-q").count("\n") == 2
    assert float(run("score", "[smoke][lung|smoke]", stage / "patients.csv", "-q")) < 0


def test_seed_and_threads_are_checked(stage):
    said = refused("show", stage / "asia.bif", "--threads", 0)
    assert said == "--threads must be a whole number above 0, got 0."
    assert "--seed must be a whole number" in refused("show", stage / "asia.bif", "--seed", -1)


def test_the_same_for_any_number_of_threads(stage):
    one, two = (run("learn", stage / "gaps.csv", "--json", "--threads", t) for t in (1, 2))
    one, two = json.loads(one), json.loads(two)
    assert one["edges"] == two["edges"] and one["score"] == pytest.approx(two["score"], rel=1e-12)


def test_warnings_are_one_line_each(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(DOUBTFUL)
    result = subprocess.run([CREDO, "schema", path], capture_output=True, text=True)
    assert result.stderr.startswith("Noticed: Column 'd' was set aside: ")
    assert result.stderr.count("\n") == 1 and ".py" not in result.stderr
    quiet = subprocess.run([CREDO, "schema", path, "-q"], capture_output=True, text=True)
    assert quiet.stderr == ""


# --- credo learn, told nothing ------------------------------------------------------------


def test_learn_alone_says_what_it_does_and_saves_beside_the_table(tmp_path):
    path = tmp_path / "tennis days.csv"
    path.write_bytes(cr.examples.path("play_tennis").read_bytes())
    out = run("learn", path)
    for part in ("14 rows, 5 discrete variables; set aside: Day (identifier)",
                 "No cell is missing.", "4 edges among 5 variables", "auto (exact) with bdeu",
                 "independent columns", "Next"):  # fmt: skip
        assert part in out, part
    model = tmp_path / "tennis days.credo"
    assert f"written to {model}" in out
    net = cr.load(model)
    assert all(d.learned.prior is not None for d in net.distributions.values())
    again = run("learn", path)
    assert f"written to {tmp_path / 'tennis days-2.credo'}" in again
    assert cr.load(model) == net


def test_gaps_are_counted_and_explained(stage):
    out = run("learn", stage / "gaps.csv", "-o", stage / "g.credo")
    assert "of the cells) in 6 columns" in out and "(structural EM)" in out
    assert "filled in" not in out
    table = cr.read(stage / "gaps.csv")
    assert "left out (complete-rows)" in gaps_line(table, "complete-rows")


def test_learn_fits_on_a_screen_and_details_say_the_rest(tmp_path):
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 200)
    columns = {
        f"v{i:02}": np.where(rng.random(200) < 0.7, first, (first + i) % 3) for i in range(20)
    }
    path = tmp_path / "wide.csv"
    lines = [
        ",".join(columns),
        *(",".join(f"s{c[r]}" for c in columns.values()) for r in range(200)),
    ]
    path.write_text("\n".join(lines) + "\n")
    short = run("learn", path, "-o", tmp_path / "w.credo", "--seconds", 5)
    assert short.count("\n") <= 30
    assert "v00" in short and "independent columns" in short
    parts = ["wide.csv: 200 rows", "Learned ", "independent columns", "written to", "credo ask"]
    assert sorted(parts, key=short.index) == parts
    long = run("learn", path, "-o", tmp_path / "w.credo", "--details", "--seconds", 5)
    for part in ("why", "parents", "stopped: ", "The graph: ", "learned again in 5 folds"):
        assert part in long, part


def test_sections_of_the_check_that_were_late_are_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(cr.examples.path("titanic").read_bytes())
    out = run("learn", path, "-o", tmp_path / "t.credo", "--seconds", 0.02)
    assert "for lack of time (--seconds): " in out or "Not checked: There was no time left" in out


def test_ask_recalls_what_learn_found_wrong(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.standard_exponential(300) ** 2  # no Gaussian
    path, out = tmp_path / "t.csv", tmp_path / "t.credo"
    cells = (f"{v:.4f},{'ab'[int(b)]}" for v, b in zip(x, rng.integers(0, 2, 300), strict=True))
    path.write_text("\n".join(["x,b", *cells]) + "\n")
    run("learn", path, "-o", out, "-q")
    assert "Found when" not in run("ask", out, "P(x)")  # a quiet learn makes no check
    run("learn", path, "-o", out)
    said = run("ask", out, "P(x)")
    assert said.splitlines()[-1].startswith("Found when it was learned: ") and " x " in said
    assert "Found when" not in run("ask", out, "P(x)", "-q")
    found = json.loads(run("ask", out, "P(x)", "--json"))["answers"][0]["found"]
    assert found == said.splitlines()[-1]


def test_a_number_is_answered_by_its_density_its_parts_by_details(stage, tmp_path):
    net = cr.Network("[s][x|s]", [
        cr.Cpt(cr.Variable("s", "discrete", ("a", "b")), (), [0.5, 0.5]),
        cr.LinearGaussian(cr.Variable("x", "continuous"),
                          (cr.Variable("s", "discrete", ("a", "b")),), [0.0, 4.0], [], [1.0, 1.0]),
    ])  # fmt: skip
    net.save(tmp_path / "m.credo")
    said = run("ask", tmp_path / "m.credo", "P(x)")
    assert said.splitlines()[1].split() == ["mean", "sd", "95", "%", "of", "values", "density"]
    assert "█" in said and "0.50000" not in said and "(--details lists them)" in said
    assert "0.50000" in run("ask", tmp_path / "m.credo", "P(x)", "--details")


def test_the_next_steps_can_be_pasted(stage, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("gaps.csv", "survey.csv"):
        lines = (stage / name).read_text().splitlines(keepends=True)
        (tmp_path / name).write_text("".join(lines[:121]))
        net = cr.learn(name, parameters=cr.BDeu(1))
        net.save("m's.credo")
        steps = next_steps(net, "m's.credo", name)
        assert "--interval" in steps[0][0]
        for line, _ in steps:
            words = shlex.split(line)
            result = CliRunner().invoke(app, words[1:], input="", standalone_mode=False)
            assert result.exception is None, (line, result.exception)


def test_where_a_model_goes_when_nobody_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    assert default_output("data/t.csv.gz") == os.path.join("data", "t.credo")
    assert default_output("-") == "model.credo" == default_output("part-*.parquet")
    assert default_output("from 'data/t.csv'") == "model.credo"
    (tmp_path / "model.credo").write_text("")
    assert default_output("-") == "model-2.credo"
    (tmp_path / "data").chmod(0o555)  # a folder that is not meant to be written to
    assert default_output("data/t.csv") == "t.credo"


def test_json_writes_nothing_unless_told(stage, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes((stage / "patients.csv").read_bytes())
    assert json.loads(run("learn", path, "--json"))["output"] is None
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


def test_a_budget_of_no_seconds_is_no_budget(stage):
    assert json.loads(run("learn", stage / "patients.csv", "--seconds", 0, "--json"))["proven"]
    assert "must be 0 or more" in refused("learn", stage / "patients.csv", "--seconds", -1)


def test_mixed_tables_get_posteriors(stage, tmp_path):
    out = tmp_path / "m.credo"
    run("learn", stage / "survey.csv", "-o", out, "-q")
    net = cr.load(out)
    assert all(d.learned.prior is not None for d in net.distributions.values())


# --- drawings -----------------------------------------------------------------------------


def test_a_graph_as_a_tree():
    lines = graph_lines(cr.Dag.parse("[A][B|A][C|A][D|B:C][E]"))
    assert lines == ["A", "├─ B", "└─ C", "   └─ D  (also ← B)", "E"]
    chain = cr.Dag([(f"v{i}", f"v{i + 1}") for i in range(3000)])
    assert len(graph_lines(chain)) == 3001


def test_pictures_are_replaced_whole(stage, tmp_path):
    path = tmp_path / "a.svg"
    path.write_text("old")
    run("show", stage / "asia.bif", "--svg", path, "-q")
    assert path.read_text().startswith("<svg") and len(list(tmp_path.iterdir())) == 1


def test_python_m_credo_is_the_command(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-m", "credo", "schema", "nope.csv"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert ran.returncode == 2
    assert "There is no file nope.csv." in ran.stderr


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("can't start new thread"),
        ImportError("libx.so: failed to map segment from shared object"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_whatever_says_that_memory_ran_out_is_one_sentence(error, monkeypatch, capsys):
    def app(**_):
        raise error

    monkeypatch.setattr(cli, "app", app)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("Error: There is not enough memory for this.")
    monkeypatch.setattr(cli, "app", lambda **_: import_module("no_such_module"))
    with pytest.raises(ImportError):
        cli.main()
