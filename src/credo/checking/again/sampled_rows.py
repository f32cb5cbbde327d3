"""Some of the rows, each counting once: what checks that generate tables compare with.

A row of whole weight w stands for w rows. Where there are more rows than are wanted, some are
drawn at random, and whoever asks is told.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from credo.checking.again.row_scores import weights_of
from credo.data import Table
from credo.model.values.randomness import Rng, generator
from credo.stats.block import Block

__all__ = ["copies", "plain_rows"]

MAX_COPIES = 2_000_000
"""Rows of whole weights are taken apart up to so many."""


def copies(table: Table) -> tuple[Table, NDArray[np.intp]]:
    """Rows of whole weights as so many rows, and where each comes from; others as they are.

    So the copies of a row can fall into different folds, as those of a table without weights do.

    >>> import credo as cr
    >>> rows, origin = copies(cr.read({"x": ["a", "b"], "w": [3, 1]}, weights="w"))
    >>> rows["x"].tolist(), origin.tolist()
    (['a', 'a', 'a', 'b'], [0, 0, 0, 1])
    """
    every = np.arange(len(table))
    if table.weights is None:
        return table, every
    each = weights_of(table)
    if not (each == np.round(each)).all() or float(each.sum()) > MAX_COPIES:
        return table, every
    origin = np.repeat(every, each.astype(np.int64))
    return Table(Block(table.schema, tuple(a[origin] for a in table.block.arrays))), origin


def plain_rows(table: Table, most: int, rng: Rng) -> tuple[Table, NDArray[np.intp], str]:
    """At most so many rows without weights, where they were, and what was done (in words).

    >>> import credo as cr
    >>> rows = cr.read({"x": ["a", "b"], "w": [3, 1]}, weights="w")
    >>> plain_rows(rows, 10, 0)[0]["x"].tolist()
    ['a', 'a', 'a', 'b']
    """
    chance = generator(rng)
    weights, n = table.weights, len(table)
    if weights is None:
        if n <= most:
            return table, np.arange(n), ""
        kept = np.sort(chance.choice(n, most, replace=False))
        return table.take(kept), kept, f"{most:,} of {n:,} rows, drawn at random"
    each = weights_of(table)
    total = float(each.sum())
    whole = bool((each == np.round(each)).all())
    if whole and total <= most:
        kept = np.repeat(np.arange(n), each.astype(np.int64))
        note = ""
    elif whole and total < 1e9:
        times = chance.multivariate_hypergeometric(each.astype(np.int64), most, method="marginals")
        kept = np.repeat(np.arange(n), times)
        note = f"{most:,} of {total:,.0f} rows, drawn at random"
    else:
        size = max(2, min(most, round(total)))
        ends = np.cumsum(each) / total
        kept = np.searchsorted(ends, (np.arange(size) + chance.random()) / size)
        kept = np.minimum(kept, n - 1)
        note = f"{size:,} rows drawn in proportion to their weights"
    arrays = tuple(a[kept] for a in table.block.arrays)
    return Table(Block(table.schema, arrays)), kept, note
