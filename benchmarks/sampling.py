"""Sampling: rows of alarm drawn from the network, all of it and given evidence, and to a file.

Rows are asked for in lots, all in one call; a slow peer is timed on fewer lots. Before a time is
printed, the frequency of every state of every variable must agree to 0.03 (given evidence, where
peers are timed on few rows, to 0.2). PyBNesian can only be fitted to rows: to 300,000 of credo's.
R's bnlearn is run where R has it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Entry, Result, Task
from benchmarks.networks import FOLDER, load, to_pgmpy, to_pyagrum

LOT = 10_000
FEW = 500  # where rows are rejected
EVIDENCE = {"LVFAILURE": "TRUE", "BP": "LOW", "CATECHOL": "HIGH"}


def run(bench: Bench) -> None:
    if not (FOLDER / "alarm.bif.gz").exists():
        bench.console.print(
            f"\nsampling: skipped, the networks are not in {FOLDER}; CREDO_SHARED names "
            "the folder that has data/networks."
        )
        return
    net = load("alarm")
    for rows in bench.sizes(1_000_000, quick=(100_000,)):
        lots = [LOT] * max(rows // LOT, 1)
        results = bench.compare(Task(f"{rows:,} rows of alarm", _entries(net), lots, 0.03))
        _rates(bench, results, rows, len(net.names))
        bench.compare(Task(f"{rows:,} rows of alarm in a frame", _frames(net), lots, 0.03))
        share = np.exp(net.log_evidence(EVIDENCE))
        title = f"{rows // 10:,} rows of alarm given evidence of probability {share:.2g}"
        bench.compare(Task(title, _given(net), [FEW] * max(rows // 10 // FEW, 1), 0.2))
    for rows in bench.sizes(10_000_000, quick=(300_000,)):
        _to_files(bench, net, rows)
    _bnlearn(bench)


def _rates(bench: Bench, results: Sequence[Result], rows: int, variables: int) -> None:
    bench.grid(
        "millions of rows in a second of CPU",
        ["", "rows/s", "ns/cell"],
        [
            [
                r.name,
                f"{rows / r.best('cpu') / 1e6:.3g}",
                f"{r.best('cpu') / rows / variables * 1e9:.3g}",
            ]
            for r in results
            if r.turns
        ],
    )


def _frequencies(columns: Sequence[np.ndarray], net: Any) -> np.ndarray:
    """How often each state of each variable came up."""
    counts = [
        np.bincount(c, minlength=v.arity) for c, v in zip(columns, net.variables, strict=True)
    ]
    return np.concatenate([c / c.sum() for c in counts])


def _of_frame(frame: Any, net: Any) -> np.ndarray:
    """The same of a frame of states."""
    columns = []
    for v in net.variables:
        code = {str(s): i for i, s in enumerate(v.states)}
        texts, at = np.unique(np.asarray(frame[v.name]).astype(str), return_inverse=True)
        columns.append(np.array([code[t] for t in texts.tolist()])[at])
    return _frequencies(columns, net)


def _credo(net: Any, **options: Any) -> Any:
    def draw(_: Any, lots: Sequence[Any]) -> Any:
        return net.sample(sum(lots), rng=1, **options)

    return draw


def _entries(net: Any) -> list[Entry]:
    def codes(table: Any, lots: Sequence[Any]) -> list[np.ndarray]:
        return [_frequencies(table.block.arrays, net)] * len(lots)

    return [
        Entry("credo", _credo(net, threads=1), answer=codes, whole=True),
        Entry("credo, 2 threads", _credo(net, threads=2), answer=codes, whole=True, threads=2),
        Entry("credo, without vector instructions", _plain(net), answer=_plain_answer(net),
              whole=True),
        Entry("NumPy, column by column", _numpy(net),
              answer=lambda c, lots: [_frequencies(c, net)] * len(lots)),
        *_pyagrum(net, frame=False),
        *_pgmpy(net),
        *_pybnesian(net),
    ]  # fmt: skip


def _frames(net: Any) -> list[Entry]:
    def states(frame: Any, lots: Sequence[Any]) -> list[np.ndarray]:
        return [_of_frame(frame, net)] * len(lots)

    kinds = [("pandas", "pandas"), ("polars", "polars"), ("arrow", None)]
    return [
        *(
            Entry(f"credo to {kind}", _credo(net, threads=1, to=kind), package, answer=states,
                  whole=True)
            for kind, package in kinds
        ),
        *_pyagrum(net, frame=True),
        *_pgmpy(net),
        *_pybnesian(net),
    ]  # fmt: skip


def _given(net: Any) -> list[Entry]:
    def codes(table: Any, lots: Sequence[Any]) -> list[np.ndarray]:
        return [_frequencies(table.block.arrays, net)] * len(lots)

    def generator() -> Any:
        import pyagrum as gum

        bn = to_pyagrum(net)
        made = gum.BNDatabaseGenerator(bn)
        made.kept = bn  # it does not keep the network alive itself
        return made

    codes_of = {n: net.variable(n).code(s) for n, s in EVIDENCE.items()}

    def reject(made: Any, lots: Sequence[Any]) -> Any:
        made.drawSamples(sum(lots), codes_of)
        return made

    return [
        Entry("credo", _credo(net, threads=1, given=EVIDENCE), answer=codes, whole=True),
        Entry("pyAgrum, rejecting rows", reject, "pyagrum", generator,
              answer=lambda made, lots: [_of_codes(made.to_pandas(), net)] * len(lots)),
        *_pgmpy(net, evidence=codes_of),
    ]  # fmt: skip


# --- peers --------------------------------------------------------------------------------------


def _plain(net: Any) -> Any:
    from credo import _core
    from credo.predict.questions.evidence import Evidence
    from credo.predict.sampling.forward import forward_sampler

    story = forward_sampler(net, Evidence()).directed
    sampler = _core.Sampler(story.arities, story.scopes)
    return lambda _, lots: sampler.run(list(story.tables), sum(lots), 1, path="plain")[0]


def _plain_answer(net: Any) -> Any:
    return lambda columns, lots: [_frequencies(columns, net)] * len(lots)


def _numpy(net: Any) -> Any:
    """The usual loop: parents' codes pick a row of cumulative probabilities, u is compared."""
    at = {n: i for i, n in enumerate(net.names)}
    steps = {}
    for name in net.dag.order:
        values = net.cpt(name).values
        limits = values.cumsum(axis=-1).reshape(-1, values.shape[-1])[:, :-1]
        steps[name] = ([p.name for p in net.cpt(name).parents], values.shape, limits.T.copy())

    def draw(_: Any, lots: Sequence[Any]) -> list[np.ndarray]:
        rng, rows = np.random.default_rng(1), sum(lots)
        out: list[Any] = [None] * len(at)
        for name, (parents, shape, limits) in steps.items():
            row = np.zeros(rows, dtype=np.uint16)
            for parent, arity in zip(parents, shape, strict=False):
                row *= np.uint16(arity)
                row += out[at[parent]]
            u = rng.random(rows, dtype=np.float32)
            codes = np.zeros(rows, dtype=np.uint8)
            for limit in limits:
                codes += u >= limit[row] if parents else u >= limit[0]
            out[at[name]] = codes
        return out

    return draw


def _of_codes(frame: Any, net: Any) -> np.ndarray:
    """The frequencies in a frame of a peer whose states are numbers."""
    return _frequencies([np.asarray(frame[n]).astype(int) for n in net.names], net)


def _pyagrum(net: Any, frame: bool) -> list[Entry]:
    def generator() -> Any:
        import pyagrum as gum

        bn = to_pyagrum(net)
        made = gum.BNDatabaseGenerator(bn)
        made.kept = bn  # it does not keep the network alive itself
        return made

    def draw(made: Any, lots: Sequence[Any]) -> Any:
        made.drawSamples(sum(lots))
        if frame:
            made.to_pandas()
        return made

    name = "pyAgrum drawSamples" + (", to_pandas" if frame else "")
    return [
        Entry(name, draw, "pyagrum", generator,
              answer=lambda made, lots: [_of_codes(made.to_pandas(), net)] * len(lots))
    ]  # fmt: skip


def _pgmpy(net: Any, evidence: dict[str, int] | None = None) -> list[Entry]:
    def draw(model: Any, lots: Sequence[Any]) -> Any:
        known = None if evidence is None else dict(evidence)
        return model.simulate(sum(lots), evidence=known, seed=1, show_progress=False)

    def states(frame: Any, lots: Sequence[Any]) -> list[np.ndarray]:
        return [_of_codes(frame, net)] * len(lots)

    return [Entry("pgmpy simulate", draw, "pgmpy", lambda: to_pgmpy(net), answer=states)]


def _pybnesian(net: Any) -> list[Entry]:
    def fitted() -> Any:
        import pybnesian

        rows = net.sample(300_000, rng=0, to="arrow").to_batches()[0]
        model = pybnesian.DiscreteBN(list(net.names), list(net.dag.edges))
        model.fit(rows)
        return model

    def draw(model: Any, lots: Sequence[Any]) -> Any:
        return model.sample(sum(lots), seed=1)

    def states(batch: Any, lots: Sequence[Any]) -> list[np.ndarray]:
        return [_of_frame(batch.to_pandas(), net)] * len(lots)

    return [Entry("PyBNesian sample", draw, "pybnesian", fitted, answer=states)]


# --- files --------------------------------------------------------------------------------------


def _to_files(bench: Bench, net: Any, rows: int) -> None:
    """Seconds, and how much the process grew."""
    lines = []
    for ending in ("parquet", "arrow", "csv"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"rows.{ending}"
            net.sample(1000, rng=0, path=path, threads=1)
            before = _memory()
            start, cpu = time.perf_counter(), time.process_time()
            net.sample(rows, rng=0, path=path, threads=1)
            taken = time.perf_counter() - start
            cpu = time.process_time() - cpu
            lines.append(
                [f".{ending}", f"{taken:.1f} s", f"{rows / cpu / 1e6:.2f}",
                 f"{path.stat().st_size / 1e6:,.0f} MB", f"{(_memory() - before) / 1e3:,.0f} MB"]
            )  # fmt: skip
    bench.grid(
        f"{rows:,} rows of alarm to a file, one thread",
        ["", "time", "million rows/s of CPU", "file", "process grew by"],
        lines,
        "In order: what one form has grown the process by, the next can use.",
    )


def _memory() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# --- R ------------------------------------------------------------------------------------------

_R = """
suppressMessages(library(bnlearn))
net <- read.bif(commandArgs(TRUE)[1])
n <- as.integer(commandArgs(TRUE)[2])
invisible(rbn(net, 1000))
times <- sapply(1:3, function(i) system.time(rbn(net, n))[["user.self"]])
cat(min(times))
"""


def _bnlearn(bench: Bench) -> None:
    """R's bnlearn, where there is one."""
    if shutil.which("Rscript") is None:
        bench.console.print(
            "R's bnlearn: absent; measured elsewhere at 2.5 million rows of alarm a second.",
            style="dim",
        )
        return
    import gzip

    rows = bench.sizes(1_000_000, quick=(100_000,))[0]
    with tempfile.TemporaryDirectory() as folder:
        bif = Path(folder) / "alarm.bif"
        bif.write_bytes(gzip.decompress((FOLDER / "alarm.bif.gz").read_bytes()))
        script = Path(folder) / "rbn.R"
        script.write_text(_R)
        done = subprocess.run(
            ["Rscript", script, bif, str(rows)], capture_output=True, text=True, env=os.environ
        )
    if done.returncode:
        bench.console.print("R's bnlearn: not installed for Rscript.", style="dim")
        return
    net = load("alarm")
    start = time.process_time()
    net.sample(rows, rng=1, threads=1)
    own = time.process_time() - start
    taken = float(done.stdout)
    bench.grid(
        f"R's bnlearn, {rows:,} rows of alarm",
        ["", "CPU", "ratio"],
        [["credo", f"{own:.3f} s", "1"], ["bnlearn rbn", f"{taken:.3f} s", f"{taken / own:.3g}"]],
    )
