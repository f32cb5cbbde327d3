"""Undirected models: marginals and ln Z of grids, learning by likelihood and pseudo-likelihood.

Grids have random potentials, so that no symmetry helps. "once" makes the model anew each time;
"again" asks it about other evidence. Learning is timed from a table in memory to the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Entry, Task

TOLERANCE = 1e-8


def run(bench: Bench) -> None:
    for size in (4, 10) if bench.quick else (4, 10, 14):
        marginals(bench, size)
    for size in (10,) if bench.quick else (10, 14):
        evidence(bench, size)
    partition(bench)
    for rows in bench.sizes(100_000, quick=(10_000,)):
        likelihood(bench, rows)
        pseudo(bench, rows)


def grid(size: int, seed: int = 0) -> Any:
    import credo as cr

    rng = np.random.default_rng([size, seed])
    shape = cr.ising_grid(size)
    tables = {e: rng.gamma(2.0, size=(2, 2)) for e in shape.graph.edges}
    return cr.MarkovNetwork(tables, states=dict.fromkeys(shape.names, (0, 1)))


# --- asking -----------------------------------------------------------------------------------


def _fresh(model: Any) -> Any:
    import credo as cr

    return cr.MarkovNetwork(model.potentials, states=model.variables)


def _agrum(model: Any) -> Any:
    import pyagrum as gum

    field = gum.MarkovRandomField()
    for v in model.variables:
        field.add(gum.LabelizedVariable(v.name, v.name, v.arity))
    for f in model.factors:
        field.addFactor(list(f.names))[:] = np.ascontiguousarray(f.values.T)
    return field


def _pgmpy(model: Any) -> Any:
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.models import DiscreteMarkovNetwork

    net = DiscreteMarkovNetwork(list(model.graph.edges))
    net.add_factors(*(DiscreteFactor(list(f.names), f.shape, f.values) for f in model.factors))
    return net


def _agrum_marginals(field: Any, names: Sequence[str], given: dict[str, int]) -> list[np.ndarray]:
    import pyagrum as gum

    ask = gum.ShaferShenoyMRFInference(field)
    ask.setNumberOfThreads(1)
    ask.setEvidence(given)
    ask.makeInference()
    return [np.concatenate([ask.posterior(n).toarray() for n in names if n not in given])]


def _pgmpy_marginals(net: Any, names: Sequence[str], given: dict[str, int]) -> list[np.ndarray]:
    from pgmpy.inference import BeliefPropagation

    ask = BeliefPropagation(net)
    ask.calibrate()
    found = [
        ask.query([n], evidence=given, show_progress=False).values for n in names if n not in given
    ]
    return [np.concatenate(found)]


def marginals(bench: Bench, size: int) -> None:
    model = grid(size)
    names = model.names
    entries = [
        Entry(
            "credo",
            lambda net, _: [np.concatenate([d.p for d in net.marginals().values()])],
            setup=lambda: model,
            fresh=_fresh,
        ),
        Entry(
            "pyAgrum Shafer-Shenoy",
            lambda field, _: _agrum_marginals(field, names, {}),
            "pyagrum",
            lambda: _agrum(model),
        ),
    ]
    if size <= 4:
        entries.append(
            Entry(
                "pgmpy BeliefPropagation",
                lambda net, _: _pgmpy_marginals(net, names, {}),
                "pgmpy",
                lambda: _pgmpy(model),
            )
        )
    title = f"all marginals of a {size} × {size} grid, once"
    bench.compare(Task(title, entries, tolerance=TOLERANCE))


def evidence(bench: Bench, size: int) -> None:
    """The same variables observed, other states each time: the plan is kept."""
    model = grid(size)
    names = model.names
    seen = names[:: max(1, len(names) // 8)]
    rng = np.random.default_rng(1)
    items = [{n: int(rng.integers(2)) for n in seen} for _ in range(20)]

    def ours(net: Any, given: dict[str, int]) -> np.ndarray:
        return np.concatenate([d.p for d in net.marginals(given).values()])

    def theirs(state: Any, items: Sequence[dict[str, int]]) -> list[np.ndarray]:
        out = []
        for given in items:
            state.setEvidence(given)
            state.makeInference()
            out.append(
                np.concatenate([state.posterior(n).toarray() for n in names if n not in given])
            )
        return out

    def inference() -> Any:
        import pyagrum as gum

        ask = gum.ShaferShenoyMRFInference(field)
        ask.setNumberOfThreads(1)
        return ask

    field = _agrum(model) if _has("pyagrum") else None
    bench.compare(
        Task(
            f"all marginals of a {size} × {size} grid, again: 20 sets of evidence",
            [
                Entry("credo", lambda net, items: [ours(net, g) for g in items],
                      setup=lambda: model, whole=True),
                Entry("pyAgrum Shafer-Shenoy", theirs, "pyagrum", inference, whole=True),
            ],
            items,
            tolerance=TOLERANCE,
        )
    )  # fmt: skip


def _has(package: str) -> bool:
    from benchmarks.harness import installed

    return installed(package)


def _transfer(model: Any, size: int) -> float:
    """ln Z row by row: a vector over the states of one row, in NumPy."""
    at = {f.names: np.log(f.values) for f in model.factors}
    rows = np.array(list(np.ndindex(*[2] * size)))
    name = [[f"r{i + 1}c{j + 1}" for j in range(size)] for i in range(size)]
    total = np.zeros(len(rows))
    for i in range(size):
        inside = sum(
            at[name[i][j], name[i][j + 1]][rows[:, j], rows[:, j + 1]] for j in range(size - 1)
        )
        if i:
            step = sum(
                at[name[i - 1][j], name[i][j]][rows[:, j][:, None], rows[:, j][None]]
                for j in range(size)
            )
            both = total[:, None] + step
            most = both.max(axis=0)
            total = np.log(np.exp(both - most).sum(axis=0)) + most
        total = total + inside
    most = total.max()
    return float(np.log(np.exp(total - most).sum()) + most)


def partition(bench: Bench) -> None:
    for size in (4, 10):
        model = grid(size)
        entries = [
            Entry("credo", lambda net, _: [net.log_partition], setup=lambda m=model: m,
                  fresh=_fresh),
            Entry("NumPy, row by row", lambda net, _, n=size: [_transfer(net, n)],
                  setup=lambda m=model: m),
        ]  # fmt: skip
        if size == 4:
            entries.append(
                Entry(
                    "pgmpy get_partition_function",
                    lambda net, _: [np.log(net.get_partition_function())],
                    "pgmpy",
                    lambda m=model: _pgmpy(m),
                )
            )
        bench.compare(Task(f"ln Z of a {size} × {size} grid, once", entries, tolerance=1e-9))


# --- learning ---------------------------------------------------------------------------------


def _joint_fit(codes: np.ndarray, edges: Sequence[tuple[int, int]], l2: float) -> np.ndarray:
    """The whole joint table and its gradient, SciPy's L-BFGS on top: the usual small script."""
    from scipy.optimize import minimize

    n = codes.shape[1]
    states = np.array(list(np.ndindex(*[2] * n)))
    cells = np.stack(
        [2 * states[:, a] + states[:, b] + 4 * k for k, (a, b) in enumerate(edges)], axis=1
    )
    seen = np.concatenate(
        [np.bincount(2 * codes[:, a] + codes[:, b], minlength=4) for a, b in edges]
    ).astype(float)
    rows = len(codes)

    def down(w: np.ndarray) -> tuple[float, np.ndarray]:
        logs = w[cells].sum(axis=1)
        most = logs.max()
        p = np.exp(logs - most)
        z = p.sum()
        expected = np.bincount(cells.ravel(), np.repeat(p / z, len(edges)), len(w)) * rows
        value = seen @ w - rows * (np.log(z) + most) - l2 / 2 * w @ w
        return -value / rows, -(seen - expected - l2 * w) / rows

    options = {"gtol": 1e-7, "ftol": 0.0, "maxiter": 2000, "maxcor": 20}
    return minimize(down, np.zeros(len(seen)), jac=True, method="L-BFGS-B", options=options).x


def likelihood(bench: Bench, rows: int) -> None:
    """A 3 × 5 grid with a table for each edge."""
    import credo as cr

    model = cr.ising_grid(3, 5, coupling=0.4)
    table = model.sample(rows, rng=0)
    names, edges = model.names, list(model.graph.edges)
    at = {n: i for i, n in enumerate(names)}
    codes = np.stack([np.asarray(table[n]) > 0 for n in names], axis=1).astype(np.int64)
    pairs = [(at[a], at[b]) for a, b in edges]
    graph = cr.UndirectedGraph(edges)

    def answer(net: Any) -> list[np.ndarray]:
        return [np.concatenate([net.p([a, b]).p.ravel() for a, b in edges[:3]])]

    def twin(w: np.ndarray) -> list[np.ndarray]:
        logs = [w[4 * k : 4 * k + 4].reshape(2, 2) for k in range(len(edges))]
        tables = {e: np.exp(t) for e, t in zip(edges, logs, strict=True)}
        return answer(cr.MarkovNetwork(tables, states=dict.fromkeys(names, (-1, 1))))

    bench.compare(
        Task(
            f"maximum likelihood of a 3 × 5 grid, {len(edges)} tables, {rows:,} rows",
            [
                Entry("credo", lambda *_: cr.fit(graph, table, potentials="pairs"),
                      answer=lambda net, _: answer(net)),
                Entry("NumPy joint table, SciPy L-BFGS", lambda *_: _joint_fit(codes, pairs, 1e-3),
                      answer=lambda w, _: twin(w)),
            ],
            tolerance=1e-4,
        )
    )  # fmt: skip


def _rows_pseudo(spins: np.ndarray, size: int) -> np.ndarray:
    """The pseudo-likelihood over all rows at each step, in NumPy: the usual script."""
    from scipy.optimize import minimize

    s = spins.reshape(-1, size, size)
    near = np.zeros(s.shape)
    near[:, 1:] += s[:, :-1]
    near[:, :-1] += s[:, 1:]
    near[:, :, 1:] += s[:, :, :-1]
    near[:, :, :-1] += s[:, :, 1:]

    def down(w: np.ndarray) -> tuple[float, np.ndarray]:
        pull = w[0] * near + w[1]
        value = -np.logaddexp(0, -2 * s * pull).sum() - 1e-3 / 2 * w @ w
        slope = 2 * s / (1 + np.exp(2 * s * pull))
        return -value / len(s), -(np.array([(slope * near).sum(), slope.sum()]) - 1e-3 * w) / len(s)

    return minimize(
        down, np.zeros(2), jac=True, method="L-BFGS-B", options={"gtol": 1e-7, "ftol": 0.0}
    ).x


def pseudo(bench: Bench, rows: int) -> None:
    import credo as cr

    size = 16
    rng = np.random.default_rng(5)
    rows = max(1000, rows // 20)
    spins = np.where(rng.random((rows, size * size)) < 0.5, -1, 1)
    flips = np.add.outer(np.arange(size), np.arange(size)).ravel() % 2
    model = cr.ising_grid(size)
    for step in range(40):  # a checkerboard Gibbs sampler, enough to have something to learn
        s = spins.reshape(-1, size, size)
        near = np.zeros(s.shape)
        near[:, 1:] += s[:, :-1]
        near[:, :-1] += s[:, 1:]
        near[:, :, 1:] += s[:, :, :-1]
        near[:, :, :-1] += s[:, :, 1:]
        up = rng.random(s.shape) < 1 / (1 + np.exp(-0.6 * near))
        spins = np.where(flips == step % 2, np.where(up, 1, -1).reshape(spins.shape), spins)
    table = cr.read(
        {n: spins[:, i].tolist() for i, n in enumerate(model.names)}, schema=model.schema
    )
    floats = spins.astype(np.float64)
    bench.compare(
        Task(
            f"pseudo-likelihood of a {size} × {size} Ising grid, {rows:,} rows",
            [
                Entry(
                    "credo",
                    lambda *_: cr.fit(model, table, method="pseudo-likelihood"),
                    answer=lambda net, _: [list(net.weights.values())],
                ),
                Entry(
                    "NumPy over the rows, SciPy L-BFGS",
                    lambda *_: _rows_pseudo(floats, size),
                    answer=lambda w, _: [w],
                ),
            ],
            tolerance=1e-5,
        )
    )
