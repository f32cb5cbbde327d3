"""Importance sampling: draw from a proposal q near P(x | e), weigh each draw by P(x, e) / q(x).

The proposal comes from messages (`proposal.py`) or, for likelihood weighting, is the network
itself. Draws come in batches until the error or the budget is met. Where few draws would carry the
weight, the proposal is first moved towards what weighted draws show (adaptive importance sampling:
Cheng and Druzdzel 2000); those draws are not used again, so that the errors stay honest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.progress import track
from credo.model.answers.approximation import enough
from credo.predict.approximate.estimate import Sums
from credo.predict.approximate.messages import propagate
from credo.predict.approximate.proposal import Proposal, adapted, from_messages, plain
from credo.predict.exact.reduction import Reduced
from credo.predict.questions.request import Request

__all__ = ["Drawn", "Sampler", "draw", "importance", "proposed"]

Floats = NDArray[np.float64]
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
    stopped = ""

    def batches() -> Iterator[int]:
        nonlocal stopped
        largest = max(256, min(1 << 16, CELLS // max(len(proposal.scopes), 1)))
        size = min(4096, largest)
        while not stopped:
            n = min(size, request.most - sums.n)
            sums.add(*sampler.run(n, request.seed, sums.n))
            size = min(2 * size, largest)
            stopped = _reason(sums, request)
            yield n

    total = request.most if request.seconds is None else None
    for _ in track(batches(), "sampling", total=total, size=lambda n: n):
        pass
    log_z = sums.log_mean + proposal.log_scale + problem.log_scale
    return Drawn(sums, log_z, stopped)


def _reason(sums: Sums, request: Request) -> str:
    target = request.target
    believed = sums.effective >= enough(sums.n)
    if target is not None and believed and sums.half_width() <= target:
        return f"every interval is within ±{target:g}"
    if sums.n >= request.most:
        if request.samples is not None:
            return f"{sums.n:,} samples were asked for"
        return f"{sums.n:,} samples are the most that are drawn without a budget"
    if request.late():
        return f"the time of {request.seconds:g} s was up"
    return ""


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
