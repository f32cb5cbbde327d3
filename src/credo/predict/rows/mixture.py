"""Rows through a mixture, and drawn from it.

    ln P(row) = ln Σ_c w_c Π P(part | c), missing cells integrated out

A row that no class can have made has ln P(row) = −inf and belongs to none: densities say so, and
who asks for its class is told the row and the cells that rule it out.

The columns of a table as a mixture takes them: real numbers, counts, and states.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from credo.core.errors import CredoWarning, ImpossibleError, InputError
from credo.core.schema import Schema, Variable
from credo.core.threads import checked_threads
from credo.data import Column, Stream, Table, columns_for, is_plain, rows_in, unmasked
from credo.model.mixtures.mixture import Mixture
from credo.model.mixtures.parts import Gaussians, Part, Rates, Tables
from credo.model.values.probabilities import drawn
from credo.predict.rows.far_rows import AFAR, brought_near
from credo.predict.rows.mixture_rows import Laid, Parameters, laid
from credo.stats.block import Block

__all__ = [
    "Plan", "Scales", "Scored", "Taken", "lay", "log_density_left", "parameters_of",
    "plan_of_parts", "sampled", "scales_of", "scored", "scored_rows", "taken",
]  # fmt: skip

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


@dataclass(frozen=True, slots=True)
class Scales:
    """What the real columns are centred at and divided by."""

    centre: Floats
    scale: Floats


def scales_of(mixture: Mixture) -> Scales:
    """Scales in which a mixture's numbers are near 1."""
    part = mixture.gaussians
    if part is None:
        return Scales(np.zeros(0), np.ones(0))
    centre = mixture.weights @ part.means
    spread = mixture.weights @ (part.variances + (part.means - centre) ** 2)
    return Scales(centre, np.sqrt(spread))


def parameters_of(mixture: Mixture, scales: Scales) -> Parameters:
    """The parameters of a mixture in scaled units."""
    k, part = mixture.k, mixture.gaussians
    means, spread = np.zeros((k, 0)), np.zeros((k, 0))
    if part is not None:
        means = (part.means - scales.centre) / scales.scale
        if part.form in ("full", "tied"):
            spread = part.matrices / np.multiply.outer(scales.scale, scales.scale)
        else:
            spread = part.variances / scales.scale**2
    rates = [p.rates for p in mixture.parts if isinstance(p, Rates)]
    return Parameters(
        mixture.weights,
        tuple(p.values for p in mixture.parts if isinstance(p, Tables)),
        means,
        spread,
        np.stack(rates, axis=1) if rates else np.zeros((k, 0)),
    )


def lay(cells: Taken, scales: Scales, joint: bool, k: int, reals: Floats | None = None) -> Laid:
    """The rows, scaled, as the kernel reads them; `reals` are their real columns, if at hand."""
    reals = _scaled(cells, scales) if reals is None else reals
    arities = [v.arity for v in cells.plan.states]
    return laid(reals, cells.counts, cells.codes, arities, cells.weights, joint, k)


def _scaled(cells: Taken, scales: Scales) -> Floats:
    """The real columns, centred and scaled."""
    return (cells.reals - scales.centre[:, None]) / scales.scale[:, None]


def log_density_left(cells: Taken, scales: Scales) -> Floats:
    """What scaling and the factorials of counts leave out of ln P(row), the same in each class."""
    left = np.zeros(cells.rows)
    logs, gone = np.log(scales.scale), np.isnan(cells.reals)
    left -= logs @ ~gone if gone.any() else logs.sum()
    for x in cells.counts:
        left -= np.where(np.isnan(x), 0.0, gammaln(np.where(np.isnan(x), 0.0, x) + 1))
    return left


@dataclass(frozen=True, slots=True)
class Scored:
    """ln P(row) of some rows, their weights, and P(class | row) of those that are possible."""

    mixture: Mixture
    cells: Taken
    shares: Floats  # of rows that no class can have made they mean nothing
    logs: Floats
    impossible: NDArray[np.intp]

    @property
    def weights(self) -> Floats | None:
        """The weights of the rows."""
        return self.cells.weights

    @property
    def total(self) -> float:
        """ln P(rows), by their weights; a row of weight 0 says nothing, be it impossible."""
        w = self.weights
        return float(self.logs.sum() if w is None else w[w > 0] @ self.logs[w > 0])

    def responsibilities(self) -> Floats:
        """P(class | row) [rows, k]; a row that no class can have made is refused."""
        if len(self.impossible):
            raise _refused(self.mixture, self.cells, self.impossible)
        return self.shares


def scored(mixture: Mixture, cells: Taken, threads: int | None = None) -> Scored:
    """P(class | row) and ln P(row).

    Where rows are so far out that no density tells classes apart, shares are those nearer by.
    """
    part: Gaussians | None = mixture.gaussians
    scales = scales_of(mixture)
    joint = part is not None and part.form in ("full", "tied")
    reals = _scaled(cells, scales)
    rows = lay(cells, scales, joint, mixture.k, reals)
    many = checked_threads(threads)
    x = parameters_of(mixture, scales)
    share, logs = rows.score(x, many)
    near, here = brought_near(reals.T, AFAR), logs
    if near is not None:
        share, here = lay(cells, scales, joint, mixture.k, near.T).score(x, many)
    left = log_density_left(cells, scales)
    return Scored(mixture, cells, share, logs + left, np.flatnonzero(here == -np.inf))


def scored_rows(mixture: Mixture, source: Any, threads: int | None = None) -> Scored:
    """P(class | row) and ln P(row), of any table."""
    if is_plain(source):
        source = rows_in(source, mixture.names, mixture.names)
    return scored(mixture, taken(plan_of_parts(mixture.parts), source), threads)


def _refused(mixture: Mixture, cells: Taken, rows: NDArray[np.intp]) -> ImpossibleError:
    """The refusal of rows that no class can have made, with the cells that rule the first out."""
    row = int(rows[0])
    tables = [p for p in mixture.parts if isinstance(p, Tables)]
    open_ = mixture.weights > 0
    seen = [(p, int(c[row])) for p, c in zip(tables, cells.codes, strict=True)]
    seen = [(p, c) for p, c in seen if c < p.variable.arity and (p.values[open_, c] == 0).any()]
    alone = [(p, c) for p, c in seen if not p.values[open_, c].any()]
    told = [f"no class allows {p.variable.name}={p.variable.states[c]}" for p, c in alone[:1]]
    for k in np.flatnonzero(open_) if not told else ():
        p, c = next((p, c) for p, c in seen if p.values[k, c] == 0)
        cell = f"{p.variable.name}={p.variable.states[c]}"
        told.append(f"{cell} is impossible with {mixture.name}={k}")
    more = f" So {'have' if len(rows) > 2 else 'has'} {len(rows) - 1:,} more." * (len(rows) > 1)
    return ImpossibleError(
        f"Row {row + 1:,} has probability zero in every class: {'; '.join(told[:6])}.{more}",
        hint="Learn with prior above 0, or leave such a cell empty.",
    )


def sampled(mixture: Mixture, n: int, rng: np.random.Generator) -> Table:
    """Rows drawn: first the class, then each part given it; the class is the last column."""
    label = drawn(mixture.weights, n, rng)
    variables, arrays = [], []
    for part in mixture.parts:
        if isinstance(part, Tables):
            steps = np.cumsum(part.values, axis=1)[label]
            code = (rng.random(n)[:, None] * steps[:, -1:] >= steps).sum(axis=1)
            arity = part.variable.arity
            kind = np.uint8 if arity < 256 else np.uint16
            variables.append(part.variable)
            arrays.append(np.minimum(code, arity - 1).astype(kind))
            continue
        variables += [Variable(name, "continuous") for name in part.names]
        if isinstance(part, Rates):
            arrays.append(rng.poisson(part.rates[label]).astype(np.float64))
            continue
        arrays += list(_normal(part, label, rng).T)
    hidden = Variable(mixture.name, "discrete", tuple(range(mixture.k)))
    variables.append(hidden)
    arrays.append(label.astype(np.uint8 if mixture.k < 256 else np.uint16))
    block = Block(Schema(tuple(variables)), tuple(np.ascontiguousarray(a) for a in arrays))
    return Table(block)


def _normal(part: Gaussians, label: NDArray[np.intp], rng: np.random.Generator) -> Floats:
    noise = rng.standard_normal((len(label), len(part.names)))
    out = np.empty_like(noise)
    if part.form in ("diagonal", "spherical"):
        out[:] = part.means[label] + noise * np.sqrt(part.variances[label])
        return out
    for c, root in enumerate(np.linalg.cholesky(part.matrices)):
        mine = label == c
        out[mine] = part.means[c] + noise[mine] @ root.T
    return out
