"""Averaging over graphs: exact seconds by the number of columns; chains by effective samples.

Effective samples are those of the worst edge: p (1 − p) / error². Times are CPU seconds of one
thread. sumu (partition MCMC) is measured where it is installed; its edges are held against credo's.
"""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

import credo as cr
from benchmarks.harness import Bench, installed
from credo.train.averaging.chains import sampled
from credo.train.averaging.exact import sums
from credo.train.averaging.lists import weighed

NETWORKS = Path(__file__).resolve().parents[2] / "shared" / "data" / "networks"
ROWS = 1000


def run(bench: Bench) -> None:
    """Sums, then chains."""
    _sums(bench)
    _chains(bench)


def _families(rows: Any, exact: bool, most: int | None) -> tuple[Any, float]:
    began = time.process_time()
    settings = {} if most is None else {"max_parents": most}
    found = weighed(
        rows, "bdeu", 1.0, "uniform", settings, exact=exact, threads=1, left=lambda: math.inf
    )
    return found, time.process_time() - began


def _sums(bench: Bench) -> None:
    lines = []
    rng = np.random.default_rng(0)
    for n in (8, 12) if bench.quick else (8, 10, 12, 14, 15, 16, 17):
        x = rng.integers(0, 2, (ROWS, n))
        for j in range(1, n):
            x[:, j] = np.where(rng.random(ROWS) < 0.6, x[:, j - 1], x[:, j])
        table = cr.read({f"v{j}": x[:, j].tolist() for j in range(n)})
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
            found, chains=4, error=0.01, seed=0, threads=1,
            left=lambda clock=clock, limit=limit: limit - (time.monotonic() - clock),
        )  # fmt: skip
        spent = time.process_time() - began
        moves = 4 * made.sweeps * made.moves
        lines.append([
            f"{name} ({len(found.rules.names)})", f"{found.lists.size:,}", f"{preparing:.2f} s",
            f"{1e9 * spent / moves:,.0f} ns", f"{spent:.1f} s", f"{made.errors.max():.4f}",
            f"{made.effective / spent:,.0f}", f"{made.rhat:.3f}", made.reason,
        ])  # fmt: skip
    peers = "sumu is installed" if installed("sumu") else "sumu and BiDAG are not installed here"
    bench.grid(
        f"chains, {ROWS:,} rows, BDeu(1), at most 3 parents, load {os.getloadavg()[0]:.1f}",
        ["network", "families listed", "preparing", "a move of the mix", "CPU s", "worst error",
         "effective samples a CPU s", "R̂", "stopped"],
        lines,
        note=f"One move in 16 is of a turned edge, one of a variable and its children; {peers}.",
    )  # fmt: skip
