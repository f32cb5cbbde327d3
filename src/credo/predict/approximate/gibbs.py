"""Gibbs sampling: many chains side by side, blocks where zeros tie variables together.

    x_B ~ P(x_B | rest),    x_B over the configurations of B that are possible

Every chain gives an estimate of its own, and the chains are independent, so the standard error is
that of their mean: slow chains disagree, and the error shows it. The interval uses Student's t with
the degrees of freedom by which that error is known. Chains that have each made fewer than ten
independent draws (Gelman and Rubin's R̂ above 1.05), or fewer than a hundred sweeps, are said not
to have mixed. They may still remember where they began, so their mean tells little: the interval
then reaches from the lowest chain to the highest.

A zero in a table can split the configurations into islands that no single change connects. States
that the evidence rules out are taken away first; what zeros tie together is drawn together as one
block, in which the zero is a state that is not there. Tables with very small numbers are treated
alike where the block stays small: chains would cross them too rarely. Where a block grows too
large, the method is refused and the table named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, LimitError
from credo.model.answers.interval import Interval
from credo.predict.approximate.estimate import ended, folded, intervals, sampled, stated
from credo.predict.approximate.messages import Messages
from credo.predict.exact.reduction import Reduced
from credo.predict.questions.request import Request

__all__ = ["Blocks", "Walked", "blocks_of", "gibbs"]

Floats = NDArray[np.float64]

Codes = NDArray[np.intp]

MAX_STATES = 512
"""Configurations that one block may have."""
MAX_TABLE = 1 << 22
"""Cells that one table over blocks may have."""
SMALL = 1e-3
"""A table whose smallest number is less than this share of its largest ties its variables."""


@dataclass(frozen=True)
class Blocks:
    """Variables in groups; each group is one variable with the configurations that are left."""

    members: tuple[tuple[int, ...], ...]
    states: tuple[Codes, ...]
    """For each block, its configurations: [states, members]."""
    scopes: tuple[tuple[int, ...], ...]
    tables: tuple[Floats, ...]

    @property
    def arities(self) -> list[int]:
        """How many configurations each block has."""
        return [len(s) for s in self.states]

    def over(self, scope: Sequence[int]) -> tuple[int, ...]:
        """The blocks that hold some variables."""
        at = {v: b for b, m in enumerate(self.members) for v in m}
        return tuple(dict.fromkeys(at[v] for v in scope))

    def projected(self, sums: Floats, scope: Sequence[int], arities: Sequence[int]) -> Floats:
        """Sums over configurations of blocks [chains, cells] as sums over those of variables."""
        over = self.over(scope)
        shape = tuple(len(self.states[b]) for b in over)
        codes = []
        for v in scope:
            axis = next(i for i, b in enumerate(over) if v in self.members[b])
            column = self.states[over[axis]][:, self.members[over[axis]].index(v)]
            lead = [1] * len(shape)
            lead[axis] = len(column)
            codes.append(np.broadcast_to(column.reshape(lead), shape).ravel())
        cells = tuple(arities[v] for v in scope)
        at = np.ravel_multi_index(codes, cells)
        return np.stack([np.bincount(at, row, prod(cells)) for row in sums])


def blocks_of(problem: Reduced, messages: Messages) -> Blocks:
    """Blocks in which no zero is left; refused, with the table named, where they grow too large."""
    kept = [np.flatnonzero(b > 0) for b in messages.beliefs]
    group: dict[int, tuple[int, ...]] = {v: (v,) for v in range(len(problem.names))}
    cut = [
        np.ascontiguousarray(t[np.ix_(*(kept[v] for v in s))])
        for s, t in zip(problem.scopes, problem.tables, strict=True)
    ]
    inside = _Inside(problem, cut)
    order = sorted(range(len(cut)), key=lambda f: (cut[f] > 0).all())
    for f in order:
        zeros = bool((cut[f] == 0).any())
        if not zeros and cut[f].min() >= SMALL * cut[f].max():
            continue
        together = tuple(sorted({u for v in problem.scopes[f] for u in group[v]}))
        size = prod(len(kept[v]) for v in together)
        if size <= MAX_STATES or (zeros and _fits(inside, kept, together)):
            group |= dict.fromkeys(together, together)
        elif zeros:
            raise _refusal(problem.owners[f])
    members = tuple(dict.fromkeys(group.values()))
    states = tuple(inside.possible(kept, m) for m in members)
    block = {v: b for b, m in enumerate(members) for v in m}
    scopes, tables = [], []
    for f, (scope, table) in enumerate(zip(problem.scopes, problem.tables, strict=True)):
        over = tuple(dict.fromkeys(block[v] for v in scope))
        shape = [len(states[b]) for b in over]
        if prod(shape) > MAX_TABLE:
            raise _refusal(problem.owners[f])
        index = []
        for v in scope:
            axis = over.index(block[v])
            lead = [1] * len(shape)
            lead[axis] = -1
            column = states[over[axis]][:, members[over[axis]].index(v)]
            index.append(column.reshape(lead))
        scopes.append(over)
        tables.append(np.ascontiguousarray(np.broadcast_to(table[tuple(index)], shape)))
    return Blocks(members, states, tuple(scopes), tuple(tables))


class _Inside:
    """The tables that lie wholly among some variables, found by the variables."""

    def __init__(self, problem: Reduced, cut: Sequence[Floats]) -> None:
        self._scopes, self._cut = problem.scopes, cut
        self._of: list[list[int]] = [[] for _ in problem.names]
        for f, scope in enumerate(problem.scopes):
            self._of[scope[0]].append(f)

    def possible(self, kept: Sequence[Codes], members: tuple[int, ...]) -> Codes:
        """The configurations of some variables that no table among them rules out."""
        at = {v: i for i, v in enumerate(members)}
        grid = np.indices([len(kept[v]) for v in members]).reshape(len(members), -1)
        fine = np.ones(grid.shape[1], dtype=bool)
        for f in (f for v in members for f in self._of[v]):
            if all(v in at for v in self._scopes[f]):
                fine &= self._cut[f][tuple(grid[at[v]] for v in self._scopes[f])] > 0
        return np.stack([kept[v][grid[i][fine]] for i, v in enumerate(members)], axis=1)


def _fits(inside: _Inside, kept: Sequence[Codes], members: tuple[int, ...]) -> bool:
    """Whether few of many configurations of a block are possible."""
    if prod(len(kept[v]) for v in members) > 64 * MAX_STATES:
        return False
    return len(inside.possible(kept, members)) <= MAX_STATES


def _refusal(owner: str) -> InputError:
    return InputError(
        f"Gibbs sampling cannot be trusted here: the table of {owner!r} holds probabilities of "
        "zero, which can keep its chains apart, and its variables are too many to be drawn "
        "together.",
        hint='Use method="importance", or "loopy".',
    )


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
    sweeps, done, size = 0, 0, 10

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

    def batch() -> tuple[int, str]:
        nonlocal sums, sweeps, size
        n = min(size, most - sweeps)
        found = run(n, True)
        sums = found if sums is None else sums + found
        sweeps += n
        size = min(2 * size, _BATCH)
        return n * CHAINS, _reason(means(), sweeps, most, request)

    while done < min(_BURN, max(_BATCH, most // 5)) and not request.late(0.3):
        run(10, False)
    stopped = sampled(batch, request.most if request.seconds is None else None)
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
    return ended(request, sweeps * CHAINS, most * CHAINS)


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
