"""Reading: a table of discrete columns from files and frames, and numbers, each in a fresh process.

Every library reads a small file first, so that what it imports late is not timed. Memory is
the peak that reading adds to the process; a frame that is given is not counted.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import data, reading_numbers
from benchmarks.harness import Bench, Case

Read = Callable[[Any], Any]  # a path, or a frame, to a table
Counts = Callable[[Any, str], Sequence[Any]]  # a table and a column to (label, count) pairs
LOOK = ("v00", "v18", "v36")  # the columns whose counts are compared


def run(bench: Bench) -> None:
    for rows in bench.sizes(1_000_000, quick=(100_000,)):
        with tempfile.TemporaryDirectory() as folder:
            csv, parquet = Path(folder, "table.csv"), Path(folder, "table.parquet")
            lines = Path(folder, "table.jsonl")
            write(rows, csv, parquet, lines)
            shape = f"{rows:,} rows × 37 columns"
            bench.fresh(
                f"CSV, {shape}, {csv.stat().st_size / 1e6:,.0f} MB",
                [
                    _case("credo", "credo_file", csv),
                    _case("polars, Categorical", "polars_csv", csv),
                    _case("polars, strings", "polars_csv_strings", csv),
                    _case("pyarrow, dictionary", "pyarrow_csv", csv),
                    _case("pandas, dtype category", "pandas_csv", csv),
                    _case("pandas, then astype", "pandas_csv_astype", csv),
                    _case("DuckDB, strings", "duckdb_csv", csv),
                ],
            )
            bench.fresh(
                f"Parquet, {shape}, {parquet.stat().st_size / 1e6:,.0f} MB",
                [
                    _case("credo", "credo_file", parquet),
                    _case("pyarrow, dictionary", "pyarrow_parquet", parquet),
                    _case("pyarrow, strings", "pyarrow_parquet_strings", parquet),
                    _case("polars, Categorical", "polars_parquet", parquet),
                    _case("pandas, then astype", "pandas_parquet", parquet),
                    _case("DuckDB, strings", "duckdb_parquet", parquet),
                ],
            )
            bench.fresh(
                f"JSON lines, {shape}, {lines.stat().st_size / 1e6:,.0f} MB",
                [
                    _case("credo", "credo_file", lines),
                    _case("polars, Categorical", "polars_lines", lines),
                    _case("polars, strings", "polars_lines_strings", lines),
                    _case("pyarrow, dictionary", "pyarrow_lines", lines),
                    _case("pandas, then astype", "pandas_lines", lines),
                    _case("DuckDB, strings", "duckdb_lines", lines),
                ],
            )
            bench.fresh(
                f"frames in memory, {shape}",
                [
                    _frame("credo, pandas categories", "pandas_categories", parquet),
                    _frame("credo, pandas strings", "pandas_strings", parquet),
                    _frame("pandas strings, astype", "pandas_astype", parquet),
                    _frame("credo, polars Categorical", "polars_categorical", parquet),
                    _frame("credo, polars strings", "polars_strings", parquet),
                    _frame("polars strings, cast", "polars_cast", parquet),
                ],
            )
    reading_numbers.run(bench)


def _case(name: str, way: str, path: Path) -> Case:
    arguments = {"way": way, "path": str(path)}
    return Case(name, "benchmarks.reading:from_file", arguments, _package(way))


def _frame(name: str, way: str, path: Path) -> Case:
    arguments = {"way": way, "path": str(path)}
    return Case(name, "benchmarks.reading:from_frame", arguments, _package(way), since="prepared")


def _package(way: str) -> str | None:
    return None if way.startswith("credo") else way.split("_")[0]


def write(rows: int, csv: Path, parquet: Path, lines: Path) -> None:
    """The same table of strings as a CSV, a Parquet and a JSON file, and a small one of each."""
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    table = data.arrow_table(data.codes(rows))
    for part, at in ((table, Path), (table.slice(0, 1000), _small)):
        pc.write_csv(part, at(csv), pc.WriteOptions(quoting_style="none"))
        pq.write_table(part, at(parquet))
        _write_lines(part, at(lines))


def _write_lines(table: Any, path: Path) -> None:
    import json

    with path.open("w") as file:
        for batch in table.to_batches(max_chunksize=10_000):
            file.writelines(json.dumps(row) + "\n" for row in batch.to_pylist())


def _small(path: Path | str) -> Path:
    return Path(path).with_stem("small")


# --- what the fresh process runs --------------------------------------------------------------


def from_file(way: str, path: str) -> tuple[Any, Any, Any]:
    read, counts = FILES[way]()
    read(str(_small(path)))
    return lambda: None, lambda _: read(path), lambda table: _digest(table, counts)


def from_frame(way: str, path: str) -> tuple[Any, Any, Any]:
    make, read, counts = FRAMES[way]()
    read(make(str(_small(path))))
    return (
        lambda: make(path),
        lambda frame: (read(frame), frame),
        lambda pair: _digest(pair[0], counts),
    )


def _digest(table: Any, counts: Counts) -> list[Any]:
    return [sorted([str(label), int(n)] for label, n in counts(table, name)) for name in LOOK]


# --- credo ------------------------------------------------------------------------------------


def _credo_file() -> tuple[Read, Counts]:
    import credo as cr

    return cr.read, _credo_counts


def _credo_counts(table: Any, name: str) -> Sequence[Any]:
    return [(labels[0], n) for labels, n in table.tally([name])[name].items()]


def _pandas_categories() -> tuple[Read, Read, Counts]:
    import pandas as pd

    import credo as cr

    return lambda path: pd.read_parquet(path).astype("category"), cr.read, _credo_counts


def _pandas_strings() -> tuple[Read, Read, Counts]:
    import pandas as pd

    import credo as cr

    return pd.read_parquet, cr.read, _credo_counts


def _polars_categorical() -> tuple[Read, Read, Counts]:
    import polars as pl

    import credo as cr

    return lambda path: pl.read_parquet(path).cast(pl.Categorical), cr.read, _credo_counts


def _polars_strings() -> tuple[Read, Read, Counts]:
    import polars as pl

    import credo as cr

    return pl.read_parquet, cr.read, _credo_counts


# --- pandas -----------------------------------------------------------------------------------


def _pandas_counts(frame: Any, name: str) -> Sequence[Any]:
    return list(frame[name].value_counts().items())


def _pandas_csv() -> tuple[Read, Counts]:
    import pandas as pd

    return lambda path: pd.read_csv(path, dtype="category"), _pandas_counts


def _pandas_csv_astype() -> tuple[Read, Counts]:
    import pandas as pd

    return lambda path: pd.read_csv(path).astype("category"), _pandas_counts


def _pandas_parquet() -> tuple[Read, Counts]:
    import pandas as pd

    return lambda path: pd.read_parquet(path).astype("category"), _pandas_counts


def _pandas_lines() -> tuple[Read, Counts]:
    import pandas as pd

    return lambda path: pd.read_json(path, lines=True).astype("category"), _pandas_counts


def _pandas_astype() -> tuple[Read, Read, Counts]:
    import pandas as pd

    return pd.read_parquet, lambda frame: frame.astype("category"), _pandas_counts


# --- polars -----------------------------------------------------------------------------------


def _polars_counts(frame: Any, name: str) -> Sequence[Any]:
    return frame.group_by(name).len().rows()


def _polars_csv() -> tuple[Read, Counts]:
    import polars as pl

    types = dict.fromkeys(data.names(), pl.Categorical)
    return lambda path: pl.read_csv(path, schema_overrides=types), _polars_counts


def _polars_csv_strings() -> tuple[Read, Counts]:
    import polars as pl

    return pl.read_csv, _polars_counts


def _polars_parquet() -> tuple[Read, Counts]:
    import polars as pl

    return lambda path: pl.read_parquet(path).cast(pl.Categorical), _polars_counts


def _polars_lines() -> tuple[Read, Counts]:
    import polars as pl

    types = dict.fromkeys(data.names(), pl.Categorical)
    return lambda path: pl.read_ndjson(path).cast(types), _polars_counts


def _polars_lines_strings() -> tuple[Read, Counts]:
    import polars as pl

    return pl.read_ndjson, _polars_counts


def _polars_cast() -> tuple[Read, Read, Counts]:
    import polars as pl

    return pl.read_parquet, lambda frame: frame.cast(pl.Categorical), _polars_counts


# --- DuckDB and Arrow -------------------------------------------------------------------------


def _duckdb(source: str) -> tuple[Read, Counts]:
    import duckdb

    def read(path: str) -> Any:
        connection = duckdb.connect()
        connection.execute("SET threads=1")
        return connection.execute(f"CREATE TABLE t AS FROM {source.format(path)}")

    def counts(connection: Any, name: str) -> Sequence[Any]:
        return connection.execute(f"SELECT {name}, count(*) FROM t GROUP BY {name}").fetchall()

    return read, counts


def _duckdb_csv() -> tuple[Read, Counts]:
    return _duckdb("read_csv('{}', all_varchar=true)")


def _duckdb_parquet() -> tuple[Read, Counts]:
    return _duckdb("read_parquet('{}')")


def _duckdb_lines() -> tuple[Read, Counts]:
    return _duckdb("read_json('{}')")


def _pyarrow_counts(table: Any, name: str) -> Sequence[Any]:
    return [v.values() for v in table[name].unify_dictionaries().value_counts().to_pylist()]


def _pyarrow_csv() -> tuple[Read, Counts]:
    import pyarrow as pa
    import pyarrow.csv as pc

    types = dict.fromkeys(data.names(), pa.dictionary(pa.int32(), pa.string()))
    options = pc.ConvertOptions(column_types=types)
    return lambda path: pc.read_csv(path, convert_options=options), _pyarrow_counts


def _pyarrow_lines() -> tuple[Read, Counts]:
    import pyarrow.json as pj

    return lambda path: _encoded(pj.read_json(path)), _pyarrow_counts


def _encoded(table: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pa.table({name: pc.dictionary_encode(table[name]) for name in table.column_names})


def _pyarrow_parquet() -> tuple[Read, Counts]:
    import pyarrow.parquet as pq

    return lambda path: pq.read_table(path, read_dictionary=data.names()), _pyarrow_counts


def _pyarrow_parquet_strings() -> tuple[Read, Counts]:
    import pyarrow.parquet as pq

    return pq.read_table, _pyarrow_counts


FILES = {
    "credo_file": _credo_file,
    "pandas_csv": _pandas_csv,
    "pandas_csv_astype": _pandas_csv_astype,
    "pandas_lines": _pandas_lines,
    "pandas_parquet": _pandas_parquet,
    "polars_csv": _polars_csv,
    "polars_csv_strings": _polars_csv_strings,
    "polars_lines": _polars_lines,
    "polars_lines_strings": _polars_lines_strings,
    "polars_parquet": _polars_parquet,
    "duckdb_csv": _duckdb_csv,
    "duckdb_lines": _duckdb_lines,
    "duckdb_parquet": _duckdb_parquet,
    "pyarrow_csv": _pyarrow_csv,
    "pyarrow_lines": _pyarrow_lines,
    "pyarrow_parquet": _pyarrow_parquet,
    "pyarrow_parquet_strings": _pyarrow_parquet_strings,
}
FRAMES = {
    "pandas_categories": _pandas_categories,
    "pandas_strings": _pandas_strings,
    "pandas_astype": _pandas_astype,
    "polars_categorical": _polars_categorical,
    "polars_strings": _polars_strings,
    "polars_cast": _polars_cast,
}
