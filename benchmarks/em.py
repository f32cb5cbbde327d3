"""EM: alarm with gaps, a hidden class over thirty columns, a Gaussian mixture.

Every library starts from the same tables and takes the same number of steps; the table lies in
memory in the form each takes. A peer whose cost is in proportion to the rows is given blocks of
them (≈) and must reach the same log-likelihood on each block.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Entry, Task
from benchmarks.networks import FOLDER, load, sample, to_pgmpy, to_pyagrum

STEPS = 6
SMOOTHING = 0.01  # little, so that what EM raises is the log-likelihood all but alone


def run(bench: Bench) -> None:
    if (FOLDER / "alarm.bif.gz").exists():
        net = load("alarm")
        for rows in bench.sizes(10_000, 100_000, quick=(10_000,)):
            for rate in (0.1, 0.3):
                gaps(bench, net, rows, rate)
        if not bench.quick:
            structural(bench, net, 10_000, 0.1)
    else:
        bench.console.print(
            f"\nem: alarm is skipped, the networks are not in {FOLDER}; CREDO_SHARED names the "
            "folder that has data/networks."
        )
    for rows in bench.sizes(100_000, quick=(10_000,)):
        hidden_class(bench, rows)
        mixture(bench, rows)


def _table(net: Any, codes: np.ndarray) -> Any:
    from credo.core.schema import Schema
    from credo.data import Table
    from credo.stats.block import Block

    arrays = tuple(np.ascontiguousarray(c, dtype=np.uint8) for c in codes.T)
    return Table(Block(Schema(net.variables[-len(arrays) :]), arrays))


def _half_random(net: Any, rng: np.random.Generator) -> Any:
    """The network with each table drawn half of the way to random rows."""
    import credo as cr

    tables = {}
    for n in net.names:
        local = net.cpt(n)
        shape = local.values.shape
        rows = rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])
        tables[n] = cr.Cpt(local.child, local.parents, (local.values + rows) / 2)
    return cr.Network(net.dag, tables)


def gaps(bench: Bench, net: Any, rows: int, rate: float) -> None:
    """alarm with cells missing at random; six steps from tables half right and half random."""
    import credo as cr

    rng = np.random.default_rng(1)
    codes = sample(net, rows, rng).astype(np.int64)
    gone = rng.random(codes.shape) < rate
    codes = np.where(gone, np.array([v.arity for v in net.variables]), codes)
    first = _half_random(net, rng)
    size = 100
    items = list(range(rows // size))

    def step(part: np.ndarray, threads: int) -> Any:
        return cr.em(
            net, _table(net, part), cr.Laplace(SMOOTHING), start=first, max_iter=STEPS, tol=0,
            accelerate=False, threads=threads,
        )  # fmt: skip

    def answer(_: Any, chosen: Sequence[int]) -> list[Any]:
        return [[step(codes[i * size : (i + 1) * size], 1).record.score] for i in chosen]

    def agrum_setup() -> Any:
        import pandas as pd

        labels = np.where(gone, "?", codes.astype(str))
        return pd.DataFrame({n: labels[:, i] for i, n in enumerate(net.names)})

    def agrum(frame: Any, chosen: Sequence[int]) -> list[Any]:
        import pyagrum as gum

        out = []
        for i in chosen:
            bn = to_pyagrum(first)
            learner = gum.BNLearner(frame.iloc[i * size : (i + 1) * size], bn, ["?"])
            learner.setNumberOfThreads(1)
            learner.useEM(1e-300, 0.0)  # no noise in the start
            learner.useSmoothingPrior(SMOOTHING)
            learner.EMsetMaxIter(STEPS)
            out.append((i, learner.learnParameters(bn)))
        return out

    def agrum_answer(found: Any, _: Any) -> list[Any]:
        scores = []
        for i, bn in found:
            tables = {}
            for n in net.names:
                local, tensor = net.cpt(n), bn.cpt(n)
                axes = list(reversed(tensor.names))
                order = [axes.index(v.name) for v in local.variables]
                values = np.ascontiguousarray(tensor.toarray()).transpose(order)
                values = values / values.sum(axis=-1, keepdims=True)
                tables[n] = cr.Cpt(local.child, local.parents, values)
            part = _table(net, codes[i * size : (i + 1) * size])
            scores.append([cr.Network(net.dag, tables).log_likelihood(part)])
        return scores

    bench.compare(
        Task(
            f"alarm, {rows:,} rows, {rate:.0%} missing, {STEPS} steps",
            [
                Entry("credo em", lambda *_: step(codes, 1), answer=answer, whole=True),
                Entry("credo em, 2 threads", lambda *_: step(codes, 2), answer=answer, whole=True,
                      threads=2),
                Entry("pyAgrum useEM", agrum, "pyagrum", agrum_setup, answer=agrum_answer),
            ],
            items=items,
            tolerance=1e-9,
        )
    )  # fmt: skip


def structural(bench: Bench, net: Any, rows: int, rate: float) -> None:
    """A graph from rows with gaps; no peer does it, so the ways of credo stand side by side."""
    import time

    import credo as cr

    rng = np.random.default_rng(1)
    codes = sample(net, rows, rng).astype(np.int64)
    gone = rng.random(codes.shape) < rate
    full = _table(net, codes)
    part = _table(net, np.where(gone, np.array([v.arity for v in net.variables]), codes))
    lines = []
    for name, table, way in [
        ("no cell missing", full, "structural-em"),
        ("structural EM", part, "structural-em"),
        ("available cases", part, "available-cases"),
        ("node average", part, "node-average"),
        ("complete rows", part, "complete-rows"),
    ]:
        start = time.process_time()
        found = cr.learn(table, "bic", "tabu", missing=way, threads=1)
        taken = time.process_time() - start
        whole = cr.fit(found.dag, full)
        bic = whole.record.score - 0.5 * np.log(rows) * whole.free_parameters
        lines.append([name, f"{taken:.2f}", str(found.dag.shd(net.dag)), f"{bic:,.1f}"])
    bench.grid(
        f"graph of alarm by tabu and BIC, {rows:,} rows, {rate:.0%} missing",
        ["", "CPU s", "SHD to the true graph", "BIC on the rows without gaps"],
        lines,
    )


def hidden_class(bench: Bench, rows: int) -> None:
    """A class of three states that was never observed, over thirty columns of three states."""
    import credo as cr

    rng = np.random.default_rng(2)
    d, k, r, steps = 30, 3, 3, 10
    theta = rng.dirichlet(np.ones(r), size=(k, d))
    z = rng.integers(0, k, rows)
    codes = (rng.random((rows, d, 1)) > theta[z].cumsum(axis=-1)).sum(axis=-1).clip(0, r - 1)
    graph = cr.Dag([("C", f"x{i}") for i in range(d)], nodes=["C", *(f"x{i}" for i in range(d))])
    first = rng.dirichlet(np.full(r, 3.0), size=(d, k))
    tables = {"C": np.full(k, 1 / k)} | {f"x{i}": first[i] for i in range(d)}
    states = {n: tuple(range(k if n == "C" else r)) for n in tables}
    start = cr.Network(graph, tables, states=states)
    size = 50
    items = list(range(rows // size))

    def step(part: np.ndarray, threads: int) -> Any:
        return cr.em(
            start, _table(start, part), start=start, max_iter=steps, tol=0, threads=threads
        )

    def looped(part: np.ndarray) -> float:
        """The usual loop: one-hot columns and two matrix products a step."""
        onehot = (part[:, :, None] == np.arange(r)).reshape(len(part), -1).astype(np.float64)
        weight, cells = np.full(k, 1 / k), first.transpose(1, 0, 2).reshape(k, -1).copy()
        for turn in range(steps + 1):
            with np.errstate(divide="ignore"):
                log = onehot @ np.log(np.maximum(cells, 1e-300)).T + np.log(weight)
            top = log.max(axis=1, keepdims=True)
            p = np.exp(log - top)
            total = p.sum(axis=1, keepdims=True)
            height = float((np.log(total) + top).sum())
            if turn == steps:
                break
            p /= total
            weight = p.mean(axis=0)
            counts = (p.T @ onehot).reshape(k, d, r)
            cells = (counts / counts.sum(axis=-1, keepdims=True)).reshape(k, -1)
        return height

    def answer(_: Any, chosen: Sequence[int]) -> list[Any]:
        return [[step(codes[i * size : (i + 1) * size], 1).record.score] for i in chosen]

    def numpy_answer(_: Any, chosen: Sequence[int]) -> list[Any]:
        return [[looped(codes[i * size : (i + 1) * size])] for i in chosen]

    def pgmpy(frame: Any, chosen: Sequence[int]) -> list[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import logging

            logging.disable(logging.CRITICAL)
            from pgmpy.estimators import ExpectationMaximization

            for i in chosen:
                model = to_pgmpy(start)
                model.latents = {"C"}
                estimator = ExpectationMaximization(model, frame.iloc[i * size : (i + 1) * size])
                estimator.get_parameters(
                    latent_card={"C": k}, max_iter=steps, n_jobs=1, show_progress=False, seed=0
                )
        return list(chosen)

    def pgmpy_setup() -> Any:
        import pandas as pd

        return pd.DataFrame({f"x{i}": codes[:, i] for i in range(d)})

    chosen_few = items[:: max(len(items) // 20, 1)]
    bench.compare(
        Task(
            f"hidden class of {k} states over {d} columns, {rows:,} rows, {steps} steps",
            [
                Entry("credo em", lambda *_: step(codes, 1), answer=answer, whole=True),
                Entry("credo em, 2 threads", lambda *_: step(codes, 2), answer=answer, whole=True,
                      threads=2),
                Entry("NumPy, one-hot products", lambda *_: looped(codes), answer=numpy_answer,
                      whole=True),
            ],
            items=chosen_few,
            tolerance=1e-8,
        )
    )  # fmt: skip
    if bench.quick:
        return
    # pgmpy draws its own start, so that only its time can be compared.
    bench.compare(
        Task(
            f"the same, pgmpy on blocks of {size} rows",
            [
                Entry(
                    "credo em", lambda *_: step(codes, 1), answer=lambda _, c: list(c), whole=True
                ),
                Entry("pgmpy ExpectationMaximization", pgmpy, "pgmpy", pgmpy_setup),
            ],
            items=items,
        )
    )


def mixture(bench: Bench, rows: int) -> None:
    """A Gaussian mixture with diagonal covariances."""
    import credo as cr

    rng = np.random.default_rng(3)
    d, k, steps = 8, 4, 20
    middle = rng.normal(0, 3, (k, d))
    x = middle[rng.integers(0, k, rows)] + rng.normal(size=(rows, d))
    first = middle + rng.normal(0, 0.5, (k, d))
    c = cr.Variable("C", "discrete", tuple(range(k)))
    locals_: list[Any] = [cr.Cpt(c, (), np.full(k, 1 / k))]
    for j in range(d):
        v = cr.Variable(f"x{j}", "continuous")
        locals_.append(cr.LinearGaussian(v, (c,), first[:, j], np.zeros((k, 0)), np.ones(k)))
    names = [f"x{j}" for j in range(d)]
    start = cr.Network(cr.Dag([("C", n) for n in names], nodes=["C", *names]), locals_)
    table = cr.read({n: x[:, j] for j, n in enumerate(names)})

    def credo(threads: int) -> Any:
        return lambda *_: cr.em(
            start, table, start=start, max_iter=steps, tol=0, accelerate=False, threads=threads
        )

    def sklearn(*_: Any) -> Any:
        from sklearn.mixture import GaussianMixture

        model = GaussianMixture(
            k, covariance_type="diag", tol=0, max_iter=steps, reg_covar=0, means_init=first,
            weights_init=np.full(k, 1 / k), precisions_init=np.ones((k, d)),
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(x)

    bench.compare(
        Task(
            f"Gaussian mixture of {k}, {rows:,} × {d}, diagonal, {steps} steps",
            [
                Entry("credo em", credo(1), answer=lambda n, _: [n.record.score]),
                Entry("credo em, 2 threads", credo(2), answer=lambda n, _: [n.record.score],
                      threads=2),
                Entry("scikit-learn GaussianMixture", sklearn, "scikit-learn",
                      answer=lambda m, _: [float(m.score(x)) * rows]),
            ],
            tolerance=1e-6,
        )
    )  # fmt: skip
