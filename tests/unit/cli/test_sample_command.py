"""`credo sample`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.in_process import call, credo

import credo as cr

CREDO = Path(sys.executable).with_name("credo")


@pytest.fixture
def model(tmp_path):
    net = cr.Network(
        "[rain][sprinkler|rain][wet|rain:sprinkler]",
        {
            "rain": {"no": 0.8, "yes": 0.2},
            "sprinkler": {"no": {"no": 0.6, "yes": 0.4}, "yes": {"no": 0.99, "yes": 0.01}},
            "wet": [[[1, 0], [0.1, 0.9]], [[0.2, 0.8], [0.01, 0.99]]],
        },
        states={"wet": ["no", "yes"]},
    )
    path = tmp_path / "grass.bif"
    net.save(path)
    return path


def test_rows_as_csv(model):
    lines = call("sample", model, 5).splitlines()
    assert lines[0] == "rain,sprinkler,wet"
    assert len(lines) == 6
    expected = cr.load(model).sample(5, rng=0)
    assert lines[1:] == [
        ",".join(row) for row in zip(*(expected[n] for n in expected), strict=True)
    ]
    assert call("sample", model, 5, "--threads", 2).splitlines() == lines
    assert call("sample", model, 5, "--seed", 1).splitlines() != lines


def test_evidence_and_interventions(model):
    out = call("sample", model, 200, "--given", "wet=yes", "-g", "rain in {no, yes}")
    rows = [line.split(",") for line in out.splitlines()[1:]]
    assert {r[2] for r in rows} == {"yes"}
    assert {r[0] for r in rows} == {"no", "yes"}
    out = call("sample", model, 200, "--given", "do(sprinkler=yes), rain=no")
    assert {tuple(line.split(",")[:2]) for line in out.splitlines()[1:]} == {("no", "yes")}


def test_json(model):
    document = json.loads(call("sample", model, 3, "--json"))
    assert document["version"] == 1 and document["seed"] == 0
    expected = cr.load(model).sample(3, rng=0, to="dict")
    assert document["rows"] == [
        dict(zip(expected, row, strict=True)) for row in zip(*expected.values(), strict=True)
    ]


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "jsonl"])
def test_files(model, tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    assert call("sample", model, 1000, "-o", path) == f"wrote {path}: 1,000 rows of 3 variables\n"
    net = cr.load(model)
    back = cr.read(path, net.schema)
    assert all((back.codes(n) == net.sample(1000, rng=0).codes(n)).all() for n in net.names)
    document = json.loads(call("sample", model, 10, "-o", path, "--json"))
    assert document["rows"] == 10 and document["output"] == str(path)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["5", "--given", "wat=yes"], "Variable 'wat' (character 1) is not in the model. Did you"),
        (["5", "--given", "wet=yes)"], "Expected ',' or the end at character 8"),
        (["5", "--given", "wet=yes", "--given", "wet=no"], "'wet' is given twice."),
        (["5", "--given", "wet=yes, sprinkler=no, rain=no"], "The evidence has probability zero"),
        (["--", "-3"], "n must be a whole number of draws, at least 0"),
        (["5", "-o", "rows.xlsx"], "not that of a file of rows"),
        (["5", "--seed", "-1"], "--seed must be a whole number, 0 or more, got -1"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(model, args, sentence):
    done = credo("sample", model, *args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert sentence in done.stderr
    _, *pointer = done.stderr.rstrip().splitlines()
    assert not pointer or (len(pointer) == 2 and pointer[1].strip() == "^")


def test_a_closed_pipe_is_no_error(model):
    done = subprocess.run(
        f"{CREDO} sample {model} 3000000 | head -2", shell=True, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[0] == "rain,sprinkler,wet"
    assert done.stderr == ""
