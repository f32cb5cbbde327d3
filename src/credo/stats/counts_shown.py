"""Counts as a table to print: a row per parent configuration, a column per state of the child."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credo.core.render import number
from credo.stats.configurations import grouped

if TYPE_CHECKING:
    from credo.stats.counts import Counts

__all__ = ["rows_shown"]


def rows_shown(counts: Counts, most: int = 60) -> tuple[list[str], list[list[str]], list[int], int]:
    """Rows for printing: a row per parent configuration, a column per state of the child; and
    how many more there are.
    """
    if not counts.variables:
        return ["n"], [[number(counts.total)]], [0], 0
    child, parents = counts.variables[-1], counts.variables[:-1]
    shown: dict[tuple[int, ...], dict[int, int | float]] = {}  # by codes: True equals 1 as a key
    if counts.is_dense and counts.cells <= most * child.arity:
        shown = {row: {} for row in np.ndindex(counts.shape[:-1])}
    for codes, value in counts.seen():
        if codes[:-1] not in shown and len(shown) >= most:
            break
        shown.setdefault(codes[:-1], {})[codes[-1]] = value
    texts = [v.texts for v in counts.variables]
    by_row = [([one[i] for one, i in zip(texts, row, strict=False)], r) for row, r in shown.items()]
    if (not parents and len(child.states) > 12) or len(child.states) > 24:
        head = [*counts.names, "n"]
        rows = [[*row, texts[-1][s], number(n)] for row, r in by_row for s, n in r.items()]
        return head, rows[:most], [len(head) - 1], int(np.count_nonzero(counts.values)) - most
    head = [*(v.name for v in parents), *(f"{child.name}={s}" for s in texts[-1])]
    rows = [[*row, *(number(r.get(s, 0)) for s in range(child.arity))] for row, r in by_row]
    more = 0
    if len(rows) >= most:
        cells = counts.sparse().configurations
        assert cells is not None
        more = max(len(grouped(cells[:, :-1])[0]) - len(rows), 0)
    return head, rows, list(range(len(parents), len(head))), more
