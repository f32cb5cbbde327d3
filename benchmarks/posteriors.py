"""All posteriors given a tenth of the variables, on every standard network: a part of `inference`.

The evidence is from the network's own sample. The libraries take turns on the same evidence sets;
a library stops when its time is spent, and is then compared on the sets that it did.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.harness import Bench, installed, ratio, seconds
from benchmarks.networks import load, sample
from benchmarks.posterior_ways import WAYS, Answer
from benchmarks.posterior_workers import Worker

SMALL = ("alarm", "child", "hailfinder", "hepar2")
LARGE = (
    "insurance", "win95pts", "andes", "pigs", "water", "pathfinder", "mildew", "barley",
    "diabetes", "munin", "link", "munin1",
)  # fmt: skip


class Times:
    """The CPU times of one network: for each library, one per evidence set."""

    def __init__(self) -> None:
        self.first: dict[str, float] = {}
        self.new: dict[str, list[float]] = {}
        self.same: dict[str, list[float]] = {}
        self.ended: dict[str, str] = {}
        self.scaled: set[str] = set()
        self.parts: list[dict[str, float]] = []

    def best(self, what: str) -> float | None:
        """The fastest peer's time over credo's, on the evidence sets that the peer did."""
        own = getattr(self, what)["credo"]
        ratios = []
        for way in list(WAYS)[1:]:
            theirs = getattr(self, what).get(way)  # the first so many of credo's sets
            if theirs:
                ratios.append(statistics.median(theirs) / statistics.median(own[: len(theirs)]))
        return min(ratios) if ratios else None

    def part(self, name: str) -> float:
        return statistics.median(p[name] for p in self.parts)


def _patiently(
    sets: Sequence[dict[str, int]], workers: dict[str, Worker], patience: float
) -> Iterator[tuple[int, dict[str, int]]]:
    """The evidence sets, until credo's time or every peer's is spent; three at least."""
    for worker in workers.values():
        worker.spent = 0.0
    peers = [worker for way, worker in workers.items() if way != "credo"]
    for k, given in enumerate(sets):
        done = peers and all(p.ended or p.spent > patience for p in peers)
        if k > 2 and (done or workers["credo"].spent > 2 * patience):
            return
        yield k, given


def _round(
    workers: dict[str, Worker], given: dict[str, int], same: bool, patience: float
) -> Iterator[tuple[str, float]]:
    """One evidence set, by credo and then by each peer whose time is not spent."""
    truth: Answer | None = None
    for way, worker in workers.items():
        if way != "credo" and worker.spent > patience:
            continue
        told = worker.question(given, same, truth)
        if told is None and way == "credo":
            raise RuntimeError(f"credo has no answer: {worker.ended}")
        if told is not None:
            truth = told[1] if way == "credo" else truth
            yield way, told[0]


def measure(name: str, sets: int, patience: float) -> Times:
    """Every library in turn on one evidence set after the other."""
    net = load(name)
    rng = np.random.default_rng(len(net.names))
    rows = sample(net, 2 * sets + 2, rng)
    few = max(1, len(net.names) // 10)
    chosen = [rng.choice(len(net.names), few, replace=False) for _ in range(sets + 1)]

    def evidence(row: int, at: np.ndarray) -> dict[str, int]:
        return {net.names[i]: int(rows[row, i]) for i in at}

    new = [evidence(k, at) for k, at in enumerate(chosen)]
    same = [evidence(sets + 1 + k, chosen[-1]) for k in range(sets + 1)]
    times = Times()
    workers = {w: Worker(w, name) for w, (_, p) in WAYS.items() if installed(p)}
    try:
        for k, given in _patiently(new, workers, patience):
            for way, taken in _round(workers, given, False, patience if k > 1 else np.inf):
                if k:
                    times.new.setdefault(way, []).append(taken)
                else:  # the question in which all is set up
                    times.first[way] = taken
            if k < 3 or workers["credo"].spent < patience / 2:
                times.parts.append({"set": k, **workers["credo"].ask("parts", given)})
        rest = {w: worker for w, worker in workers.items() if w != "pgmpy"}
        for k, given in _patiently(same, rest, patience):
            for way, taken in _round(rest, given, k > 0, patience if k > 1 else np.inf):
                if k:  # the first makes all see the same variables
                    times.same.setdefault(way, []).append(taken)
        for way, worker in workers.items():
            times.ended[way] = worker.ended
            if worker.scaled:
                times.scaled.add(way)
            if worker.ended.startswith("wrong"):
                times.first.pop(way, None)
                times.new.pop(way, None)
                times.same.pop(way, None)
    finally:
        for worker in workers.values():
            worker.close()
    return times


def posteriors(bench: Bench, names: Sequence[str]) -> None:
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    sets, patience = (4, 1.0) if bench.quick else (10, 8.0)
    found = {}
    for name in names:
        with bench.console.status(f"{name} …"):
            found[name] = measure(name, sets, patience)
    peers = [w for w, (_, p) in WAYS.items() if p and installed(p)]

    def cell(times: Times, way: str, what: str) -> str:
        have = getattr(times, what).get(way)
        if have is None:
            return times.ended.get(way, "") or "–"
        text = seconds(statistics.median(have) if isinstance(have, list) else have)
        text = f"≈ {text}" if way in times.scaled else text
        return f"{text} ({len(have)})" if isinstance(have, list) and len(have) < sets else text

    for what, title, note in (
        ("first", "the first question of a network, all that is set up included", ""),
        ("new", "other variables observed each time", ""),
        (
            "same",
            "the same variables observed, other values",
            "pgmpy keeps nothing.",
        ),
    ):
        ways = [w for w in peers if not (what == "same" and w == "pgmpy")]
        lines, ratios = [], []
        for name, times in found.items():
            if what == "first":
                least = [times.first[w] for w in ways if w in times.first]
                quotient = min(least) / times.first["credo"] if least else None
            else:
                quotient = times.best(what)
            ratios += [quotient] if quotient else []
            own = cell(times, "credo", what)
            lines.append(
                [name, own, *(cell(times, w, what) for w in ways), quotient and ratio(quotient)]
            )
        if ratios:
            note = (
                f"Median ratio {ratio(statistics.median(ratios))}, least {ratio(min(ratios))}. "
                f"≈ timed on some of the variables and scaled up; (n) timed on the first n of "
                f"{sets} evidence sets, and the ratio is of those. {note}"
            )
        bench.grid(
            f"all posteriors given 10 % evidence, {title}",
            [
                "CPU, once" if what == "first" else "CPU, median",
                "credo",
                *ways,
                "fastest peer / credo",
            ],
            [[c or "" for c in line] for line in lines],
            note,
        )
    bench.grid(
        "where credo's time goes",
        ["", "load", "clique states", "compile", "1st run", "run", "new set", "same set",
         "beyond compile and run", "ns/state", "ns/flop", "memory"],
        [_where(name, times) for name, times in found.items()],
        "CPU, medians; run: of the kernels alone, ns per clique state and flop are its. Memory: "
        "the peak of the process.",
    )  # fmt: skip


def _where(name: str, times: Times) -> list[str]:
    new, same = (statistics.median(getattr(times, w)["credo"]) for w in ("new", "same"))
    compiling, running = times.part("compile"), times.part("run")
    each = [p["run"] / p["states"] * 1e9 for p in times.parts]
    flop = [p["run"] / p["flops"] * 1e9 for p in times.parts]
    beyond = [
        1 - (p["compile"] + p["first run"]) / times.new["credo"][int(p["set"]) - 1]
        for p in times.parts
        if p["set"]
    ]
    return [
        name,
        seconds(times.part("load")),
        f"{times.part('states'):.3g}",
        *(seconds(x) for x in (compiling, times.part("first run"), running, new, same)),
        f"{statistics.median(beyond):.0%}",
        f"{statistics.median(each):.2f}",
        f"{statistics.median(flop):.2f}",
        f"{max(p['memory'] for p in times.parts) / 1e6:,.0f} MB",
    ]
