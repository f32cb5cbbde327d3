"""Densities of observed continuous variables, as tables over their discrete parents.

    λ(u) = Π_x p(x | u, y)       for all x whose discrete parents are u

Where continuous parents are not observed, groups of lines give the tables (`mixed_engine`).

A table of densities is divided by its largest, whose logarithm is kept, so that numbers far out in
the tails neither vanish nor overflow. Where some would vanish all the same, the largest is taken
among the configurations that the discrete evidence allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import LimitError
from credo.model.networks.linear_gaussian import LinearGaussian

if TYPE_CHECKING:
    from credo.model.networks.network import Network
    from credo.predict.exact.engine import Engine
    from credo.predict.questions.evidence import Evidence

__all__ = ["Density", "density_tables", "largest", "line_densities", "row_tables"]

Floats = NDArray[np.float64]


class Density(NamedTuple):
    """A table of ln densities: whose table it becomes, and whose come with it and are ones now."""

    owner: str
    others: tuple[str, ...]
    observed: tuple[str, ...]
    parents: tuple[str, ...]
    log: Floats


def row_tables(
    engine: Engine,
    values: Mapping[str, Floats],
    hard: Mapping[str, Any],
    tables: Sequence[Floats] | None = None,
    drawn: Mapping[str, Any] | None = None,
) -> tuple[list[Floats], Any]:
    """The tables with densities in them, one for each row (or draw), and their log scale.

    `tables` are the engine's unless others are given, and `drawn` the parameters of lines.
    """
    tables = list(engine.tables if tables is None else tables)
    scale: Any = 0.0
    for density in engine.densities(values, hard, drawn):
        flat = density.log.reshape(len(density.log), -1)
        most = largest(flat, density.observed)
        table = np.ascontiguousarray(np.exp(flat - most))
        _put(engine, tables, density, table if len(table) > 1 else table[0])
        scale = scale + most[:, 0]
    return tables, scale


def density_tables(engine: Engine, evidence: Evidence) -> tuple[list[Floats], float]:
    """The tables of the network with the densities of one row of evidence, and their log scale."""
    if not evidence.values:
        return engine.tables, 0.0
    tables = list(engine.tables)
    scale = 0.0
    values = {n: np.array([v]) for n, v in evidence.values.items()}
    for density in engine.densities(values, evidence.hard):
        flat = density.log.reshape(1, -1)
        most = largest(flat, density.observed)
        table = np.exp(flat - most)
        if (table == 0).any():
            possible = _support(engine, density.parents, evidence)
            if possible.any():
                most = largest(np.where(possible, flat, -np.inf), density.observed)
                table = np.exp(np.where(possible, flat - most, -np.inf))
        _put(engine, tables, density, np.ascontiguousarray(table[0]))
        scale += float(most[0, 0])
    return tables, scale


def _put(engine: Engine, tables: list[Floats], density: Density, table: Floats) -> None:
    tables[engine.at[density.owner]] = table
    for other in density.others:
        tables[engine.at[other]] = np.ones(table.shape[-1])


def line_densities(
    net: Network, values: Mapping[str, Floats], drawn: Mapping[str, Any] | None = None
) -> Iterator[Density]:
    """ln densities of lines whose continuous parents are all observed.

    Those of variables with the same discrete parents are added up.
    """
    groups: dict[tuple[str, ...], tuple[list[str], Floats]] = {}
    for name, value in values.items():
        line = net.distributions[name]
        assert isinstance(line, LinearGaussian)
        given = [values[p.name] for p in line.continuous]
        with np.errstate(over="ignore", invalid="ignore"):
            if drawn is not None and name in drawn:
                log = _drawn_log(drawn[name], value, given)
            else:
                log = line.log_density(value, given)
        scope = tuple(p.name for p in line.discrete)
        if scope in groups:
            names, total = groups[scope]
            groups[scope] = ([*names, name], total + log)
        else:
            groups[scope] = ([name], log)
    for scope, (names, log) in groups.items():
        yield Density(names[0], tuple(names[1:]), tuple(names), scope, log)


def _drawn_log(drawn: Any, value: Floats, given: Sequence[Floats]) -> Floats:
    """ln density of one value under every draw of a line: [draws, …states]."""
    intercept, slope, variance = drawn
    y = np.array([float(g[0]) for g in given])
    away = float(value[0]) - intercept - slope @ y
    log: Floats = -0.5 * (np.log(2 * np.pi * variance) + away**2 / variance)
    return log


def largest(flat: Floats, names: Sequence[str]) -> Floats:
    """The largest ln density of each row; one that is too small to be told is refused."""
    flat[np.isnan(flat)] = -np.inf  # too far away to be told
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
