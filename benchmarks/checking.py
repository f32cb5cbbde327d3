"""Checking: a million rows judged, sensitivity of every parameter, the value of every variable.

There is no peer for the whole report. The parts that others can do are set beside them: ln P of
each row (NumPy's look-up, table by table), the information of every variable on a target (pyAgrum),
and sensitivity by brute force, asking again for each parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Entry, Task
from benchmarks.networks import FOLDER, load, sample, table_of, to_pyagrum


def run(bench: Bench) -> None:
    if not (FOLDER / "alarm.bif.gz").exists():
        bench.console.print(
            f"\nchecking: skipped, the networks are not in {FOLDER}; CREDO_SHARED names "
            "the folder that has data/networks."
        )
        return
    net = load("alarm")
    for rows in bench.sizes(100_000, 1_000_000, quick=(10_000,)):
        likelihoods(bench, net, rows)
        reports(bench, net, rows)
    sensitivity(bench, net)
    values(bench, net)


def likelihoods(bench: Bench, net: Any, rows: int) -> None:
    """ln P of each row."""
    from credo.checking.again.row_scores import score_rows

    codes = sample(net, rows, np.random.default_rng(1))
    table = table_of(net, codes)

    def credo(_: Any, __: Sequence[Any]) -> Any:
        return [np.array([score_rows(net, table).log.sum()])]

    logs = [np.log(np.maximum(d.values, 1e-300)) for d in net.distributions.values()]
    at = [[net.names.index(v.name) for v in d.variables] for d in net.distributions.values()]

    def numpy(_: Any, __: Sequence[Any]) -> Any:
        total = np.zeros(rows)
        for log, columns in zip(logs, at, strict=True):
            total += log[tuple(codes[:, c] for c in columns)]
        return [np.array([total.sum()])]

    bench.compare(
        Task(
            f"ln P of each of {rows:,} rows of alarm",
            [
                Entry("credo score_rows", credo),
                Entry("NumPy, table by table", numpy, "numpy"),
            ],
            tolerance=1e-9,
        )
    )


def reports(bench: Bench, net: Any, rows: int) -> None:
    """The whole report, each section by itself."""
    import credo as cr

    table = net.sample(rows, rng=1)
    fitted = cr.fit(net.dag, table, prior=cr.BDeu(1))
    entries = []
    sections = ("held_out", "predictive", "calibration", "independence", "parameters",
                "influence", "outliers")  # fmt: skip
    for name in sections:

        def one(_: Any, __: Sequence[Any], name: str = name) -> Any:
            cr.check(fitted, table, sections=[name], draws=50, folds=5, edges=0)
            return [np.zeros(1)]

        entries.append(Entry(f"credo check: {name}", one))
    bench.compare(Task(f"sections of a check, alarm, {rows:,} rows, 50 tables, 5 folds", entries))


def sensitivity(bench: Bench, net: Any) -> None:
    """All curves of one answer."""
    import credo as cr

    question = "P(LVFAILURE=TRUE | CVP=HIGH, HR=HIGH)"
    question = (
        question if "LVFAILURE" in net.names else f"P({net.names[0]}={net.variables[0].states[0]})"
    )
    found = net.sensitivity(question)
    some = found.parameters[:10]

    def credo(_: Any, __: Sequence[Any]) -> Any:
        got = {p.parameter: p for p in net.sensitivity(question).parameters}
        return [np.array([got[p.parameter].derivative for p in some])]

    def brute(_: Any, __: Sequence[Any]) -> Any:
        """By a small step of each parameter, asked again: ten of them, scaled up by hand below."""
        out = []
        for p in some:
            local = net.distributions[p.variable]
            where = [tuple(w) for w in np.argwhere(np.isclose(local.values, p.value, atol=0))]
            slopes = []
            for at in where:
                values = np.array(local.values)
                row = values[at[:-1]]
                keep = np.arange(len(row)) != at[-1]
                step = 1e-7
                row[keep] *= (1 - p.value - step) / (1 - p.value)
                row[at[-1]] = p.value + step
                moved = cr.Network.trusted(
                    net.dag,
                    {**net.distributions, local.name: cr.Cpt(local.child, local.parents, values)},
                    None,
                )
                slopes.append((moved.ask(question) - found.answer) / step)
            out.append(min(slopes, key=lambda s: abs(s - p.derivative)))
        return [np.array(out)]

    bench.compare(
        Task(
            f"sensitivity of one answer of alarm: credo all {len(found.parameters)} parameters, "
            f"brute force {len(some)} of them",
            [Entry("credo sensitivity", credo), Entry("asked again for each", brute)],
            tolerance=1e-4,
        )
    )


def values(bench: Bench, net: Any) -> None:
    """The information of every variable on a target."""
    target = "LVFAILURE" if "LVFAILURE" in net.names else net.names[0]
    others = [n for n in net.names if n != target]

    def credo(_: Any, __: Sequence[Any]) -> Any:
        found = net.evidence_value(target)
        return [np.array([found[n].bits for n in others])]

    def setup() -> Any:
        import pyagrum as gum

        return gum, to_pyagrum(net)

    def agrum(state: Any, __: Sequence[Any]) -> Any:
        gum, model = state
        theory = [gum.InformationTheory(gum.LazyPropagation(model), [target], [n]) for n in others]
        return [np.array([t.mutualInformationXY() for t in theory])]

    bench.compare(
        Task(
            "information of every variable of alarm on one",
            [Entry("credo evidence_value", credo), Entry("pyAgrum", agrum, "pyagrum", setup)],
            tolerance=1e-6,
        )
    )
