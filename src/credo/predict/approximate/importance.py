"""Importance sampling: draw from a proposal q near P(x | e), weigh each draw by P(x, e) / q(x).

    q(x_v | x_C) ∝ Π_f R_f(x_v, x_C),    R_f = Σ_{later x} f(x) Π_{later u} μ_{u→f}(x_u)

Each variable is drawn given some that were drawn before it; for likelihood weighting the proposal
is the network itself. A factor whose variables are all drawn counts as it is; one whose last
variables are still to come is summed over them with the messages of loopy belief propagation. With
one variable in each C but its parents this is Yuan and Druzdzel's evidence pre-propagation (EPIS,
2003); keeping the earlier variables of a factor also captures what evidence on a common child makes
them share. A factor whose table would make C too large enters by its plain message. On a tree the
weights are equal.

Each q is mixed with some of the product of the complete factors, so that no weight can be large
where the messages are wrong; a message that is zero is a proof, and stays zero.

Draws come in batches until the error or the budget is met. Where few draws would carry the weight,
the proposal is first moved towards what weighted draws show (adaptive importance sampling: Cheng
and Druzdzel 2000); those draws are not used again, so that the errors stay honest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.model.answers.approximation import enough
from credo.predict.approximate.estimate import Sums, ended, sampled
from credo.predict.approximate.messages import Messages, propagate
from credo.predict.exact.reduction import Reduced
from credo.predict.questions.request import Request

__all__ = [
    "Drawn",
    "Proposal",
    "Sampler",
    "adapted",
    "draw",
    "from_messages",
    "importance",
    "plain",
    "proposed",
]

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


Scope = tuple[int, ...]

CELLS = 1 << 22
"""Cells of a batch: samples times variables."""
_PILOT = 8192
_ROUNDS = 6
_POOR = 0.2  # a share of effective samples below which the proposal is adapted
_TRUST = 200.0
_SEEDS = (0x9E3779B97F4A7C15, 2**64)


@dataclass(frozen=True)
class Drawn:
    """What sampling gave; where there was nothing to draw, `log_z` is exact."""

    sums: Sums
    log_z: float
    stopped: str


class Sampler:
    """Batches of draws from a proposal."""

    def __init__(self, proposal: Proposal, problem: Reduced) -> None:
        self.proposal = proposal
        self.problem = problem
        n = len(proposal.arities)
        more = len(proposal.scopes) - n
        scopes = [list(s) for s in proposal.scopes[:n]]
        scopes += [[*s, n + i] for i, s in enumerate(proposal.scopes[n:])]
        self.native = _core.Sampler([*proposal.arities, *([1] * more)], scopes)
        self.tables = [np.ascontiguousarray(t).ravel() for t in proposal.tables]
        self.weights = [
            None if w is None else np.ascontiguousarray(w).ravel() for w in proposal.weights
        ]
        self.threads = _core.cores()

    def run(self, n: int, seed: int, first: int) -> tuple[list[Any], Floats]:
        """Codes by variable and ln weights of the rows first … first + n of a seed."""
        columns, log_weights = self.native.run(
            self.tables,
            n,
            seed,
            first,
            self.proposal.fixed,
            self.weights,
            self.threads,
        )
        assert log_weights is not None
        columns = list(columns[: len(self.proposal.arities)])
        if self.problem.weigh is not None:
            rows = dict(zip(self.problem.names, columns, strict=True))
            log_weights = log_weights + self.problem.weigh(rows)
        return columns, log_weights


def importance(problem: Reduced, scopes: Sequence[Scope], request: Request) -> Drawn:
    """Answer by importance sampling, or by likelihood weighting if the request says so."""
    proposal = proposed(problem, request)
    if proposal is None:
        return Drawn(
            Sums(problem.arities, scopes, request.mask), -np.inf, "the evidence is impossible"
        )
    if not scopes and proposal.exact and problem.weigh is None:  # every weight would be one
        log_z = proposal.log_scale + problem.log_scale
        return Drawn(Sums(problem.arities, ()), log_z, "nothing was left to draw")
    return draw(problem, proposal, scopes, request)


def proposed(problem: Reduced, request: Request) -> Proposal | None:
    """Where to draw from; None where messages show that the evidence is impossible."""
    if request.method == "weighting":
        return plain(problem)
    share = None if request.seconds is None else 0.2 * request.seconds
    messages = propagate(problem, sweeps=200, tolerance=1e-6, seconds=share)
    if messages.impossible:
        return None
    return _improved(from_messages(problem, messages), problem, request)


def draw(problem: Reduced, proposal: Proposal, scopes: Sequence[Scope], request: Request) -> Drawn:
    """Draw batches until the error or the budget is met."""
    sampler = Sampler(proposal, problem)
    sums = Sums(problem.arities, scopes, request.mask)
    largest = max(256, min(1 << 16, CELLS // max(len(proposal.scopes), 1)))
    size = min(4096, largest)

    def batch() -> tuple[int, str]:
        nonlocal size
        n = min(size, request.most - sums.n)
        sums.add(*sampler.run(n, request.seed, sums.n))
        size = min(2 * size, largest)
        return n, _reason(sums, request)

    stopped = sampled(batch, request.most if request.seconds is None else None)
    log_z = sums.log_mean + proposal.log_scale + problem.log_scale
    return Drawn(sums, log_z, stopped)


def _reason(sums: Sums, request: Request) -> str:
    target = request.target
    believed = sums.effective >= enough(sums.n)
    if target is not None and believed and sums.half_width() <= target:
        return f"every interval is within ±{target:g}"
    return ended(request, sums.n, request.most)


def _improved(proposal: Proposal, problem: Reduced, request: Request) -> Proposal:
    """The best of some rounds in which the tables follow the weighted draws."""
    if problem.weigh is not None:  # every table may have to move
        own = zip(proposal.weights, proposal.tables, strict=True)
        proposal = replace(proposal, weights=tuple(t if w is None else w for w, t in own))
    if proposal.exact:
        return proposal
    seed = (request.seed + _SEEDS[0]) % _SEEDS[1]
    n = min(_PILOT, max(512, request.most // 10))
    best, most = proposal, -1.0
    trial = proposal
    for r in range(_ROUNDS + 1):
        columns, log_weights = Sampler(trial, problem).run(n, seed, r * n)
        top = float(log_weights.max())
        if top == -np.inf:
            return best
        w = np.exp(log_weights - top)
        effective = float(w.sum() ** 2 / (w @ w))
        if effective > most:
            best, most = trial, effective
        if (r == 0 and effective >= _POOR * n) or r == _ROUNDS:
            return best
        if request.late(0.4):
            return best
        w = _tempered(log_weights - top, n)
        table = _core.Columns(columns, list(trial.arities), [False] * len(columns))
        found = table.count([list(s) for s in trial.scopes[: len(columns)]], weights=w)
        counts = [c.reshape(t.shape) for c, t in zip(found, trial.tables, strict=False)]
        trial = adapted(trial, counts, _TRUST)
    return best


def _tempered(log_weights: Floats, n: int) -> Floats:
    """Weights flattened by a power until a twentieth of the draws counts; their sum is what."""
    power = 1.0
    while True:
        w: Floats = np.exp(power * log_weights)
        effective = w.sum() ** 2 / (w @ w)
        if effective >= 0.05 * n or power < 0.01:
            w *= effective / w.sum()
            return w
        power *= 0.8
