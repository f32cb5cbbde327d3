"""Rows with an engine: all pair tables of text columns in Parquet, counted by every way there is.

Then hill climbing on the same rows, and EM where one cell in a hundred of two columns is missing.
CPU seconds of this process and of all it started (workers, the JVM), after a first run that starts
them. DuckDB counts the same pairs by GROUPING SETS. All on one machine, so it shows what a way
costs, not how it scales.
"""

from __future__ import annotations

import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import credo as cr
from benchmarks.harness import Bench, installed

COLUMNS = 20
FILES = 8


def run(bench: Bench) -> None:
    for rows in bench.sizes(1_000_000, quick=(100_000,)):
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder) / "whole", rows, 0.0)
            write(Path(folder) / "gaps", rows, 0.01)
            measured(bench, f"{folder}/whole", f"{folder}/gaps", rows)
    parts(bench)


def write(folder: Path, rows: int, missing: float) -> None:
    """Text columns of 2 to 9 states in a few files; of the last two a share is missing."""
    folder.mkdir()
    for k in range(FILES):
        rng = np.random.default_rng(k)
        n = rows // FILES
        columns = {}
        for j in range(COLUMNS):
            states = [f"state number {i}" for i in range(2 + j % 8)]
            gone = rng.random(n) < missing if j >= COLUMNS - 2 else None
            codes = pa.array(rng.integers(0, len(states), n).astype(np.int8), mask=gone)
            columns[f"c{j}"] = pa.DictionaryArray.from_arrays(codes, states).cast(pa.string())
        pq.write_table(pa.table(columns), folder / f"{k}.parquet")


def cpu() -> float:
    """CPU seconds of this process and all that it started."""
    import psutil

    own = psutil.Process()
    total = 0.0
    for process in (own, *own.children(recursive=True)):
        try:
            t = process.cpu_times()
        except psutil.Error:
            continue
        total += t.user + t.system
    return total


def spent(run: Callable[[], Any]) -> tuple[float, float, Any]:
    wall, before = time.perf_counter(), cpu()
    found = run()
    return cpu() - before, time.perf_counter() - wall, found


def measured(bench: Bench, folder: str, with_gaps: str, rows: int) -> None:
    lines: list[list[str]] = []
    learners: list[list[str]] = []
    names = [f"c{j}" for j in range(COLUMNS)]
    pairs = [(a, [b]) for a, b in combinations(names, 2)]
    chain = "[c0]" + "".join(f"[{b}|{a}]" for a, b in pairwise(names))
    expected = cr.read(folder, memory="1 MB").tally(pairs)

    def line(way: str, read: Callable[[str], Any]) -> None:
        read(folder)  # which starts what has to start
        schema, wall, source = spent(lambda: read(folder))
        counted, more, tally = spent(lambda: source.tally(pairs))
        assert tally == expected
        with source.coded() if hasattr(source, "coded") else ExitStack() as kept:
            again = "–"
            if hasattr(source, "coded"):
                kept.tally(pairs)
                again = f"{spent(lambda: kept.tally(pairs))[0]:.2f}"
            rows_of = kept if hasattr(source, "coded") else source
            climb, _, _ = spent(lambda: cr.learn(rows_of, "bic", search="hill-climb"))
        lines.append([way, f"{schema:.2f}", f"{counted:.2f}", again, f"{wall + more:.2f}"])
        gaps = read(with_gaps)
        em, _, _ = spent(lambda: cr.em(chain, gaps, max_iter=10, draws=0, rng=0))
        learners.append([way, f"{climb:.2f}", f"{em:.2f}"])

    line("in this process, read batch by batch", lambda f: cr.read(f, memory="1 MB"))
    if installed("distributed"):
        import dask.dataframe as dd
        from distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            line("Dask, workers open the files", lambda f: cr.read(f, on=client))
            line("Dask frame", lambda f: cr.read(dd.read_parquet(f)))
    if installed("pyspark") and shutil.which("java"):
        spark = session()
        line("Spark, workers open the files", lambda f: cr.read(f, on=spark))
        line("Spark frame", lambda f: cr.read(spark.read.parquet(f)))
        spark.stop()
    by_duckdb, wall, _ = spent(lambda: grouping_sets(folder, pairs))
    lines.append(["DuckDB's GROUPING SETS", "–", f"{by_duckdb:.2f}", "–", f"{wall:.2f}"])
    bench.grid(
        f"{len(pairs)} pair tables of {rows:,} rows × {COLUMNS} text columns in {FILES} files",
        ["way", "schema, CPU s", "counting, CPU s", "coded and kept, CPU s", "seconds in all"],
        lines,
    )
    part = len(pickle.dumps(cr.read(f"{folder}/0.parquet").tally(pairs)))
    bench.grid(
        f"learning from them; a part sends {part:,} bytes of pair tables to the driver",
        ["way", "hill climbing on kept codes, CPU s", "10 steps of EM with gaps, CPU s"],
        learners,
    )


def session() -> Any:
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.log.level", "OFF")
    return builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()


def grouping_sets(folder: str, pairs: list[Any]) -> Any:
    import duckdb

    sets = ", ".join(f"({a}, {b})" for a, (b,) in pairs)
    names = ", ".join(f"c{j}" for j in range(COLUMNS))
    query = f"select {names}, count(*) from '{folder}/*.parquet' group by grouping sets ({sets})"
    return duckdb.sql(query).fetchall()


def parts(bench: Bench) -> None:
    """What the driver does with many small parts."""
    from concurrent.futures import ThreadPoolExecutor

    lines = []
    for count in (10, 100) if bench.quick else (10, 100, 1000):
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
            rng = np.random.default_rng(0)
            for k in range(count):
                rows = {f"c{j}": rng.choice(["a", "b", "c"], 1000) for j in range(10)}
                pq.write_table(pa.table(rows), Path(folder) / f"{k:04}.parquet")
            pairs = [(a, [b]) for a, b in combinations([f"c{j}" for j in range(10)], 2)]
            read, _, source = spent(partial(cr.read, folder, on=pool))
            counted, _, _ = spent(partial(source.tally, pairs))
        lines.append([f"{count:,}", *(f"{1000 * t / count:.1f}" for t in (read, counted))])
    bench.grid(
        "many parts of 1,000 rows × 10 columns",
        ["parts", "schema, CPU ms a part", "45 pair tables, CPU ms a part"],
        lines,
    )
