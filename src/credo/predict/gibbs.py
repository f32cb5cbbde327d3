"""Gibbs sampling: many chains side by side, blocks where zeros tie variables together.

Every chain gives an estimate of its own, and the chains are independent, so the standard error is
that of their mean: slow chains disagree, and the error shows it. Chains that have each made fewer
than ten independent draws are said not to have mixed (Gelman and Rubin's R̂ above 1.05).

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
from credo.errors import LimitError
from credo.predict.blocks import Blocks
from credo.predict.budget import Effort
from credo.predict.estimate import Query, intervals
from credo.predict.reduction import Reduced
from credo.progress import track

__all__ = ["Walked", "gibbs"]

Floats = NDArray[np.float64]

CHAINS = 64
MAX_CELLS = 200_000_000
"""Sums of all chains together; a question that needs more is refused."""
_BURN = 200  # sweeps that are not counted
_BATCH = 50
_PER_CHAIN = 10  # independent draws that each chain must be worth
_STUDENT = 1.998341  # 97.5 % point of Student's t with 63 degrees of freedom


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


def gibbs(problem: Reduced, blocks: Blocks, queries: Sequence[Query], effort: Effort) -> Walked:
    """Move chains until the error or the budget is met."""
    scopes = list(dict.fromkeys(blocks.over(q.scope) for q in queries))
    sizes = [prod(blocks.arities[b] for b in s) for s in scopes]
    if CHAINS * sum(sizes) > MAX_CELLS:
        raise LimitError(
            f"Gibbs sampling would keep {CHAINS * sum(sizes):,} sums for this question; at most "
            f"{MAX_CELLS:,} are allowed.",
            hint='Ask for fewer variables at once, or use method="importance".',
        )
    native = _core.Gibbs(blocks.arities, [list(s) for s in blocks.scopes])
    tables = [np.ascontiguousarray(t / t.max()).ravel() for t in blocks.tables]
    rng = np.random.default_rng(effort.seed)
    states = rng.integers(0, blocks.arities, (CHAINS, len(blocks.members)), dtype=np.int32)
    threads = _core.cores()
    most = max(1, -(-effort.most // CHAINS))
    cuts = np.cumsum(sizes)[:-1]
    sums: Floats | None = None
    sweeps, done, stopped = 0, 0, ""

    def run(n: int, collect: bool) -> Floats:
        nonlocal states, done
        asked = [list(s) for s in scopes]
        states, found = native.run(tables, states, asked, n, done, effort.seed, collect, threads)
        done += n
        return found

    def means() -> list[Floats]:
        assert sums is not None
        parts = dict(zip(scopes, np.split(sums / sweeps, cuts, axis=1), strict=True))
        return [
            q.folded(
                blocks.projected(parts[blocks.over(q.scope)], q.scope, problem.arities),
                problem.arities,
            )
            for q in queries
        ]

    def batches() -> Iterator[int]:
        nonlocal sums, sweeps, stopped
        burn = min(_BURN, max(_BATCH, most // 5))
        while done < burn and not effort.late(0.3):
            run(10, False)
        size = 10
        while not stopped:
            n = min(size, most - sweeps)
            found = run(n, True)
            sums = found if sums is None else sums + found
            sweeps += n
            size = min(2 * size, _BATCH)
            stopped = _reason(means(), sweeps, most, effort)
            yield n * CHAINS

    total = effort.most if effort.seconds is None else None
    for _ in track(batches(), "sampling", total=total, size=lambda n: n):
        pass
    return Walked(means(), sweeps, stopped)


def _reason(means: list[Floats], sweeps: int, most: int, effort: Effort) -> str:
    if effort.target is not None:
        found = [_estimate(m) for m in means]
        effective = _effective(found, sweeps * CHAINS)
        if effective >= _PER_CHAIN * CHAINS:
            widest = max(
                float(np.max(intervals(p, se, effective, np.inf).width)) / 2 for p, se in found
            )
            if widest <= effort.target:
                return f"every interval is within ±{effort.target:g}"
    if sweeps >= most:
        asked = "were asked for" if effort.samples is not None else "are the most without a budget"
        return f"{sweeps * CHAINS:,} samples {asked}"
    if effort.late():
        return f"the time of {effort.seconds:g} s was up"
    return ""


def _estimate(means: Floats) -> tuple[Floats, Floats]:
    p = means.mean(axis=0)
    se = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    return p / p.sum(), se * (_STUDENT / 1.959963984540054)


def _effective(found: list[tuple[Floats, Floats]], samples: int) -> float:
    least = float(samples)
    for p, se in found:
        spread = p * (1 - p)
        sure = (se > 0) & (spread > 1e-12)
        if sure.any():
            least = min(least, float((spread[sure] / se[sure] ** 2).min()))
    return least
