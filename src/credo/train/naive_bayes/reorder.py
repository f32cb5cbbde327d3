"""Counts that are put in another form: states that turn out to be numbers, classes in order.

While a stream is read, classes and states are numbered as they are met; see `naive_bayes_once`.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.data.columns.coder import Coder
from credo.stats.by_class import Spread
from credo.stats.configurations import frozen

__all__ = [
    "cell_numbers",
    "counts_above",
    "moments_of_counts",
    "placed",
    "room_for",
    "spread_in_order",
]

Floats = NDArray[np.float64]
Where = NDArray[np.intp]
Cells = tuple[NDArray[Any], NDArray[np.int64]]


def room_for(n: int) -> int:
    """A power of two above the number of values, so that tables seldom grow."""
    return 1 << max(int(n - 1).bit_length(), 2)


def cell_numbers(cells: Cells, coder: Coder) -> Floats:
    """Cells that came as codes, as numbers."""
    where, lut = cells
    values = np.append(coder.state_numbers()[lut[:-1]], np.nan)
    return np.asarray(values[where], dtype=np.float64)


def moments_of_counts(name: str, table: NDArray[Any], values: Floats) -> Spread:
    """The moments of numbers that were counted: n, Σ n·x / n, Σ n·(x − mean)²."""
    there = np.isfinite(values)
    x, n = values[there], table[:, : len(values)][:, there].astype(np.float64)
    total = n.sum(axis=1)
    some = np.where(total > 0, total, 1.0)
    middle = x.mean() if len(x) else 0.0
    mean = np.where(total > 0, middle + n @ (x - middle) / some, 0.0)
    mean += (n * (x - mean[:, None])).sum(axis=1) / some  # a value far away costs no digits
    scatter = (n * (x - mean[:, None]) ** 2).sum(axis=1)
    return Spread((name,), total, mean[:, None], scatter[:, None, None])


def counts_above(table: NDArray[Any], values: Floats) -> NDArray[Any]:
    """Counts of numbers at most 0 and above 0."""
    n = table[:, : len(values)]
    return np.stack([n[:, values <= 0].sum(axis=1), n[:, values > 0].sum(axis=1)], axis=1)


def placed(values: NDArray[Any], order: Where, k: int) -> NDArray[Any]:
    """The classes as they were met, in the order of the variable."""
    out = np.zeros((k, *values.shape[1:]), dtype=values.dtype)
    np.add.at(out, order, values[: len(order)])  # two spellings may be one class
    return out


def spread_in_order(spread: Spread, order: Where, k: int) -> Spread:
    """The same moments with the classes in the order of the variable; equal ones are added."""
    if len(set(order.tolist())) < len(order):
        first, *more = (
            Spread(
                spread.names, *(a[i : i + 1] for a in (spread.n, spread.mean, spread.scatter))
            ).on_classes(order[i : i + 1], k)
            for i in range(len(order))
        )
        return reduce(add, more, first)
    n, mean, scatter = (
        frozen(placed(a, order, k)) for a in (spread.n, spread.mean, spread.scatter)
    )
    return Spread(spread.names, n, mean, scatter)
