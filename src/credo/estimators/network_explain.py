"""Explaining a prediction of a network: what each cell adds to the cells before it, in bits.

    log₂ P(a | x) / P(b | x) = log₂ P(a) / P(b) + Σ_j log₂ P(x_j | x_1 … x_{j−1}, a) / P(… | b)

The chain rule holds for every network and with gaps. All it needs is the answers to as many rows as
there are cells, each with one cell more than the row before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.core.schema import Variable, is_missing
from credo.data.columns.columns import Column, Columns
from credo.predict.rows.naive_explain import (
    Contributions,
    compared_classes,
    contributions,
    ruled_out,
)

__all__ = ["cells_of_row", "explained", "one_by_one"]

Floats = NDArray[np.float64]


def cells_of_row(
    row: Any, names: Sequence[str], features: Sequence[str], target: str
) -> dict[str, Any]:
    """The cells that are there, by name: of a mapping, or of the values in the order of training.

    >>> cells_of_row(["u", None], ["a", "b"], ["a", "b"], "y")
    {'a': 'u'}
    """
    if not isinstance(row, Mapping):
        values = list(np.asarray(row, dtype=object).ravel())
        if len(values) != len(names):
            raise InputError(f"The row has {len(values)} values for {len(names)} features.")
        row = {n: v for n, v in zip(names, values, strict=True) if n in features}
    for name, value in row.items():
        if name == target and not is_missing(value):
            raise InputError(
                f"{name!r} is the class, which is what is asked for.", hint="Leave it out."
            )
        if name not in features and name != target:
            raise unknown_name("Feature", name, features, "in the model")
    found = {n: row[n] for n in features if n in row and not is_missing(row[n])}
    if not found:
        raise InputError("The row has no cell, so there is nothing to explain.")
    return found


def one_by_one(columns: Columns, names: Sequence[str]) -> Columns:
    """One row as many: none of its cells, the first, the first two, … all."""
    many = len(names) + 1
    found = {}
    for j, name in enumerate(names):
        column = columns.by_name[name]
        cell = column.values[0]
        gap = np.nan if column.variable is None else column.variable.arity
        values = np.where(np.arange(many) > j, cell, gap).astype(column.values.dtype)
        found[name] = Column(values, column.variable)
    return Columns(many, found)


def explained(
    target: Variable, cells: Mapping[str, Any], log_p: Floats, of: Any, against: Any
) -> Contributions:
    """The account of ln P(class | no cell, the first, …, all)."""
    last = log_p[-1]
    first, second = compared_classes(target, last, of, against)
    if last[first] == last[second] == -math.inf:
        raise ruled_out(
            "The row", target.states[first], target.states[second], "another class is certain"
        )
    with np.errstate(invalid="ignore"):
        odds = (log_p[:, first] - log_p[:, second]) / math.log(2)
    bits = [float(b - a) if math.isfinite(a) else 0.0 for a, b in pairwise(odds)]
    rows = [(n, v, b) for (n, v), b in zip(cells.items(), bits, strict=True)]
    return contributions(target, last, first, second, float(odds[0]), rows)
