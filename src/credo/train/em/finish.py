"""From the end of a run to a network and its record, with what the rows tell of each variable.

    told(X) = 1 − P(X is missing) · E[H(X | rest of the row)] / H(X)          (discrete, entropies)
    told(X) = 1 − P(X is missing) · E[Var(X | rest of the row)] / Var(X)      (continuous)

An observed cell tells all of its variable, a missing one what its row says of it: a hidden class
that its children give away is told nearly whole though it was never seen. The expectation is over
rows with missing cells, at most `ROWS` of them, evenly spaced.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError
from credo.core.render import shortened
from credo.core.schema import Variable
from credo.data import Table
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Network
from credo.model.values.learned import Learned
from credo.predict.rows.impute import Gaps, impute
from credo.stats.block import Block
from credo.train.em.layout import Parameters, Statistics
from credo.train.em.relabel import even, near, permute
from credo.train.em.run import Run
from credo.train.em.setup import Setup
from credo.train.parameters.families import FamilySpec, learn
from credo.train.parameters.pooled_lines import FLOOR

__all__ = ["ROWS", "finished", "information"]

ROWS = 256
"""Rows with missing cells that are looked at."""

Floats = NDArray[np.float64]


def finished(
    setup: Setup,
    run: Run[Parameters, Statistics],
    dropped: Sequence[tuple[int, float]],
    began: float,
    rng: Any,
    method: str,
    random: bool,
    rows: float | None = None,
    iterations: int | None = None,
    told: bool = True,
) -> Network:
    """The network at the end of a run, with what was expected kept as its statistics."""
    em, rows_seen = setup.em, setup.em.rows
    statistics, log_likelihood = run.before, run.log_likelihood
    if statistics is None:  # the last step was no M-step: make one
        statistics = run.expected
        log_likelihood = em.expect(em.maximise(statistics))[1]
    if random and setup.unnamed:
        statistics = _ordered(setup, statistics)
    specs: list[FamilySpec] = []
    soft: dict[str, Any] = {}
    x = em.maximise(statistics) if len(em.layout.names) > len(setup.graph.nodes) else None
    for i, (child, parents) in enumerate(em.layout.families):
        if child.name not in setup.graph:  # of a soft experiment
            assert x is not None
            soft[child.name] = em.layout.table(x.theta, i)
            continue
        belief, local = em.beliefs[i], em.held.get(i)
        how = "fixed" if local is not None else belief.estimate
        tied = em.groups.get(child.name, ())
        learned = Learned(em.statistic(i, statistics), how, belief.beside, tied)
        prior = "none" if belief.beside is None else setup.priors[child.name]
        specs.append(FamilySpec(child, parents, learned, local, prior))
    rows = em.weight if rows is None else rows
    weight: int | float = int(rows) if rows < 1 << 53 and rows == int(rows) else rows
    net = learn(setup.graph, specs, weight, setup.source, method, began)
    net, collapsed = _floored(setup, net)
    if em.counted:  # the laws that they need, or what is expected of them
        log_likelihood = em.expect(em.parameters_of(net.distributions, x))[1]
    assert net.record is not None
    missing = {n: g / em.weight for n, g in rows_seen.gaps.items()}
    seen = {n: 0.0 if n in setup.hidden else 1.0 - m for n, m in missing.items()}
    details = {
        **net.record.details,
        "log_likelihood": log_likelihood,
        "log_marginal": None,
        "iterations": run.iterations if iterations is None else iterations,
        "squarem_rejected": run.rejected,
        "starts_dropped": tuple(dropped),
        "hidden": setup.hidden,
        "missing": {n: m for n, m in missing.items() if m},
        "observed": {n: w / em.weight for n, w in rows_seen.observed.items() if n in missing},
        "information": information(net, setup.sample, seen) if told else {},
        "problems": rows_seen.native.problems,
        **({"soft": soft} if soft else {}),
    }
    record = replace(
        net.record,
        score=log_likelihood,
        trace=tuple(run.trace),
        reason=run.reason,
        seconds=time.perf_counter() - began,
        seed=int(rng) if isinstance(rng, (int, np.integer)) else None,
        notes=(
            *net.record.notes,
            *_notes(setup, collapsed, dropped, random),
            *([] if method == "stepwise" else _apart(setup)),  # it has folded one batch alone
        ),
        details=details,
    )
    return net.with_record(record)


def _notes(
    setup: Setup, collapsed: list[str], dropped: Sequence[tuple[int, float]], random: bool
) -> list[str]:
    notes = []
    factors = [n for n in setup.hidden if n in setup.em.rows.scales]
    classes = [n for n in setup.hidden if n not in factors]
    if classes:
        order = "; they are ordered by how often they occur" if random and setup.unnamed else ""
        notes.append(
            f"{shortened(classes)}: never observed, so the names of the states are arbitrary, and "
            f"exchanging two of them changes nothing{order}"
        )
    if factors:
        notes.append(f"{shortened(factors)}: never observed, so its scale and sign are arbitrary")
    if setup.hidden:
        lonely = [
            n for n in setup.hidden if not setup.graph.parents(n) and not setup.graph.children(n)
        ]
        if lonely:
            notes.append(f"{shortened(lonely)}: without a neighbour, so no row says anything of it")
    if dropped:
        best = max(value for _, value in dropped)
        notes.append(f"{len(dropped) + 1} starts; the best that was dropped had reached {best:.6g}")
    if collapsed:
        notes.append(
            f"{shortened(collapsed)}: some variance stopped at {FLOOR:g} of its column's: an "
            "exact relation, or a class of very few rows, which a prior on lines prevents"
        )
    return notes


def _apart(setup: Setup) -> list[str]:
    """Families whose members are observed, but never all in one row."""
    rows = setup.em.rows
    found = [
        f"{child.name} with {', '.join(p.name for p in parents)}"
        for child, parents in rows.layout.families
        if parents
        and not rows.observed[child.name]
        and not any(v.name in setup.hidden for v in (child, *parents))
    ]
    if not found:
        return []
    return [
        f"{shortened(found)}: never observed together in one row, so what ties them is told by "
        "other columns, by the prior, or by the start alone"
    ]


def _floored(setup: Setup, net: Network) -> tuple[Network, list[str]]:
    """Variances no smaller than the M-step allows."""
    locals_ = dict(net.distributions)
    names = []
    for i in setup.em.lines:
        name = setup.em.layout.names[i]
        line, low = locals_[name], setup.em.floor[i]
        assert isinstance(line, LinearGaussian)
        if i in setup.em.held or not (line.variance < low * (1 + 1e-9)).any():
            continue
        names.append(name)
        locals_[name] = replace(line, variance=np.maximum(line.variance, low))
    return Network.trusted(net.dag, locals_, net.record), names


def _ordered(setup: Setup, statistics: Statistics) -> Statistics:
    """The same with the states of hidden variables ordered by how often they occur."""
    layout = setup.em.layout
    counts, moments = statistics.counts.copy(), statistics.moments.copy()
    for name in setup.unnamed:
        families = near(layout, name)
        if any(not even(setup.em, j) for j in families):
            continue
        own = layout.table(counts, layout.at[name])
        often = own.reshape(-1, own.shape[-1]).sum(axis=0)
        order = np.argsort(-often, kind="stable")
        for j in families:
            permute(layout, j, name, order, counts, moments)
    return Statistics(counts, moments)


def information(
    net: Network, table: Table | None, observed: Mapping[str, float]
) -> dict[str, float]:
    """What the rows tell of each variable; `observed` is the proportion of rows that have it.

    Variables for which it cannot be worked out exactly (a row with too many gaps) are left out.
    """
    told = {n: 1.0 for n in net.names if observed.get(n, 0.0) >= 1.0}
    if table is None or len(told) == len(net.names):
        return told
    wide = with_hidden(net, table)
    gone = np.zeros(len(wide), dtype=bool)
    for v, column in zip(wide.schema.variables, wide.block.arrays, strict=True):
        gone |= column == v.arity if v.is_discrete else np.isnan(column)
    holes = np.flatnonzero(gone)
    if not len(holes):
        return told
    chosen = holes[np.unique(np.linspace(0, len(holes) - 1, ROWS).astype(np.intp))]
    try:
        gaps = impute(net, wide.take(chosen), "posterior")
    except CredoError:
        return told
    assert isinstance(gaps, Gaps)
    for name in net.names:
        if name in told or name not in gaps.posteriors:
            continue
        seen = observed.get(name, 0.0)
        column = wide.block.arrays[wide.schema.index(name)]
        share = _told(net.variable(name), column, gaps.posteriors[name], seen)
        if share is not None:
            told[name] = share
    return {n: told[n] for n in net.names if n in told}


def _told(
    variable: Variable, column: NDArray[np.generic], gaps: Floats, seen: float
) -> float | None:
    if variable.is_discrete:
        states = column[column != variable.arity].astype(np.intp)
        counts = np.bincount(states, minlength=variable.arity).astype(np.float64)
        own = counts / max(counts.sum(), 1.0)
        whole = _entropy(seen * own + (1 - seen) * gaps.mean(axis=0))
        left = float(np.mean([_entropy(p) for p in gaps]))
    else:
        values = column[~np.isnan(column.astype(np.float64))].astype(np.float64)
        mean, variance = gaps[:, 0], gaps[:, 1]
        middle = float(values.mean()) if len(values) else 0.0
        centre = seen * middle + (1 - seen) * float(mean.mean())
        spread = float(((values - centre) ** 2).mean()) if len(values) else 0.0
        left = float(variance.mean())
        whole = seen * spread + (1 - seen) * (left + float(((mean - centre) ** 2).mean()))
    if not whole > 0:
        return None
    return float(np.clip(1 - (1 - seen) * left / whole, 0.0, 1.0))


def _entropy(p: Floats) -> float:
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


def with_hidden(net: Network, table: Table) -> Table:
    """The table with a column, all missing, for each variable that it does not have."""
    arrays: list[NDArray[np.generic]] = []
    for v in net.variables:
        if v.name in table.schema:
            arrays.append(table.block.arrays[table.schema.index(v.name)])
        elif v.is_discrete:
            arrays.append(np.full(len(table), v.arity, dtype=np.min_scalar_type(v.arity)))
        else:
            arrays.append(np.full(len(table), np.nan))
    return Table(Block(net.schema, tuple(arrays), table.weights))
