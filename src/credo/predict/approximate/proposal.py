"""Where importance samples come from: each variable given some that were drawn before it.

    q(x_v | x_C) ∝ Π_f R_f(x_v, x_C),    R_f = Σ_{later x} f(x) Π_{later u} μ_{u→f}(x_u)

A factor whose variables are all drawn counts as it is; one whose last variables are still to come
is summed over them with the messages of loopy belief propagation. With one variable in each C but
its parents this is Yuan and Druzdzel's evidence pre-propagation (EPIS, 2003); keeping the earlier
variables of a factor also captures what evidence on a common child makes them share. A factor
whose table would make C too large enters by its plain message. On a tree the weights are equal.

Each q is mixed with some of the product of the complete factors, so that no weight can be
large where the messages are wrong; a message that is zero is a proof, and stays zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from credo.predict.approximate.messages import Messages
from credo.predict.exact.reduction import Reduced

__all__ = ["Proposal", "adapted", "from_messages", "plain"]

Floats = NDArray[np.float64]
Piece = tuple[tuple[int, ...], Floats]
"""Variables in the order they are drawn, and a table over them."""

LARGEST = 4096
"""Cells that one table of the proposal may have, unless the variable's own table has more."""
DEFENCE = 0.2
"""Share of the complete factors that is mixed into each table.

With 0.01, states that messages take for a hundred times rarer than they are weigh a hundred samples
and are rarely among a few thousand: the error was then stated too small. A fifth costs about 4 % of
the effective samples.
"""
_EVEN = 1e-9  # messages that vary by less say nothing


@dataclass(frozen=True)
class Proposal:
    """A sequence of conditional tables to draw from, and what the draws are worth."""

    arities: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]
    """One for each variable, itself last; then those of the factors that did not fit."""
    tables: tuple[Floats, ...]
    """q for each variable; ones for the rest."""
    weights: tuple[Floats | None, ...]
    """The product of the factors that are complete with each variable; then the rest's own.

    None where it is what the variable is drawn from.
    """
    log_scale: float
    """ln of what the weights were divided by."""

    @property
    def exact(self) -> bool:
        """Whether every draw is worth the same."""
        return all(w is None for w in self.weights)

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
    rest = [np.ascontiguousarray(t) for t in problem.tables[n:]]
    return Proposal(
        problem.arities,
        problem.scopes,
        (*own, *(np.ones_like(t) for t in rest)),
        (*(None for _ in own), *rest),
        0.0,
    )


def from_messages(problem: Reduced, messages: Messages, largest: int = LARGEST) -> Proposal:
    """The proposal that draws parents before children, led by messages."""
    whole, ahead = _pieces(problem, messages)
    scopes: list[tuple[int, ...]] = []
    tables: list[Floats] = []
    weights: list[Floats | None] = []
    left: list[Piece] = []
    log_scale = 0.0
    for v in range(len(problem.names)):
        full, hints = _chosen(v, whole[v], ahead[v], problem.arities, largest, left)
        cells = tuple(sorted({v}.union(*(s for s, _ in full + hints))))
        scopes.append(cells)
        if not hints and len(full) == 1:
            tables.append(np.ascontiguousarray(full[0][1]))
            weights.append(None)
            continue
        shape = tuple(problem.arities[u] for u in cells)
        log_n = _log_product(full, cells, shape)
        q = _rows(log_n + _log_product(hints, cells, shape))
        if hints:
            q = (1 - DEFENCE) * q + DEFENCE * _rows(np.where(q > 0, log_n, -np.inf))
        most = float(log_n.max())
        most = most if most > -np.inf else 0.0
        tables.append(q)
        weights.append(np.exp(log_n - most))
        log_scale += most
    for scope, table in left:
        scopes.append(scope)
        tables.append(np.ones_like(table))
        weights.append(np.ascontiguousarray(table))
    return Proposal(problem.arities, tuple(scopes), tuple(tables), tuple(weights), log_scale)


def _pieces(
    problem: Reduced, messages: Messages
) -> tuple[list[list[tuple[Piece, Floats]]], list[list[tuple[Piece, Floats]]]]:
    """For each variable: the factors it completes, its own first; and those with more to come,
    which are summed over what is to come. Each goes with its plain message to the variable.
    """
    whole: list[list[tuple[Piece, Floats]]] = [[] for _ in problem.names]
    ahead: list[list[tuple[Piece, Floats]]] = [[] for _ in problem.names]
    for f, (scope, table) in enumerate(zip(problem.scopes, problem.tables, strict=True)):
        axes = sorted(range(len(scope)), key=scope.__getitem__)
        sums = table.transpose(axes)
        names = tuple(scope[a] for a in axes)
        whole[names[-1]].append(((names, sums), messages.to_variable[f][axes[-1]]))
        for j in range(len(axes) - 1, 0, -1):
            sums = sums @ messages.to_factor[f][axes[j]]
            single = messages.to_variable[f][axes[j - 1]]
            ahead[names[j - 1]].append(((names[:j], sums), single))
    return whole, ahead


def _chosen(
    v: int,
    whole: list[tuple[Piece, Floats]],
    ahead: list[tuple[Piece, Floats]],
    arities: Sequence[int],
    largest: int,
    left: list[Piece],
) -> tuple[list[Piece], list[Piece]]:
    """The complete factors and the messages that make a variable's table; what is too large is
    left to weigh by itself, or enters by its plain message."""
    (own, _), *more = whole
    scope = set(own[0])
    full: list[Piece] = [own]
    hints: list[Piece] = []
    for piece, single in sorted(more, key=lambda p: p[0][1].size):
        if prod(arities[u] for u in scope.union(piece[0])) <= max(largest, own[1].size):
            scope |= set(piece[0])
            full.append(piece)
        else:
            left.append(piece)
            hints.append(((v,), single))
    for piece, single in sorted(ahead, key=lambda p: p[0][1].size):
        if _even(piece[1]):
            continue
        if prod(arities[u] for u in scope.union(piece[0])) <= largest:
            scope |= set(piece[0])
            hints.append(piece)
        elif not _even(single):
            hints.append(((v,), single))
    return full, hints


def adapted(proposal: Proposal, counts: Sequence[Floats], trust: float) -> Proposal:
    """Tables moved towards what weighted draws show; `trust` draws' worth of the old is kept.

    A variable that is drawn from its own table stays as it is.
    """
    tables = list(proposal.tables)
    for v, found in enumerate(counts):
        if proposal.weights[v] is None:
            continue
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
