"""Streams and spools, and tables on disk that an engine hands over bit by bit."""

import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.core.scales import Transform
from credo.data import Kept, spooled
from credo.data.sources import feed
from credo.data.sources.frames import feed_of_frame
from credo.errors import CredoWarning, InputError

# --- Streams: the same answer in bounded memory, with progress ---


STATES = pa.array(["a", "b", "c", "d"])


def write_parquet(path, rows, columns=20, seed=0):
    rng = np.random.default_rng(seed)
    with pq.ParquetWriter(path, pa.schema([(f"v{i}", pa.string()) for i in range(columns)])) as out:
        for start in range(0, rows, 250_000):
            n = min(250_000, rows - start)
            data = {
                f"v{i}": STATES.take(pa.array(rng.integers(0, 2 + i % 3, n)))
                for i in range(columns)
            }
            out.write_table(pa.table(data))
    return path


def test_the_answer_is_the_same_to_the_last_count(tmp_path):
    path = write_parquet(tmp_path / "t.parquet", 60_000, 6)
    table, stream = cr.read(path), cr.read(path, memory="20kB")
    assert isinstance(table, cr.Table) and isinstance(stream, cr.Stream)
    assert stream.schema == table.schema and len(stream) == len(table)
    names = table.schema.names
    families = [(a, [b]) for a in names for b in names if a != b] + [("v0", ["v1", "v2", "v3"])]
    assert stream.tally(families) == table.tally(families)
    assert stream.unique() == table.unique()
    assert stream.tally() == table.tally()


@pytest.mark.slow
def test_a_parquet_file_several_times_larger_than_the_limit_in_bounded_memory(tmp_path):
    path = write_parquet(tmp_path / "t.parquet", 3_000_000)
    code = f"""
    import resource, credo as cr, credo.data, pyarrow.parquet
    small = cr.read({str(write_parquet(tmp_path / "s.parquet", 250_000))!r}, memory="15MB")
    small.tally([("v0", ["v1"])])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    stream = cr.read({str(path)!r}, memory="15MB")
    names = stream.schema.names
    tally = stream.tally([(a, [b]) for i, a in enumerate(names) for b in names[:i]])
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert isinstance(stream, cr.Stream) and tally.rows == 3_000_000
    print((after - before) / 1024)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    # 60 MB of codes (900 MB as text) pass through; what is held does not grow with the rows.
    assert float(done.stdout) < 45


def test_progress_is_reported(tmp_path):
    path = write_parquet(tmp_path / "t.parquet", 300_000, 2)
    seen = []
    stream = cr.read(path, memory="1kB", report=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (300_000, 300_000) and len(seen) > 1
    seen.clear()
    stream.tally(["v0"])
    assert seen[-1] == (300_000, 300_000)
    assert [d for d, _ in seen] == sorted(d for d, _ in seen)


def test_frames_stream_too():
    import polars as pl

    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"a": rng.integers(0, 3, 60_000), "b": rng.normal(size=60_000)})
    stream = cr.read(frame.lazy(), memory="10kB")
    assert isinstance(stream, cr.Stream)
    table = cr.read(frame)
    assert stream.tally(["a"]) == table.tally(["a"])
    assert stream.tally([("b", ["a"])]).close_to(table.tally([("b", ["a"])]))


def test_weights_stream(put):
    path = put("a,w\n" + "x,2\ny,1\nz,0\nx,3\n" * 1000)
    table, stream = cr.read(path, weights="w"), cr.read(path, weights="w", memory=1)
    assert stream.tally(["a"]) == table.tally(["a"])
    assert np.asarray(stream.tally(["a"])["a"]).tolist() == [5000, 1000]
    fractional = put("a,w\n" + "x,0.5\ny,1\nz,0\nx,3\n" * 1000, "f.csv")
    table, stream = cr.read(fractional, weights="w"), cr.read(fractional, weights="w", memory=1)
    np.testing.assert_allclose(stream.tally(["a"])["a"], table.tally(["a"])["a"], rtol=1e-12)


def test_a_file_that_changes_between_passes_is_refused(put):
    path = put("a,b\n" + "x,1\ny,0\n" * 100)
    stream = cr.read(path, memory=1)
    path.write_text("a,b\n" + "x,1\nw,0\n" * 100)
    with pytest.raises(cr.errors.TableError, match=r"t.csv was written again"):
        stream.tally(["a"])
    unstamped = replace(stream, feed=replace(stream.feed, files=()))
    with pytest.raises(cr.errors.TableError, match="Row 2 of column 'a' holds 'w'"):
        unstamped.tally(["a"])


def test_once_only_sources_that_would_not_fit_are_refused():
    table = pa.table({"a": [0, 1] * 500})
    assert len(cr.read(table.to_reader(), memory="10kB")) == 1000
    with pytest.raises(cr.errors.LimitError, match=r"can be read only once and does not fit"):
        cr.read(table.to_reader(), memory=100)


def test_a_file_that_turns_out_too_large_becomes_a_stream(put):
    import gzip

    text = "a,b\n" + "x,1\ny,0\n" * 100_000
    path = put(gzip.compress(text.encode()), "t.csv.gz")
    limit = 12 * path.stat().st_size + 1
    assert limit < 400_000  # the estimate passes, the cells do not
    stream = cr.read(path, memory=limit)
    assert isinstance(stream, cr.Stream)
    assert stream.tally([("a", ["b"])]) == cr.read(path).tally([("a", ["b"])])


def test_ctrl_c_stops_the_reader(tmp_path):
    path = write_parquet(tmp_path / "t.parquet", 300_000, 2)

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cr.read(path, report=interrupt)
    import threading

    assert not [t for t in threading.enumerate() if t.name == "credo-prefetch"]


# --- A spool gives a stream's rows again, from codes on disk that are gone afterwards ---


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


# --- Tables on disk that an engine hands over bit by bit: the same cells as read whole ---


N = 500
RNG = np.random.default_rng(4)
TABLE = pa.table(
    {
        "d": RNG.integers(0, 3, N),
        "s": RNG.choice(["low", "mid", "high"], N),
        "x": RNG.normal(size=N),
        "gap": pa.array([None if v > 1 else float(v) for v in RNG.normal(size=N)]),
    }
)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(feed, "BATCH", 64)


def cells(source, names):
    """What a feed gives of some columns, in order."""
    out = {name: [] for name in names}
    for batch in feed_of_frame(source, None).batches(names):
        assert len(next(iter(batch.values()))) <= 64
        for name, column in batch.items():
            out[name] += column.to_pylist()
    return out


def parquet(folder, **options):
    path = folder / "t.parquet"
    pq.write_table(TABLE, path, row_group_size=130, **options)
    return path


@pytest.fixture(params=["file", "files", "ipc", "hive", "grown", "filtered", "memory", "some"])
def dataset(request, tmp_path):
    match request.param:
        case "file":
            return ds.dataset(parquet(tmp_path))
        case "files":
            for i in range(3):
                pq.write_table(TABLE.slice(i * 100, 100), tmp_path / f"{i}.parquet")
            return ds.dataset(tmp_path)
        case "ipc":
            ds.write_dataset(TABLE, tmp_path / "i", format="ipc")
            return ds.dataset(tmp_path / "i", format="ipc")
        case "hive":
            ds.write_dataset(
                TABLE, tmp_path / "h", format="parquet", partitioning=["s"],
                partitioning_flavor="hive",
            )  # fmt: skip
            return ds.dataset(tmp_path / "h", partitioning="hive")
        case "grown":  # the first file has no column 'gap', and d is narrow
            old = TABLE.drop(["gap"]).set_column(0, "d", TABLE["d"].cast(pa.int8()))
            pq.write_table(old, tmp_path / "0.parquet")
            pq.write_table(TABLE, tmp_path / "1.parquet")
            return ds.dataset(tmp_path, schema=TABLE.schema)
        case "filtered":
            return ds.dataset(parquet(tmp_path)).filter(ds.field("d") < 2)
        case "memory":
            return ds.dataset(TABLE)
        case "some":
            parts = next(ds.dataset(parquet(tmp_path)).get_fragments()).split_by_row_group()
            return ds.FileSystemDataset(parts[1:3], TABLE.schema, parts[0].format)


@pytest.mark.parametrize("names", [["x", "d"], ["gap", "s", "x", "d"]])
def test_a_dataset_gives_its_own_cells(dataset, names):
    assert cells(dataset, names) == dataset.to_table(columns=names).to_pydict()


def test_a_dataset_streams_to_the_same_tally(dataset):
    whole, stream = cr.read(dataset.to_table()), cr.read(dataset, memory=1)
    assert isinstance(stream, cr.Stream) and stream.schema == whole.schema
    assert stream.tally([("s", ["d"])]) == whole.tally([("s", ["d"])])
    assert stream.tally(["x"]).close_to(whole.tally(["x"]))


FILTERS = {
    "another column": ds.field("gap") < 0.5,
    "by position": pc.field(0) == 1,
    "two": (ds.field("d") > 0) & (ds.field("s") == "low"),
    "a gap": ds.field("gap").is_null(),
    "none": ds.field("d") > 9,
}


@pytest.mark.parametrize("chosen", FILTERS.values(), ids=FILTERS)
def test_a_filtered_dataset_gives_the_rows_that_pass(chosen, tmp_path):
    dataset = ds.dataset(parquet(tmp_path)).filter(chosen)
    for names in (["x"], ["s", "d"]):
        assert cells(dataset, names) == dataset.to_table(columns=names).to_pydict()


@pytest.mark.parametrize(
    "query", ["scan", "two files", "select", "head", "slice", "filter", "more", "index", "unique"]
)
def test_a_lazy_frame_gives_its_own_cells(query, tmp_path):
    pl = pytest.importorskip("polars")
    path = parquet(tmp_path)
    frame = pl.scan_parquet(path)
    match query:
        case "two files":
            frame = pl.scan_parquet([path, path])
        case "select":
            frame = frame.select("gap", "d")
        case "head":
            frame = frame.head(70)
        case "slice":
            frame = frame.slice(90, 200)
        case "filter":
            frame = frame.filter(pl.col("d") == 1)
        case "more":
            frame = frame.with_columns(twice=2 * pl.col("x"))
        case "index":
            frame = frame.with_row_index()
        case "unique":
            frame = frame.unique(["d", "s"], maintain_order=True)
    expected = frame.collect().to_dict(as_series=False)
    assert cells(frame, list(expected)) == expected
    assert cells(frame, ["d"]) == {"d": expected["d"]}


def test_some_rows_and_columns_of_a_stream(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "rows.csv"
    x, y = rng.integers(0, 3, 500), rng.normal(size=500).round(3) + 10
    lines = [f"{a},{b},{a % 2}" for a, b in zip(x, y, strict=True)]
    path.write_text("\n".join(["x,y,odd", *lines]) + "\n")
    table, stream = cr.read(path), cr.read(path, memory="100 B")
    kept = Kept.of(
        stream, ["y", "x"], int((x != 1).sum()), ["odd"], lambda p, at: np.asarray(p["odd"]) == 0
    )
    want = table.select(["y", "x"]).take(x != 1)
    families = ["x", ("y", ["x"])]
    assert kept.tally(families).close_to(want.tally(families))
    assert kept.load()["x"].tolist() == want["x"].tolist() and kept.numbers is None
    assert kept.tally(["x"])["x"].total == kept.rows == len(kept)
    logs = kept.scaled({"y": Transform("log")})
    assert np.allclose(np.concatenate([p.block.arrays[0] for p in logs.batches(["y"])]),
                       np.log(want["y"]))  # fmt: skip
    assert np.allclose(logs.load()["y"], want["y"]) and logs.unscaled.schema == kept.schema
    with pytest.raises(InputError, match="no variable"):
        next(kept.batches([]))
    none = Kept.of(stream, ["x"], 0, ["odd"], lambda p, at: np.zeros(p.rows, dtype=bool))
    with pytest.raises(InputError, match="no rows"):
        none.load()
