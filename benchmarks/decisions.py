"""Decisions: the best strategy of influence diagrams, and of a thousand draws of their parameters.

The peer is pyAgrum's solver of LIMIDs. The diagrams are pigs that are tested and treated month by
month (Lauritzen & Nilsson 2001): with full memory the tables grow with every month.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Entry, Task

DRAWS = 1000


def run(bench: Bench) -> None:
    for months in (3, 5) if bench.quick else (3, 5, 7):
        solved(bench, months, "full")
    for months in (3, 6):
        solved(bench, months, "limited")
    drawn(bench)


def pigs(months: int, memory: str) -> Any:
    """Pigs that are tested and may be treated once a month, then sold."""
    import credo as cr

    graph, tables, utilities = "[h1]", {"h1": {"well": 0.9, "ill": 0.1}}, {}
    for i in range(1, months + 1):
        graph += f"[t{i}|h{i}][d{i}?|t{i}][c{i}$|d{i}][h{i + 1}|h{i}:d{i}]"
        tables[f"t{i}"] = {"well": {"neg": 0.9, "pos": 0.1}, "ill": {"neg": 0.2, "pos": 0.8}}
        tables[f"h{i + 1}"] = {
            "well": {"treat": {"well": 0.9, "ill": 0.1}, "leave": {"well": 0.8, "ill": 0.2}},
            "ill": {"treat": {"well": 0.5, "ill": 0.5}, "leave": {"well": 0.1, "ill": 0.9}},
        }
        utilities[f"c{i}"] = {"treat": -100, "leave": 0}
    utilities["price"] = {"well": 1000, "ill": 300}
    graph += f"[price$|h{months + 1}]"
    return cr.DecisionNetwork(graph, tables, utilities=utilities, memory=memory)


def to_pyagrum(net: Any) -> Any:
    """The same diagram, by way of a file."""
    import pyagrum as gum

    out = gum.InfluenceDiagram()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "diagram.bifxml"
        net.save(path)
        out.loadBIFXML(str(path))
    return out


def _meu(diagram: Any, net: Any) -> float:
    import pyagrum as gum

    engine = gum.ShaferShenoyLIMIDInference(diagram)
    if net.memory == "full":
        engine.addNoForgettingAssumption(list(net.decisions))
    engine.makeInference()
    return float(engine.MEU()["mean"])


def solved(bench: Bench, months: int, memory: str) -> None:
    """The best strategy of one diagram; the first entry has all policies as tables too."""
    net = pigs(months, memory)

    def credo(_: Any, __: Sequence[Any]) -> Any:
        return [np.array([net.solve(interval=None).utility])]

    def alone(_: Any, __: Sequence[Any]) -> Any:
        return [np.array([net.ask("EU")])]

    def pyagrum(diagram: Any, __: Sequence[Any]) -> Any:
        return [np.array([_meu(diagram, net)])]

    bench.compare(
        Task(
            f"the best strategy, pigs over {months} months, {memory} memory",
            [
                Entry("credo solve", credo, steady=True),
                Entry("credo ask EU", alone, steady=True),
                Entry("pyAgrum", pyagrum, "pyagrum", lambda: to_pyagrum(net), steady=True),
            ],
            tolerance=1e-9,
        )
    )


def drawn(bench: Bench) -> None:
    """The largest expected utility under each of many draws of the parameters."""
    from credo.predict.decisions.problem import problem_of
    from credo.predict.decisions.solving import optimum

    net = pigs(3, "full")
    problem = problem_of(net)
    chances = [n for n in net.names if n not in net.decisions]
    rng = np.random.default_rng(0)
    draws = {
        n: rng.dirichlet(np.ones(2), (DRAWS, net.chance.cpt(n).values.size // 2)) for n in chances
    }

    def credo(_: Any, which: Sequence[int]) -> Any:
        some = {n: t[list(which)].reshape(len(which), -1) for n, t in draws.items()}
        return optimum(problem, problem.valuations(some)).utility[:, None]

    def pyagrum(diagram: Any, which: Sequence[int]) -> Any:
        out = []
        for i in which:
            for n in chances:
                cpt = net.chance.cpt(n)
                names = [v.name for v in reversed(cpt.variables)]
                values = draws[n][i].reshape(cpt.shape)
                diagram.cpt(n)[:] = values.transpose(
                    [[v.name for v in cpt.variables].index(x) for x in _axes(diagram, n, names)]
                )
            out.append(np.array([_meu(diagram, net)]))
        return out

    bench.compare(
        Task(
            f"{DRAWS:,} draws of the parameters, pigs over 3 months, full memory",
            [
                Entry("credo, one elimination", credo, whole=True),
                Entry("pyAgrum, one after the other", pyagrum, "pyagrum", lambda: to_pyagrum(net)),
            ],
            items=list(range(DRAWS)),
            tolerance=1e-9,
        )
    )


def _axes(diagram: Any, name: str, names: list[str]) -> list[str]:
    """The variables of a table as pyAgrum's arrays have them."""
    return [v for v in reversed(diagram.cpt(name).names) if v in names]
