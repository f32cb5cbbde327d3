"""The harness: a task is done by credo and by each peer in turn, again and again, in one run.

Every answer is compared with credo's before a time is printed. Turns are interleaved, so that
whatever else the machine does falls on all alike; the best and the median turn are kept. A peer
that would take too long is given a part of the work, and its time is scaled up and marked ≈.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata, util
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
PEERS = ("numpy", "scipy", "pyarrow", "duckdb", "pandas", "polars", "pgmpy", "pyagrum")
PEERS = (*PEERS, "scikit-learn", "pybnesian")
_MODULES = {"scikit-learn": "sklearn"}


def installed(package: str | None) -> bool:
    """Whether a peer can be imported."""
    return package is None or util.find_spec(_MODULES.get(package, package)) is not None


@dataclass
class Entry:
    """One way to do a task.

    `run(state, items)` is what is timed. `setup()` makes the state before anything is timed,
    `fresh(state)` renews it before every turn, untimed. `answer(raw, items)` turns what came
    out into one array per item, for the comparison.
    """

    name: str
    run: Callable[[Any, Sequence[Any]], Any]
    package: str | None = None
    setup: Callable[[], Any] = lambda: None
    fresh: Callable[[Any], Any] | None = None
    answer: Callable[[Any, Sequence[Any]], Sequence[Any]] = lambda raw, _: raw
    threads: int = 1
    whole: bool = False  # cannot do a part of the items: all of them come at once
    steady: bool = False  # does the same each time: a short turn is repeated, as timeit does


@dataclass
class Task:
    """What every entry does. The first entry is the one that others are compared with."""

    title: str
    entries: Sequence[Entry]
    items: Sequence[Any] = (None,)
    tolerance: float = 0.0


@dataclass
class Turn:
    """One measured run."""

    wall: float
    cpu: float
    memory: float | None = None


@dataclass
class Result:
    """What is known of one entry after its turns."""

    name: str
    turns: list[Turn] = field(default_factory=list)
    scale: float = 1.0
    items: int = 1
    threads: int = 1
    wrong: str = ""

    def best(self, what: str) -> float:
        return min(getattr(t, what) for t in self.turns) * self.scale

    def median(self, what: str) -> float:
        return statistics.median(getattr(t, what) for t in self.turns) * self.scale

    @property
    def memory(self) -> float | None:
        seen = [t.memory for t in self.turns if t.memory is not None]
        return min(seen) if seen else None


class Bench:
    """Runs tasks, prints their tables, and keeps every figure for the JSON file."""

    def __init__(self, rows: tuple[int, ...] | None, quick: bool, json: str | None) -> None:
        self.rows = rows
        self.quick = quick
        self.repeats = 3 if quick else 7
        self.limit = 1.0 if quick else 2.0  # seconds that all turns of one entry may take
        self.area = ""
        self.console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
        self._json = json
        self._records: list[dict[str, Any]] = []
        self._about: dict[str, Any] = {}

    def sizes(self, *usual: int, quick: Sequence[int]) -> tuple[int, ...]:
        """The numbers of rows: those of --rows, or the usual ones, or the quick ones."""
        return self.rows or (tuple(quick) if self.quick else usual)

    # --- what is measured, and where --------------------------------------------------------

    def about(self) -> None:
        """Say which machine and which versions the figures are of."""
        import credo
        from credo import _core

        versions = {p: metadata.version(p) for p in PEERS if installed(p)}
        absent = [p for p in PEERS if p not in versions]
        self._about = {
            "cpu": _cpu_name(),
            "cores": os.cpu_count(),
            "paths": list(_core.paths()),
            "python": platform.python_version(),
            "credo": credo.__version__,
            "versions": versions,
            "absent": absent,
        }
        say = self.console.print
        say(f"[bold]credo {credo.__version__}[/] with Python {platform.python_version()}")
        say(f"CPU: {_cpu_name()}, {os.cpu_count()} cores; kernels: {', '.join(_core.paths())}")
        say("peers: " + ", ".join(f"{p} {v}" for p, v in versions.items()))
        if absent:
            say(f"absent: {', '.join(absent)}; make bench installs them")

    # --- running ------------------------------------------------------------------------------

    def compare(self, task: Task) -> list[Result]:
        """Check every entry's answer, take turns, print the table."""
        results: list[Result] = []
        ready: list[tuple[Entry, Any, Sequence[Any], Result]] = []
        absent = []
        truth: Sequence[Any] = ()
        for entry in task.entries:
            if not installed(entry.package):
                absent.append(entry)
                continue
            state = entry.setup()
            items = self._share(entry, state, task.items)
            result = Result(entry.name, threads=entry.threads, items=len(items))
            result.scale = len(task.items) / len(items)
            results.append(result)
            raw = entry.run(entry.fresh(state) if entry.fresh else state, items)
            found = entry.answer(raw, items)
            if not ready:
                truth = found
            else:
                at = {id(item): k for k, item in enumerate(task.items)}
                expected = [truth[at[id(i)]] for i in items]
                result.wrong = _difference(found, expected, task.tolerance)
            del raw, found
            if not result.wrong:
                ready.append((entry, state, items, result))
        budget = {id(r): self.limit for *_, r in ready}
        for turn in range(_MORE * self.repeats):
            for entry, state, items, result in ready:
                if turn > 1 and budget[id(result)] <= 0:
                    continue
                if turn >= self.repeats and not (entry.steady and result.best("wall") < _SHORT):
                    continue
                taken = _timed(entry, state, items)
                result.turns.append(taken)
                budget[id(result)] -= taken.wall
        self._table(task, results, absent)
        return results

    def _share(self, entry: Entry, state: Any, items: Sequence[Any]) -> Sequence[Any]:
        """All items, or as many, spread evenly, as a third of the time limit allows."""
        few = _spread(items, 3)
        if len(few) == len(items) or entry.whole:
            return items
        taken = _timed(entry, state, few)
        if taken.wall < self.limit / 3:  # what is set up on first use is not paid twice
            taken = _timed(entry, state, few)
        if taken.wall / len(few) * len(items) <= self.limit / 2:
            return items
        most = max(len(few), int(self.limit / 3 / (taken.wall / len(few))))
        return _spread(items, min(most, len(items)))

    def fresh(self, title: str, cases: Sequence[Case], *, truth: Any = None) -> list[Result]:
        """Like compare, but each turn is a process of its own, whose memory is measured too.

        Digests are compared with `truth`, or with that of the first case.
        """
        results, absent, ready = [], [], []
        for case in cases:
            if not installed(case.package):
                absent.append(case)
                continue
            result = Result(case.name, threads=case.cores)
            results.append(result)
            ready.append((case, result))
        for turn in range(2 if self.quick else 3):
            for case, result in ready:
                spent = sum(t.wall for t in result.turns)
                if result.wrong or (turn and spent > 10 * self.limit):
                    continue
                told = _in_process(case)
                if "error" in told:
                    result.wrong = told["error"]
                    continue
                truth = told["digest"] if truth is None else truth
                if told["digest"] is not None and told["digest"] != truth:
                    result.wrong = "gives other counts"
                    continue
                result.turns.append(Turn(told["wall"], told["cpu"], told["memory"]))
        self._table(Task(title, ()), results, absent, memory=True)
        return results

    # --- printing -----------------------------------------------------------------------------

    def _table(
        self,
        task: Task,
        results: Sequence[Result],
        absent: Sequence[Any],
        memory: bool = False,
    ) -> None:
        table = Table(title=f"{self.area}: {task.title}", title_justify="left", title_style="bold")
        table.add_column("", no_wrap=True)
        for head in ("CPU best", "median", "wall best", "median"):
            table.add_column(head, justify="right")
        if memory:
            table.add_column("memory", justify="right")
        table.add_column("CPU ratio", justify="right")
        table.add_column("wall ratio", justify="right")
        credo = next((r for r in results if r.turns), None)
        wrong = []
        for result in results:
            scaled = "≈ " if result.scale > 1 else ""
            row = [result.name]
            if result.wrong or not result.turns:
                table.add_row(result.name, "[red]wrong[/]")
                wrong.append(f"{result.name} is wrong: {result.wrong}.")
            else:
                for what in ("cpu", "wall"):
                    row += [scaled + seconds(result.best(what)), seconds(result.median(what))]
                if memory:
                    row.append(size(result.memory))
                for what in ("cpu", "wall"):
                    own = credo.best(what) if credo else 0
                    row.append(f"{scaled}{ratio(result.best(what) / own)}" if own else "")
                table.add_row(*row, style="bold" if result is credo else None)
            self._records.append(self._record(task.title, result, credo))
        for entry in absent:
            table.add_row(entry.name, "absent", style="dim")
        self.console.print()
        self.console.print(table)
        for line in wrong:
            self.console.print(line, style="red", markup=False)
        scaled_ones = [r for r in results if r.scale > 1]
        if scaled_ones:
            shares = ", ".join(f"{r.name}: {r.items}" for r in scaled_ones)
            self.console.print(
                f"≈ timed on some of the {len(task.items)} tables and scaled up ({shares}).",
                style="dim",
            )

    def _record(self, title: str, result: Result, credo: Result | None) -> dict[str, Any]:
        record: dict[str, Any] = {"area": self.area, "task": title, "who": result.name}
        if result.wrong or not result.turns:
            return {**record, "wrong": result.wrong}
        for what in ("cpu", "wall"):
            record[what] = result.best(what)
            record[f"{what}_median"] = result.median(what)
            record[f"{what}_ratio"] = result.best(what) / credo.best(what) if credo else None
        record |= {"memory": result.memory, "turns": len(result.turns), "scale": result.scale}
        return record

    def grid(
        self, title: str, head: Sequence[str], rows: Sequence[Sequence[str]], note: str = ""
    ) -> None:
        """A plain table of figures, the first column naming the row."""
        table = Table(title=f"{self.area}: {title}", title_justify="left", title_style="bold")
        for i, name in enumerate(head):
            table.add_column(name, justify="right" if i else "left")
        for row in rows:
            table.add_row(*row)
        self.console.print()
        self.console.print(table)
        if note:
            self.console.print(note, style="dim")
        self._records.append(
            {"area": self.area, "task": title, "head": list(head), "rows": [list(r) for r in rows]}
        )

    def close(self) -> None:
        """Explain the columns, and write the JSON file."""
        self.console.print(
            "\nRatios are times divided by the first row's: above 1 is slower than credo. "
            "CPU adds up all threads.\nAnswers were compared before a time was printed; "
            "docs/benchmarks.md says how. Absolute times mean nothing on another machine.",
            style="dim",
        )
        if self._json:
            text = json.dumps({"about": self._about, "results": self._records}, indent=1)
            Path(self._json).write_text(text + "\n", encoding="utf-8")


# --- a turn in this process -------------------------------------------------------------------


_SHORT = 0.02  # seconds; a turn shorter than this tells more of the caches than of the task
_MORE = 5  # times as many turns where they are short: a disturbance can last as long as three


def _timed(entry: Entry, state: Any, items: Sequence[Any]) -> Turn:
    if entry.fresh:
        state = entry.fresh(state)
    gc.collect()
    gc.disable()
    try:
        wall, cpu = time.perf_counter(), time.process_time()
        raw = entry.run(state, items)
        turn = Turn(time.perf_counter() - wall, time.process_time() - cpu)
        if entry.steady and turn.wall < _SHORT:
            calls = min(500, int(_SHORT / max(turn.wall, 1e-6)) + 1)
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(calls):
                entry.run(state, items)
            turn = Turn((time.perf_counter() - wall) / calls, (time.process_time() - cpu) / calls)
    finally:
        gc.enable()
    del raw
    return turn


def best_of(run: Callable[[], Any], repeats: int) -> float:
    """The least CPU time of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def _spread(items: Sequence[Any], most: int) -> Sequence[Any]:
    if len(items) <= most:
        return items
    at = np.linspace(0, len(items) - 1, most).round().astype(int)
    return [items[i] for i in dict.fromkeys(at.tolist())]


def _difference(found: Sequence[Any], expected: Sequence[Any], tolerance: float) -> str:
    """Empty if the answers agree, else a word about how they do not."""
    if len(found) != len(expected):
        return f"{len(found)} answers instead of {len(expected)}"
    for k, (a, b) in enumerate(zip(found, expected, strict=True)):
        a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        if a.shape != b.shape:
            return f"answer {k} has shape {a.shape}, not {b.shape}"
        gap = np.abs(a - b).max() if a.size else 0.0
        if gap > tolerance * max(np.abs(b).max() if b.size else 0.0, 1.0):
            return f"answer {k} is off by {gap:g}"
    return ""


# --- a turn in a process of its own -----------------------------------------------------------


@dataclass
class Case:
    """A function of a module of this package, run by `benchmarks.probe` in a fresh process.

    The function imports what it needs and gives three functions: `prepare()` (not timed),
    `work(prepared)` (timed) and `digest(result)` (compared between cases; None is not).
    """

    name: str
    where: str
    arguments: dict[str, Any]
    package: str | None = None
    cores: int = 1
    since: str = "imports"  # memory is counted since the imports, or since "prepared"


def _in_process(case: Case) -> dict[str, Any]:
    env = {**os.environ, "CREDO_BENCH_THREADS": str(case.cores)}
    command = [sys.executable, "-m", "benchmarks.probe", case.where, json.dumps(case.arguments)]
    command += [str(case.cores), case.since]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["failed"])[-1]
        return {"error": last}
    told: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return told


# --- figures as text --------------------------------------------------------------------------


def seconds(t: float) -> str:
    """A time with three figures and its unit."""
    for unit, one in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if t >= one:
            return f"{t / one:.3g} {unit}" if t / one < 1000 else f"{t / one:,.0f} {unit}"
    return f"{t / 1e-9:.3g} ns"


def ratio(x: float) -> str:
    """A ratio with three figures at most."""
    return f"{x:,.0f}×" if x >= 100 else f"{x:.1f}×" if x >= 10 else f"{x:.2f}×"


def size(n: float | None) -> str:
    """Bytes in MB."""
    return "" if n is None else f"{n / 1e6:,.0f} MB"


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
