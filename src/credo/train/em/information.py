"""Expected information: how much of each variable the rows tell, observed cells and gaps together.

    told(X) = 1 − P(X is missing) · E[H(X | rest of the row)] / H(X)          (discrete, entropies)
    told(X) = 1 − P(X is missing) · E[Var(X | rest of the row)] / Var(X)      (continuous)

An observed cell tells all of its variable, a gap what its row says of it: a hidden class that its
children give away is told nearly whole though it was never seen. The expectation is over rows with
gaps, at most `ROWS` of them, evenly spaced.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError
from credo.core.schema import Variable
from credo.data import Table
from credo.model.networks.network import Network
from credo.predict.rows.impute import Gaps, impute
from credo.stats.block import Block

__all__ = ["ROWS", "information", "with_hidden"]

ROWS = 256
"""Rows with gaps that are looked at."""

Floats = NDArray[np.float64]


def information(
    net: Network, table: Table | None, observed: Mapping[str, float]
) -> dict[str, float]:
    """The share of each variable that the rows tell; `observed` is the share of rows that have it.

    Variables for which it cannot be worked out exactly (a row with too many gaps) are left out.
    """
    told = {n: 1.0 for n in net.names if observed.get(n, 0.0) >= 1.0}
    if table is None or len(told) == len(net.names):
        return told
    wide = with_hidden(net, table)
    gone = np.zeros(len(wide), dtype=bool)
    for v, column in zip(wide.schema.variables, wide.block.arrays, strict=True):
        gone |= column == v.arity if v.is_discrete else np.isnan(column)
    holes = np.flatnonzero(gone)
    if not len(holes):
        return told
    chosen = holes[np.unique(np.linspace(0, len(holes) - 1, ROWS).astype(np.intp))]
    try:
        gaps = impute(net, wide.take(chosen), "posterior")
    except CredoError:
        return told
    assert isinstance(gaps, Gaps)
    for name in net.names:
        if name in told or name not in gaps.posteriors:
            continue
        seen = observed.get(name, 0.0)
        column = wide.block.arrays[wide.schema.index(name)]
        share = _told(net.variable(name), column, gaps.posteriors[name], seen)
        if share is not None:
            told[name] = share
    return {n: told[n] for n in net.names if n in told}


def _told(
    variable: Variable, column: NDArray[np.generic], gaps: Floats, seen: float
) -> float | None:
    if variable.is_discrete:
        states = column[column != variable.arity].astype(np.intp)
        counts = np.bincount(states, minlength=variable.arity).astype(np.float64)
        own = counts / max(counts.sum(), 1.0)
        whole = _entropy(seen * own + (1 - seen) * gaps.mean(axis=0))
        left = float(np.mean([_entropy(p) for p in gaps]))
    else:
        values = column[~np.isnan(column.astype(np.float64))].astype(np.float64)
        mean, variance = gaps[:, 0], gaps[:, 1]
        middle = float(values.mean()) if len(values) else 0.0
        centre = seen * middle + (1 - seen) * float(mean.mean())
        spread = float(((values - centre) ** 2).mean()) if len(values) else 0.0
        left = float(variance.mean())
        whole = seen * spread + (1 - seen) * (left + float(((mean - centre) ** 2).mean()))
    if not whole > 0:
        return None
    return float(np.clip(1 - (1 - seen) * left / whole, 0.0, 1.0))


def _entropy(p: Floats) -> float:
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


def with_hidden(net: Network, table: Table) -> Table:
    """The table with a column, all missing, for each variable that it does not have."""
    arrays: list[NDArray[np.generic]] = []
    for v in net.variables:
        if v.name in table.schema:
            arrays.append(table.block.arrays[table.schema.index(v.name)])
        elif v.is_discrete:
            arrays.append(np.full(len(table), v.arity, dtype=np.min_scalar_type(v.arity)))
        else:
            arrays.append(np.full(len(table), np.nan))
    return Table(Block(net.schema, tuple(arrays), table.weights))
