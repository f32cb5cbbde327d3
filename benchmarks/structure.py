"""Learning structures: time and quality of credo's searches and the peers', on the same rows.

Rows are drawn from the repository's networks, and the columns are shuffled: the columns of a
network file are nearly in topological order, which decides what greedy searches find. Every graph
is scored by one scorer, `cr.score` with BIC. CPU seconds of one thread, of the search alone: each
library has the rows in its own form before the clock starts, and credo a table whose bitmaps are
not built yet.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Case, installed
from benchmarks.networks import load, sample

SIZES = (
    ("alarm", 10_000), ("alarm", 100_000), ("alarm", 1_000_000), ("hailfinder", 100_000),
    ("andes", 10_000), ("link", 10_000),
)  # fmt: skip
QUICK = (("alarm", 10_000), ("alarm", 100_000))
# what a peer needs longer than a minute for
TOO_LONG = {
    "pgmpy": {("alarm", 1_000_000), ("hailfinder", 100_000), ("andes", 10_000), ("link", 10_000)},
    "pyAgrum": {("link", 10_000)},
}

# file, score, options, and the optimum that is printed: alarm_10000 on GOBNILP's pages; the others
# in the table of costs beside the rows that Liao and others used for "Finding all Bayesian network
# structures within a factor of optimal" (AAAI 2019); their family scores are rounded.
OPTIMA: tuple[tuple[str, str, dict[str, Any], float], ...] = (
    ("alarm_10000.dat", "bdeu", {"ess": 1, "max_parents": 3}, -105226.51191678),
    ("water1000.csv", "bic", {}, -13290.106861),
    ("hailfinder500.csv", "bic", {}, -27777.551566),
    ("barley1000.csv", "bic", {}, -67699.739271),
)

Edges = list[tuple[str, str]]


def run(bench: Bench) -> None:
    try:
        load("alarm")
    except FileNotFoundError:
        bench.console.print("structure: the networks are not on this machine")
        return
    for name, rows in QUICK if bench.quick else SIZES:
        if bench.rows and rows not in bench.rows:
            continue
        climbing(bench, name, rows)
    for rows in bench.sizes(10_000_000, quick=(1_000_000,)):
        streamed(bench, rows)
    if not bench.rows:
        shuffled(bench)
        exactness(bench)
        exhaustive(bench)
        published(bench)


def rows_of(name: str, rows: int, seed: int = 1) -> tuple[Any, Any]:
    """The network, and a function that makes a fresh table of its rows, columns shuffled."""
    from credo import Schema, Table
    from credo.stats.block import Block

    net = load(name)
    rng = np.random.default_rng(seed)
    codes = sample(net, rows, rng)
    order = rng.permutation(len(net.names))
    schema = Schema(tuple(net.variables[i] for i in order))
    columns = tuple(np.ascontiguousarray(codes[:, i], dtype=np.uint8) for i in order)
    return net, lambda: Table(Block(schema, columns))


def credo_way(search: str, score: str = "bic", **more: Any) -> Callable[[Any], Any]:
    def prepare(table: Any) -> Callable[[], Edges]:
        from credo.train.structure.searching import searched

        def learn() -> Edges:
            return list(searched(table, score, search, threads=1, **more).dag.edges)

        return learn

    return prepare


def pybnesian_way(table: Any) -> Callable[[], Edges]:
    import pyarrow as pa
    import pybnesian as pbn

    arrays = []
    for variable, codes in zip(table.schema.variables, table.block.arrays, strict=True):
        labels = pa.array([f"s{i}" for i in range(variable.arity)])
        arrays.append(pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8)), labels))
    batch = pa.RecordBatch.from_arrays(arrays, names=list(table.schema.names))

    def learn() -> Edges:
        return list(
            pbn.hc(batch, bn_type=pbn.DiscreteBNType(), score="bic", operators=["arcs"]).arcs()
        )

    return learn


def pyagrum_way(table: Any) -> Callable[[], Edges]:
    import pandas as pd
    import pyagrum as gum

    frame = pd.DataFrame(dict(zip(table.schema.names, table.block.arrays, strict=True)))
    template = gum.BayesNet()
    for variable in table.schema.variables:
        template.add(gum.LabelizedVariable(variable.name, "", variable.arity))
    learner = gum.BNLearner(frame.astype(str), template)
    learner.setNumberOfThreads(1)
    learner.useGreedyHillClimbing()
    learner.useScoreBIC()

    def learn() -> Edges:
        dag = learner.learnDAG()
        return [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in dag.arcs()]

    return learn


def pgmpy_way(table: Any) -> Callable[[], Edges]:
    import pandas as pd
    from pgmpy.estimators import HillClimbSearch

    frame = pd.DataFrame(
        {
            v.name: pd.Categorical.from_codes(c, list(range(v.arity)))
            for v, c in zip(table.schema.variables, table.block.arrays, strict=True)
        }
    )

    def learn() -> Edges:
        search = HillClimbSearch(frame)
        found = search.estimate(scoring_method="bic-d", show_progress=False, max_iter=10_000)
        return list(found.edges())

    return learn


WAYS: dict[str, tuple[str | None, Callable[[Any], Callable[[], Edges]]]] = {
    "credo hill-climb": (None, credo_way("hill-climb")),
    "credo tabu": (None, credo_way("tabu")),
    "credo auto": (None, credo_way("auto")),
    "PyBNesian": ("pybnesian", pybnesian_way),
    "pyAgrum": ("pyagrum", pyagrum_way),
    "pgmpy": ("pgmpy", pgmpy_way),
}


EQUAL = "credo auto, in the time of the fastest peer"


def climbing(bench: Bench, name: str, rows: int) -> None:
    """Each search on the same rows, scored alike."""
    import credo as cr

    net, table = rows_of(name, rows)
    truth = net.dag.subgraph(net.dag.nodes)
    true = float(cr.score(net.dag, table(), "bic"))
    lines = []
    base = 0.0
    fastest = 0.0
    for way, (package, prepare) in [*WAYS.items(), (EQUAL, (None, credo_way("auto")))]:
        if not installed(package) or (name, rows) in TOO_LONG.get(way, ()):
            continue
        if way == EQUAL:
            if not fastest:
                continue
            prepare = credo_way("auto", seconds=fastest)
        times: list[float] = []
        edges: Edges = []
        while len(times) < (2 if bench.quick else 3) and sum(times) < 10:
            learn = prepare(table())
            began = time.process_time()
            try:
                edges = learn()
            except Exception as error:  # what a peer cannot do is said, not hidden
                lines.append([way, f"fails: {str(error)[:60]}", "", "", "", "", ""])
                times = []
                break
            times.append(time.process_time() - began)
        if not times:
            continue
        taken = min(times)
        base = base or taken
        if package is not None:
            fastest = min(fastest or taken, taken)
        dag = cr.Dag(edges, truth.nodes)
        score = float(cr.score(dag, table(), "bic"))
        lines.append(
            [
                way, f"{taken:.4g}", f"{taken / base:.1f}", f"{score:,.1f}",
                f"{score - true:+,.1f}", str(len(edges)), str(truth.shd(dag)),
            ]
        )  # fmt: skip
    bench.grid(
        f"{name}, {rows:,} rows, BIC",
        ["", "CPU s", "ratio", "score", "above the true graph", "edges", "SHD"],
        lines,
        f"The true graph scores {true:,.1f} with {len(truth.edges)} edges.",
    )


def streamed(bench: Bench, rows: int) -> None:
    """Hill climbing on a Parquet file that is far larger than the memory it may use."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "alarm.parquet")
        load("alarm").sample(rows, rng=1, path=path)
        arguments = {"path": str(path), "memory": 2 * rows}
        bench.fresh(
            f"alarm, {rows:,} rows of Parquet, hill climbing in {2 * rows / 1e6:,.0f} MB",
            [
                Case("credo, a stream", "benchmarks.structure:stream_climb", arguments),
                Case(
                    "credo, in memory", "benchmarks.structure:stream_climb",
                    {**arguments, "memory": 100 * rows},
                ),
            ],
        )  # fmt: skip


def stream_climb(path: str, memory: int) -> Any:
    import credo as cr

    def work(_: Any) -> Any:
        return cr.learn(cr.read(path, memory=memory), "bic", "hill-climb", threads=1)

    return lambda: None, work, lambda net: f"{net.record.score:.6f}"


def shuffled(bench: Bench) -> None:
    """`auto` with the columns in other orders: the score must not depend on it."""
    import credo as cr

    cases = [("alarm", 10_000, None), ("hailfinder", 10_000, None), ("andes", 10_000, None)]
    lines = []
    for name, rows, budget in [*cases, ("link", 10_000, 100.0)][: 1 if bench.quick else None]:
        net, table = rows_of(name, rows)
        true = float(cr.score(net.dag, table(), "bic"))
        rng = np.random.default_rng(5)
        found, times = [], []
        for _ in range(1 if budget else 3):
            whole = table()
            mixed = whole.select([whole.schema.names[i] for i in rng.permutation(len(net.names))])
            began = time.process_time()
            graph = credo_way("auto", seconds=budget)(mixed)()
            times.append(time.process_time() - began)
            found.append(float(cr.score(cr.Dag(graph, net.names), whole, "bic")) - true)
        lines.append(
            [name, f"{rows:,}", f"{min(times):.3g}", f"{min(found):+,.2f}", f"{max(found):+,.2f}"]
        )
    bench.grid(
        "auto, columns in other orders", ["", "rows", "CPU s", "above the true graph", "to"], lines
    )


def exactness(bench: Bench) -> None:
    """The optimum and its proof."""
    import credo as cr

    cases: Sequence[tuple[str, int, str, dict[str, Any]]] = [
        ("child", 1000, "bic", {}),
        ("child", 1000, "bdeu", {"max_parents": 3}),
        ("insurance", 1000, "bic", {}),
        ("alarm", 1000, "bic", {}),
    ]
    lines = []
    for name, rows, score, rules in cases[: 2 if bench.quick else None]:
        _, table = rows_of(name, rows)
        began = time.process_time()
        net = cr.learn(table(), score, "exact", threads=1, seconds=300, **rules)
        taken = time.process_time() - began
        quick = cr.learn(table(), score, "order", threads=1, **rules)
        details = net.record.details
        lines.append(
            [
                f"{name} {score}" + (" ≤ 3 parents" if rules else ""), str(len(net.names)),
                f"{taken:.2f}", f"{net.record.score:,.3f}", f"{details['bound']:,.3f}",
                "yes" if details["proven"] else "no", f"{quick.record.score:,.3f}",
                f"{quick.record.seconds:.2f}",
            ]
        )  # fmt: skip
    bench.grid(
        "the optimum, 1,000 rows",
        ["", "variables", "CPU s", "score", "bound", "proven", "order", "its s"],
        lines,
    )


def exhaustive(bench: Bench) -> None:
    """pgmpy goes through every graph: five variables are what it can do."""
    import credo as cr

    if not installed("pgmpy"):
        return
    import pandas as pd
    from pgmpy.estimators import BIC, ExhaustiveSearch

    _, table = rows_of("child", 1000)
    few = table().select(list(table().schema.names)[: 4 if bench.quick else 5])
    states = {n: list(range(few.schema[n].arity)) for n in few.schema.names}
    frame = pd.DataFrame(
        {n: pd.Categorical.from_codes(few.codes(n), labels) for n, labels in states.items()}
    )
    began = time.process_time()
    edges = ExhaustiveSearch(frame, scoring_method=BIC(frame)).estimate().edges()
    theirs = time.process_time() - began
    cr.learn(few, "bic", "exact", threads=1)  # what is imported when it is first used
    began = time.process_time()
    net = cr.learn(few, "bic", "exact", threads=1)
    ours = time.process_time() - began
    score = float(cr.score(cr.Dag(list(edges), few.schema.names), few, "bic"))
    bench.grid(
        f"the optimum, {len(states)} of child's columns, 1,000 rows",
        ["", "CPU s", "ratio", "score"],
        [
            ["credo exact", f"{ours:.4g}", "1.0", f"{net.record.score:,.3f}"],
            ["pgmpy ExhaustiveSearch", f"{theirs:.4g}", f"{theirs / ours:.0f}", f"{score:,.3f}"],
        ],
    )


def published(bench: Bench) -> None:
    """The optima that others have printed, on the very rows they were printed for.

    CREDO_PUBLISHED names a folder with the files of `OPTIMA`, as far as they are there.
    """
    folder = os.environ.get("CREDO_PUBLISHED")
    if not folder:
        bench.console.print("Published optima are skipped: CREDO_PUBLISHED names their folder.")
        return
    lines = []
    for file, score, options, optimum in OPTIMA:
        path = Path(folder) / file
        if path.exists():
            lines += [[file, *line] for line in reached(path, score, options, optimum)]
    bench.grid(
        "published optima",
        ["", "search", "CPU s", "score", "above the published", "proven"],
        lines,
    )


def reached(path: Path, score: str, options: dict[str, Any], optimum: float) -> list[list[str]]:
    """What each search reaches, and in which time."""
    import credo as cr

    table = published_table(path)
    lines = []
    for search in ("hill-climb", "order", "auto", "exact"):
        began = time.process_time()
        more: dict[str, Any] = {"seconds": 300} if search == "exact" else {}
        record = cr.learn(table, score, search, threads=1, **options, **more).record
        taken = time.process_time() - began
        proven = "yes" if record.details.get("proven") else ""
        above = f"{record.score - optimum:+.6f}"
        lines.append([search, f"{taken:.2f}", f"{record.score:.6f}", above, proven])
    return lines


def published_table(path: Path) -> Any:
    """Rows of codes, in a .dat file after a line of names and one of arities."""
    import credo as cr

    with path.open() as file:
        if path.suffix == ".dat":
            names, arities = file.readline().split(), map(int, file.readline().split())
            schema = {n: list(range(arity)) for n, arity in zip(names, arities, strict=True)}
            rows = np.loadtxt(file, dtype=np.int64)
        else:
            rows = np.loadtxt(file, dtype=np.int64, delimiter=",")
            schema = {f"v{i}": np.unique(column).tolist() for i, column in enumerate(rows.T)}
    return cr.read(dict(zip(schema, rows.T, strict=True)), schema=schema)
