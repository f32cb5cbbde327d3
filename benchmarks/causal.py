"""Causal questions on graphs of fifty nodes: adjustment sets, formulas; and effects of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Entry, Task

NODES = 50
QUESTIONS = 40


def run(bench: Bench) -> None:
    questions(bench)
    effects(bench)


def graph(seed: int, hidden: float) -> Any:
    """Fifty nodes with three parents each on average, and some hidden common causes."""
    import credo as cr

    rng = np.random.default_rng(seed)
    names = [f"v{i:02d}" for i in range(NODES)]
    pairs = list(combinations(names, 2))
    edges = [p for p in pairs if rng.random() < 6 / NODES]
    arcs = [p for p in pairs if rng.random() < hidden / NODES]
    return cr.CausalGraph(edges, names, hidden=arcs)


def questions(bench: Bench) -> None:
    """Forty questions, each about another pair; the time is that of all of them."""
    plain, tied = graph(0, 0.0), graph(1, 0.6)
    rng = np.random.default_rng(2)
    pairs = [
        tuple(f"v{i:02d}" for i in sorted(rng.choice(NODES, 2, replace=False)))
        for _ in range(QUESTIONS)
    ]

    def each(ask: Callable[[Any, Any], Any]) -> Callable[[Any, Sequence[Any]], Any]:
        return lambda _, some: [np.array([ask(*p)]) for p in some]

    asked: list[tuple[str, Callable[[Any, Any], Any]]] = [
        ("the optimal set", lambda x, y: len(plain.adjustment_sets(x, y, kind="optimal"))),
        ("the formula, no hidden causes",
         lambda x, y: plain.identify(f"P({y} | do({x}))").identified),
        ("the formula by ID, hidden causes",
         lambda x, y: tied.identify(f"P({y} | do({x}))", by="id").identified),
        ("instruments, hidden causes", lambda x, y: len(tied.instruments(x, y))),
    ]  # fmt: skip
    for title, ask in asked:
        entry = Entry("credo", each(ask), whole=True)
        bench.compare(Task(f"{QUESTIONS} questions of 50 nodes: {title}", [entry], items=pairs))


def effects(bench: Bench) -> None:
    """An effect with its interval, from ten thousand rows, by adjustment and by the front door."""
    import credo as cr

    rng = np.random.default_rng(3)
    n = 10_000
    z = rng.random(n) < 0.5
    x = rng.random(n) < 0.2 + 0.6 * z
    m = rng.random(n) < 0.1 + 0.7 * x
    y = rng.random(n) < 0.1 + 0.4 * m + 0.4 * z
    table = cr.read({"z": z, "x": x, "m": m, "y": y})
    for title, text in (
        ("adjustment", "[z][x|z][m|x][y|m:z]"),
        ("front door", "[x][m|x][y|m] x<->y"),
    ):

        def credo(_: Any, __: Sequence[Any], text: str = text) -> Any:
            return [np.array(cr.effect(table, "x", "y", text).p)]

        bench.compare(
            Task(f"an effect of {n:,} rows, 2,000 draws, by {title}",
                 [Entry("credo", credo, steady=True)])
        )  # fmt: skip
