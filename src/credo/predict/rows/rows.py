"""Rows of a table through the engine: predictions and likelihoods, gaps summed out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.engine_frames import lies_with_engine
from credo.core.errors import CredoWarning, InputError, unknown_name
from credo.core.schema import Schema
from credo.core.threads import checked_threads
from credo.data import Stream, Table, names_of, read, warn_renamed
from credo.model.networks.cpt import Cpt
from credo.model.networks.softmax import Softmax
from credo.predict.exact.engine import engine_of
from credo.predict.mixed.densities import largest
from credo.predict.mixed.gaussian_network import gaussian_rows
from credo.predict.questions.softmax import has_softmax
from credo.predict.rows.blanket import blanket_posteriors, impossible_row
from credo.predict.rows.running import patterns, run
from credo.predict.rows.softmax_rows import one_row, softmax_posteriors
from credo.stats.block import Block
from credo.stats.counts import Counts

if TYPE_CHECKING:
    from credo.model.networks.network import Local, Network

__all__ = [
    "encoded_log_likelihood",
    "encoded_log_likelihoods",
    "family_log",
    "gaps_of",
    "log_at",
    "log_likelihood",
    "log_posteriors",
    "predict_proba",
    "read_rows",
    "row_log_likelihoods",
]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_SMALLEST = 1e-290  # probabilities below it are made from likelihoods


def read_rows(net: Network, rows: Any, without: str | None = None) -> Table:
    """A table of the network's variables; columns it does not have are not observed."""
    wanted = [v for v in net.variables if v.name != without]
    if isinstance(rows, Stream):
        rows = rows.load()
    if isinstance(rows, Table):
        have = [v.name for v in wanted if v.name in rows.schema]
        if not have:
            raise _strange(net, without)
        _warn_set_aside([v.name for v in wanted], rows.schema)
        warn_renamed(_but(net, without), rows.schema.names, stacklevel=4)
        other = {n: net.variable(n).scale for n in have if _other_scale(net, rows, n)}
        rows = rows.scaled(other) if other else rows
        if all(rows.schema[n].states == net.variable(n).states for n in have):
            some: Table = rows.select(have)
            return some
        again = read_rows(net, rows.to("arrow"), without)
        return Table(Block(again.schema, again.block.arrays, rows.weights), raw=again.raw)
    if isinstance(rows, bytes):
        raise InputError("A path must be a text, not bytes.")
    names = names_of(rows)
    wanted = [v for v in wanted if v.name in names]
    if not wanted:
        raise _strange(net, without)
    warn_renamed(_but(net, without), [n for n in names if n != without], stacklevel=4)
    table = read(rows, Schema(tuple(wanted)))
    return table if isinstance(table, Table) else table.load()


def _other_scale(net: Network, rows: Table, name: str) -> bool:
    """Whether a column of numbers has another scale than the network's variable."""
    mine, other = rows.schema[name], net.variable(name)
    return mine.scale != other.scale and all(
        v.scale is not None or not v.is_discrete for v in (mine, other)
    )


def _warn_set_aside(wanted: Sequence[str], schema: Schema) -> None:
    """Name what has cells and is taken as missing, since it was set aside when it was read."""
    known = {n: why for n, why in schema.set_aside.items() if n in wanted}
    for name, why in known.items():
        if schema.column(name).kind not in ("empty", "dropped", "weights"):
            warnings.warn(
                f"The column {name!r} was set aside ({why}) and is taken as missing. "
                "Read the table with the model's schema: cr.read(…, net.schema).",
                CredoWarning,
                stacklevel=5,
            )


def _but(net: Network, without: str | None) -> list[str]:
    return [n for n in net.names if n != without]


def _strange(net: Network, without: str | None) -> InputError:
    return InputError(
        "The rows have no column of the model" + (f" but {without!r}." if without else "."),
        hint=f"Its variables are {', '.join(map(repr, net.names[:12]))}.",
    )


def predict_proba(net: Network, rows: Any, target: str, *, threads: int = 1) -> Floats:
    """P(target | the other cells of the row), a row for each row and a column for each state.

    A row of probability zero has no answer and is refused with its number.
    """
    if target not in net.schema:
        raise unknown_name("Variable", target, net.names, "in the model")
    threads = checked_threads(threads)
    if not net.variable(target).is_discrete:
        raise InputError(f"{target!r} is continuous; predict_proba is for discrete variables.")
    table = read_rows(net, rows, without=target)
    if has_softmax(net):
        return softmax_posteriors(net, table, target)
    engine = engine_of(net)
    if net.is_discrete and len(table.schema) == len(net.names) - 1 and not any(table.block.gaps):
        return blanket_posteriors(net, table, target, threads)
    out = np.empty((len(table), net.variable(target).arity))
    for at, log_e, marginal in run(engine, table, [engine.at[target]], threads):
        bad = np.flatnonzero(log_e == -np.inf)
        if len(bad):
            raise impossible_row(int(at[bad[0]]))
        out[at] = marginal
    return out


def log_posteriors(net: Network, rows: Table, target: str, *, threads: int = 1) -> Floats:
    """ln P(target | the other cells of the row), also where P is too small for a number.

    Where it is, P(t | row) = P(t, row) / Σ P(t, row), by the likelihoods of the row with each t.
    """
    p = predict_proba(net, rows, target, threads=threads)
    with np.errstate(divide="ignore"):
        out: Floats = np.log(p)
    small = np.flatnonzero((p < _SMALLEST).any(axis=1))
    if len(small):
        v, part = net.variable(target), rows.take(small)
        arrays, schema = part.block.arrays, Schema((*part.schema.variables, v))
        joint = np.empty((len(small), v.arity))
        for code in range(v.arity):
            same = np.full(len(small), code, dtype=np.uint16)
            table = Table(Block(schema, (*arrays, same)))
            joint[:, code] = encoded_log_likelihoods(net, table, threads)
        best = joint.max(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            out[small] = joint - best - np.log(np.exp(joint - best).sum(axis=1, keepdims=True))
    return out


def row_log_likelihoods(net: Network, rows: Any, *, threads: int = 1) -> Floats:
    """ln P of each row, its gaps summed out; −inf for a row the model rules out."""
    table = read_rows(net, rows)
    out = encoded_log_likelihoods(net, table, checked_threads(threads))
    slopes = table.log_slopes
    return out if slopes is None else out + slopes


def encoded_log_likelihoods(net: Network, table: Table, threads: int = 1) -> Floats:
    """ln P of each row as the table holds it: of codes and transformed numbers."""
    out = np.empty(len(table))
    if has_softmax(net):
        gone = gaps_of(net, table).any(axis=1)
        if not gone.all():
            out[~gone] = _family_by_family(net, table.take(~gone))
        for row in np.flatnonzero(gone):
            out[row] = one_row(net, table, int(row))
        return out
    if not any(v.is_discrete for v in net.variables):
        values = np.stack(table.block.arrays, axis=1)
        for pattern, at in patterns(~np.isnan(values)):
            names = [n for n, s in zip(table.schema.names, pattern, strict=True) if s]
            out[at] = gaussian_rows(net, names, values[at][:, pattern])
        return out
    engine = engine_of(net)
    if not engine.directed or net.is_discrete:
        for at, log_e, _ in run(engine, table, [], threads):
            out[at] = log_e
        return out - engine.log_total
    whole = ~gaps_of(net, table).any(axis=1)
    if whole.any():
        out[whole] = _family_by_family(net, table.take(whole))
    if not whole.all():
        rest = np.flatnonzero(~whole)
        for at, log_e, _ in run(engine, table.take(rest), [], threads):
            out[rest[at]] = log_e
    return out


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


def family_log(local: Local, columns: Mapping[str, Any]) -> Floats:
    """ln P(x | parents) of one family for columns without gaps."""
    if isinstance(local, Cpt):
        return log_at(local.values, tuple(columns[v.name] for v in local.variables))
    at = tuple(columns[p.name] for p in local.discrete)
    if isinstance(local, Softmax):
        logs = local.log_probabilities(at, [columns[p.name] for p in local.continuous])
        codes = np.asarray(columns[local.name], np.intp)
        return np.asarray(np.take_along_axis(logs, codes[:, None], axis=1)[:, 0])
    away = columns[local.name] - local.intercept[at]
    with np.errstate(over="ignore", invalid="ignore"):
        for k, parent in enumerate(local.continuous):
            away = away - local.coefficients[..., k][at] * columns[parent.name]
        variance = local.variance[at]
        found: Floats = -0.5 * (np.log(2 * np.pi * variance) + away**2 / variance)
    return found


def _family_by_family(net: Network, table: Table) -> Floats:
    """ln P of rows without gaps: each family's cell is looked up, whatever its size."""
    columns = dict(zip(table.schema.names, table.block.arrays, strict=True))
    out = np.zeros(len(table))
    for name, local in net.distributions.items():
        log = family_log(local, columns)
        out += log if local.child.is_discrete else largest(log[:, None], (name,))[:, 0]
    return out


def log_likelihood(net: Network, rows: Any, *, threads: int = 1) -> float:
    """ln P(rows) = Σ weight · ln P(row), gaps summed out; −inf is an answer here.

    Rows without gaps are counted, family by family: Σ n_ijk ln θ_ijk.
    """
    threads = checked_threads(threads)
    if lies_with_engine(rows):
        names = names_of(rows)
        rows = read(rows, Schema(tuple(v for v in net.variables if v.name in names)))
    if isinstance(rows, Stream):
        total = rows.fold(_LogLikelihood(net, threads))
        return 0.0 if total is None else total
    return _LogLikelihood(net, threads)(rows)


@dataclass(frozen=True)
class _LogLikelihood:
    """ln P of the rows of a table, which adds up over parts."""

    net: Network
    threads: int

    def __call__(self, rows: Any) -> float:
        table = read_rows(self.net, rows)
        found = encoded_log_likelihood(self.net, table, self.threads)
        slopes = table.log_slopes
        return found if slopes is None else found + _total(slopes, table.weights)


def encoded_log_likelihood(net: Network, table: Table, threads: int = 1) -> float:
    """The same of what the table holds below its scales."""
    names = set(table.schema.names)
    weights = table.weights
    if has_softmax(net):
        return _total(encoded_log_likelihoods(net, table, threads), weights)
    if names != set(net.names) or not net.is_discrete:
        each = encoded_log_likelihoods(net, table, threads)
        return _total(each, weights)
    gaps = np.zeros(len(table), dtype=bool)
    for v, a in zip(table.schema.variables, table.block.arrays, strict=True):
        if table.block.gaps[table.schema.index(v.name)]:
            gaps |= a == v.arity
    total = 0.0
    if gaps.any():
        part = table.take(gaps)
        each = encoded_log_likelihoods(net, part, threads)
        total += _total(each, part.weights)
        table = table.take(~gaps)
    if not len(table):
        return total
    engine = engine_of(net)
    scopes = [[net.names[i] for i in scope] for scope in engine.scopes]
    tally = table.tally([(s[-1], s[:-1]) for s in scopes if s], threads=threads)
    for scope, values in zip(scopes, engine.tables, strict=True):
        if not scope:
            total += float(np.log(values[0])) * table.block.weight
            continue
        found = tally[scope[-1], scope[:-1]]
        assert isinstance(found, Counts)
        counts = found.sparse()
        assert counts.configurations is not None
        shaped = values.reshape([net.variable(n).arity for n in scope])
        theta = shaped[tuple(counts.configurations.T.astype(np.intp))]
        with np.errstate(divide="ignore"):
            total += _total(np.log(theta), counts.values)
    return total - engine.log_total * table.block.weight


def _total(each: Floats, weights: NDArray[Any] | None) -> float:
    """Σ weight · each, where a row of weight 0 is absent, even if it is impossible."""
    if weights is None:
        return float(each.sum())
    seen = weights != 0
    return float(each[seen] @ weights[seen])
