"""`credo cluster`: tables for people, JSON for machines, labels in a file, one sentence on bad input."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

from credo.cli import app
from credo.cli.commands.cluster import _count
from credo.errors import CredoError


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rows.csv"
    rows = [(0.1 * i, "red") for i in range(6)] + [(9 + 0.1 * i, "blue") for i in range(5)]
    path.write_text("x,colour\n" + "\n".join(f"{x:.1f},{c}" for x, c in rows))
    return path


def run(*args):
    return CliRunner().invoke(app, ["cluster", *map(str, args)])


def test_for_people(table, tmp_path):
    out, picture = tmp_path / "labels.csv", tmp_path / "rows.png"
    done = run(
        table,
        "--aside",
        "colour",
        "-o",
        out,
        "--picture",
        picture,
        "--stability",
        "3",
        "--k-max",
        "3",
    )
    assert done.exit_code == 0, done.output
    assert "k-means: 2 clusters in 11 rows of rows.csv" in done.output
    assert "which k?" in done.output and "what sets them apart" in done.output
    assert "stability: adjusted Rand 1.000" in done.output
    with open(out) as file:
        rows = list(csv.DictReader(file))
    assert [r["cluster"] for r in rows] == ["0"] * 6 + ["1"] * 5 and rows[0]["row"] == "1"
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize("method", ["k-means", "average", "latent-class"])
def test_for_machines(table, tmp_path, method):
    out = tmp_path / "labels.csv"
    done = run(table, "--method", method, "--k", "2", "--json", "-o", out)
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert found["k"] == 2 and found["sizes"] == [6, 5] and len(found["labels"]) == 11
    assert len(found["rows"]) == 11 and found["rows"][0] == 1
    assert found["profiles"][0][0]["bits"] > 0 and found["quality"]["silhouette"] > 0.5
    assert (found["membership"] is None) == (method != "latent-class")
    head = out.read_text().splitlines()[0]
    assert head == ("row,cluster,p0,p1" if method == "latent-class" else "row,cluster")


def test_a_tree_cut_at_a_height(table):
    found = json.loads(
        run(table, "--method", "single", "--height", "2", "--scale", "none", "--column", "x",
            "--distance", "euclidean", "--json").output
    )  # fmt: skip
    assert found["k"] == 2 and found["columns"] == ["x"]


def test_options_of_the_method(table):
    done = run(table, "--k", "2", "--set", "starts=3", "--set", "tolerance=0.0", "--json")
    assert "the best of 3 starts" in json.loads(done.output)["reason"]
    done = run(table, "--method", "spectral", "--k", "2", "--set", "affinity=rbf", "--json")
    assert json.loads(done.output)["k"] == 2


def test_bad_input(table):
    for args, words in [
        ((table, "--method", "k-meens"), "Did you mean 'k-means'"),
        ((table, "--k", "99"), "at most the number of rows"),
        ((table, "--k", "2", "--picture", "x.nonsense"), "written as 'x.nonsense'. Give --picture"),
        ((table, "--k", "2", "--picture", "x"), "ends in .png, .svg or .pdf"),
        ((table, "--set", "starts"), "NAME=VALUE"),
        ((table, "--aside", "color"), "Did you mean 'colour'"),
    ]:
        done = run(*args)
        assert isinstance(done.exception, CredoError) and words in str(done.exception)
    with pytest.raises(CredoError, match="whole number or auto"):
        _count("many")


def test_rows_are_numbered_as_in_the_file(tmp_path):
    path, out = tmp_path / "rows.csv", tmp_path / "labels.csv"
    path.write_text("x,w\n0.5,1\n0.1,0\n5.5,2\n5.2,1\n7.1\n0.2,1\n")
    more = ["--kind", "x=continuous", "--weights", "w", "--k", "2", "-o", out, "--skip-ragged"]
    done = run(path, *more)
    assert done.exit_code == 0, done.output
    with open(out) as file:
        assert [r["row"] for r in csv.DictReader(file)] == ["1", "3", "4", "5"]
    said = " ".join(done.output.split())
    assert "1 row of weight 0 is left out" in said
    assert "skipped: labels and row numbers are of the rows that were read" in said


def test_quiet_says_the_groups_alone(table):
    done = run(table, "--k", "2", "-q")
    assert done.output.splitlines()[0].split()[:3] == ["cluster", "size", "share"]
    assert len(done.output.strip().splitlines()) == 3
    asked = run(table, "--k", "2", "-q", "--stability", "2").output.strip().splitlines()
    assert len(asked) == 5 and asked[-1].startswith("stability: adjusted Rand")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--picture", ""), "--picture needs the name of a file, got ''"),
        (("-o", " "), "-o needs the name of a file"),
        (("-o", "labels.xlsx"), "written as CSV, and 'labels.xlsx' has another ending"),
        (("-o", "labels.parquet"), "Give -o a name that ends in .csv"),
    ],
)
def test_files_that_cannot_be_written_are_refused_first(table, more, words):
    done = run(table, "--k", "2", *more)
    assert isinstance(done.exception, CredoError) and words in str(done.exception)


def test_several_columns_of_counts(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n" + "\n".join(f"{i % 3},{9 * (i % 2) + i % 4},u" for i in range(30)))
    done = run(path, "--method", "latent-class", "--k", "2", "--set", "counts=a,b", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["k"] == 2


@pytest.mark.parametrize("method", ["gaussian", "latent-class"])
def test_a_picture_of_a_mixture(table, tmp_path, method):
    picture = tmp_path / "rows.png"
    done = run(table, "--column", "x", "--method", method, "--k", "2", "--picture", picture)
    assert done.exit_code == 0 and picture.stat().st_size > 1000


def test_numbers_beside_states_are_latent_classes(tmp_path):
    """k-means splits such a table by its states: here by sex, which has nothing to do with x and y."""
    path = tmp_path / "mixed.csv"
    rng = np.random.default_rng(0)
    ill = rng.random(200) < 0.4
    cells = zip(
        rng.normal(3 * ill, 1), rng.normal(2 * ill, 1), rng.choice(["f", "m"], 200), strict=True
    )
    path.write_text("x,y,sex\n" + "\n".join(f"{x:.2f},{y:.2f},{s}" for x, y, s in cells))
    found = json.loads(run(path, "--json").output)
    assert found["method"] == "latent-class" and found["k"] == 2
    assert found["profiles"][0][-1]["column"] == "sex"
    assert any("latent classes were chosen: numbers stand beside" in n for n in found["notes"])
    for more in (["--method", "k-means"], ["--scale", "sd"], ["--column", "x"], ["--by", "gap"]):
        told = json.loads(run(path, *more, "--json").output)
        assert told["method"] == "k-means"
        assert not any("latent classes" in n for n in told["notes"])
