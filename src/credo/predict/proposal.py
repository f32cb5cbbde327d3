"""Where importance samples come from: each variable given some that were drawn before it.

    q(x_v | x_C) ∝ Π_f R_f(x_v, x_C),    R_f = Σ_{later x} f(x) Π_{later u} μ_{u→f}(x_u)

A factor whose variables are all drawn counts as it is; one whose last variables are still to come
is summed over them with the messages of loopy belief propagation. With one variable in each C but
its parents this is Yuan and Druzdzel's evidence pre-propagation (EPIS, 2003); keeping the earlier
variables of a factor also captures what evidence on a common child makes them share. A factor
whose table would make C too large enters by its plain message. On a tree the weights are equal.

Each q is mixed with a little of the product of the complete factors, so that no weight can be
large where the messages are wrong; a message that is zero is a proof, and stays zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from credo.predict.messages import Messages
from credo.predict.reduction import Reduced

__all__ = ["Proposal", "adapted", "from_messages", "plain"]

Floats = NDArray[np.float64]

LARGEST = 4096
"""Cells that one table of the proposal may have, unless the variable's own table has more."""
DEFENCE = 0.01
"""Share of the complete factors that is mixed into each table."""
_EVEN = 1e-9  # messages that vary by less say nothing


@dataclass(frozen=True)
class Proposal:
    """A sequence of conditional tables to draw from, and what the draws are worth."""

    arities: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]
    """One for each variable, itself last; then those of the factors that did not fit."""
    tables: tuple[Floats, ...]
    """q for each variable; ones for the rest."""
    weights: tuple[Floats, ...]
    """The product of the factors that are complete with each variable; then the rest's own."""
    log_scale: float
    """ln of what the weights were divided by."""
    exact: bool = False
    """Whether every draw is worth the same by construction."""

    @property
    def fixed(self) -> NDArray[np.int32]:
        """-1 for what is drawn, 0 for the factors that only weigh."""
        out = np.zeros(len(self.scopes), dtype=np.int32)
        out[: len(self.arities)] = -1
        return out


def plain(problem: Reduced) -> Proposal:
    """Likelihood weighting: draw as the network tells it, weigh by the evidence."""
    n = len(problem.names)
    own = [np.ascontiguousarray(t) for t in problem.tables[:n]]
    rest, scale = [], 0.0
    for table in problem.tables[n:]:
        most = float(table.max())
        rest.append(table / most if most > 0 else table)
        scale += float(np.log(most)) if most > 0 else 0.0
    return Proposal(
        problem.arities,
        tuple(problem.scopes[:n]) + tuple(problem.scopes[n:]),
        (*own, *(np.ones_like(t) for t in rest)),
        (*own, *rest),
        scale,
        exact=not rest,
    )


def from_messages(
    problem: Reduced, messages: Messages, order: Sequence[int], largest: int = LARGEST
) -> Proposal:
    """The proposal that draws the variables in an order, led by messages."""
    place = {v: i for i, v in enumerate(order)}
    incoming: list[list[tuple[tuple[int, ...], Floats, Floats | None]]] = [[] for _ in order]
    for f, (scope, table) in enumerate(zip(problem.scopes, problem.tables, strict=True)):
        axes = sorted(range(len(scope)), key=lambda a: place[scope[a]])
        sums = table.transpose(axes)
        for j in range(len(axes) - 1, -1, -1):
            v = scope[axes[j]]
            single = None if j == len(axes) - 1 else messages.to_variable[f][axes[j]]
            incoming[v].append((tuple(scope[a] for a in axes[: j + 1]), sums, single))
            sums = sums @ messages.to_factor[f][axes[j]]
    scopes: list[tuple[int, ...]] = []
    tables: list[Floats] = []
    weights: list[Floats] = []
    left: list[tuple[tuple[int, ...], Floats]] = []
    log_scale, led = 0.0, 0
    arity = problem.arities
    for v in range(len(order)):
        whole = sorted((p for p in incoming[v] if p[2] is None), key=lambda p: p[1].size)
        ahead = sorted((p for p in incoming[v] if p[2] is not None), key=lambda p: p[1].size)
        scope: set[int] = {v}
        full: list[tuple[tuple[int, ...], Floats]] = []
        hints: list[tuple[tuple[int, ...], Floats]] = []
        for s, table, _ in whole:
            if prod(arity[u] for u in scope | set(s)) <= largest or not full:
                scope |= set(s)
                full.append((s, table))
            else:
                left.append((s, table))
        for s, table, single in ahead:
            assert single is not None
            if _even(table):
                continue
            if prod(arity[u] for u in scope | set(s)) <= largest:
                scope |= set(s)
                hints.append((s, table))
            elif not _even(single):
                hints.append(((v,), single))
        cells = tuple(sorted(scope, key=place.__getitem__))
        shape = tuple(arity[u] for u in cells)
        log_n = _log_product(full, cells, shape)
        q = _rows(log_n + _log_product(hints, cells, shape))
        if hints:
            led += 1
            mixed = (1 - DEFENCE) * q + DEFENCE * _rows(np.where(q > 0, log_n, -np.inf))
            q = mixed
        most = float(log_n.max())
        scopes.append(cells)
        tables.append(q)
        weights.append(np.exp(log_n - most) if most > -np.inf else np.zeros(shape))
        log_scale += most if most > -np.inf else 0.0
    for s, table in left:
        most = float(table.max())
        scopes.append(s)
        tables.append(np.ones_like(table))
        weights.append(table / most if most > 0 else np.ascontiguousarray(table))
        log_scale += float(np.log(most)) if most > 0 else 0.0
    return Proposal(
        problem.arities, tuple(scopes), tuple(tables), tuple(weights), log_scale, led == 0
    )


def adapted(proposal: Proposal, counts: Sequence[Floats], trust: float) -> Proposal:
    """Tables moved towards what weighted draws show; `trust` draws' worth of the old is kept."""
    tables = list(proposal.tables)
    for v, found in enumerate(counts):
        old = tables[v]
        total = found.sum(axis=-1, keepdims=True)
        new = (found + trust * old) / (total + trust)
        tables[v] = np.ascontiguousarray(np.where(old.sum(axis=-1, keepdims=True) > 0, new, old))
    return replace(proposal, tables=tuple(tables))


def _even(table: Floats) -> bool:
    """Whether a message says nothing about its last variable, whatever the others are."""
    low, high = table.min(axis=-1), table.max(axis=-1)
    return bool((high - low <= _EVEN * high).all())


def _log_product(
    parts: Sequence[tuple[tuple[int, ...], Floats]], cells: tuple[int, ...], shape: tuple[int, ...]
) -> Floats:
    out = np.zeros(shape)
    for scope, table in parts:
        with np.errstate(divide="ignore"):
            log = np.log(table)
        inside = set(scope)
        out += log.reshape([n if u in inside else 1 for u, n in zip(cells, shape, strict=True)])
    return out


def _rows(log: Floats) -> Floats:
    """Each row divided by its sum; a row that is impossible is zero."""
    most = log.max(axis=-1, keepdims=True)
    out: Floats = np.exp(log - np.where(most > -np.inf, most, 0.0))
    total = out.sum(axis=-1, keepdims=True)
    return np.ascontiguousarray(out / np.where(total > 0, total, 1.0))
