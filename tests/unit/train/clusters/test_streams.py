"""Clusters of a stream: weights, row numbers and notes are those of the same rows in memory."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from click.testing import CliRunner

import credo as cr
from credo.cli import app
from credo.errors import InputError

ROWS = "x,y,n\n0,1,1\n0.1,2,0\n5,3.5,50\n,,1\n5.1,4,50\n0.2,1,{last}\n7,5,0\n"


@pytest.fixture
def path(tmp_path, request):
    to = tmp_path / "w.csv"
    to.write_text(ROWS.format(last=getattr(request, "param", 2)))
    return str(to)


@pytest.mark.parametrize("path", [2, 0.5], indirect=True)
def test_sizes_are_sums_of_weights_and_rows_have_their_numbers(path) -> None:
    whole = cr.cluster(cr.read(path, weights="n"), k=2)
    stream = cr.cluster(cr.read(path, weights="n", memory="20B"), k=2)
    assert stream.sizes == whole.sizes
    assert [type(s) for s in stream.sizes] == [type(s) for s in whole.sizes]
    assert stream.labels.tolist() == whole.labels.tolist()
    assert stream.row_numbers == whole.row_numbers == [1, 3, 4, 5, 6]
    for groups in (stream, whole):
        assert any("1 row has no cell (row 4)" in n for n in groups.record.notes)


def test_weights_beside_the_stream_are_told_when_some_are_0(path) -> None:
    weights = [1, 0, 50, 1, 50, 2, 0]
    stream = cr.read(path, {"n": "drop"}, weights=weights, memory="20B")
    groups = cr.cluster(stream, k=2)
    assert groups.sizes == (101, 3) and groups.row_numbers == [1, 3, 4, 5, 6]
    assert any(n.startswith("2 rows of weight 0 are left out") for n in groups.record.notes)
    assert cr.cluster(stream.load(), k=2).row_numbers == groups.row_numbers


def test_the_command_line_writes_numbers_and_sizes_of_a_stream(path, tmp_path) -> None:
    out = tmp_path / "labels.csv"
    given = ["cluster", path, "--weights", "n", "--k", "2", "--json", "-o", str(out)]
    found = [CliRunner().invoke(app, [*given, *more]) for more in ([], ["--memory", "20B"])]
    whole, stream = (json.loads(r.output) for r in found)
    assert stream["sizes"] == whole["sizes"] == [101, 3]
    assert stream["rows"] == [1, 3, 4, 5, 6]
    rows = [line.split(",")[0] for line in out.read_text().splitlines()]
    assert rows == ["row", "1", "3", "4", "5", "6"]


@pytest.mark.parametrize("iterations", [1, 2, 4])
@pytest.mark.parametrize("kind", ["whole", "gaps", "stream"])
def test_at_the_limit_of_iterations_labels_are_those_of_assign(iterations, kind, tmp_path) -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(400, 3))
    if kind == "gaps":
        x[rng.random(x.shape) < 0.2] = np.nan
    source: object = x
    if kind == "stream":
        to = tmp_path / "x.csv"
        np.savetxt(to, x, delimiter=",", header="x0,x1,x2", comments="")
        source = cr.read(str(to), memory="20B")
    groups = cr.cluster(source, k=6, max_iter=iterations, tol=0.0)
    assert groups.assign(x).tolist() == groups.labels.tolist()


def test_the_distances_of_a_stream_are_refused_in_words(path) -> None:
    groups = cr.cluster(cr.read(path, weights="n", memory="20B"), k=2)
    with pytest.raises(InputError, match=r"in memory, and these come from a stream.*load"):
        _ = groups.geometry


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("scale", ["auto", "sd"])
def test_the_quality_of_a_stream_is_that_of_its_rows(tmp_path, gaps, weights, scale) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(500, 2)) + 1e6 + 9 * rng.integers(0, 3, 500)[:, None]
    x[rng.random(x.shape) < gaps] = np.nan
    w = rng.integers(1, 4, 500)
    to = tmp_path / "x.csv"
    lines = (",".join("" if c != c else repr(c) for c in row) for row in x.tolist())
    to.write_text("a,b,w\n" + "".join(f"{r},{n}\n" for r, n in zip(lines, w, strict=True)))
    given = {"schema": {} if weights else {"w": "drop"}, "weights": weights}
    stream = cr.cluster(cr.read(str(to), memory="2kB", **given), k=3, scale=scale)
    whole = cr.cluster(cr.read(str(to), **given), k=3, scale=scale)
    assert isinstance(stream.table, cr.Stream)
    assert dict(stream.quality) == pytest.approx(dict(whole.quality), rel=1e-6)
    assert "silhouette" in str(pickle.loads(pickle.dumps(stream)))


def test_the_silhouette_of_a_long_stream_is_that_of_a_sample(tmp_path, monkeypatch) -> None:
    from credo.train.clusters import spread

    monkeypatch.setattr(spread, "SAMPLE", 4500)
    rng = np.random.default_rng(6)
    x = rng.normal(size=5000) + 6 * rng.integers(0, 2, 5000)
    to = tmp_path / "x.csv"
    np.savetxt(to, x, header="x", comments="")
    stream = cr.cluster(cr.read(str(to), memory="2kB"), k=2)
    whole = cr.cluster({"x": x}, k=2)
    assert stream.quality["explained"] == pytest.approx(whole.quality["explained"])
    off = stream.quality["silhouette"] - whole.quality["silhouette"]
    assert abs(off) < 5 * stream.quality["silhouette_error"]
    assert any("and the silhouette is theirs" in n for n in stream.record.notes)
