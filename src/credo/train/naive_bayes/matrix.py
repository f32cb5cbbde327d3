"""Rows to statistics by class where all columns lie in one array and are of one kind.

The array is counted as it lies and the result is one block: no object for each column, so that a
thousand columns cost no more than their numbers. What does not fit a block (states that are far
apart, decimals as states, columns without a value) is left to `credo.train.naive_bayes.rows`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.data.columns.columns import Columns
from credo.data.columns.identifiers import FEW_INTEGERS
from credo.stats.by_class import Part, Totals
from credo.stats.class_blocks import WIDEST, Spreads, StateTables
from credo.stats.configurations import frozen
from credo.stats.squares import refuse_underflow

if TYPE_CHECKING:
    from credo.train.naive_bayes.plan import Plan

__all__ = ["block_of", "refuse_infinite", "refuse_no_counts"]

Array = NDArray[Any]
_MOST = 1 << 22  # cells of a block
_SAMPLE = 4096


def block_of(
    columns: Columns,
    group: NDArray[np.uint32],
    k: int,
    plan: Plan,
    weights: Array | None,
    threads: int,
) -> Sequence[Part] | None:
    """The statistics of all features as one block; None where they are of several kinds."""
    matrix = columns.matrix
    word = kind = plan.word
    if matrix is None or word is None or plan.states or not matrix.shape[1]:
        return None
    if kind == "auto" and matrix.dtype.kind == "f":
        kind = "gaussian"
    if kind == "gaussian":
        if plan.together or (plan.full and matrix.shape[1] > 1):
            return None
        found: Sequence[Part] | None = _spreads(columns, matrix, group, k, weights, threads)
    elif kind == "bernoulli":
        found = _above(columns, matrix, group, k, weights, threads)
    elif kind == "counts":
        found = (_totals(columns, matrix, group, k, weights, threads),)
    elif kind in ("categorical", "auto") and matrix.dtype.kind != "b":
        found = _states(columns, matrix, group, k, weights, threads, kind == "auto")
        kind = "categorical"
    else:
        return None
    if found is not None and kind != word:
        plan.all_are(kind)
    return found


def refuse_infinite(name: str, values: Array) -> None:
    """Refuse a column that holds infinity."""
    if values.dtype.kind == "f" and np.isinf(values).any():
        row = int(np.isinf(values).argmax())
        raise InputError(
            f"Row {row + 1:,} of {name!r} is infinite: a value must be finite (infinity is "
            "neither a number nor missing)."
        )


def _spreads(
    columns: Columns,
    matrix: Array,
    group: NDArray[np.uint32],
    k: int,
    weights: Array | None,
    threads: int,
) -> Spreads:
    floats = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    names = columns.names
    with np.errstate(all="ignore"):
        n, mean, scatter = _core.naive_moments(matrix, group, k, floats, threads)
    if _core.naive_usual_moments(n, mean, scatter):
        return Spreads(names, n, mean, scatter)
    finite = np.isfinite(mean)
    if not finite.all():
        for j in np.flatnonzero(~finite.all(axis=1)).tolist():
            refuse_infinite(names[j], matrix[:, j])
    if matrix.dtype.kind == "f" and not scatter.all():
        tiny = (scatter == 0) & (n > 1) & (np.abs(mean) < 1e-145)
        for j in np.flatnonzero(tiny.any(axis=1)).tolist() if tiny.any() else ():
            if np.fmax.reduce(np.abs(matrix[:, j])) > 0:
                refuse_underflow(names[j], np.asarray(matrix[:, j], dtype=np.float64))
    return Spreads(names, n, mean, scatter)


def _above(
    columns: Columns,
    matrix: Array,
    group: NDArray[np.uint32],
    k: int,
    weights: Array | None,
    threads: int,
) -> StateTables:
    d = matrix.shape[1]
    table = _core.naive_counts(matrix, (0, -1, None, 2), group, k, weights, threads)
    counts = np.ascontiguousarray(table.reshape(d, k, 4)[:, :, :2])
    return StateTables(columns.names, 0, counts, np.ones((d, 2), dtype=bool), True)


def _totals(
    columns: Columns,
    matrix: Array,
    group: NDArray[np.uint32],
    k: int,
    weights: Array | None,
    threads: int,
) -> Totals:
    floats = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    totals, countable = _core.naive_totals(matrix, group, k, floats, threads)
    if not countable:
        refuse_no_counts(columns.names, matrix.T)
    return Totals(columns.names, frozen(totals))


def refuse_no_counts(names: Sequence[str], columns: Iterable[Array]) -> None:
    """Refuse the first column with a count that is negative or infinite."""
    for name, x in zip(names, columns, strict=True):
        if ((x < 0) | np.isinf(x)).any():
            raise InputError(f"The counts {name!r} must be finite and not negative.")


def _states(
    columns: Columns,
    matrix: Array,
    group: NDArray[np.uint32],
    k: int,
    weights: Array | None,
    threads: int,
    auto: bool,
) -> StateTables | None:
    """Whole numbers in one narrow window, as far as a few thousand rows can tell at first.

    With `auto`, whether they are few enough to be states is still open.
    """
    n, d = matrix.shape
    step = max(n // _SAMPLE, 1)
    for rows in (matrix[::step], matrix) if step > 1 else (matrix,):
        limits = _limits(rows)
        if limits is None:
            return None
        low, width = limits
        if width > WIDEST or (auto and width > FEW_INTEGERS) or d * k * (width + 2) > _MOST:
            return None
        flat = _core.naive_counts(matrix, (low, width, None, width), group, k, weights, threads)
        table = flat.reshape(d, k, width + 2)
        if not table[:, :, -1].any():
            break
    else:  # decimals
        return None
    counts = np.ascontiguousarray(table[:, :, :-2])
    known: NDArray[np.bool_] = np.asarray(counts.any(axis=1))
    if not known.any(axis=1).all():
        return None
    return StateTables(columns.names, low, counts, known)


def _limits(rows: Array) -> tuple[int, int] | None:
    """Where the numbers begin and how far they go; None without numbers that can be told apart."""
    if rows.dtype.kind == "f":
        least, most = np.fmin.reduce(rows, axis=None), np.fmax.reduce(rows, axis=None)
        if not (least > -9e15 and most < 9e15) or least != np.trunc(least):
            return None
        return int(least), int(np.floor(most)) - int(least) + 1
    least, most = int(rows.min()), int(rows.max())
    return (least, most - least + 1) if most < 2**63 else None
