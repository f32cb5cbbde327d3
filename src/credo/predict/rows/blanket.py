"""Rows in which everything but the target is known: only the target's Markov blanket matters.

    P(t | all others) = P(t | parents, children, children's other parents)

So the rows are run once for each different state of the blanket. That a row is possible at all
must be seen apart: a family without the target may give it probability zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import ImpossibleError
from credo.predict.exact.engine import engine_of

if TYPE_CHECKING:
    from credo.data import Table
    from credo.model.networks.network import Network

__all__ = ["blanket_posteriors", "different", "impossible_row"]

_LISTED = 1 << 22  # up to this many configurations of a blanket are numbered by a table


def blanket_posteriors(
    net: Network, table: Table, target: str, threads: int
) -> NDArray[np.float64]:
    """P(target | the rest of the row) for rows without gaps in a discrete network."""
    _refuse_impossible(net, table, target)
    engine = engine_of(net)
    blanket = [net.names[i] for i in engine.blanket(target)]
    if not len(table):
        return np.zeros((0, net.variable(target).arity))
    columns = [table.codes(n) for n in blanket]
    first, inverse = different(columns, [net.variable(n).arity for n in blanket], len(table))
    rows = np.empty((len(first), len(columns)), dtype=np.int32)
    for k, column in enumerate(columns):
        rows[:, k] = column[first]
    observed = [engine.at[n] for n in blanket]
    plan = engine.plan(observed, [engine.at[target]], evidence=engine.directed)
    log_e, flat, _ = plan.run(engine.tables, rows, [], threads)
    bad = np.flatnonzero(np.asarray(log_e) == -np.inf)
    if len(bad):
        raise impossible_row(int(np.isin(inverse, bad).argmax()))
    posteriors: NDArray[np.float64] = flat[inverse]
    return posteriors


def different(
    columns: Sequence[NDArray[Any]], arities: Sequence[int], n: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first row of each different configuration of some columns, and which one each row has.

    >>> [found.tolist() for found in different([np.array([1, 0, 1])], [2], 3)]
    [[1, 0], [1, 0, 1]]
    """
    size = prod(arities)
    if size > 2**62:  # more than a key can hold: rows that agree are rare
        return np.arange(n), np.arange(n)
    listed = size <= min(_LISTED, 64 * n)
    key: NDArray[Any] = np.zeros(n, dtype=np.int32 if listed else np.int64)
    for column, arity in zip(columns, arities, strict=True):
        key *= key.dtype.type(arity)
        key += column.astype(key.dtype)
    if not listed:
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        return first, inverse.ravel()
    at = np.full(size, -1, dtype=np.intp)
    at[key[::-1]] = np.arange(n - 1, -1, -1)
    seen = at >= 0
    return at[seen], (np.cumsum(seen) - 1)[key]


def _refuse_impossible(net: Network, table: Table, target: str) -> None:
    """A zero in a family without the target makes a row impossible whatever the target is."""
    engine = engine_of(net)
    for scope, values in zip(engine.scopes, engine.tables, strict=True):
        if engine.at[target] in scope or (values > 0).all():
            continue
        at = tuple(table.codes(net.names[i]) for i in scope)
        shaped = values.reshape([engine.arities[i] for i in scope])
        bad = np.flatnonzero(np.broadcast_to(shaped[at], len(table)) == 0)
        if len(bad):
            raise impossible_row(int(bad[0]))


def impossible_row(row: int) -> ImpossibleError:
    """The error for a row that the model rules out."""
    return ImpossibleError(
        f"Row {row + 1:,} has probability zero under the model.",
        hint="Ask log_evidence() of its cells to see which conflict.",
    )
