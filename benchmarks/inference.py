"""Inference: posteriors of the standard networks, predictions and likelihoods of alarm's rows.

Rows: alarm's, sampled; peers that ask row by row are timed on a part of them. The posteriors stand
in `posteriors.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Entry, Result, Task
from benchmarks.networks import FOLDER, load, sample, table_of, to_pgmpy, to_pyagrum
from benchmarks.posteriors import LARGE, SMALL, posteriors

TARGET = "LVFAILURE"
TOLERANCE = 1e-6


def run(bench: Bench) -> None:
    if not (FOLDER / "alarm.bif.gz").exists():
        bench.console.print(
            f"\ninference: skipped, the networks are not in {FOLDER}; CREDO_SHARED names "
            "the folder that has data/networks."
        )
        return
    posteriors(bench, SMALL if bench.quick else SMALL + LARGE)
    net = load("alarm")
    for rows in bench.sizes(100_000, quick=(10_000,)):
        codes = sample(net, rows, np.random.default_rng(1))
        predictions(bench, net, codes, "all others observed")
        hidden = np.random.default_rng(2).random(codes.shape) < 0.5
        arities = np.array([v.arity for v in net.variables])
        predictions(bench, net, np.where(hidden, arities, codes), "half of the cells missing")
    for rows in bench.sizes(1_000_000, quick=(100_000,)):
        likelihoods(bench, net, sample(net, rows, np.random.default_rng(3)))


# --- predictions of rows ------------------------------------------------------------------------


def blocks(codes: np.ndarray, size: int = 100) -> list[np.ndarray]:
    return [codes[i : i + size] for i in range(0, len(codes), size)]


def predictions(bench: Bench, net: Any, codes: np.ndarray, title: str) -> None:
    """One of alarm's variables given the others, as small tables that peers do some of."""
    target = net.names.index(TARGET)
    arities = [v.arity for v in net.variables]
    others = [i for i in range(len(arities)) if i != target]
    whole = not (codes == arities).any()
    parts = blocks(codes)

    def cut(found: np.ndarray, items: Sequence[np.ndarray]) -> list[np.ndarray]:
        ends = np.cumsum([len(i) for i in items])[:-1]
        return np.split(found, ends)

    def evidence(items: Sequence[np.ndarray]) -> Iterator[dict[str, int]]:
        for part in items:
            for row in part.tolist():
                yield {net.names[i]: row[i] for i in others if row[i] < arities[i]}

    def pyagrum_loop(engine: Any, items: Sequence[np.ndarray]) -> np.ndarray:
        out = []
        for given in evidence(items):
            engine.setEvidence(given)
            engine.makeInference()
            out.append(engine.posterior(TARGET).toarray())
        return np.array(out)

    def pyagrum_engine() -> Any:
        import pyagrum as gum

        engine = gum.LazyPropagation(to_pyagrum(net))
        engine.setNumberOfThreads(1)
        engine.setTargets({TARGET})
        return engine

    def classifier() -> Any:
        from pyagrum.skbn import BNClassifier

        found = BNClassifier(type_processor=None, significant_digit=12)
        names = [net.names[i] for i in others]
        found.fromTrainedModel(to_pyagrum(net), TARGET, "1", variableList=names)
        return found

    def classify(found: Any, items: Sequence[np.ndarray]) -> np.ndarray:
        return found.predict_proba(np.concatenate(items)[:, others].astype(str))

    def elimination() -> Any:
        from pgmpy.inference import VariableElimination

        return VariableElimination(to_pgmpy(net))

    def pgmpy_loop(engine: Any, items: Sequence[np.ndarray]) -> np.ndarray:
        return np.array(
            [engine.query([TARGET], g, show_progress=False).values for g in evidence(items)]
        )

    def blanket(_: Any, items: Sequence[np.ndarray]) -> np.ndarray:
        cells = np.concatenate(items).T if len(items) < len(parts) else codes.T
        out = np.ones((cells.shape[1], arities[target]))
        for name in net.names:
            local = net.distributions[name]
            scope = [net.names.index(p.name) for p in local.parents] + [net.names.index(name)]
            if target in scope:
                last = np.moveaxis(local.values, scope.index(target), -1)
                out *= last[tuple(cells[i] for i in scope if i != target)]
        return out / out.sum(axis=1, keepdims=True)

    def credo(made: Any, _: Any) -> np.ndarray:
        return net.predict_proba(made, TARGET, threads=1)

    entries = [
        Entry("credo, a table", credo, None, lambda: table_of(net, codes), answer=cut, whole=True),
        Entry(
            "credo, a pandas frame of categories",
            credo,
            "pandas",
            lambda: table_of(net, codes).to("pandas"),
            answer=cut,
            whole=True,
        ),
        Entry("pyAgrum LazyPropagation", pyagrum_loop, "pyagrum", pyagrum_engine, answer=cut),
        Entry("pgmpy VariableElimination", pgmpy_loop, "pgmpy", elimination, answer=cut),
    ]
    if whole:
        entries[2:2] = [
            Entry("NumPy, product over the Markov blanket", blanket, answer=cut, whole=True),
            Entry("pyAgrum BNClassifier", classify, "pyagrum", classifier, answer=cut),
        ]
    rows = f"{len(codes):,} rows of alarm"
    results = bench.compare(
        Task(f"predict_proba of {TARGET}, {rows}, {title}", entries, parts, TOLERANCE)
    )
    _rates(bench, f"rows per CPU second, {rows}, {title}", results, len(codes))


def _rates(bench: Bench, title: str, results: Sequence[Result], rows: int) -> None:
    bench.grid(
        title,
        ["", "rows/s"],
        [[r.name, f"{rows / r.best('cpu'):,.0f}"] for r in results if r.turns],
    )


# --- the likelihood of complete rows ------------------------------------------------------------


def likelihoods(bench: Bench, net: Any, codes: np.ndarray) -> None:
    columns = [np.ascontiguousarray(c, dtype=np.uint8) for c in codes.T]
    families = [
        ([net.names.index(p.name) for p in net.distributions[n].parents], i)
        for i, n in enumerate(net.names)
    ]
    with np.errstate(divide="ignore"):
        logs = [np.log(net.distributions[n].values) for n in net.names]

    def gather(*_: Any) -> list[float]:
        total = 0.0
        for (parents, child), log in zip(families, logs, strict=True):
            total += log[tuple(columns[i] for i in (*parents, child))].sum()
        return [total]

    def flat(*_: Any) -> list[float]:
        """Each family's cells numbered in small integers and counted."""
        total = 0.0
        for (parents, child), log in zip(families, logs, strict=True):
            at = columns[(*parents, child)[0]].astype(np.uint16)
            for i, arity in zip((*parents, child)[1:], log.shape[1:], strict=True):
                at *= np.uint16(arity)
                at += columns[i]
            counts = np.bincount(at, minlength=log.size)
            seen = counts > 0
            total += float(counts[seen] @ log.ravel()[seen])
        return [total]

    def credo(table: Any, _: Any) -> list[float]:
        return [net.log_likelihood(table, threads=1)]

    def make() -> Any:
        return table_of(net, codes)

    results = bench.compare(
        Task(
            f"log_likelihood of {len(codes):,} complete rows of alarm",
            [
                Entry(
                    "credo, a table seen for the first time", credo, None, make, lambda _: make()
                ),
                Entry("credo, again", credo, None, make),
                Entry("NumPy, ln θ looked up", gather),
                Entry("NumPy, bincount of each family", flat),
            ],
            tolerance=1e-9,
        )
    )
    bench.grid(
        "ns per cell",
        ["", "ns/cell"],
        [[r.name, f"{r.best('cpu') / codes.size * 1e9:.2f}"] for r in results if r.turns],
    )
