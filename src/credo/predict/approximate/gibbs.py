"""Gibbs sampling: many chains side by side, blocks where zeros tie variables together.

Every chain gives an estimate of its own, and the chains are independent, so the standard error is
that of their mean: slow chains disagree, and the error shows it. The interval uses Student's t with
the degrees of freedom by which that error is known. Chains that have each made fewer
than ten independent draws (Gelman and Rubin's R̂ above 1.05), or fewer than a hundred sweeps, are
said not to have mixed. They may still remember where they began, so their mean tells little: the
interval then reaches from the lowest chain to the highest.

States that the evidence rules out are taken away first. What zeros tie together is drawn together
(`blocks.py`); where that is too much, the method is refused and the table named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import LimitError
from credo.core.progress import track
from credo.model.answers.interval import Interval
from credo.predict.approximate.blocks import Blocks
from credo.predict.approximate.estimate import folded, intervals, stated
from credo.predict.exact.reduction import Reduced
from credo.predict.questions.request import Request

__all__ = ["Walked", "gibbs"]

Floats = NDArray[np.float64]

CHAINS = 64
MAX_CELLS = 200_000_000
"""Sums of all chains together; a question that needs more is refused."""
_BURN = 200  # sweeps that are not counted
_BATCH = 50
_PER_CHAIN = 10  # independent draws that each chain must be worth
_LEAST = 100  # sweeps in which a chain can show whether it moves at all
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Walked:
    """What the chains gave: for each question the means of each chain."""

    means: list[Floats]
    sweeps: int
    stopped: str

    @property
    def samples(self) -> int:
        """How many states were visited and counted."""
        return CHAINS * self.sweeps

    def estimates(self) -> list[tuple[Floats, Floats]]:
        """Each question's probabilities and their standard errors."""
        return [_estimate(m) for m in self.means]

    @property
    def effective(self) -> float:
        """The independent draws that the least certain probability is worth."""
        return _effective(self.estimates(), self.samples)

    @property
    def mixed(self) -> bool:
        """Whether every chain has made enough independent draws to forget where it began."""
        return self.sweeps >= _LEAST and self.effective >= _PER_CHAIN * CHAINS

    def answers(self) -> list[tuple[Floats, Floats, Interval]]:
        """Each question's probabilities, their standard errors and 95 % intervals."""
        out = []
        for means, (p, se) in zip(self.means, self.estimates(), strict=True):
            ends, se = stated(p, se, self.effective, np.inf, _freedom(means)).values()
            if not self.mixed:
                low = np.minimum(ends.lower, means.min(axis=0))
                ends = Interval(low, np.maximum(ends.upper, means.max(axis=0)), ends.level)
            out.append((p, se, ends))
        return out


def gibbs(
    problem: Reduced, blocks: Blocks, asked: Sequence[tuple[int, ...]], request: Request
) -> Walked:
    """Move chains until the error or the budget is met."""
    scopes = list(dict.fromkeys(blocks.over(s) for s in asked))
    sizes = [prod(blocks.arities[b] for b in s) for s in scopes]
    if CHAINS * sum(sizes) > MAX_CELLS:
        raise LimitError(
            f"Gibbs sampling would keep {CHAINS * sum(sizes):,} sums for this question; at most "
            f"{MAX_CELLS:,} are allowed.",
            hint='Ask for fewer variables at once, or use method="importance".',
        )
    native = _core.Gibbs(blocks.arities, [list(s) for s in blocks.scopes])
    tables = [np.ascontiguousarray(t / t.max()).ravel() for t in blocks.tables]
    rng = np.random.default_rng(request.seed)
    states = rng.integers(0, blocks.arities, (CHAINS, len(blocks.members)), dtype=np.int32)
    threads = _core.cores()
    most = max(1, -(-request.most // CHAINS))
    cuts = np.cumsum(sizes)[:-1]
    event = request.mask
    sums: Floats | None = None
    sweeps, done, stopped = 0, 0, ""

    def run(n: int, collect: bool) -> Floats:
        nonlocal states, done
        over = [list(s) for s in scopes]
        states, found = native.run(tables, states, over, n, done, request.seed, collect, threads)
        done += n
        return found

    def means() -> list[Floats]:
        assert sums is not None
        parts = dict(zip(scopes, np.split(sums / sweeps, cuts, axis=1), strict=True))
        return [
            folded(
                blocks.projected(parts[blocks.over(s)], s, problem.arities),
                tuple(problem.arities[v] for v in s),
                event,
            )
            for s in asked
        ]

    def batches() -> Iterator[int]:
        nonlocal sums, sweeps, stopped
        burn = min(_BURN, max(_BATCH, most // 5))
        while done < burn and not request.late(0.3):
            run(10, False)
        size = 10
        while not stopped:
            n = min(size, most - sweeps)
            found = run(n, True)
            sums = found if sums is None else sums + found
            sweeps += n
            size = min(2 * size, _BATCH)
            stopped = _reason(means(), sweeps, most, request)
            yield n * CHAINS

    total = request.most if request.seconds is None else None
    for _ in track(batches(), "sampling", total=total, size=lambda n: n):
        pass
    return Walked(means(), sweeps, stopped)


def _reason(means: list[Floats], sweeps: int, most: int, request: Request) -> str:
    if request.target is not None:
        found = [_estimate(m) for m in means]
        effective = _effective(found, sweeps * CHAINS)
        if sweeps >= _LEAST and effective >= _PER_CHAIN * CHAINS:
            widest = max(
                float(np.max(intervals(p, se, effective, np.inf, _freedom(m)).width)) / 2
                for m, (p, se) in zip(means, found, strict=True)
            )
            if widest <= request.target:
                return f"every interval is within ±{request.target:g}"
    if sweeps >= most:
        asked = "were asked for" if request.samples is not None else "are the most without a budget"
        return f"{sweeps * CHAINS:,} samples {asked}"
    if request.late():
        return f"the time of {request.seconds:g} s was up"
    return ""


def _estimate(means: Floats) -> tuple[Floats, Floats]:
    p = means.mean(axis=0)
    se = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    se[se < _ROUNDING] = 0.0  # every chain says the same: what is left is rounding
    return p / p.sum(), se


def _freedom(means: Floats) -> Floats:
    """The degrees of freedom by which the spread of the chains is known.

    Var(s²) = σ⁴ (κ − (C − 3) / (C − 1)) / C, so 2 s⁴ / Var(s²): C − 1 for chains with normal
    means (κ = 3), few where a handful of chains saw a rare state.
    """
    chains = len(means)
    away = means - means.mean(axis=0)
    square = np.maximum((away**2).mean(axis=0), 1e-300)
    kurtosis = (away**4).mean(axis=0) / np.maximum(square**2, 1e-300)
    out: Floats = 2 * chains / np.maximum(kurtosis - (chains - 3) / (chains - 1), 1.0)
    return np.clip(out, 1.0, chains - 1.0)


def _effective(found: list[tuple[Floats, Floats]], samples: int) -> float:
    least = float(samples)
    for p, se in found:
        spread = p * (1 - p)
        sure = (se > 0) & (spread > 1e-12)
        if sure.any():
            least = min(least, float((spread[sure] / se[sure] ** 2).min()))
    return least
