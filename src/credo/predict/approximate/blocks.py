"""Blocks for Gibbs sampling: variables that a zero ties together are drawn together.

    x_B ~ P(x_B | rest),    x_B over the configurations of B that are possible

A zero in a table can split the configurations into islands that no single change connects; a chain
would never leave its own. If all variables of the table are in one block, the zero is no longer
between states but a state that is not there. Tables with very small numbers are treated alike
where the block stays small: chains would cross them too rarely. After that every table is above
zero, so the chain can reach everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.predict.approximate.messages import Messages
from credo.predict.exact.reduction import Reduced

__all__ = ["Blocks", "blocks_of"]

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

MAX_STATES = 512
"""Configurations that one block may have."""
MAX_CELLS = 1 << 22
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
    inside = Inside(problem, cut)
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
        if prod(shape) > MAX_CELLS:
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


class Inside:
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


def _fits(inside: Inside, kept: Sequence[Codes], members: tuple[int, ...]) -> bool:
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
