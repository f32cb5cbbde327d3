"""Moments: mean and covariance of 20 continuous columns, and of each group of a discrete one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Entry, Task

WIDTH, GROUPS = 20, 5


def run(bench: Bench) -> None:
    for rows in bench.sizes(1_000_000, quick=(100_000,)):
        compare(bench, rows)


def compare(bench: Bench, rows: int) -> None:
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(WIDTH, WIDTH))
    x = np.ascontiguousarray((rng.normal(size=(rows, WIDTH)) @ mixing).T + 10.0)
    group = rng.integers(0, GROUPS, size=rows).astype(np.uint8)
    x[3] += group
    names = [f"x{i:02}" for i in range(WIDTH)]

    def frame() -> Any:
        return _pandas(x, group, names)

    bench.compare(
        Task(
            f"covariance of {WIDTH} columns, {rows:,} rows",
            [
                _credo("credo tally", x, group, names, by=False),
                _credo("credo tally, 2 threads", x, group, names, by=False, threads=2),
                Entry("NumPy cov", lambda *_: [np.cov(x)]),
                Entry("pandas cov", lambda frame, _: [frame[names].cov()], "pandas", frame),
            ],
            tolerance=1e-9,
        )
    )
    bench.compare(
        Task(
            f"covariance of {WIDTH} columns in {GROUPS} groups, {rows:,} rows",
            [
                _credo("credo tally", x, group, names, by=True),
                _credo("credo tally, 2 threads", x, group, names, by=True, threads=2),
                Entry(
                    "NumPy cov of each group",
                    lambda *_: [[np.cov(x[:, group == g]) for g in range(GROUPS)]],
                ),
                Entry(
                    "pandas groupby.cov",
                    lambda frame, _: frame.groupby("group").cov(),
                    "pandas",
                    frame,
                    answer=lambda raw, _: [raw.to_numpy().reshape(GROUPS, WIDTH, WIDTH)],
                ),
            ],
            tolerance=1e-9,
        )
    )


def _credo(
    name: str,
    x: np.ndarray,
    group: np.ndarray,
    names: Sequence[str],
    *,
    by: bool,
    threads: int = 1,
) -> Entry:
    import credo as cr

    family = (names[-1], [*(["group"] if by else []), *names[:-1]])

    def table() -> Any:
        return cr.read({"group": group, **dict(zip(names, x, strict=True))})

    def answer(raw: Any, _: Any) -> list[np.ndarray]:
        found = raw[family]
        covariance = found.scatter / (found.n - 1)[:, None, None]
        return [covariance if by else covariance[0]]

    return Entry(
        name,
        lambda given, _: cr.tally(given, [family], threads=threads),
        None,
        table,
        answer=answer,
        threads=threads,
    )


def _pandas(x: np.ndarray, group: np.ndarray, names: Sequence[str]) -> Any:
    import pandas as pd

    return pd.DataFrame({"group": group, **dict(zip(names, x, strict=True))})
