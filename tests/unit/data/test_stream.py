"""Streams: the same answer in bounded memory, with progress."""

import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credo as cr

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
    path = write_parquet(tmp_path / "t.parquet", 300_000, 6)
    table, stream = cr.read(path), cr.read(path, memory="100kB")
    assert isinstance(table, cr.Table) and isinstance(stream, cr.Stream)
    assert stream.schema == table.schema and len(stream) == len(table)
    names = table.schema.names
    families = [(a, [b]) for a in names for b in names if a != b] + [("v0", ["v1", "v2", "v3"])]
    assert stream.tally(families) == table.tally(families)
    assert stream.unique() == table.unique()
    assert stream.tally() == table.tally()


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
    frame = pl.DataFrame({"a": rng.integers(0, 3, 400_000), "b": rng.normal(size=400_000)})
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
