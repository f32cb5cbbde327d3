"""The columns of a table as a mixture takes them: real numbers, counts, and states."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoWarning, InputError
from credo.core.schema import Variable
from credo.data.columns.columns import Column, columns_for
from credo.data.sources.unnamed import unmasked
from credo.data.stream import Stream
from credo.data.table import Table
from credo.model.mixtures.parts import Gaussians, Part, Rates, Tables

__all__ = ["Plan", "Taken", "plan_of_parts", "taken"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Plan:
    """Which columns are taken, and as what."""

    reals: tuple[str, ...]
    counts: tuple[str, ...] = ()
    states: tuple[Variable, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All columns."""
        return (*self.reals, *self.counts, *(v.name for v in self.states))


@dataclass(frozen=True, slots=True)
class Taken:
    """The cells: `reals` and `counts` [columns, rows], NaN for missing; codes, arity: missing."""

    plan: Plan
    reals: Floats
    counts: Floats
    codes: tuple[NDArray[Any], ...]
    weights: Floats | None = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.reals.shape[1])

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self.rows if self.weights is None else self.weights.sum())

    def some(self, rows: NDArray[np.intp]) -> Taken:
        """Some of the rows."""
        return replace(
            self,
            reals=self.reals[:, rows],
            counts=self.counts[:, rows],
            codes=tuple(c[rows] for c in self.codes),
            weights=None if self.weights is None else self.weights[rows],
        )


def plan_of_parts(parts: Sequence[Part]) -> Plan:
    """The columns of a mixture."""
    reals: tuple[str, ...] = ()
    for part in parts:
        if isinstance(part, Gaussians):
            reals = part.names
    return Plan(
        reals,
        tuple(p.name for p in parts if isinstance(p, Rates)),
        tuple(p.variable for p in parts if isinstance(p, Tables)),
    )


def taken(plan: Plan, source: Any) -> Taken:
    """The columns of a plan from any table. A column that is not there is missing everywhere.

    A state that the plan does not know is taken as missing, with one warning.
    """
    variables: dict[str, Variable | None] = dict.fromkeys((*plan.reals, *plan.counts))
    variables |= {v.name: v for v in plan.states}
    if isinstance(source, Stream):
        source = source.load()
    found = columns_for(unmasked(source), variables)
    if not found.by_name:
        raise InputError(
            "The rows have no column of the mixture.",
            hint=f"Its columns are {', '.join(map(repr, plan.names[:12]))}.",
        )
    n = found.rows
    weights = None
    if isinstance(source, Table) and source.weights is not None:
        weights = source.weights.astype(np.float64)

    def numbers(names: tuple[str, ...]) -> Floats:
        out = np.full((len(names), n), np.nan)
        for i, name in enumerate(names):
            column = found.by_name.get(name)
            if column is None:
                continue
            if column.variable is not None:
                raise InputError(f"The column {name!r} must hold numbers.")
            out[i] = column.values
        if np.isinf(out).any():
            i, row = np.argwhere(np.isinf(out))[0].tolist()
            raise InputError(f"The column {names[i]!r} holds an infinite number in row {row + 1}.")
        return out

    counts = numbers(plan.counts)
    for i, name in enumerate(plan.counts):
        cells = counts[i][~np.isnan(counts[i])]
        if ((cells < 0) | (cells != np.floor(cells))).any():
            raise InputError(f"Counts are 0, 1, 2, …; the column {name!r} holds something else.")
    codes = tuple(_codes(v, found.by_name.get(v.name), n) for v in plan.states)
    return Taken(plan, numbers(plan.reals), counts, codes, weights)


def _codes(variable: Variable, column: Column | None, n: int) -> NDArray[Any]:
    arity = variable.arity
    if column is None:
        return np.full(n, arity, dtype=np.uint16)
    if column.variable is None:  # numbers in memory: each different one is looked up
        values, where = np.unique(column.values, return_inverse=True)
        lut = np.array([_code_of(variable, v) for v in values.tolist()], dtype=np.uint16)
        codes = lut[where.ravel()] if len(lut) else np.zeros(0, dtype=np.uint16)
    elif column.variable is variable or column.variable == variable:
        codes = column.values
    else:
        own = [_code_of(variable, s) for s in column.variable.states]
        codes = np.array([*own, arity], dtype=np.uint16)[column.values]
    if codes.dtype != np.uint8 and (codes > arity).any():
        strange = column.strange[:1]
        told = f", such as {strange[0]!r}" if strange else ""
        warnings.warn(
            f"The column {variable.name!r} holds states that the mixture does not know{told}; "
            "they are taken as missing.",
            CredoWarning,
            stacklevel=4,
        )
        codes = np.minimum(codes, np.uint16(arity))
    return codes


def _code_of(variable: Variable, value: Any) -> int:
    if value is None or value != value:
        return variable.arity
    try:
        return variable.code(value)
    except LookupError:
        return variable.arity + 1
