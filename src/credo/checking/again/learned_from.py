"""Whether a network was learned from the very rows of a table: its counts tell.

Every family that the table has whole must have the counts (or moments) that the network keeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credo.data import Table
from credo.stats.counts import Counts
from credo.stats.moments import Moments

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["learned_from"]


def learned_from(net: Network, table: Table) -> bool:
    """Whether the rows are those that the network was learned from.

    >>> import credo as cr
    >>> rows = cr.examples.pneumonia()
    >>> net = cr.fit("[Pneu][Fev|Pneu]", rows)
    >>> learned_from(net, rows), learned_from(net, rows.take(slice(0, 6)))
    (True, False)
    """
    gaps = dict(zip(table.schema.names, table.block.gaps, strict=True))
    asked = []
    for name, local in net.distributions.items():
        learned = local.learned
        names = [v.name for v in local.variables]
        if learned is None or not all(n in gaps for n in names):
            continue
        if abs(float(learned.observed.total) - float(table.block.weight)) > 1e-6 * max(
            float(table.block.weight), 1.0
        ) and not any(gaps[n] for n in names):
            return False
        if not any(gaps[n] for n in names):
            asked.append((name, [p.name for p in local.parents], learned.observed))
    if not asked:
        return _by_record(net, table)
    tally = table.tally([(name, parents) for name, parents, _ in asked])
    for name, parents, kept in asked:
        mine = tally[name, parents]
        if isinstance(mine, Counts) and isinstance(kept, Counts):
            if mine.cells <= 10_000_000:
                a = np.asarray(mine.dense(), dtype=np.float64)
                b = np.asarray(kept.marginal(mine.names).dense(), dtype=np.float64)
                if np.abs(a - b).max(initial=0.0) > 1e-6 * max(float(mine.total), 1.0):
                    return False
        elif isinstance(mine, Moments) and isinstance(kept, Moments):
            order = [v.name for v in (*mine.discrete, *mine.continuous)]
            if not mine.close_to(kept.marginal(order), 1e-6):
                return False
        else:
            return False
    return True


def _by_record(net: Network, table: Table) -> bool:
    """Every family has gaps: the record's source and number of rows must do."""
    record = net.record
    if record is None or not any(d.learned is not None for d in net.distributions.values()):
        return False
    rows = record.details.get("rows")
    same = isinstance(rows, (int, float)) and abs(rows - float(table.block.weight)) < 1e-6
    return bool(same and record.source == str(table.schema.source))
