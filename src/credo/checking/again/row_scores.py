"""How probable each row is: ln P(row), its gaps summed out, and which family makes it so.

    ln P(row) = Σ_families ln P(x | parents)        where nothing is missing

Rows with gaps go through the engine. A row whose gaps no exact method can sum out (in mixed
networks, or where the tables would not fit) is not scored; it is counted, and the report says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError, ImpossibleError, LimitError
from credo.data import Table
from credo.model.networks.cpt import Cpt
from credo.predict.rows.impute_mixed import (
    MAX_STATES,
    MixedRows,
    block_rows,
    evidence_of,
    states_of,
)
from credo.predict.rows.rows import row_log_likelihoods
from credo.predict.sampling.forward import forward_sampler

if TYPE_CHECKING:
    from credo.model.networks.network import Local, Network

__all__ = [
    "Scored",
    "family_terms",
    "gaps_of",
    "gathered",
    "log_at",
    "patterns",
    "score_rows",
    "term",
    "weights_of",
]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_LARGE = 200  # continuous variables up to which their gaps are integrated out row by row


@dataclass(frozen=True)
class Scored:
    """ln P of each row (−inf: impossible), and which rows could be scored."""

    log: Floats
    known: Mask

    @property
    def possible(self) -> Mask:
        """The rows that were scored and are possible."""
        return self.known & (self.log > -np.inf)


def gathered(scored: Scored, origin: NDArray[np.intp], n: int) -> Scored:
    """The scores of rows from those of their copies: their mean."""
    if len(origin) == n and (origin == np.arange(n)).all():
        return scored
    times = np.bincount(origin, minlength=n)
    with np.errstate(invalid="ignore"):
        log = np.bincount(origin, np.where(scored.known, scored.log, 0.0), n) / np.maximum(times, 1)
    gone = np.bincount(origin, (scored.known & (scored.log == -np.inf)).astype(float), n) > 0
    known = np.bincount(origin, (~scored.known).astype(float), n) == 0
    return Scored(np.where(gone, -np.inf, log), known & (times > 0))


def weights_of(table: Table) -> Floats:
    """The weight of each row, 1 where none is given."""
    if table.weights is None:
        return np.ones(len(table))
    return table.weights.astype(np.float64)


def gaps_of(net: Network, table: Table) -> Mask:
    """Which cells are missing: [row, variable of the network]; a column may be missing whole."""
    gone = np.ones((len(table), len(net.names)), dtype=bool)
    for k, v in enumerate(net.variables):
        if v.name in table.schema:
            a = table.block.arrays[table.schema.index(v.name)]
            gone[:, k] = a == v.arity if v.is_discrete else np.isnan(a)
    return gone


def log_at(values: Floats, at: tuple[Any, ...]) -> Floats:
    """ln of some entries of a table, which may be far larger than they are many, or far smaller."""
    with np.errstate(divide="ignore"):
        if not at or values.size <= len(at[0]):
            out: Floats = np.log(values)[at]
        else:
            out = np.log(values[at])
    return out


def term(local: Local, columns: dict[str, Any]) -> Floats:
    """ln P(x | parents) for columns without gaps."""
    if isinstance(local, Cpt):
        return log_at(local.values, tuple(columns[v.name] for v in local.variables))
    at = tuple(columns[p.name] for p in local.discrete)
    away = columns[local.name] - local.intercept[at]
    for k, parent in enumerate(local.continuous):
        away = away - local.coefficients[..., k][at] * columns[parent.name]
    variance = local.variance[at]
    with np.errstate(over="ignore"):
        found: Floats = -0.5 * (np.log(2 * np.pi * variance) + away**2 / variance)
    return found


def family_terms(net: Network, table: Table) -> tuple[Floats, Mask]:
    """ln P(x | parents) of each row and family, and which families the row has whole."""
    gone = gaps_of(net, table)
    at = {n: k for k, n in enumerate(net.names)}
    out = np.zeros(gone.shape)
    whole = np.zeros(gone.shape, dtype=bool)
    for k, name in enumerate(net.names):
        local = net.distributions[name]
        here = ~gone[:, [at[v.name] for v in local.variables]].any(axis=1)
        whole[:, k] = here
        if here.any():
            out[here, k] = term(local, _columns(table, here))
    return out, whole


def _columns(table: Table, rows: Any) -> dict[str, Any]:
    return {n: a[rows] for n, a in zip(table.schema.names, table.block.arrays, strict=True)}


def score_rows(net: Network, table: Table, most: int = 500) -> Scored:
    """ln P of each row of a table over the network's variables, its gaps summed out.

    Rows of mixed networks with very many cases are summed out one by one, at most so many.
    """
    gone = gaps_of(net, table)
    partial = gone.any(axis=1)
    log = np.zeros(len(table))
    known = np.ones(len(table), dtype=bool)
    if not partial.all():
        columns = _columns(table, ~partial) if partial.any() else _columns(table, slice(None))
        total = np.zeros(int((~partial).sum()))
        for local in net.distributions.values():
            total += term(local, columns)
        log[~partial] = np.maximum(total, -np.inf)
    if partial.any():
        rows = np.flatnonzero(partial)
        log[rows], known[rows] = _with_gaps(net, table.take(rows), gone[rows], most)
    return Scored(log, known)


def _with_gaps(net: Network, part: Table, gone: Mask, most: int) -> tuple[Floats, Mask]:
    discrete = sum(v.is_discrete for v in net.variables)
    if 0 < discrete < len(net.variables):
        return _mixed(net, part, gone, most)
    try:
        return row_log_likelihoods(net, part), np.ones(len(part), dtype=bool)
    except LimitError:
        return np.zeros(len(part)), np.zeros(len(part), dtype=bool)


def _mixed(net: Network, part: Table, gone: Mask, most: int) -> tuple[Floats, Mask]:
    """Rows of a mixed network: by the engine where it can, else case by case, else one by one."""
    out, known = np.zeros(len(part)), np.ones(len(part), dtype=bool)
    few = sum(not v.is_discrete for v in net.variables) <= _LARGE
    for pattern, rows in patterns(gone):
        try:
            out[rows] = row_log_likelihoods(net, part.take(rows))
            continue
        except CredoError:
            if not few:
                known[rows] = False
                continue
        if states_of(net, pattern) > MAX_STATES:
            alone, most = rows[:most], max(most - len(rows), 0)
            known[rows[len(alone) :]] = False
            for i in alone:
                out[i] = _alone(net, pattern, part, int(i))
            continue
        block = block_rows(net, pattern)
        for first in range(0, len(rows), block):
            at = rows[first : first + block]
            try:
                cases = MixedRows(net, pattern, _columns(part, at), at, strict=False)
                out[at] = np.logaddexp.reduce(cases.log, axis=1)
            except (LimitError, np.linalg.LinAlgError):
                known[at] = False
    return out, known


def _alone(net: Network, gone: Mask, part: Table, i: int) -> float:
    """ln P of one row, by elimination: the forward sampler given what is seen."""
    columns = dict(zip(part.schema.names, part.block.arrays, strict=True))
    try:
        return forward_sampler(net, evidence_of(net, gone, columns, i)).directed.log_z
    except ImpossibleError:
        return -np.inf


def patterns(gone: Mask) -> list[tuple[Mask, NDArray[np.intp]]]:
    """The different patterns of gaps, each with its rows."""
    packed = np.packbits(gone, axis=1)
    _, first, inverse = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    cuts = np.searchsorted(inverse.ravel()[order], np.arange(1, len(first)))
    return [(gone[f], rows) for f, rows in zip(first, np.split(order, cuts), strict=True)]
