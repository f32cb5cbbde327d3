"""Each cell given the rest of its row: what the model would have said of it.

    discrete: P(x | all other cells)        continuous: the share of p(x' | all other cells) below x

Only the Markov blanket of a variable matters. For a number x its blanket gives a Gaussian,

    1/s² = 1/σ² + Σ_children b²/σ_c²        m/s² = μ/σ² + Σ_children b r_c/σ_c²

with r_c what is left of a child when all but x is taken off. Gaps in the blanket are summed out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.bins import Bins
from credo.core.errors import CredoError, LimitError
from credo.data import Table
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.softmax import Softmax
from credo.predict.rows.impute_mixed import MixedRows, block_rows
from credo.predict.rows.rows import family_log, gaps_of, log_at, predict_proba
from credo.predict.rows.running import patterns

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["binned_ranks", "probabilities", "ranks"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_LARGE = 60  # continuous variables up to which gaps in a blanket are integrated out


def probabilities(net: Network, table: Table, name: str) -> tuple[Floats, Mask]:
    """P(name | rest of the row), and the rows for which it was found. No row is impossible."""
    families = [net.distributions[name], *(net.distributions[c] for c in net.dag.children(name))]
    needed = {v.name for local in families for v in local.variables} - {name}
    out = np.zeros((len(table), net.variable(name).arity))
    known = np.zeros(len(table), dtype=bool)
    if needed.issubset(table.schema.names):
        whole = ~gaps_of(net, table)[:, [net.names.index(n) for n in needed]].any(axis=1)
        columns = {n: table.block.arrays[table.schema.index(n)][whole] for n in needed}
        log = np.zeros((int(whole.sum()), out.shape[1]))
        for local in families:
            log += _by_state(local, name, columns, len(log))
        top = log.max(axis=1, keepdims=True)
        p = np.exp(log - np.where(top > -np.inf, top, 0.0))
        total = p.sum(axis=1, keepdims=True)
        out[whole] = p / np.where(total > 0, total, 1.0)
        known[whole] = total[:, 0] > 0
    rest = np.flatnonzero(~known)
    if len(rest):
        out[rest], known[rest] = _with_gaps(net, table.take(rest), name)
    return out, known


def _by_state(local: Any, name: str, columns: dict[str, Any], rows: int) -> Floats:
    """ln of one family's factor for every state of a variable in it: [row, state]."""
    if isinstance(local, Cpt):
        k = [v.name for v in local.variables].index(name)
        at = tuple(columns[v.name] for v in local.variables if v.name != name)
        logs = log_at(np.moveaxis(local.values, k, -1), at)
        return np.broadcast_to(logs, (rows, logs.shape[-1]))
    if isinstance(local, Softmax):
        variable = next(v for v in local.variables if v.name == name)
        each = (np.full(rows, code) for code in range(variable.arity))
        return np.stack([family_log(local, columns | {name: codes}) for codes in each], axis=1)
    k = [v.name for v in local.discrete].index(name)
    at = tuple(columns[v.name] for v in local.discrete if v.name != name)

    def states(values: Floats) -> Floats:
        found = np.moveaxis(values, k, -1)[at]
        return np.broadcast_to(found, (rows, found.shape[-1]))

    away = columns[local.name][:, None] - states(local.intercept)
    for i, parent in enumerate(local.continuous):
        away = away - states(local.coefficients[..., i]) * columns[parent.name][:, None]
    variance = states(local.variance)
    with np.errstate(over="ignore"):
        out: Floats = -0.5 * (np.log(variance) + away**2 / variance)
    return out


def _with_gaps(net: Network, table: Table, name: str) -> tuple[Floats, Mask]:
    """Rows with gaps around the variable: by the engine, else case by case."""
    try:
        return predict_proba(net, table, name), np.ones(len(table), dtype=bool)
    except CredoError:
        pass
    out = np.zeros((len(table), net.variable(name).arity))
    known = np.zeros(len(table), dtype=bool)
    for rows, cases in _cases(net, table, name, np.arange(len(table))):
        out[rows] = cases.posteriors()[name]
        known[rows] = out[rows].sum(axis=1) > 0.5
    return out, known


def ranks(net: Network, table: Table, name: str) -> tuple[Floats, Mask]:
    """The share of p(name | rest of the row) that lies below the value seen, and for which rows."""
    below = (net.distributions[c] for c in net.dag.children(name))
    if any(isinstance(local, Softmax) for local in below):  # no Gaussian given its children
        return np.zeros(len(table)), np.zeros(len(table), dtype=bool)
    from scipy.special import ndtr

    line = net.distributions[name]
    assert isinstance(line, LinearGaussian)
    children = [net.distributions[c] for c in net.dag.children(name)]
    needed = {v.name for local in (line, *children) for v in local.variables}
    gone = gaps_of(net, table)
    at = {n: k for k, n in enumerate(net.names)}
    whole: Mask = np.logical_not(gone[:, [at[n] for n in needed]].any(axis=1))
    out = np.zeros(len(table))
    known: Mask = np.array(whole)
    if whole.any():
        columns = {n: a[whole] for n, a in zip(table.schema.names, table.block.arrays, strict=True)}
        mean, precision = _blanket(name, line, children, columns)
        out[whole] = ndtr((columns[name] - mean) * np.sqrt(precision))
    rest = np.flatnonzero(~whole & ~gone[:, at[name]])
    if len(rest) and sum(not v.is_discrete for v in net.variables) <= _LARGE:
        for rows, cases in _cases(net, table, name, rest):
            k = [cases.order[i] for i in cases.holes].index(name)
            x = table.block.arrays[table.schema.index(name)][rows]
            total = np.zeros(len(rows))
            for s in range(len(cases.cases)):
                sd = np.sqrt(np.maximum(cases.cov[:, s, k, k], 1e-300))
                total += cases.p[:, s] * ndtr((x - cases.mean[:, s, k]) / sd)
            out[rows] = total
            known[rows] = cases.p.sum(axis=1) > 0.5
    return out, known


def binned_ranks(bins: Bins, numbers: Floats, p: Floats) -> Floats:
    """The share below each number where it is in bins; of an atom, half of it counts as below."""
    at = bins.cdf(numbers, p)
    before = bins.cdf(np.nextafter(numbers, -np.inf), p)
    return np.where(at - before > 1e-9, (at + before) / 2, at)


def _blanket(
    name: str, line: LinearGaussian, children: list[Any], columns: dict[str, Any]
) -> tuple[Floats, Floats]:
    """Mean and precision of a number given its whole blanket."""
    at = tuple(columns[p.name] for p in line.discrete)
    mean = np.broadcast_to(line.intercept[at], len(columns[name])).copy()
    for k, p in enumerate(line.continuous):
        mean += line.coefficients[..., k][at] * columns[p.name]
    precision = np.broadcast_to(1.0 / line.variance[at], len(mean)).copy()
    pull = mean * precision
    for child in children:
        at = tuple(columns[p.name] for p in child.discrete)
        left = columns[child.name] - child.intercept[at]
        slope: Any = 0.0
        for k, p in enumerate(child.continuous):
            b = child.coefficients[..., k][at]
            if p.name == name:
                slope = b
            else:
                left = left - b * columns[p.name]
        pull += slope * left / child.variance[at]
        precision += slope**2 / child.variance[at]
    return pull / precision, precision


def _cases(net: Network, table: Table, name: str, rows: NDArray[np.intp]) -> Any:
    """The rows, block by block, with one column taken as a gap: every case of what is missing."""
    part = table.take(rows)
    gone = gaps_of(net, part)
    gone[:, net.names.index(name)] = True
    for pattern, at in patterns(gone):
        block = block_rows(net, pattern)
        for first in range(0, len(at), block):
            here = at[first : first + block]
            columns = {
                n: a[here] for n, a in zip(part.schema.names, part.block.arrays, strict=True)
            }
            try:
                yield rows[here], MixedRows(net, pattern, columns, here, strict=False)
            except (LimitError, np.linalg.LinAlgError):
                continue
