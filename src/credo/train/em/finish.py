"""From the top of a climb to a network and its record."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.render import shortened
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Network
from credo.model.values.learned import Learned
from credo.train.em.climb import Climb
from credo.train.em.information import information
from credo.train.em.problem import Expected, Layout
from credo.train.em.setup import Setup
from credo.train.parameters.families import FamilySpec, learn
from credo.train.parameters.pooled_lines import FLOOR

__all__ = ["finished"]

Floats = NDArray[np.float64]


def finished(
    setup: Setup,
    climb: Climb,
    dropped: list[tuple[int, float]],
    began: float,
    rng: Any,
    method: str,
    random: bool,
    rows: float | None = None,
    iterations: int | None = None,
    told: bool = True,
) -> Network:
    """The network at the top, with what was expected kept as its statistics."""
    maximiser, layout = setup.maximiser, setup.problem.layout
    assert climb.expected is not None
    expected, log_likelihood = climb.before, climb.expected.log_likelihood
    if expected is None or climb.leapt:  # the last step was not M(E(·)): make one that is
        expected = climb.expected
        numbers = maximiser.maximise(expected)
        log_likelihood = setup.problem.expect(numbers).log_likelihood
    if random and setup.unnamed:
        expected = _ordered(setup, expected)
    specs = []
    for i, (child, parents) in enumerate(layout.families):
        belief = maximiser.beliefs[i]
        local = maximiser.held.get(i)
        how = "fixed" if local is not None else belief.estimate
        tied = maximiser.groups.get(child.name, ())
        learned = Learned(maximiser.statistic(i, expected), how, belief.beside, tied)
        prior = "none" if belief.beside is None else setup.priors[child.name]
        specs.append(FamilySpec(child, parents, learned, local, prior))
    rows = setup.problem.weight if rows is None else rows
    weight: int | float = int(rows) if rows < 1 << 53 and rows == int(rows) else rows
    net = learn(setup.graph, specs, weight, setup.source, method, began)
    net, collapsed = _floored(setup, net)
    assert net.record is not None
    observed = {n: w / setup.problem.weight for n, w in setup.problem.observed.items()}
    details = {
        **net.record.details,
        "log_likelihood": log_likelihood,
        "log_marginal": None,
        "iterations": climb.iterations if iterations is None else iterations,
        "leaps_dropped": climb.dropped,
        "starts_dropped": tuple(dropped),
        "hidden": setup.hidden,
        "missing": {n: g / setup.problem.weight for n, g in setup.problem.gaps.items() if g},
        "observed": observed,
        "information": information(net, setup.sample, _seen(setup)) if told else {},
        "problems": setup.problem.native.problems,
    }
    record = replace(
        net.record,
        score=log_likelihood,
        trace=tuple(climb.trace),
        reason=climb.reason,
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


def _seen(setup: Setup) -> dict[str, float]:
    """The share of the rows that have each variable."""
    gaps, weight = setup.problem.gaps, setup.problem.weight
    return {
        n: 0.0 if n in setup.hidden else 1.0 - gaps.get(n, 0.0) / weight
        for n in setup.problem.layout.names
    }


def _notes(
    setup: Setup, collapsed: list[str], dropped: list[tuple[int, float]], random: bool
) -> list[str]:
    notes = []
    factors = [n for n in setup.hidden if n in setup.problem.scales]
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
    problem = setup.problem
    found = [
        f"{child.name} with {', '.join(p.name for p in parents)}"
        for child, parents in problem.layout.families
        if parents
        and not problem.observed[child.name]
        and not any(v.name in setup.hidden for v in (child, *parents))
    ]
    if not found:
        return []
    return [
        f"{shortened(found)}: never observed together in one row, so what ties them is told by "
        "other columns, by the prior, or by the start alone"
    ]


def _floored(setup: Setup, net: Network) -> tuple[Network, list[str]]:
    """Variances no smaller than the climb allowed."""
    locals_ = dict(net.distributions)
    names = []
    for i in setup.maximiser.lines:
        name = setup.problem.layout.names[i]
        line, low = locals_[name], setup.maximiser.floor[i]
        assert isinstance(line, LinearGaussian)
        if i in setup.maximiser.held or not (line.variance < low * (1 + 1e-9)).any():
            continue
        names.append(name)
        locals_[name] = replace(line, variance=np.maximum(line.variance, low))
    return Network.trusted(net.dag, locals_, net.record), names


def _ordered(setup: Setup, expected: Expected) -> Expected:
    """The same with the states of hidden variables ordered by how often they occur."""
    layout, maximiser = setup.problem.layout, setup.maximiser
    counts, moments = expected.counts.copy(), expected.moments.copy()
    for name in setup.unnamed:
        i = layout.at[name]
        near = [j for j, (c, above) in enumerate(layout.families) if name in _names(c, above)]
        if any(not _even(maximiser, j) for j in near):
            continue
        own = layout.table(counts, i)
        often = own.reshape(-1, own.shape[-1]).sum(axis=0)
        order = np.argsort(-often, kind="stable")
        for j in near:
            _permute(layout, j, name, order, counts, moments)
    return Expected(counts, moments, expected.log_likelihood)


def _names(child: Any, parents: Any) -> list[str]:
    return [child.name, *(p.name for p in parents)]


def _even(maximiser: Any, j: int) -> bool:
    """Whether a family treats the states of its variables alike before any row is seen."""
    name = maximiser.layout.names[j]
    if j in maximiser.held or name in maximiser.groups:
        return False
    prior = maximiser.beliefs[j].prior
    return not isinstance(prior, np.ndarray) or bool((prior == prior.flat[0]).all())


def _permute(
    layout: Layout, j: int, name: str, order: Any, counts: Floats, moments: Floats
) -> None:
    child, parents = layout.families[j]
    if child.is_discrete:
        table = layout.table(counts, j)
        table[...] = np.take(table, order, axis=_names(child, parents)[1:].index(name)
                             if name != child.name else -1)  # fmt: skip
        return
    discrete = [p for p in parents if p.is_discrete]
    flat = layout.moment(moments, j)
    block = flat.reshape(*(p.arity for p in discrete), *flat.shape[1:])
    axis = [p.name for p in discrete].index(name)
    block[...] = np.take(block, order, axis=axis)
