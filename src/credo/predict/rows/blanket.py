"""Rows in which everything but the target is known: only the target's Markov blanket matters.

    P(t | all others) = P(t | parents, children, children's other parents)

So the rows are run once for each different state of the blanket. That a row is possible at all
must be seen apart: a family without the target may give it probability zero.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import ImpossibleError
from credo.predict.exact.engine import engine_of

if TYPE_CHECKING:
    from credo.data import Table
    from credo.model.networks.network import Network

__all__ = ["blanket_posteriors", "impossible_row"]

_LISTED = 1 << 22  # up to this many configurations of a blanket are numbered by a table


def blanket_posteriors(
    net: Network, table: Table, target: str, threads: int
) -> NDArray[np.float64]:
    """P(target | the rest of the row) for rows without gaps in a discrete network."""
    _refuse_impossible(net, table, target)
    engine = engine_of(net)
    blanket = [net.names[i] for i in engine.blanket(target)]
    columns = [table.codes(n) for n in blanket]
    rows, inverse = _different(columns, [net.variable(n).arity for n in blanket], len(table))
    if not len(table):
        return np.zeros((0, net.variable(target).arity))
    observed = [engine.at[n] for n in blanket]
    plan = engine.plan(observed, [engine.at[target]], evidence=engine.directed)
    log_e, flat, _ = plan.run(engine.tables, rows, [], threads)
    bad = np.flatnonzero(np.asarray(log_e) == -np.inf)
    if len(bad):
        raise impossible_row(int(np.isin(inverse, bad).argmax()))
    posteriors: NDArray[np.float64] = flat[inverse]
    return posteriors


def _different(
    columns: list[NDArray[Any]], arities: list[int], n: int
) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """The different configurations of some columns, and which of them each row is."""
    size = prod(arities)
    if size > _LISTED:
        unique, inverse = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        return np.ascontiguousarray(unique, dtype=np.int32), inverse.ravel()
    key = np.zeros(n, dtype=np.int32)
    for column, arity in zip(columns, arities, strict=True):
        key *= np.int32(arity)
        key += column.astype(np.int32)
    seen = np.zeros(size, dtype=bool)
    seen[key] = True
    found = np.flatnonzero(seen)
    number = np.cumsum(seen) - 1
    rows = np.zeros((len(found), len(columns)), dtype=np.int32)
    for k, codes in enumerate(np.unravel_index(found, arities) if columns else ()):
        rows[:, k] = codes
    return rows, number[key]


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
