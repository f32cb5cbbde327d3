"""Parameters: the tables of alarm and link from 100,000 rows; intervals from 1,000 draws.

The rows are drawn from the networks and lie in memory in the form each library takes; only the
learning is timed. Answers are compared by the log-likelihood of the rows under the tables learned.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Entry, Task
from benchmarks.networks import FOLDER, load, sample, table_of, to_pgmpy, to_pyagrum

DRAWS = 1000


def run(bench: Bench) -> None:
    if not (FOLDER / "alarm.bif.gz").exists():
        bench.console.print(
            f"\nparameters: skipped, the networks are not in {FOLDER}; CREDO_SHARED names "
            "the folder that has data/networks."
        )
        return
    for name in ("alarm",) if bench.quick else ("alarm", "link"):
        net = load(name)
        for rows in bench.sizes(100_000, quick=(10_000,)):
            codes = sample(net, rows, np.random.default_rng(1))
            tables(bench, name, net, codes, smooth=0.0)
            tables(bench, name, net, codes, smooth=1.0)
    for name in ("asia", "alarm", "child", "insurance"):
        intervals(bench, name, load(name))


# --- tables -------------------------------------------------------------------------------------


def tables(bench: Bench, name: str, net: Any, codes: np.ndarray, smooth: float) -> None:
    import credo as cr

    families = [
        (net.names.index(n), [net.names.index(p.name) for p in net.distributions[n].parents])
        for n in net.names
    ]
    arities = [v.arity for v in net.variables]
    columns = [np.ascontiguousarray(c, dtype=np.uint8) for c in codes.T]

    def likelihood(found: Sequence[np.ndarray]) -> list[float]:
        """Σ n ln θ of tables whose axes are the parents in order, then the child."""
        total = 0.0
        for (child, parents), theta in zip(families, found, strict=True):
            n = counts(child, parents).reshape(theta.shape)
            seen = n > 0
            total += float(n[seen] @ np.log(theta[seen]))
        return [total]

    def counts(child: int, parents: Sequence[int]) -> np.ndarray:
        at = columns[(*parents, child)[0]].astype(np.uint32)
        size = arities[(*parents, child)[0]]
        for i in (*parents, child)[1:]:
            at *= np.uint32(arities[i])
            at += columns[i]
            size *= arities[i]
        return np.bincount(at, minlength=size)

    def numpy(*_: Any) -> list[np.ndarray]:
        out = []
        for child, parents in families:
            n = counts(child, parents).reshape(*(arities[i] for i in (*parents, child))) + smooth
            total = n.sum(axis=-1, keepdims=True)
            out.append(np.where(total > 0, n / np.maximum(total, 1e-300), 1 / arities[child]))
        return out

    prior = cr.Laplace(smooth) if smooth else None

    def credo(threads: int) -> Any:
        return lambda table, _: cr.fit(net.dag, table, prior, threads=threads)

    def make() -> Any:
        return table_of(net, codes)

    def score(found: Any, _: Any) -> list[float]:
        return [found.record.score]

    entries = [
        Entry("credo fit, a table seen for the first time", credo(1), None, make, lambda _: make(),
              answer=score),
        Entry("credo fit, again", credo(1), None, make, answer=score),
        Entry("credo fit, again, 2 threads", credo(2), None, make, answer=score, threads=2),
        Entry("NumPy, bincount of each family", numpy, answer=lambda raw, _: likelihood(raw)),
    ]  # fmt: skip
    entries += [_pyagrum(net, codes, smooth, likelihood)] if smooth else [_pybnesian(net, codes)]
    entries.append(_pgmpy(net, codes, smooth, likelihood))
    what = "one imagined row a cell" if smooth else "maximum likelihood"
    title = f"tables of {name}, {len(codes):,} rows, {what}"
    bench.compare(Task(title, entries, tolerance=1e-9))


def _pybnesian(net: Any, codes: np.ndarray) -> Entry:
    def setup() -> Any:
        import pyarrow as pa

        arrays = {
            v.name: pa.DictionaryArray.from_arrays(
                pa.array(codes[:, i].astype(np.int8)), pa.array([str(s) for s in range(v.arity)])
            )
            for i, v in enumerate(net.variables)
        }
        return pa.record_batch(arrays)

    def fit(rows: Any, _: Any) -> Any:
        import pybnesian

        model = pybnesian.DiscreteBN(list(net.names), list(net.dag.edges))
        model.fit(rows)
        return model

    batch: list[Any] = []

    def kept() -> Any:
        batch.append(setup())
        return batch[0]

    return Entry("PyBNesian fit", fit, "pybnesian", kept, answer=lambda m, _: [m.slogl(batch[0])])


def _pyagrum(net: Any, codes: np.ndarray, smooth: float, likelihood: Any) -> Entry:
    def setup() -> Any:
        import pandas as pd
        import pyagrum as gum

        frame = pd.DataFrame({n: codes[:, i].astype(str) for i, n in enumerate(net.names)})
        bn = to_pyagrum(net)
        learner = gum.BNLearner(frame, bn)
        learner.useSmoothingPrior(smooth)
        learner.setNumberOfThreads(1)
        return learner, bn

    def answer(bn: Any, _: Any) -> list[float]:
        found = []
        for n in net.names:
            local = net.distributions[n]
            tensor = bn.cpt(n)
            axes = list(reversed(tensor.names))  # its arrays have the axes the other way round
            order = [axes.index(v.name) for v in local.variables]
            found.append(np.ascontiguousarray(tensor.toarray()).transpose(order))
        return likelihood(found)

    return Entry(
        "pyAgrum learnParameters", lambda s, _: s[0].learnParameters(s[1].dag()), "pyagrum", setup,
        answer=answer,
    )  # fmt: skip


def _pgmpy(net: Any, codes: np.ndarray, smooth: float, likelihood: Any) -> Entry:
    def setup() -> Any:
        import pandas as pd

        frame = pd.DataFrame(
            {
                n: pd.Categorical(codes[:, i], categories=range(net.variable(n).arity))
                for i, n in enumerate(net.names)
            }
        )
        return to_pgmpy(net), frame, {v.name: list(range(v.arity)) for v in net.variables}

    def fit(state: Any, _: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pgmpy.estimators import BayesianEstimator, MaximumLikelihoodEstimator

            model, frame, states = state
            if smooth:
                found = BayesianEstimator(model, frame, state_names=states)
                return found.get_parameters(prior_type="K2", n_jobs=1)
            found = MaximumLikelihoodEstimator(model, frame, state_names=states)
            return found.get_parameters(n_jobs=1)

    def answer(found: Any, _: Any) -> list[float]:
        by_name = {c.variable: c for c in found}
        tables_ = []
        for n in net.names:
            cpd, local = by_name[n], net.distributions[n]
            order = [cpd.variables.index(v.name) for v in local.variables]
            tables_.append(np.asarray(cpd.values).transpose(order))
        return likelihood(tables_)

    return Entry("pgmpy estimator", fit, "pgmpy", setup, answer=answer)


# --- intervals ----------------------------------------------------------------------------------


def intervals(bench: Bench, name: str, net: Any) -> None:
    """One posterior and all of them under 1,000 draws of the parameters."""
    import credo as cr
    from credo.predict.intervals.draws import Draws

    fitted = cr.fit(net, table_of(net, sample(net, 1000, np.random.default_rng(2))), cr.BDeu(10))
    target = net.names[-1]
    given = {net.names[0]: net.variables[0].states[0]}
    drawn = Draws(fitted, 0).next(fitted.names, DRAWS)
    items = list(range(DRAWS))

    def samples(_: Any, chosen: Sequence[int]) -> list[np.ndarray]:
        from credo.predict.intervals.interval import joint_draws
        from credo.predict.questions.evidence import Evidence

        evidence, source = Evidence.of(fitted, given), Draws(fitted, 0)
        found, _ = joint_draws(fitted, [target], evidence, None, source, DRAWS)
        return [found[i].ravel() for i in chosen]

    def credo(*_: Any) -> Any:
        return fitted.p(target, given, interval=0.95, draws=DRAWS)

    def everything(*_: Any) -> Any:
        return fitted.marginals(given, interval=0.95, draws=DRAWS)

    def setup() -> Any:
        return to_pyagrum(fitted)

    def pyagrum(bn: Any, chosen: Sequence[int]) -> list[np.ndarray]:
        import pyagrum as gum

        out = []
        for i in chosen:
            for n, values in drawn.items():
                bn.cpt(n).fillWith(values[i].tolist())
            engine = gum.LazyPropagation(bn)
            engine.setEvidence({net.names[0]: 0})
            engine.setTargets({target})
            engine.makeInference()
            out.append(engine.posterior(target).toarray())
        return out

    bench.compare(
        Task(
            f"95 % interval of one posterior of {name} from {DRAWS:,} draws",
            [
                Entry("credo p(…, interval=0.95)", credo, answer=samples, whole=True, steady=True),
                Entry("credo marginals(interval=0.95)", everything, answer=samples, whole=True),
                Entry("pyAgrum, draw by draw (drawing not timed)", pyagrum, "pyagrum", setup),
            ],
            items=items,
            tolerance=1e-6,
        )
    )
