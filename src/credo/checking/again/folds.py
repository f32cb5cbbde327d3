"""Folds: every row judged by a model that has not seen it.

The rows are dealt out at random into k parts; each part is judged by what the learner makes of
the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.checking.again.learners import Learner, quiet, whole_or_stop
from credo.checking.again.row_scores import Scored, score_rows
from credo.core.errors import InputError, TableError
from credo.core.progress import track
from credo.data import Stream, Table, read
from credo.model.values.randomness import Rng, generator
from credo.model.values.value import whole
from credo.predict.rows.rows import read_rows

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["Judge", "deal", "judges_of", "rows_for", "scored_by", "without_weightless"]

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Judge:
    """A network and the rows that it is to judge."""

    net: Network
    rows: Rows


def rows_for(net: Network, data: Any, schema: Any = None, weights: Any = None) -> Table:
    """The rows over the network's variables; those of weight 0 are absent."""
    if isinstance(data, Stream):
        data = data.load()
    if not isinstance(data, Table) and (weights is not None or schema is not None):
        data = read(data, schema if schema is not None else net.schema, weights)
        data = data.load() if isinstance(data, Stream) else data
    return without_weightless(read_rows(net, data))


def without_weightless(table: Table) -> Table:
    """The rows that count; there must be some."""
    if table.weights is not None and not (table.weights > 0).all():
        table = table.take(table.weights > 0)
    if not len(table):
        raise TableError("There are no rows to judge by.", hint="Check the table and its weights.")
    return table


def deal(n: int, folds: Any, rng: Rng) -> list[Rows]:
    """The rows of each fold.

    >>> sorted(len(part) for part in deal(10, 4, 0))
    [2, 2, 3, 3]
    """
    k = whole(folds, 2, "folds")
    if n < 2:
        raise InputError(f"Cross-validation needs at least 2 rows, got {n}.")
    order = generator(rng).permutation(n)
    return [np.sort(part) for part in np.array_split(order, min(k, n))]


def judges_of(learner: Learner, table: Table, parts: list[Rows], label: str) -> Iterator[Judge]:
    """The network of each fold, with the rows that it has not seen."""
    every = np.arange(len(table))
    for part in track(parts, label, total=len(parts)):
        rest = np.setdiff1d(every, part, assume_unique=True)
        with quiet():
            net = learner(table.take(rest))
        whole_or_stop(net.record)
        yield Judge(net, part)


def scored_by(judges: list[Judge], table: Table, most: int = 500) -> Scored:
    """ln P of each row by the network that judges it (`most`: see `score_rows`)."""
    log, known = np.zeros(len(table)), np.zeros(len(table), dtype=bool)
    for judge in judges:
        every = len(judge.rows) == len(table)
        part = table if every else table.take(judge.rows)
        if set(part.schema.names) - set(judge.net.names):
            part = part.select([n for n in part.schema.names if n in judge.net.schema])
        found = score_rows(judge.net, part, most)
        log[judge.rows], known[judge.rows] = found.log, found.known
    return Scored(log, known)
