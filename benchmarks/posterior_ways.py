"""All posteriors of a network, as each library is asked for them: a class for each way.

`ask` takes evidence as codes and says how long it took, what came out, and by how much the time
was scaled up where only some of the variables were asked for.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.networks import load, to_pgmpy, to_pyagrum

Answer = dict[str, np.ndarray]


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
        from credo.predict.exact.engine import engine_of

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
