"""Graphs sampled by several chains, until the worst edge is known well enough.

The chains begin with a share of the scores, so that they start far from each other and are not
caught where they start. Then they run in blocks of sweeps; when there are many blocks, two become
one and blocks get twice as long. The first quarter is dropped. With m blocks' shares x of an edge
over all chains,

    p = mean of x,   error = sd of x / √m,   effective samples = p (1 − p) / error²,
    R̂² = 1 + variance between the chains' means / p (1 − p)

where blocks joined by two and by four must not say more. An edge that is hardly ever there, or
hardly ever not, is known no better than as many independent graphs could tell as the others have
effective samples.

Where the chains still disagree after many sweeps, they begin anew, each with copies of itself that
take a share of the scores and exchange graphs (parallel tempering, Geyer 1991; for graphs Barker,
Hill & Mukherjee 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.core.progress import Ticker
from credo.train.averaging.lists import Weighed

__all__ = ["Running", "Sampled", "sampled", "walked"]

Floats = NDArray[np.float64]

_BLOCKS = 64  # the most blocks of a chain before two become one
_KEPT = 64  # graphs that are kept of a block of all chains
_FIRST = 64  # sweeps of the first blocks
_FEWEST = 24  # blocks before the chains may stop
_WARM = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85)  # shares of the scores, to begin with
_RHAT = 1.05
_APART, _PATIENCE = 1.2, 64_000  # R̂ above which chains are tempered, after so many sweeps of all
_SHARES = tuple(0.7**k for k in range(10))  # of the scores, in the copies of a tempered chain
_RARE = 0.01  # p (1 − p) of an edge that is hardly ever there or not


@dataclass(frozen=True)
class Sampled:
    """What the chains found: edges [parent, child], graphs [chains, kept, n], and how well."""

    edges: Floats
    errors: Floats
    graphs: NDArray[np.int32]
    scores: Floats
    rhat: float
    effective: float
    worst: tuple[int, int]
    acceptance: tuple[float, ...]
    copies: int
    """Of each chain, at different temperatures."""
    exchanged: float
    sweeps: int
    moves: int
    reason: str
    settled: bool


class Running(Protocol):
    """Chains side by side that go on where they are: those of the core, or with missing cells."""

    def run(
        self, sweeps: int, moves: int, keep: int, threads: int = 1, cold: float = 1.0
    ) -> tuple[Floats, NDArray[np.int32], Floats, Floats]:
        """The share of sweeps with each edge, graphs kept, their scores, moves made [4, 2]."""
        ...


def sampled(
    weighed: Weighed,
    *,
    chains: int,
    error: float,
    seed: int,
    threads: int,
    left: Callable[[], float],
) -> Sampled:
    """Run the chains; the same seed gives the same graphs on any number of threads."""
    seeds = [int(s) for s in np.random.SeedSequence(seed).generate_state(chains, np.uint64)]

    def start(shares: Sequence[float] = (1.0,)) -> Running:
        try:
            return _core.Chains(weighed.lists, seeds, [], list(shares))
        except ValueError as failed:
            raise InputError(
                "No graph within the rules has a finite score.",
                hint="Look for collinear columns, or for parents required of a column with few "
                "rows.",
            ) from failed

    return walked(
        weighed, start(), chains=chains, error=error, threads=threads, left=left, again=start
    )


def walked(
    weighed: Weighed,
    running: Running,
    *,
    chains: int,
    error: float,
    threads: int,
    left: Callable[[], float],
    first: int = _FIRST,
    warm: Sequence[float] = _WARM,
    again: Callable[[Sequence[float]], Running] | None = None,
) -> Sampled:
    """Let chains run until every edge is known well enough, or the time is over.

    Where they still disagree after a while, those of `again` begin anew, with copies.
    """
    n = len(weighed.rules.names)
    moves, keep = max(16, 2 * n), max(min(_KEPT // chains, first), 1)
    shares: list[Floats] = []
    kept: list[NDArray[np.int32]] = []
    scores: list[Floats] = []
    moved, copies = np.zeros((4, 2)), 1
    sweeps, total, reason = first, 0, ""
    with Ticker("sampling graphs") as ticker:
        for cold in warm:  # from graphs that change freely to those that the scores prefer
            if left() > 0:
                running.run(first, moves, 1, threads, cold)
        while not reason:
            try:
                x, graphs, s, m = running.run(sweeps, moves, keep, threads)
            except KeyboardInterrupt:
                if len(shares) < 8:
                    raise
                reason = "interrupted"
                break
            shares.append(x)
            kept.append(graphs)
            scores.append(s)
            moved += m
            total += sweeps
            if len(shares) == _BLOCKS:
                shares = [(a + b) / 2 for a, b in zip(shares[::2], shares[1::2], strict=True)]
                kept = [_joined(a, b) for a, b in zip(kept[::2], kept[1::2], strict=True)]
                scores = [_joined(a, b) for a, b in zip(scores[::2], scores[1::2], strict=True)]
                sweeps *= 2
            if len(shares) >= _FEWEST and len(shares) % 4 == 0:
                p, errors, rhat = _known(np.stack(_later(shares)))
                ticker.say(
                    f"worst error {errors.max():.3g} · R̂ {rhat.max():.3f} · {total:,} sweeps"
                )
                if errors.max() <= error and rhat.max() <= _RHAT:
                    reason = f"every edge is known to {error:g}"
                elif again is not None and total * chains >= _PATIENCE and rhat.max() > _APART:
                    running, again, copies = again(_SHARES), None, len(_SHARES)
                    shares, kept, scores, moved = [], [], [], np.zeros((4, 2))
                    sweeps, total = first, 0
            if left() <= 0 and len(shares) >= 8:
                reason = reason or "the time was over"
    x = np.stack(_later(shares))
    p, errors, rhat = _known(x)
    worst = int(np.argmax(errors))
    accepted = (moved[:, 1] / np.maximum(moved[:, 0], 1)).tolist()
    effective = p[worst] * (1 - p[worst]) / errors[worst] ** 2 if errors[worst] else np.inf
    free = np.asarray(weighed.rules.allowed).T * (1 - np.asarray(weighed.rules.required).T)
    return Sampled(
        p.reshape(n, n),
        errors.reshape(n, n) * free,
        np.concatenate(_later(kept), axis=1),
        np.concatenate(_later(scores), axis=1),
        float(rhat.max()),
        float(effective),
        (worst // n, worst % n),
        tuple(accepted[:3]),
        copies,
        accepted[3],
        total,
        moves,
        reason,
        bool(errors.max() <= error and rhat.max() <= _RHAT),
    )


def _joined(a: NDArray, b: NDArray) -> NDArray:  # type: ignore[type-arg]
    """Every second of two blocks' graphs."""
    return np.concatenate([a[:, 1::2], b[:, 1::2]], axis=1)


def _later(blocks: list) -> list:  # type: ignore[type-arg]
    return blocks[len(blocks) // 4 :]


def _known(x: Floats) -> tuple[Floats, Floats, Floats]:
    """The share, error and R̂ of each edge from blocks [blocks, chains, edges]."""
    p = x.mean(axis=(0, 1))
    errors = np.max([_error(_by(x, k), p) for k in (1, 2, 4)], axis=0)
    spread = p * (1 - p)
    common = spread > _RARE
    if common.any():
        size = float(np.median(spread[common] / np.maximum(errors[common], 1e-9) ** 2))
    else:
        size = float(len(x) * _KEPT)
    share = (p * size + 0.5) / (size + 1)
    errors = np.where(common, errors, np.maximum(errors, np.sqrt(share * (1 - share) / size)))
    within = np.maximum(spread, 1e-3)
    between = x.mean(axis=0).var(axis=0, ddof=1) if x.shape[1] > 1 else np.zeros_like(p)
    return p, errors, np.sqrt(1 + between / within)


def _by(x: Floats, k: int) -> Floats:
    """k blocks after each other as one."""
    whole = x[len(x) % k :]
    out: Floats = whole.reshape(-1, k, *x.shape[1:]).mean(axis=1)
    return out


def _error(x: Floats, p: Floats) -> Floats:
    m = x.shape[0] * x.shape[1]
    out: Floats = np.sqrt(((x - p) ** 2).sum(axis=(0, 1)) / (m - 1) / m)
    return out
