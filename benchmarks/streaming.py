"""Streaming: a Parquet file of strings, counted in bounded memory, against only reading it.

The aim is to count all pairs at no less than half the speed of reading the file alone.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.harness import Bench, Case, ratio

Three = tuple[Callable[[], Any], Callable[[Any], Any], Callable[[Any], Any]]
PAIRS = list(combinations(range(37), 2))


def run(bench: Bench) -> None:
    for rows in bench.sizes(4_000_000, quick=(400_000,)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "table.parquet")
            strings, truth = write(rows, path)
            for cores in (1, 2):
                _compare(bench, path, rows, cores, truth)
            bench.console.print(
                f"The file has {path.stat().st_size / 1e6:,.0f} MB; as Arrow strings in memory "
                f"{strings / 1e6:,.0f} MB, as credo's codes {rows * 37 / 1e6:,.0f} MB. "
                "Memory above is the peak since the imports.",
                style="dim",
            )


def _compare(bench: Bench, path: Path, rows: int, cores: int, truth: int) -> None:
    def case(name: str, function: str, package: str | None = None) -> Case:
        arguments = {"path": str(path), "threads": cores, "memory": min(20_000_000, rows * 9)}
        return Case(name, f"benchmarks.streaming:{function}", arguments, package, cores)

    found = bench.fresh(
        f"all 666 pairs of {rows:,} rows, {cores} core{'s' * (cores > 1)}",
        [
            case("credo tally, later pass", "later_pass"),
            case("credo read, first pass", "first_pass"),
            case("credo read and tally", "both_passes"),
            case("credo, in memory", "in_memory"),
            case("pyarrow read, strings", "arrow_strings", "pyarrow"),
            case("pyarrow read, dictionary", "arrow_dictionary", "pyarrow"),
            case("DuckDB read, strings", "duckdb_strings", "duckdb"),
        ],
        truth=truth,
    )
    best = {r.name: r for r in found if r.turns}
    own = best.get("credo tally, later pass")
    for form in ("strings", "dictionary"):
        reading = best.get(f"pyarrow read, {form}")
        if own and reading:
            cpu, wall = (ratio(reading.best(w) / own.best(w)) for w in ("cpu", "wall"))
            bench.console.print(
                f"Counting at {cpu} the speed of only reading ({form}) by CPU, {wall} by wall; "
                "the aim is 0.5×.",
                style="dim",
            )


def write(rows: int, path: Path) -> tuple[int, int]:
    """Write the file; give its size as strings in memory, and the digest of its counts."""
    import pyarrow.parquet as pq

    columns = data.codes(rows)
    strings = 0
    writer = None
    for low in range(0, rows, 500_000):
        part = data.arrow_table([c[low : low + 500_000] for c in columns])
        strings += part.nbytes
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
        if not low:
            pq.write_table(part.slice(0, 1000), _small(path))
    assert writer is not None
    writer.close()
    of = data.arities()
    tables = []
    for i, j in PAIRS[::13]:
        flat = np.bincount(columns[i] * np.uint8(of[j]) + columns[j], minlength=of[i] * of[j])
        # credo orders the states by their label
        rank = [np.argsort(np.argsort(data.states(of[k]))) for k in (i, j)]
        table = np.zeros((of[i], of[j]), dtype=np.int64)
        table[np.ix_(*rank)] = flat.reshape(of[i], of[j])
        tables.append(table)
    return strings, _digest(tables)


def _small(path: Path | str) -> Path:
    return Path(path).with_stem("small")


def _digest(tables: list[Any]) -> int:
    return zlib.crc32(b"".join(np.asarray(t, dtype="<i8").tobytes() for t in tables))


def _families() -> list[Any]:
    names = data.names()
    return [(names[j], [names[i]]) for i, j in PAIRS]


def _counted(tally: Any) -> int:
    return _digest([np.asarray(tally[f]) for f in _families()[::13]])


def _nothing() -> None:
    return None


def _imports(path: str) -> Any:
    """credo with everything loaded that it loads late: a small file is counted first."""
    import credo as cr

    cr.read(_small(path), memory=100).tally(_families())
    return cr


def later_pass(path: str, threads: int, memory: int) -> Three:
    cr = _imports(path)
    families = _families()

    def prepare() -> Any:
        stream = cr.read(path, memory=memory)
        assert isinstance(stream, cr.Stream)
        return stream

    return prepare, lambda stream: stream.tally(families, threads=threads), _counted


def first_pass(path: str, threads: int, memory: int) -> Three:
    cr = _imports(path)
    return _nothing, lambda _: cr.read(path, memory=memory), lambda _: None


def both_passes(path: str, threads: int, memory: int) -> Three:
    cr = _imports(path)
    families = _families()

    def work(_: Any) -> Any:
        return cr.read(path, memory=memory).tally(families, threads=threads)

    return _nothing, work, _counted


def in_memory(path: str, threads: int, memory: int) -> Three:
    cr = _imports(path)
    families = _families()
    return _nothing, lambda _: cr.read(path).tally(families, threads=threads), _counted


def _read_batches(path: str, threads: int, **options: Any) -> Three:
    import pyarrow.parquet as pq

    def work(_: Any) -> int:
        with pq.ParquetFile(path, pre_buffer=False, **options) as file:
            batches = file.iter_batches(131_072, use_threads=threads > 1)
            return sum(b.num_rows for b in batches)

    return _nothing, work, lambda _: None


def arrow_strings(path: str, threads: int, memory: int) -> Three:
    return _read_batches(path, threads)


def arrow_dictionary(path: str, threads: int, memory: int) -> Three:
    return _read_batches(path, threads, read_dictionary=data.names())


def duckdb_strings(path: str, threads: int, memory: int) -> Three:
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET threads={threads}")

    def work(_: Any) -> int:
        query = connection.execute(f"FROM read_parquet('{path}')")
        return sum(b.num_rows for b in query.to_arrow_reader(131_072))

    return _nothing, work, lambda _: None
