"""Some of the rows, each counting once: what checks that generate tables compare with.

A row of whole weight w stands for w rows. Where there are more rows than are wanted, some are
drawn at random, and whoever asks is told.
"""

from __future__ import annotations

import numpy as np

from credo.checking.row_scores import weights_of
from credo.data import Table
from credo.model.randomness import Rng, generator
from credo.stats.block import Block

__all__ = ["plain_rows"]


def plain_rows(table: Table, most: int, rng: Rng) -> tuple[Table, np.ndarray, str]:
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
