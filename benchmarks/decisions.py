"""Decisions: the best strategy of influence diagrams, and of a thousand draws of their parameters.

The peer is pyAgrum's solver of LIMIDs. A strategy is found again and again for one value (`again`:
its tree of buckets is kept beside it, the numbers are worked out each time), and for a value that
was never asked before (`first`: all that is compiled is counted; building the value is not, and is
measured apart). pyAgrum's solver is made anew each time, as it must be.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Entry, Task

DRAWS = 1000


def run(bench: Bench) -> None:
    solved(bench, "umbrella", umbrella)
    solved(bench, "oil wildcatter", wildcatter)
    for months in (3, 5) if bench.quick else (3, 5, 7):
        solved(bench, f"pigs, {months} months, full memory", lambda m=months: pigs(m, "full"))
    for nodes, decisions in ((15, 3), (40, 4)):
        title = f"{nodes} nodes at random, {decisions} decisions"
        solved(bench, title, lambda n=nodes, d=decisions: at_random(n, d, seed=d - 2))
    for months in (3, 6, 20):
        # From 10 months on pyAgrum stops where a policy can still be improved (20: 646.17, 647.50).
        solved(
            bench, f"pigs, {months} months, limited memory",
            lambda m=months: pigs(m, "limited"), tolerance=1e-9 if months < 10 else 2.0,
        )  # fmt: skip
    drawn(bench)


def umbrella() -> Any:
    """Shachter's umbrella, with a forecast."""
    import credo as cr

    return cr.DecisionNetwork(
        "[Weather][Forecast|Weather][Umbrella?|Forecast][Comfort$|Weather:Umbrella]",
        {
            "Weather": {"dry": 0.7, "rain": 0.3},
            "Forecast": {
                "dry": {"sunny": 0.7, "cloudy": 0.2, "rainy": 0.1},
                "rain": {"sunny": 0.15, "cloudy": 0.25, "rainy": 0.6},
            },
        },
        utilities={
            "Comfort": {"dry": {"take": 20, "leave": 100}, "rain": {"take": 70, "leave": 0}}
        },
    )


def wildcatter() -> Any:
    """Raiffa's oil wildcatter, who has the test."""
    import credo as cr

    return cr.DecisionNetwork(
        "[Oil][Test|Oil][Drill?|Test][Profit$|Drill:Oil]",
        {
            "Oil": {"dry": 0.5, "wet": 0.3, "soaking": 0.2},
            "Test": {
                "dry": {"none": 0.6, "open": 0.3, "closed": 0.1},
                "wet": {"none": 0.3, "open": 0.4, "closed": 0.3},
                "soaking": {"none": 0.1, "open": 0.4, "closed": 0.5},
            },
        },
        utilities={
            "Profit": {
                "yes": {"dry": -70, "wet": 50, "soaking": 200},
                "no": {"dry": 0, "wet": 0, "soaking": 0},
            }
        },
    )


def at_random(nodes: int, decisions: int, seed: int) -> Any:
    """Chance variables and decisions with up to two parents among the six before each."""
    import credo as cr

    rng = np.random.default_rng(seed)
    kinds = ["c"] * (nodes - decisions)
    for place in np.linspace(2, nodes - 2, decisions).astype(int).tolist():
        kinds.insert(place, "d")
    names = [f"{kind}{i}" for i, kind in enumerate(kinds)]
    arity = {v: int(rng.integers(2, 4)) for v in names}
    parents: dict[str, list[str]] = {}
    tables: dict[str, Any] = {}
    utilities: dict[str, Any] = {}
    for i, v in enumerate(names):
        size = int(rng.integers(0 if i < 2 else 1, min(i, 2) + 1)) if i else 0
        near = names[max(0, i - 6) : i]
        parents[v] = rng.choice(near, size=size, replace=False).tolist() if i else []
        if v[0] == "c":
            shape = [arity[p] for p in parents[v]]
            tables[v] = rng.dirichlet(np.ones(arity[v]), shape)
    chosen = [v for v in names if v[0] == "d"]
    for j in range(decisions + 1):
        held = [*rng.choice(names, size=2, replace=False).tolist(), chosen[j % decisions]]
        parents[f"u{j}"] = list(dict.fromkeys(held))
        utilities[f"u{j}"] = rng.normal(0, 10, [arity[p] for p in parents[f"u{j}"]])
    dag = cr.Dag([(p, v) for v in parents for p in parents[v]], nodes=[*names, *utilities])
    options = {v: list(range(arity[v])) for v in chosen}
    return cr.DecisionNetwork(dag, tables, decisions=options, utilities=utilities)


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


def solved(bench: Bench, title: str, build: Callable[[], Any], *, tolerance: float = 1e-9) -> None:
    """The best strategy of one diagram; `solve` has all policies as tables too."""
    from credo.predict.decisions.valuations import tree_of

    net = build()

    def new(_: Any) -> Any:
        tree_of.cache_clear()
        return build()

    def solve(own: Any, _: Sequence[Any]) -> Any:
        return [np.array([own.solve(interval=None).utility])]

    def alone(own: Any, _: Sequence[Any]) -> Any:
        return [np.array([own.ask("EU")])]

    def pyagrum(diagram: Any, _: Sequence[Any]) -> Any:
        return [np.array([_meu(diagram, net)])]

    def built(_: Any, __: Sequence[Any]) -> Any:
        return [build()]

    def same(_: Any, __: Sequence[Any]) -> Any:
        return [np.array([net.solve(interval=None).utility])]

    bench.compare(
        Task(
            f"the best strategy: {title}",
            [
                Entry("credo solve, again", solve, setup=lambda: net, steady=True),
                Entry("credo ask EU, again", alone, setup=lambda: net, steady=True),
                Entry("credo solve, first", solve, setup=build, fresh=new),
                Entry("pyAgrum", pyagrum, "pyagrum", lambda: to_pyagrum(net), steady=True),
                Entry("(building the value)", built, answer=same, steady=True),
            ],
            tolerance=tolerance,
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
