"""Inference: posteriors of the standard networks, predictions and likelihoods of alarm's rows.

Posteriors: a tenth of the variables is observed, with values from the network's own sample. Each
library works in a process of its own, in turn on the same evidence, with limits of time and memory.
Rows: alarm's, sampled; peers that ask row by row are timed on a part of them.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import ROOT, Bench, Entry, Result, Task, installed, ratio, seconds

FOLDER = Path(os.environ.get("CREDO_SHARED", ROOT.parent / "shared")) / "data" / "networks"
SMALL = ("alarm", "child", "hailfinder", "hepar2")
LARGE = (
    "insurance", "win95pts", "andes", "pigs", "water", "pathfinder", "mildew", "barley",
    "diabetes", "munin", "link", "munin1",
)  # fmt: skip
TOLERANCE = 1e-6
SECONDS = 60  # of CPU that one evidence set may take
BYTES = 4 * 10**9
MUCH = f"> {BYTES / 1e9:.0f} GB"
TARGET = "LVFAILURE"

Answer = dict[str, np.ndarray]


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


def load(name: str) -> Any:
    import credo as cr

    return cr.load(FOLDER / f"{name}.bif.gz")


def sample(net: Any, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Codes of rows drawn from the network, parents first: a column for each variable."""
    at = {n: i for i, n in enumerate(net.names)}
    out = np.full((rows, len(at)), -1, dtype=np.int64)
    waiting = list(net.names)
    while waiting:
        later = []
        for name in waiting:
            parents = [at[p.name] for p in net.distributions[name].parents]
            if (out[:1, parents] < 0).any():
                later.append(name)
                continue
            steps = net.distributions[name].values.cumsum(axis=-1)[tuple(out[:, parents].T)]
            draw = rng.random((rows, 1)) * steps[..., -1:]
            out[:, at[name]] = (draw >= steps).sum(axis=-1)
        waiting = later
    return out


# --- the network of each library ----------------------------------------------------------------


def to_pyagrum(net: Any) -> Any:
    import pyagrum as gum

    bn = gum.BayesNet()
    for v in net.variables:
        bn.add(gum.LabelizedVariable(v.name, v.name, v.arity))
    for name in net.names:
        for parent in reversed(net.distributions[name].parents):  # its tables run the other way
            bn.addArc(parent.name, name)
        bn.cpt(name).fillWith(net.distributions[name].values.ravel().tolist())
    return bn


def to_pgmpy(net: Any) -> Any:
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    model = DiscreteBayesianNetwork()
    model.add_nodes_from(net.names)
    for name in net.names:
        local = net.distributions[name]
        arity = net.variable(name).arity
        parents = [p.name for p in local.parents]
        model.add_edges_from((p, name) for p in parents)
        flat = local.values.reshape(-1, arity).T
        model.add_cpds(TabularCPD(name, arity, flat, parents, [p.arity for p in local.parents]))
    return model


# --- all posteriors, each library in a process --------------------------------------------------


class Credo:
    """Posteriors as a user asks for them, and the parts of the time they take."""

    def __init__(self, name: str) -> None:
        load("alarm").marginals()  # what is imported on first use is not the network's
        began = time.process_time()
        self.net = load(name)
        self.loading = time.process_time() - began

    def ask(self, given: dict[str, int], _: bool) -> tuple[float, Answer, float]:
        named = {n: self.net.variable(n).states[code] for n, code in given.items()}
        began = time.process_time()
        found = self.net.marginals(named)
        taken = time.process_time() - began
        return taken, {n: d.p for n, d in found.items()}, 1.0

    def parts(self, given: dict[str, int]) -> dict[str, float]:
        """Compiling alone and running alone, without a plan that was kept."""
        from credo.predict.engine import engine_of

        engine = engine_of(self.net)
        observed = [engine.at[n] for n in given]
        row = np.array([list(given.values())], dtype=np.int32)
        targets = engine.rest(observed)
        first = time.process_time()
        plan = engine.model.compile(observed, targets)
        second = time.process_time()
        plan.run(engine.tables, row, [], 1)
        third = time.process_time()
        plan.run(engine.tables, row, [], 1)
        return {
            "load": self.loading,
            "compile": second - first,
            "first run": third - second,
            "run": time.process_time() - third,
            "states": plan.total_states,
            "flops": plan.flops,
            "memory": _peak(),
        }


class PyAgrum:
    """One inference object, kept; where the same variables are observed only values change."""

    def __init__(self, name: str) -> None:
        self.bn = to_pyagrum(load(name))
        self.engine: Any = None

    def new(self) -> Any:
        raise NotImplementedError

    def ask(self, given: dict[str, int], same: bool) -> tuple[float, Answer, float]:
        began = time.process_time()
        if self.engine is None:
            self.engine = self.new()
            self.engine.setNumberOfThreads(1)
        if same:
            self.engine.updateEvidence(given)
        else:
            self.engine.setEvidence(given)
        self.engine.makeInference()
        found = {n: self.engine.posterior(n) for n in self.bn.names() if n not in given}
        taken = time.process_time() - began
        return taken, {n: p.toarray() for n, p in found.items()}, 1.0


class Lazy(PyAgrum):
    def new(self) -> Any:
        import pyagrum as gum

        return gum.LazyPropagation(self.bn)


class ShaferShenoy(PyAgrum):
    def new(self) -> Any:
        import pyagrum as gum

        return gum.ShaferShenoyInference(self.bn)


class Pgmpy:
    """A query for each target, of as many as two seconds allow, in random order."""

    def __init__(self, name: str) -> None:
        self.model = to_pgmpy(load(name))
        self.engine: Any = None

    def ask(self, given: dict[str, int], _: bool) -> tuple[float, Answer, float]:
        from pgmpy.inference import VariableElimination

        free = [n for n in self.model.nodes() if n not in given]
        order = [free[i] for i in np.random.default_rng(len(free)).permutation(len(free))]
        began = time.process_time()
        if self.engine is None:
            self.engine = VariableElimination(self.model)
            began = time.process_time()
        out = {}
        for name in order:
            out[name] = self.engine.query([name], given, show_progress=False).values
            if time.process_time() - began > 2:
                break
        scale = len(free) / len(out)
        return (time.process_time() - began) * scale, out, scale


WAYS: dict[str, tuple[type, str | None]] = {
    "credo": (Credo, None),
    "pyAgrum: Lazy": (Lazy, "pyagrum"),
    "pyAgrum: Shafer–Shenoy": (ShaferShenoy, "pyagrum"),
    "pgmpy": (Pgmpy, "pgmpy"),
}


def _peak() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def _serve(pipe: Connection, way: str, name: str) -> None:
    """The life of a worker: a network, then questions until it is told to end."""
    import logging
    import resource
    import warnings

    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    worker: Any = None
    while (job := pipe.recv()) is not None:
        try:
            if worker is None:
                worker = WAYS[way][0](name)
                resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
            method, *arguments = job
            pipe.send(getattr(worker, method)(*arguments))
        except MemoryError:
            pipe.send(MUCH)
        except Exception as error:
            full = "alloc" in str(error)  # how pyAgrum says that memory is short
            pipe.send(MUCH if full else f"fails: {type(error).__name__}")


class Worker:
    """A library in a process of its own; `ended` says why it answers no more."""

    def __init__(self, way: str, name: str) -> None:
        context = get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, way, name), daemon=True)
        self._process.start()
        other.close()
        self.ended = ""
        self.spent = 0.0
        self.scaled = False

    def ask(self, *job: Any) -> Any:
        """The answer, or None where the limits were passed."""
        if self.ended:
            return None
        try:
            before = self._cpu()
            self._pipe.send(job)
            while not self._pipe.poll(0.5):
                if self._cpu() - before > SECONDS:
                    raise EOFError
            found = self._pipe.recv()
        except (EOFError, OSError):
            self.ended = f"> {SECONDS} s"
            return None
        if isinstance(found, str):
            self.ended = found
            return None
        return found

    def _cpu(self) -> float:
        """The CPU seconds of the process: a limit set by the system would coarsen its clock."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError):
            return time.perf_counter()

    def question(self, given: dict[str, int], same: bool, truth: Answer | None) -> Any:
        """The time of one evidence set, and the posteriors; None where there are none."""
        found = self.ask("ask", given, same)
        if found is None:
            return None
        taken, answer, scale = found
        self.spent += taken / scale
        self.scaled |= scale > 1
        for name, p in answer.items() if truth is not None else ():
            gap = np.abs(np.ravel(p) - np.ravel(truth[name])).max()
            if not gap <= TOLERANCE:
                self.ended = f"wrong: {name} off by {gap:.2g}"
                return None
        return taken, answer

    def close(self) -> None:
        if self._process.is_alive() and not self.ended:
            self._pipe.send(None)
            self._process.join(10)
        if self._process.is_alive():
            self._process.kill()
        self._process.join()


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


# --- predictions of rows ------------------------------------------------------------------------


def table_of(net: Any, codes: np.ndarray) -> Any:
    """The rows as `cr.read` would give them; a code that is the arity is a gap."""
    from credo import Table
    from credo.stats.block import Block

    columns = tuple(np.ascontiguousarray(c, dtype=np.uint8) for c in codes.T)
    return Table(Block(net.schema, columns))


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
