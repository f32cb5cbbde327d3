"""Row weights, from a column or an array. A row of weight 0 is absent, everywhere."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, TableError, shown, unknown_name
from credo.core.render import many
from credo.core.schema import Variable
from credo.core.state_values import is_missing
from credo.data.columns.cells import Tokens, type_name
from credo.data.columns.encoder import Encoder
from credo.data.columns.written import MISSING
from credo.data.sources.arrays import rows_there
from credo.data.sources.feed import Batch

SMALLEST, LARGEST = 1e-300, 1e300
"""Weights outside could pass what a number can hold when they are added up."""

_EXACT = 2**53


@dataclass(frozen=True, eq=False)
class Weights:
    """Where the weights come from: a column, an array, or nowhere.

    `whole` says that every weight is a whole number, so that counts stay exact integers.
    """

    column: str | None = None
    array: NDArray[np.float64] | None = None
    whole: bool = False
    text: bool = False

    @classmethod
    def of(cls, given: Any, names: Sequence[str], *, text: bool) -> Weights:
        """Weights as the user gave them."""
        if given is None:
            return cls()
        if isinstance(given, str):
            if given not in names:
                raise unknown_name("The weights column", given, names, "in the table")
            return cls(column=given, text=text)
        if isinstance(given, Number):
            raise unknown_name("The weights column", given, names, "in the table")
        array = _floats_of(given)
        if array.ndim != 1:
            raise InputError(f"The weights must have one axis, got the shape {array.shape}.")
        _check(array, 0, "weights")
        return cls(array=array, whole=are_whole([array]))

    @property
    def fractions(self) -> bool:
        """Whether sums of weights need not be whole numbers."""
        return not self.whole and (self.column is not None or self.array is not None)

    def with_column(self, names: Sequence[str]) -> list[str]:
        """The names to read: the variables', and the weights' column if there is one."""
        extra = [self.column] if self.column is not None and self.column not in names else []
        return [*names, *extra]

    def split(
        self, batch: Batch, done: int
    ) -> tuple[Batch, NDArray[Any] | None, NDArray[np.bool_] | None]:
        """The batch without its rows of weight 0, the weights of the rest, and which those are
        (None: all).
        """
        if self.column is None and self.array is None:
            return batch, None, None
        n = len(next(iter(batch.values())))
        if self.column is not None:
            weights = self._of_column(batch[self.column], done)
        else:
            assert self.array is not None
            weights = self.array[done : done + n]
            if len(weights) < n:
                came = many(len(self.array), "weight")
                raise TableError(f"A weight for each row is needed, got {came} for more rows.")
        there = weights > 0
        if not there.all():
            weights = weights[there]
            batch = {
                k: c[there] if isinstance(c, np.ndarray) else rows_there(c, there)
                for k, c in batch.items()
            }
        kept = weights.astype(np.int64) if self.whole else weights
        return batch, kept, None if there.all() else there

    def _of_column(self, cells: Any, done: int) -> NDArray[np.float64]:
        """The weights in some cells of the column, after so many rows."""
        assert self.column is not None
        what = f"weights column {self.column!r}"
        if not self.text and _holds_no_numbers(cells):
            raise TableError(
                f"The {what} holds texts or dates; weights must be numbers.",
                hint="Turn them into numbers first; 0 leaves a row out.",
            )
        variable = Variable(self.column, "continuous")
        tokens = Tokens(MISSING if self.text else (), self.text)
        try:
            weights = Encoder(variable, tokens).encode(cells, lambda i: done + i + 1)
        except TableError as error:
            raise TableError(
                error.message, hint="A weight is a number; 0 leaves its row out."
            ) from None
        _check(weights, done, what)
        return weights


def are_whole(weights: Sequence[NDArray[np.float64]]) -> bool:
    """Whether weights are whole numbers whose sum an integer can hold exactly."""
    total = sum(float(w.sum()) for w in weights)
    return total <= _EXACT and all(bool((w % 1 == 0).all()) for w in weights)


def _holds_no_numbers(cells: Any) -> bool:
    if isinstance(cells, np.ndarray):
        return not all(is_missing(c) or isinstance(c, Number) for c in cells.ravel())
    return type_name(cells.type) in ("str", "date")


def _floats_of(given: Any) -> NDArray[np.float64]:
    """An array or a list of weights as floats, NaN where one is missing.

    >>> _floats_of([1, None, 0.5]).tolist()
    [1.0, nan, 0.5]
    """
    if isinstance(given, np.ma.MaskedArray):
        given = np.ma.filled(given.astype(np.float64), np.nan)
    try:
        array = np.asarray(given)
        if array.dtype == object and _holds_no_numbers(array):
            raise TypeError(array)
        out = array.astype(np.float64) if array.dtype.kind in "biufO" and array.ndim else None
    except (TypeError, ValueError):
        out = None
    if out is None:
        raise InputError(
            f"The weights must be numbers, one for each row, or a column's name, got "
            f"{shown(given)}."
        )
    return out


def _check(weights: NDArray[np.float64], done: int, what: str) -> None:
    bad = ~((weights == 0) | ((weights >= SMALLEST) & (weights <= LARGEST)))
    if bad.any():
        row = int(bad.argmax())
        value = weights[row]
        problem = "is missing" if np.isnan(value) else f"is {value:g}"
        where = f"Row {done + row + 1} of the {what} {problem}"
        if 0 < value < np.inf:
            raise TableError(
                f"{where}; a weight must be 0, or between {SMALLEST:g} and {LARGEST:g}.",
                hint="Multiply all weights by the same number, so that they are near 1.",
            )
        raise TableError(
            f"{where}; a weight must be a finite number, 0 or more.",
            hint="Give the row the weight 0 to leave it out.",
        )


# --- where the rows stood -----------------------------------------------------------------
#
# Row numbers: where a row that was kept stood in the source, as a person counts it.


class RowNumbers:
    """Rows of weight 0 are left out, so the fifth row kept may be the ninth of the table.

    >>> numbers = RowNumbers()
    >>> numbers.add(0, 3, np.array([True, False, True])); numbers.add(3, 2, None)
    >>> [numbers.of(i) for i in range(4)]
    [1, 3, 4, 5]
    """

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._batches: list[tuple[int, NDArray[Any] | None]] = []
        self._kept = 0
        self._seen = 0

    @property
    def left_out(self) -> int:
        """How many rows were not kept."""
        return self._seen - self._kept

    def add(self, done: int, rows: int, there: NDArray[np.bool_] | None) -> None:
        """A batch of `rows` rows that follow `done` others; `there` says which were kept."""
        at = None if there is None else np.flatnonzero(there)
        self._starts.append(self._kept)
        self._batches.append((done, at))
        self._kept += rows if at is None else len(at)
        self._seen = done + rows

    def extend(self, other: RowNumbers) -> None:
        """The rows of a later part, which follow these."""
        self._starts += [self._kept + start for start in other._starts]
        self._batches += other._batches
        self._kept += other._kept
        self._seen = other._seen

    def of(self, kept: int) -> int:
        """The number of a row in the source, from its position among the rows kept."""
        i = bisect_right(self._starts, kept) - 1
        done, at = self._batches[i]
        inside = kept - self._starts[i]
        return done + 1 + (inside if at is None else int(at[inside]))
