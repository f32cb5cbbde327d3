"""Densities of observed continuous variables, as tables over their discrete parents.

    λ(u) = Π_x p(x | u, y)       for all x whose discrete parents are u

A table of densities is divided by its largest, whose logarithm is kept, so that numbers far out in
the tails neither vanish nor overflow. Where some would vanish all the same, the largest is taken
among the configurations that the discrete evidence allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import InputError, LimitError
from credo.model.linear_gaussian import LinearGaussian

if TYPE_CHECKING:
    from credo.model.network import Network
    from credo.predict.engine import Engine
    from credo.predict.evidence import Evidence

__all__ = ["MIXED", "density_tables", "row_tables"]

MIXED = (
    "Wider inference in mixed networks is a later storey: exact answers need every continuous "
    "variable that matters to be observed."
)

Floats = NDArray[np.float64]


def row_tables(engine: Engine, values: dict[str, Floats]) -> tuple[list[Floats], Any]:
    """The tables of the network with densities in them, one for each row, and their log scale."""
    tables = list(engine.tables)
    scale: Any = 0.0
    for names, (_, log) in _log_densities(engine.net, values).items():
        flat = log.reshape(len(log), -1)
        most = _largest(flat, names)
        tables[engine.at[names[0]]] = np.ascontiguousarray(np.exp(flat - most))
        for other in names[1:]:
            tables[engine.at[other]] = np.ones(flat.shape[1])
        scale = scale + most[:, 0]
    return tables, scale


def density_tables(engine: Engine, evidence: Evidence) -> tuple[list[Floats], float]:
    """The tables of the network with the densities of one row of evidence, and their log scale."""
    if not evidence.values:
        return engine.tables, 0.0
    tables = list(engine.tables)
    scale = 0.0
    values = {n: np.array([v]) for n, v in evidence.values.items()}
    for names, (parents, log) in _log_densities(engine.net, values).items():
        flat = log.reshape(1, -1)
        most = _largest(flat, names)
        table = np.exp(flat - most)
        if (table == 0).any():
            possible = _support(engine, parents, evidence)
            if possible.any():
                most = _largest(np.where(possible, flat, -np.inf), names)
                table = np.exp(np.where(possible, flat - most, -np.inf))
        tables[engine.at[names[0]]] = np.ascontiguousarray(table[0])
        for other in names[1:]:
            tables[engine.at[other]] = np.ones(flat.shape[1])
        scale += float(most[0, 0])
    return tables, scale


def _log_densities(
    net: Network, values: dict[str, Floats]
) -> dict[tuple[str, ...], tuple[tuple[str, ...], Floats]]:
    """ln densities added up over the variables with the same discrete parents.

    The key has the variables; the value their discrete parents, and an array [rows, …states].
    """
    groups: dict[tuple[str, ...], tuple[list[str], Floats]] = {}
    for name, value in values.items():
        line = net.distributions[name]
        assert isinstance(line, LinearGaussian)
        for parent in line.continuous:
            if parent.name not in values:
                raise InputError(
                    f"The parent {parent.name!r} of {name!r} is continuous and not observed.",
                    hint=MIXED,
                )
        with np.errstate(over="ignore", invalid="ignore"):
            log = line.log_density(value, [values[p.name] for p in line.continuous])
        scope = tuple(p.name for p in line.discrete)
        if scope in groups:
            names, total = groups[scope]
            groups[scope] = ([*names, name], total + log)
        else:
            groups[scope] = ([name], log)
    return {tuple(names): (scope, log) for scope, (names, log) in groups.items()}


def _largest(flat: Floats, names: Sequence[str]) -> Floats:
    most: Floats = flat.max(axis=1, keepdims=True)
    if not np.isfinite(most).all():
        raise LimitError(
            f"The density of {', '.join(map(repr, names))} is too small to be told.",
            hint="The value is far from every line of the model; check its unit.",
        )
    return most


def _support(engine: Engine, parents: tuple[str, ...], evidence: Evidence) -> NDArray[np.bool_]:
    """Which configurations of some discrete variables the discrete evidence allows."""
    shape = [engine.net.variable(n).arity for n in parents]
    rows = np.indices(shape).reshape(len(parents), -1).T.astype(np.int32)
    possible = np.ones(len(rows), dtype=bool)
    free = [k for k, n in enumerate(parents) if n not in evidence.hard]
    for k, name in enumerate(parents):
        if name in evidence.hard:
            possible &= rows[:, k] == evidence.hard[name]
        elif name in evidence.soft:
            possible &= evidence.soft[name][rows[:, k]] > 0
    soft = [n for n in evidence.soft if n not in parents]
    observed = [engine.at[n] for n in (*evidence.hard, *(parents[k] for k in free))]
    batch = np.empty((len(rows), len(observed)), dtype=np.int32)
    batch[:, : len(evidence.hard)] = list(evidence.hard.values())
    batch[:, len(evidence.hard) :] = rows[:, free]
    plan = engine.plan(observed, [], soft=[engine.at[n] for n in soft])
    likelihoods = [np.ascontiguousarray(evidence.soft[n][None, :]) for n in soft]
    log_e = np.asarray(plan.run(engine.tables, batch, likelihoods, 1)[0])
    return possible & (log_e > -np.inf)
