"""Rows: the different rows of a table, each with its weight.

The importance-weighted data set of the lecture notes: three e-mails of which two are alike
are two rows with the weights 2 and 1. Every count over the table is the same from its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, SchemaError, unknown_name
from credo.core.render import number, table_html, table_text
from credo.core.schema import Variable
from credo.stats.configurations import named
from credo.stats.counts import Counts
from credo.stats.given import (
    given_axes,
    given_tolerance,
    in_order,
    owned,
    restore,
    sealed,
    total_of,
)


def code_type(arity: int) -> type[np.unsignedinteger[Any]]:
    """The smallest unsigned type that holds the codes 0 … arity, the last one for missing.

    >>> code_type(4).__name__, code_type(255).__name__, code_type(256).__name__
    ('uint8', 'uint8', 'uint16')
    """
    return np.uint8 if arity <= 255 else np.uint16 if arity <= 65_535 else np.uint32


@dataclass(frozen=True, eq=False)
class Rows:
    """Weighted unique rows over discrete variables, in lexicographic order of their codes.

    `codes` has one array per variable; the code `arity` stands for a missing cell.

    >>> spam = Variable("Spam", "discrete", (0, 1))
    >>> rows = Rows.of((spam,), [np.array([0, 1, 0], dtype=np.uint8)])
    >>> list(rows.items())
    [((0,), 2), ((1,), 1)]
    """

    variables: tuple[Variable, ...]
    codes: tuple[NDArray[Any], ...]
    weights: NDArray[Any]

    def __post_init__(self) -> None:
        variables = given_axes(self.variables, "rows")
        weights = np.asarray(self.weights)
        codes = tuple(np.asarray(c) for c in self.codes)
        if len(codes) != len(variables):
            raise InputError("There must be one array of codes for each variable.")
        if weights.ndim != 1 or any(c.shape != weights.shape for c in codes):
            raise InputError("Every column of codes needs one entry for each weight.")
        if weights.dtype.kind not in "uif" or not ((weights > 0) & np.isfinite(weights)).all():
            raise InputError("The weights of rows must be finite numbers above 0.")
        weights = weights.astype(np.float64 if weights.dtype.kind == "f" else np.int64, copy=False)
        for v, c in zip(variables, codes, strict=True):
            if c.dtype.kind not in "ui" or not ((c >= 0) & (c <= v.arity)).all():
                raise InputError(
                    f"The codes of {v.name!r} are 0 to {v.arity - 1}, and {v.arity} for missing."
                )
        if not in_order(np.stack(codes, axis=1)):
            gathered = Rows.of(variables, codes, weights)
            codes, weights = gathered.codes, gathered.weights
        object.__setattr__(self, "variables", variables)
        object.__setattr__(self, "codes", tuple(owned(c) for c in codes))
        object.__setattr__(self, "weights", owned(weights))

    def __setstate__(self, state: dict[str, Any]) -> None:
        restore(self, state)

    @classmethod
    def of(
        cls,
        variables: Sequence[Variable],
        codes: Sequence[NDArray[Any]],
        weights: NDArray[Any] | None = None,
    ) -> Rows:
        """Gather equal rows, adding their weights (1 each when none are given)."""
        if not variables:
            raise InputError("Rows need at least one discrete variable.")
        columns = [
            np.ascontiguousarray(c, dtype=code_type(v.arity))
            for v, c in zip(variables, codes, strict=True)
        ]
        native = _core.Columns(columns, [v.arity for v in variables])
        first, total = native.unique(list(range(len(variables))), weights)
        rows = object.__new__(cls)
        object.__setattr__(rows, "variables", tuple(variables))
        object.__setattr__(rows, "codes", tuple(sealed(c[first]) for c in columns))
        object.__setattr__(rows, "weights", sealed(total))
        return rows

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(v.name for v in self.variables)

    @property
    def total(self) -> int | float:
        """The weight of all rows."""
        return total_of(self.weights)

    def __len__(self) -> int:
        return len(self.weights)

    def __add__(self, other: object) -> Rows:
        if not isinstance(other, Rows):
            return NotImplemented
        if other.variables != self.variables:
            if set(other.names) != set(self.names):
                raise SchemaError(
                    f"Rows of ({', '.join(other.names)}) cannot be added to rows of "
                    f"({', '.join(self.names)})."
                )
            other = other.marginal(self.names)
            if other.variables != self.variables:
                raise SchemaError(
                    "The states of the variables differ between the two sets of rows.",
                    hint="Read both tables with the same schema.",
                )
        codes = [np.concatenate(pair) for pair in zip(self.codes, other.codes, strict=True)]
        return Rows.of(self.variables, codes, np.concatenate([self.weights, other.weights]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows):
            return NotImplemented
        return (
            self.variables == other.variables
            and np.array_equal(self.weights, other.weights)
            and all(np.array_equal(a, b) for a, b in zip(self.codes, other.codes, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def close_to(self, other: Rows, tolerance: float = 1e-12) -> bool:
        """Equal up to rounding, as weights are that were added up as floats elsewhere.

        >>> spam = Variable("Spam", "discrete", (0, 1))
        >>> a, b, c = (Rows((spam,), [[0]], [w]) for w in (0.1, 0.2, 0.3))
        >>> (a + b) + c == a + (b + c), ((a + b) + c).close_to(a + (b + c))
        (False, True)
        """
        tolerance = given_tolerance(tolerance)
        return (
            isinstance(other, Rows)
            and self.variables == other.variables
            and len(self) == len(other)
            and all(np.array_equal(a, b) for a, b in zip(self.codes, other.codes, strict=True))
            and np.allclose(self.weights, other.weights, rtol=tolerance, atol=0)
        )

    def __radd__(self, other: object) -> Rows:
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def marginal(self, names: Sequence[str] | str) -> Rows:
        """The weighted unique rows of some of the variables."""
        wanted = named(names)
        return Rows.of(
            [self.variables[self._axis(n)] for n in wanted],
            [self.codes[self._axis(n)] for n in wanted],
            self.weights,
        )

    def counts(self, names: Sequence[str] | str) -> Counts:
        """The counts over some of the variables; rows with a missing cell there are skipped."""
        rows = self.marginal(names)
        seen = np.ones(len(rows), dtype=bool)
        for v, c in zip(rows.variables, rows.codes, strict=True):
            seen &= c != v.arity
        where = np.stack([c[seen] for c in rows.codes], axis=1).astype(np.uint32)
        skipped = total_of(rows.weights[~seen])
        counts = Counts.of_cells(rows.variables, where, rows.weights[seen], skipped)
        return counts.dense() if counts.cells <= max(4 * len(rows), 1024) else counts

    def items(self) -> Iterator[tuple[tuple[Any, ...], int | float]]:
        """Each different row with the user's own values (None where missing) and its weight."""
        labels = [(*v.states, None) for v in self.variables]
        for i, weight in enumerate(self.weights):
            row = tuple(s[c[i]] for s, c in zip(labels, self.codes, strict=True))
            yield row, weight.item()

    def _axis(self, name: str) -> int:
        if name not in self.names:
            raise unknown_name("Variable", name, self.names, "in these rows")
        return self.names.index(name)

    def _table(self, most: int = 40) -> tuple[list[str], list[list[str]]]:
        rows = []
        for (values, weight), _ in zip(self.items(), range(most), strict=False):
            rows.append([*("" if v is None else str(v) for v in values), number(weight)])
        return [*self.names, "weight"], rows

    def __str__(self) -> str:
        head, rows = self._table()
        text = table_text(head, rows, right=[len(head) - 1])
        return text + (f"\n… {len(self) - len(rows):,} more" if len(self) > len(rows) else "")

    def __repr__(self) -> str:
        return f"Rows({len(self):,} different rows, weight {number(self.total)})"

    def _repr_html_(self) -> str:
        head, rows = self._table()
        return table_html(head, rows, right=[len(head) - 1])
