"""Models as SQL: a table in DuckDB scored by the statement of a model, and by predict_proba.

Ten columns of text and numbers, drawn here; naive Bayes, TAN, and a network learned from them. The
statement's answers stay in DuckDB's memory as Arrow; predict_proba reads the table from DuckDB
first. Answers must agree to 1e-9. One thread each; DuckDB runs on as many as it is given.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Entry, Task


def run(bench: Bench) -> None:
    import duckdb

    import credo as cr
    from credo.estimators import NaiveBayes, NetworkClassifier

    warnings.simplefilter("ignore")
    for rows in bench.sizes(1_000_000, quick=(100_000,)):
        for gaps in (0.0, 0.02):
            frame = _drawn(rows, gaps)
            con = duckdb.connect()
            con.execute("SET threads = 1")
            con.register("frame", frame)
            con.execute("CREATE TABLE rows AS SELECT * FROM frame")
            con.execute("CREATE VIEW features AS SELECT * EXCLUDE y FROM rows")
            first = frame.slice(0, 20_000)
            models = {
                "naive Bayes": NaiveBayes().fit(first, "y"),
                "TAN": NetworkClassifier().fit(first, "y"),
                "a learned network": cr.learn(first, rng=0, search="hill-climb"),
            }
            for name, model in models.items():
                title = f"{name}, {rows:,} rows" + (
                    f", {gaps:.0%} of cells missing" if gaps else ""
                )
                results = bench.compare(Task(title, _entries(con, model, gaps), (None,), 1e-9))
                _rates(bench, results, rows)


def _drawn(rows: int, gaps: float) -> Any:
    """A class, six columns of text and three of numbers that hang from it."""
    import pyarrow as pa

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, rows)
    columns: dict[str, Any] = {"y": np.array(["no", "maybe", "yes"])[y]}
    before = y
    for k in range(6):
        before = (before + rng.integers(0, 2 + k % 3, rows)) % 5
        columns[f"t{k}"] = np.array(list("abcde"))[before]
    for k in range(3):
        columns[f"n{k}"] = rng.normal(y * 0.5, 1 + k)
    arrays = [
        pa.array(c, mask=rng.random(rows) < gaps if n != "y" else None) for n, c in columns.items()
    ]
    return pa.table(arrays, names=list(columns))


def _entries(con: Any, model: Any, gaps: float) -> list[Entry]:
    from credo import Network
    from credo.estimators import NaiveBayes

    def asked(_: Any, items: Sequence[Any]) -> Any:
        rows = con.sql("SELECT * FROM features").to_arrow_table()
        if isinstance(model, Network):
            return [model.predict_proba(rows, "y")]
        return [model.predict_proba(rows)]

    def stated(text: str, items: Sequence[Any]) -> Any:
        return [con.sql(text).to_arrow_table()]

    def as_array(raw: Any, _: Any) -> Any:
        return [np.stack([c.to_numpy() for c in raw[0].columns], axis=1)]

    ways: dict[str, dict[str, str]] = {"DuckDB, the statement of to_sql": {}}
    if not gaps and not isinstance(model, NaiveBayes):
        ways["DuckDB, gaps='null'"] = {"gaps": "null"}
    return [
        Entry("credo predict_proba", asked),
        *(
            Entry(name, stated, setup=partial(model.to_sql, "duckdb", target="y", **how),
                  answer=as_array)
            for name, how in ways.items()
        ),
    ]  # fmt: skip


def _rates(bench: Bench, results: Any, rows: int) -> None:
    bench.grid(
        "millions of rows in a second of CPU",
        ["", "rows/s"],
        [[r.name, f"{rows / r.best('cpu') / 1e6:.3g}"] for r in results if r.turns],
    )
