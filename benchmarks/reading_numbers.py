"""Reading CSV files of decimals: long ones, and wide ones such as gene expressions."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Case

Sum = Callable[[Any, str], float]  # a table and a column to its mean


def run(bench: Bench) -> None:
    shapes = ((100_000, 10), (400, 1_000)) if bench.quick else ((1_000_000, 10), (800, 5_000))
    for rows, columns in shapes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "numbers.csv")
            write(path, rows, columns)
            write(path.with_stem("small"), 100, columns)
            cases = [
                Case(name, "benchmarks.reading_numbers:read", {"way": way, "path": str(path)}, of)
                for name, way, of in (
                    ("credo", "credo", None),
                    ("polars", "polars", "polars"),
                    ("pyarrow", "pyarrow", "pyarrow"),
                    ("pandas", "pandas", "pandas"),
                )
            ]
            size = path.stat().st_size / 1e6
            bench.fresh(f"CSV of decimals, {rows:,} rows × {columns:,}, {size:,.0f} MB", cases)


def write(path: Path, rows: int, columns: int) -> None:
    x = np.random.default_rng(0).normal(size=(rows, columns))
    header = ",".join(f"x{j}" for j in range(columns))
    np.savetxt(path, x, fmt="%.6f", delimiter=",", header=header, comments="")


def read(way: str, path: str) -> tuple[Any, Any, Any]:
    how, mean = WAYS[way]()
    how(str(Path(path).with_stem("small")))

    def digest(table: Any) -> list[str]:
        return [f"{mean(table, name):.7f}" for name in ("x0", "x9")]

    return lambda: None, lambda _: how(path), digest


def _credo() -> tuple[Any, Sum]:
    import credo as cr

    return cr.read, lambda table, name: float(table.tally([name])[name, []].mean[0, 0])


def _polars() -> tuple[Any, Sum]:
    import polars as pl

    return pl.read_csv, lambda frame, name: frame[name].mean()


def _pyarrow() -> tuple[Any, Sum]:
    import pyarrow.compute as pc
    import pyarrow.csv as csv

    return csv.read_csv, lambda table, name: pc.mean(table[name]).as_py()


def _pandas() -> tuple[Any, Sum]:
    import pandas as pd

    return pd.read_csv, lambda frame, name: frame[name].mean()


WAYS = {"credo": _credo, "polars": _polars, "pyarrow": _pyarrow, "pandas": _pandas}
