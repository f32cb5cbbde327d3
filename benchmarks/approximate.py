"""Approximate inference: the error that each method reaches in the same time, against exact.

All posteriors of a network given evidence, once the values of its own sample and once evidence of
probability below 1e-6. Each library works in a process of its own, on one thread, and is given the
same seconds; the error is the root of the mean square over all probabilities. A sampler's error
falls with the root of the time, so an error r times as large stands for r² times the time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import ROOT, Bench, installed, ratio, seconds
from benchmarks.networks import load, sample, to_pgmpy, to_pyagrum

FOLDER = Path(os.environ.get("CREDO_SHARED", ROOT.parent / "shared")) / "data" / "networks"
NETWORKS = ("alarm", "hailfinder", "insurance")
PATIENCE = 20.0  # seconds after which a worker is ended

Given = dict[str, int]
Answer = dict[str, np.ndarray]


def run(bench: Bench) -> None:
    if not (FOLDER / "alarm.bif.gz").exists():
        bench.console.print(
            f"\napproximate: skipped, the networks are not in {FOLDER}; CREDO_SHARED names "
            "the folder that has data/networks."
        )
        return
    budget = 0.25 if bench.quick else 1.0
    sets = 2 if bench.quick else 3
    for name in NETWORKS:
        net = load(name)
        for kind, cases in (("usual", usual(net, sets)), ("rare", rare(net, sets))):
            _compare(bench, net, name, kind, cases, budget)
    speed(bench)


# --- evidence ---------------------------------------------------------------------------------


def usual(net: Any, sets: int) -> list[Given]:
    """A tenth of the variables, with values from the network's own sample."""
    rng = np.random.default_rng(5)
    rows = sample(net, sets, rng)
    out = []
    for row in rows:
        some = rng.choice(len(net.names), max(1, len(net.names) // 10), replace=False)
        out.append({net.names[i]: int(row[i]) for i in some})
    return out


def rare(net: Any, sets: int) -> list[Given]:
    """Evidence with a probability between 1e-12 and 1e-6."""
    from credo.errors import ImpossibleError

    rng = np.random.default_rng(6)
    out: list[Given] = []
    while len(out) < sets:
        some = rng.choice(len(net.names), 8, replace=False)
        given = {net.names[i]: int(rng.integers(net.variables[i].arity)) for i in some}
        try:
            log_p = net.log_evidence(_named(net, given))
        except ImpossibleError:
            continue
        if np.log(1e-12) < log_p < np.log(1e-6):
            out.append(given)
    return out


def _named(net: Any, given: Given) -> dict[str, Any]:
    return {n: net.variable(n).states[k] for n, k in given.items()}


# --- the ways ---------------------------------------------------------------------------------


def _credo(method: str) -> Callable[..., Answer]:
    def ask(net: Any, given: Given, budget: float) -> Answer:
        from credo.predict.approximate import importance

        importance._core.cores = lambda: 1
        found = net.marginals(_named(net, given), method=method, budget=budget)
        return {n: d.p for n, d in found.items()}

    return ask


def _pyagrum(kind: str) -> Callable[..., Answer]:
    def ask(net: Any, given: Given, budget: float) -> Answer:
        import pyagrum as gum

        bn = to_pyagrum(net)
        began = time.process_time()
        engine = getattr(gum, kind)(bn)
        engine.setEvidence(given)
        engine.setMaxTime(budget)
        engine.setEpsilon(1e-12)
        if hasattr(engine, "setMinEpsilonRate"):
            engine.setMinEpsilonRate(1e-12)
        if hasattr(engine, "setMaxIter"):
            engine.setMaxIter(100_000_000)
        engine.makeInference()
        out = {n: engine.posterior(n).toarray() for n in bn.names() if n not in given}
        ask.cpu = time.process_time() - began  # type: ignore[attr-defined]
        return out

    return ask


def _pgmpy(net: Any, given: Given, budget: float) -> Answer:
    from pgmpy.inference import ApproxInference

    model = to_pgmpy(net)
    free = [n for n in net.names if n not in given]
    states = {n: list(range(net.variable(n).arity)) for n in free}
    began = time.process_time()
    engine = ApproxInference(model)
    n = 100
    while True:
        found = engine.query(
            free, n_samples=n, evidence=given, joint=False, state_names=states, show_progress=False
        )
        taken = time.process_time() - began
        if taken > budget / 2:
            break
        n = int(n * min(8.0, max(1.5, 0.9 * budget / taken)))
        began = time.process_time()
    _pgmpy.cpu = taken  # type: ignore[attr-defined]
    return {v: np.array([found[v].get_value(**{v: s}) for s in states[v]]) for v in free}


WAYS: dict[str, tuple[Callable[..., Answer], str | None]] = {
    "credo: importance": (_credo("importance"), None),
    "credo: weighting": (_credo("weighting"), None),
    "credo: loopy": (_credo("loopy"), None),
    "credo: gibbs": (_credo("gibbs"), None),
    "pyAgrum: ImportanceSampling": (_pyagrum("ImportanceSampling"), "pyagrum"),
    "pyAgrum: LoopyImportanceSampling": (_pyagrum("LoopyImportanceSampling"), "pyagrum"),
    "pyAgrum: WeightedSampling": (_pyagrum("WeightedSampling"), "pyagrum"),
    "pyAgrum: LoopyBeliefPropagation": (_pyagrum("LoopyBeliefPropagation"), "pyagrum"),
    "pyAgrum: GibbsSampling": (_pyagrum("GibbsSampling"), "pyagrum"),
    "pgmpy: ApproxInference": (_pgmpy, "pgmpy"),
}


def _work(pipe: Connection, way: str, name: str, given: Given, budget: float) -> None:
    import logging
    import warnings

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    try:
        net = load(name)
        ask = WAYS[way][0]
        ask(load("alarm"), {}, 0.01)  # what is imported on first use
        ask.__dict__.pop("cpu", None)
        began = time.process_time()
        found = ask(net, given, budget)
        taken = getattr(ask, "cpu", time.process_time() - began)
        pipe.send((taken, found))
    except Exception as error:
        text = str(error).split(".")[0]
        pipe.send("refused: zeros" if "probabilities of zero" in text else f"{text[:24]}")


def _ask(way: str, name: str, given: Given, budget: float) -> Any:
    context = get_context("spawn")
    here, there = context.Pipe()
    worker = context.Process(target=_work, args=(there, way, name, given, budget), daemon=True)
    worker.start()
    there.close()
    try:
        found = here.recv() if here.poll(PATIENCE + 10 * budget) else f"> {PATIENCE:.0f} s"
    except EOFError:
        found = "fails"
    worker.kill()
    worker.join()
    return found


# --- equal time -------------------------------------------------------------------------------


def _compare(
    bench: Bench, net: Any, name: str, kind: str, cases: list[Given], budget: float
) -> None:
    truth = [{n: d.p for n, d in net.marginals(_named(net, g)).items()} for g in cases]
    rows: list[list[str]] = []
    base: tuple[float, float] | None = None
    for way, (_, package) in WAYS.items():
        if not installed(package):
            continue
        errors, worst, cpu, said = [], [], [], ""
        for given, exact in zip(cases, truth, strict=True):
            found = _ask(way, name, given, budget)
            if isinstance(found, str):
                said = found
                if found.startswith(">"):
                    break
                continue
            taken, answer = found
            gaps = np.concatenate([np.ravel(answer[n]) - exact[n] for n in exact])
            gaps = np.where(np.isfinite(gaps), gaps, 1.0)
            errors.append(float(np.sqrt(np.mean(gaps**2))))
            worst.append(float(np.abs(gaps).max()))
            cpu.append(taken)
        if not errors:
            rows.append([way, "", "", "", said, ""])
            continue
        error, spent = float(np.median(errors)), float(np.median(cpu))
        base = base or (error, spent)
        sampler = "oopy" not in way or "Importance" in way
        same = ratio((error / base[0]) ** 2 * spent / base[1]) if sampler else ""
        part = f"{len(errors)} of {len(cases)}, {said}" if len(errors) < len(cases) else ""
        rows.append(
            [
                way,
                f"{error:.2g}",
                f"{np.median(worst):.2g}",
                seconds(spent),
                f"{ratio(error / base[0])} {part}".strip(),
                same,
            ]
        )
    bench.grid(
        f"{name}, {kind} evidence, {budget:g} s each, {len(cases)} sets",
        ["method", "error (rms)", "worst", "CPU", "error / credo's", "CPU for credo's error"],
        rows,
        "The error is against exact; medians over the evidence sets.",
    )


# --- samples a second -------------------------------------------------------------------------


def speed(bench: Bench) -> None:
    """Weighted samples of alarm a second, on one thread."""
    from credo.predict.approximate import importance

    net = load("alarm")
    given = usual(net, 1)[0]
    kept, importance._core.cores = importance._core.cores, lambda: 1
    rows = []
    n = 200_000 if bench.quick else 1_000_000
    for method in ("importance", "weighting", "gibbs"):
        try:
            began = time.process_time()
            net.marginals(_named(net, given), method=method, budget=f"{n} samples")
            taken = time.process_time() - began
        except ValueError:
            continue
        rows.append([f"credo: {method}", f"{n / taken:,.0f}"])
    importance._core.cores = kept
    bench.grid("alarm, weighted samples counted for every posterior", ["", "samples/s"], rows)
