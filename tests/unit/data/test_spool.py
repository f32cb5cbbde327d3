"""A spool gives a stream's rows again, from codes on disk that are gone afterwards."""

import numpy as np
import pytest

import credo as cr
from credo.data import spooled
from credo.errors import CredoWarning, InputError


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    n = 5000
    a = rng.integers(0, 3, n)
    b = (a + (rng.random(n) < 0.2)) % 3
    return {
        "a": [None if g else f"s{v}" for v, g in zip(a, rng.random(n) < 0.1, strict=True)],
        "b": b.tolist(),
        "x": (a + rng.normal(size=n)).tolist(),
        "w": rng.integers(0, 4, n).tolist(),
    }


@pytest.fixture
def path(tmp_path, rows):
    import polars as pl

    pl.DataFrame(rows, strict=False).write_parquet(tmp_path / "rows.parquet", row_group_size=700)
    return tmp_path / "rows.parquet"


@pytest.mark.parametrize("weights", [None, "w"])
def test_a_spool_counts_what_its_stream_counts(path, weights):
    stream = cr.read(path, memory="1 kB", weights=weights)
    assert isinstance(stream, cr.Stream)
    families = [("b", ["a"]), ("x", ["b"]), "a"]
    with spooled(stream) as spool:
        assert spool.folder.is_dir() and spool.schema == stream.schema
        assert spool.tally(families).close_to(stream.tally(families))
        assert spool.tally(["a", "b"]) == stream.tally(["a", "b"])
        with pytest.warns(CredoWarning, match="left out: x"):
            assert spool.unique() == stream.unique()
        one = next(spool.batches(["x"]))
        assert one.schema.names == ("x",)
        with spooled(spool) as same:
            assert same is spool
    assert not spool.folder.exists()
    table = stream.load()
    with spooled(table) as same:
        assert same is table


def test_a_spool_is_left_out_where_the_disk_is_full(path, monkeypatch):
    import shutil

    stream = cr.read(path, memory="1 kB")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1000})())
    with spooled(stream) as same:
        assert same is stream
    with pytest.raises(InputError, match="has no room"):
        cr.edge_strengths(stream, "bic", samples=2)


def test_rows_drawn_anew_are_the_same_in_every_pass(path):
    stream = cr.read(path, memory="1 kB")
    with spooled(stream) as spool:
        drawn = spool.redrawn(7)
        first = drawn.tally(["b"])
        assert first == drawn.tally(["b"]) and first.rows != spool.redrawn(8).tally(["b"]).rows
        assert abs(first.rows - 5000) < 5 * np.sqrt(5000)
        shares = np.asarray(first["b"]) / first.rows
        assert np.allclose(shares, np.asarray(stream.tally(["b"])["b"]) / 5000, atol=0.03)
    weighted = cr.read(path, memory="1 kB", weights="w")
    with spooled(weighted) as spool:
        total = spool.redrawn(7).tally(["b"]).rows
        assert abs(total - weighted.tally(["b"]).rows) < 5 * np.sqrt(total)


def test_a_graph_from_a_stream_is_the_tables_and_so_are_its_edges(path):
    stream = cr.read(path, {"a": None, "w": None}, memory="1 kB")
    table = stream.load()
    found = cr.learn(stream, "bic", "tabu")
    assert found.dag == cr.learn(table, "bic", "tabu").dag
    of_stream = cr.edge_strengths(stream, "bic", samples=10)
    of_table = cr.edge_strengths(table, "bic", samples=10)
    assert of_stream.strength == of_table.strength
    alone = cr.edge_strengths(stream, "bic", samples=10, threads=1)
    assert alone.direction == of_stream.direction
