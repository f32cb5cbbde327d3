"""The different rows that a start looks at, in an order that their cells alone decide.

Draws take rows by their place, so places must not hang on how a table happens to be written. Equal
rows are gathered, and every row gets a colour that says what it holds but for names and order: the
rank of each number, and for each state which rows have it. Colours of rows make those of columns
and states, and these those of rows again, until all differ or a few times (Weisfeiler & Leman
1968). Rows, columns and states are sorted by colour; names decide only between columns, or states,
that colours cannot tell apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.core.frozen import Frozen
from credo.predict.rows.mixture import Taken

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Colours = NDArray[np.uint64]

_ROUNDS = 3
_SAME = 1e-9  # weights closer than this share are the same, but for rounding


@dataclass(frozen=True, eq=False)
class Gathered(Frozen):
    """Different rows in their order, and the weight of each.

    `columns` are the places of the columns (numbers, then counts, then states, as in a plan), and
    `states` those of the states of each discrete column, in their order.
    """

    rows: Places
    weights: Floats
    columns: Places
    states: tuple[Places, ...]


def gathered(cells: Taken, rows: Places, weights: Floats) -> Gathered:
    """The different ones of some rows.

    >>> from credo.predict.rows.mixture import Plan
    >>> cells = Taken(Plan(("x",)), np.array([[0.5, 1.5, 0.5]]), np.zeros((0, 3)), ())
    >>> found = gathered(cells, np.arange(3), np.ones(3))
    >>> sorted(zip(found.rows.tolist(), found.weights.tolist()))
    [(0, 2.0), (1, 1.0)]
    """
    values = np.concatenate([cells.reals[:, rows], cells.counts[:, rows]])
    ranks = _ranks(values)
    codes = [np.where(c[rows] == v.arity, -1, c[rows].astype(np.int64))
             for v, c in zip(cells.plan.states, cells.codes, strict=True)]  # fmt: skip
    table = np.concatenate([ranks, np.array(codes, dtype=np.int64).reshape(-1, len(rows))])
    first, w = _different(table, weights)
    table = table[:, first]
    arities = [v.arity for v in cells.plan.states]
    row, column, state = _coloured(table, w, len(cells.reals), len(values), arities)
    # what colours cannot tell apart stands by name
    names = np.argsort(np.argsort(np.array(cells.plan.names, dtype=object)))
    columns = np.lexsort([names, column])
    states = tuple(np.argsort(s, kind="stable") for s in state)
    keys = []
    for j in columns[::-1]:
        cell = table[j]
        if j >= len(values):
            place = np.empty(len(states[j - len(values)]) + 1, dtype=np.int64)
            place[states[j - len(values)]] = np.arange(len(place) - 1)
            place[-1] = -1
            cell = place[cell]
        keys.append(cell)
    by = np.argsort(row)
    if len(np.unique(row)) < len(row):
        by = np.lexsort([*keys, row])
    return Gathered(rows[first[by]], w[by], columns, states)


def _ranks(values: Floats) -> NDArray[np.int64]:
    """Each number's place among the different ones of its column; −1 where it is missing."""
    order = np.argsort(values, axis=1)  # equal numbers have one place, whichever comes first
    sorted_ = np.take_along_axis(values, order, axis=1)
    new = np.zeros(values.shape, dtype=np.int64)
    new[:, 1:] = sorted_[:, 1:] != sorted_[:, :-1]
    ranks = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.cumsum(new, axis=1), axis=1)
    ranks[np.isnan(values)] = -1
    return ranks


def _different(table: NDArray[np.int64], w: Floats) -> tuple[Places, Floats]:
    """Where each different row stands first, and its weight."""
    n = table.shape[1]
    if any(len(np.unique(column)) == n for column in table[:8]):  # as numbers do
        return np.arange(n), w
    cells = np.ascontiguousarray(table.T)
    _, first, each = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    return first, np.bincount(each.ravel(), weights=w).astype(np.float64)


def _mixed(x: Colours) -> Colours:
    """Whole numbers scattered over 64 bits (splitmix64), so that sums of them tell sets apart."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _apart(colours: Colours) -> bool:
    """Whether no two are the same: then they need no further round."""
    return len(np.unique(colours)) == len(colours)


def _coloured(
    table: NDArray[np.int64], w: Floats, reals: int, numbers: int, arities: list[int]
) -> tuple[Colours, Colours, list[Colours]]:
    """The colours of rows, of columns, and of the states of each discrete column."""
    d, n = table.shape
    kind = np.repeat(np.array([1, 2, 3], dtype=np.uint64), [reals, numbers - reals, d - numbers])
    known = table.copy()  # a state has no name here, only whether it is there
    known[numbers:] = np.minimum(known[numbers:], 0)
    base = _mixed((known + 1).astype(np.uint64) + (kind[:, None] << np.uint64(48)))
    order = np.argsort(w)
    steps = np.diff(w[order], prepend=w[order[:1]])
    heavy = np.empty(n, dtype=np.uint64)
    heavy[order] = np.cumsum(steps > _SAME * w[order]).astype(np.uint64)
    heavy = _mixed(heavy)
    cell = base
    states = [np.zeros(a, dtype=np.uint64) for a in arities]
    by = [np.argsort(codes, kind="stable") for codes in table[numbers:]]
    for turn in range(_ROUNDS + 1):
        row = _mixed(heavy + cell.sum(axis=0, dtype=np.uint64))
        column = _mixed(_mixed(cell ^ row).sum(axis=1, dtype=np.uint64))
        for j, (sort, codes) in enumerate(zip(by, table[numbers:], strict=True)):
            here = codes[sort]
            starts = np.flatnonzero(np.diff(here, prepend=-2))
            sums = np.add.reduceat(row[sort], starts) if n else row
            found = here[starts]
            states[j][found[found >= 0]] = _mixed(sums[found >= 0])
        if turn == _ROUNDS or all(_apart(c) for c in (row, column, *states)):
            break
        cell = _mixed(base ^ column[:, None])
        for j, codes in enumerate(table[numbers:]):
            own = np.append(states[j], np.uint64(0))
            cell[numbers + j] = _mixed(cell[numbers + j] ^ own[codes])
    return row, column, states
