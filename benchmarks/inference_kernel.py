"""The inference engine alone: `python -m benchmarks.inference_kernel [network …]`.

For each network: all posteriors given 10 % random evidence, compiled for that evidence, and the
time per clique state, which tells how far from the limit the kernels are. Then batches of alarm. No
peers: `make bench AREA=inference` measures those.
"""

from __future__ import annotations

import gzip
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from credo import _core

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("CREDO_SHARED", ROOT.parent / "shared")) / "data" / "networks"
NETWORKS = (
    "alarm", "child", "insurance", "hailfinder", "hepar2", "win95pts", "pathfinder", "andes",
    "pigs", "water", "mildew", "barley", "diabetes", "munin", "munin1", "link",
)  # fmt: skip


class Network:
    """A BIF file as arities, scopes and tables: a reader just good enough for these files."""

    def __init__(self, name: str) -> None:
        with gzip.open(FOLDER / f"{name}.bif.gz", "rt") as file:
            text = file.read()
        states = {
            m[1]: [s.strip() for s in m[2].split(",")]
            for m in re.finditer(r"variable\s+(\S+)\s*\{[^{]*\{([^}]*)\}", text)
        }
        self.names = list(states)
        number = {name: i for i, name in enumerate(self.names)}
        self.arities = [len(states[name]) for name in self.names]
        self.scopes: list[list[int]] = [[] for _ in self.names]
        self.tables: list[np.ndarray] = [np.empty(0) for _ in self.names]
        for m in re.finditer(r"probability\s*\(([^)]*)\)\s*\{([^}]*)\}", text):
            child, *rest = (part.strip() for part in m[1].split("|"))
            parents = [p.strip() for p in rest[0].split(",")] if rest else []
            scope = [number[p] for p in [*parents, child]]
            table = np.zeros([self.arities[v] for v in scope])
            if not parents:
                table[:] = [float(x) for x in m[2].split("table")[1].strip(" ;\n").split(",")]
            else:
                codes = [{s: i for i, s in enumerate(states[p])} for p in parents]
                for row in re.finditer(r"\(([^)]*)\)([^;]*);", m[2]):
                    key = (c[s.strip()] for c, s in zip(codes, row[1].split(","), strict=True))
                    table[tuple(key)] = [float(x) for x in row[2].split(",")]
            table /= table.sum(-1, keepdims=True)
            self.scopes[number[child]] = scope
            self.tables[number[child]] = np.ascontiguousarray(table).ravel()
        self.model = _core.Model(self.arities, self.scopes)

    def sample(self, rows: int, rng: np.random.Generator) -> np.ndarray:
        codes = np.full((rows, len(self.names)), -1, np.int32)
        waiting = list(range(len(self.names)))
        while waiting:
            later = []
            for v in waiting:
                parents = self.scopes[v][:-1]
                if (codes[:1, parents] < 0).any():
                    later.append(v)
                    continue
                at = np.zeros(rows, int)
                for p in parents:
                    at = at * self.arities[p] + codes[:, p]
                steps = self.tables[v].reshape(-1, self.arities[v]).cumsum(1)[at]
                steps[:, -1] = 2
                codes[:, v] = (rng.random(rows)[:, None] < steps).argmax(1)
            waiting = later
        return codes


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    best = np.inf
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def posteriors(name: str, sets: int = 10) -> None:
    network, rng = Network(name), np.random.default_rng(1)
    n = len(network.names)
    figures = []
    for _ in range(sets):
        observed = sorted(int(v) for v in rng.choice(n, max(1, n // 10), replace=False))
        evidence = np.ascontiguousarray(network.sample(1, rng)[:, observed])
        plan = network.model.compile(observed, None)
        compiling = seconds(lambda observed=observed: network.model.compile(observed, None))
        both = seconds(
            lambda observed=observed, evidence=evidence: network.model.compile(observed, None).run(
                network.tables, evidence
            )
        )
        figures.append((compiling, both - compiling, plan.total_states, plan.flops))
    compiling, running, states, flops = np.median(figures, axis=0)
    print(
        f"{name:11} compile {compiling * 1e3:8.3f} ms  run {running * 1e3:8.3f} ms  "
        f"clique states {states:9.3g}  {running / states * 1e9:7.2f} ns each  flops {flops:.3g}",
        flush=True,
    )


def batches(rows: int = 100_000) -> None:
    network, rng = Network("alarm"), np.random.default_rng(2)
    codes = network.sample(rows, rng)
    n = len(network.names)
    target = network.names.index("LVFAILURE")
    others = [v for v in range(n) if v != target]
    full = np.ascontiguousarray(codes[:, others])
    gaps = np.where(rng.random(full.shape) < 0.5, np.int32(-1), full)
    model, tables = network.model, network.tables

    def complete(evidence: bool) -> object:
        return model.compile(others, [target], evidence=evidence).run(tables, full)

    def missing(targets: list[int] | None) -> object:
        return model.compile([], targets, maybe=others).run(tables, gaps)

    for title, work in {
        "one target, all others observed": lambda: complete(False),
        "the same with P(evidence)": lambda: complete(True),
        "one target, half of the cells missing": lambda: missing([target]),
        "all posteriors, half of the cells missing": lambda: missing(None),
        "log P of complete rows": lambda: model.compile(others, []).run(tables, full),
    }.items():
        print(f"alarm, {title}: {rows / seconds(work):.3g} rows/s", flush=True)


if __name__ == "__main__":
    for network in sys.argv[1:] or NETWORKS:
        posteriors(network)
    batches()
