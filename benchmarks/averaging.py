"""Averaging over graphs: exact seconds by the number of columns; chains by effective samples.

Sums over all graphs, and over all orders (the prior `order`).

Effective samples are those of the worst edge: p (1 − p) / error². Times are CPU seconds of one
thread.
"""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

import credo as cr
from benchmarks.harness import Bench
from credo.train.averaging.chains import sampled
from credo.train.averaging.exact import guard, sums
from credo.train.averaging.lists import weighed

NETWORKS = Path(__file__).resolve().parents[2] / "shared" / "data" / "networks"
ROWS = 1000
CHAINS = 16


def run(bench: Bench) -> None:
    """Sums, then chains."""
    _sums(bench)
    _orders(bench)
    _chains(bench)


def _families(
    rows: Any, exact: bool, most: int | None, prior: str = "uniform"
) -> tuple[Any, float]:
    began = time.process_time()
    settings = {} if most is None else {"max_parents": most}
    found = weighed(
        rows, "bdeu", 1.0, prior, settings, exact=exact, threads=1, left=lambda: math.inf
    )
    return found, time.process_time() - began


def _chain_of(n: int) -> Any:
    """Rows of binary columns, each like the one before it in 8 of 10."""
    rng = np.random.default_rng(n)
    x = rng.integers(0, 2, (ROWS, n))
    for j in range(1, n):
        x[:, j] = np.where(rng.random(ROWS) < 0.6, x[:, j - 1], x[:, j])
    return cr.read({f"v{j}": x[:, j].tolist() for j in range(n)})


def _orders(bench: Bench) -> None:
    lines = []
    for n in (12,) if bench.quick else (16, 18, 20, 22):
        found, _ = _families(_chain_of(n), True, 3, "order")
        began = time.process_time()
        made = sums(found, 1, 2000)
        spent = time.process_time() - began
        memory, _ = guard(n, True)
        lines.append([str(n), f"{memory / 2**20:,.0f} MB", f"{spent:.2f} s", f"{made.error:.0e}"])
    bench.grid(
        f"exact sums over all orders, {ROWS:,} rows of a chain, at most 3 parents",
        ["columns", "memory", "all families, 2,000 orders drawn", "right to"],
        lines,
    )


def _sums(bench: Bench) -> None:
    lines = []
    for n in (8, 12) if bench.quick else (8, 10, 12, 14, 15, 16, 17):
        table = _chain_of(n)
        found, scoring = _families(table, True, None)
        began = time.process_time()
        made = sums(found, 1)
        spent = time.process_time() - began
        lines.append([str(n), f"{found.lists.size:,}", f"{scoring:.2f} s", f"{spent:.2f} s",
                      f"{made.error:.0e}"])  # fmt: skip
    bench.grid(
        f"exact sums over all graphs, {ROWS:,} rows of a chain of binary columns",
        ["columns", "families", "scoring", "all edges, families and paths", "right to"],
        lines,
    )


def _chains(bench: Bench) -> None:
    lines = []
    for name in ("child",) if bench.quick else ("child", "alarm", "hailfinder"):
        path = NETWORKS / f"{name}.bif.gz"
        if not path.exists():
            continue
        rows = cr.load(path).sample(ROWS, rng=0)
        found, preparing = _families(rows, False, 3)
        limit = 20.0 if bench.quick else 120.0
        began, clock = time.process_time(), time.monotonic()
        made = sampled(
            found, chains=CHAINS, error=0.01, seed=0, threads=1,
            left=lambda clock=clock, limit=limit: limit - (time.monotonic() - clock),
        )  # fmt: skip
        spent = time.process_time() - began
        moves = CHAINS * made.sweeps * made.moves * made.copies
        lines.append([
            f"{name} ({len(found.rules.names)})", f"{found.lists.size:,}", f"{preparing:.2f} s",
            f"{1e9 * spent / moves:,.0f} ns", f"{spent:.1f} s", f"{made.errors.max():.4f}",
            f"{made.effective / spent:,.0f}", f"{made.rhat:.3f}",
            made.reason + (", tempered" if made.copies > 1 else ""),
        ])  # fmt: skip
    bench.grid(
        f"chains, {ROWS:,} rows, BDeu(1), at most 3 parents, load {os.getloadavg()[0]:.1f}",
        ["network", "families listed", "preparing", "a move of the mix", "CPU s", "worst error",
         "effective samples a CPU s", "R̂", "stopped"],
        lines,
        note="One move in 16 is of a turned edge, one of a variable and its children.",
    )  # fmt: skip
