"""A table completed by a network: each row once for each way to fill its gaps.

    n(family) = Σ_rows weight · P(family | row)  =  Σ_completed rows weight · P(way | row)

So the completed table can be counted like any other, by any search, and what it counts are exact
expectations. A row with too many ways is given draws from them instead, and so is every row with
gaps where there are continuous columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from credo import _core
from credo.core.errors import ImpossibleError
from credo.core.progress import track
from credo.data import Table
from credo.model.networks.network import Network
from credo.predict.exact.engine import engine_of
from credo.predict.questions.evidence import Evidence
from credo.predict.rows.impute import impute
from credo.predict.sampling.forward import forward_sampler
from credo.stats.block import Block

__all__ = ["Completed", "completed", "joined"]

WAYS = 256
"""A row with more ways to be filled than this is given draws."""

DRAWS = 32
"""How many draws; fewer where there are many such rows, which make up for it."""

_ROWS = 1 << 20  # that draws of numbers may come to

_STATES = 1 << 16  # of gaps that hang together; more are drawn by the inference engine


@dataclass(frozen=True)
class Completed:
    """A weighted table without gaps, and how many rows in it are draws."""

    table: Any
    drawn: int


def completed(net: Network, table: Table, seed: int = 0) -> Completed:
    """Complete a table over the variables of a network."""
    table = table.select([n for n in net.names if n in table.schema])
    if net.is_discrete:
        return _ways(net, table, seed)
    gaps = np.zeros(len(table), dtype=bool)
    wide = np.ones(len(table))  # the states of a row's discrete gaps together
    for v, a in zip(table.schema.variables, table.block.arrays, strict=True):
        gone = a == v.arity if v.is_discrete else np.isnan(a)
        gaps |= gone
        if v.is_discrete:
            wide[gone] *= v.arity
    parts = [table.take(~gaps)] if (~gaps).any() else []
    weights = [_weights(p) for p in parts]
    draws = max(2, min(DRAWS, _ROWS // max(int(gaps.sum()), 1)))
    for some in (gaps & (wide <= WAYS), gaps & (wide > WAYS)):
        if some.any():
            rest = table.take(some)
            by = _told if (wide[some] > WAYS).any() else _copies
            for copy in by(net, rest, seed, draws):
                parts.append(copy)
                weights.append(_weights(copy) / draws)
    return Completed(_joined(parts, weights), int(gaps.sum()))


def _ways(net: Network, table: Table, seed: int) -> Completed:
    engine = engine_of(net)
    columns: list[Any] = [
        np.ascontiguousarray(table.block.arrays[table.schema.index(n)])
        if n in table.schema
        else None
        for n in net.names
    ]
    scopes = [
        [*(engine.at[p.name] for p in net.distributions[n].parents), engine.at[n]]
        for n in net.names
    ]
    weights = None if table.weights is None else _weights(table)
    codes, share, left, drawn, impossible = _core.complete_rows(
        engine.arities, scopes, np.concatenate(engine.tables), columns, len(table), weights,
        WAYS, DRAWS, _STATES, seed,
    )  # fmt: skip
    if impossible >= 0:
        raise ImpossibleError(f"Row {impossible + 1:,} has probability zero under the model.")
    arrays = tuple(
        np.ascontiguousarray(codes[:, engine.at[v.name]], dtype=np.min_scalar_type(v.arity))
        for v in net.variables
    )
    parts, shares = [Table(Block(net.schema, arrays, share))], [share]
    if len(left):
        for copy in _told(net, table.take(left), seed):
            parts.append(copy)
            shares.append(_weights(copy) / DRAWS)
    return Completed(_joined(parts, shares), int(drawn) + len(left))


def _copies(net: Network, table: Table, seed: int, draws: int) -> list[Table]:
    found = impute(net, table, "sample", copies=draws, rng=seed)
    assert isinstance(found, list)
    return found


def _told(net: Network, table: Table, seed: int, draws: int = DRAWS) -> list[Table]:
    """Copies of rows whose gaps hang together widely: each row's story given its cells."""
    drawn: list[list[Any]] = [[] for _ in net.names]
    for i in track(range(len(table)), "completing rows", total=len(table)):
        known = Evidence()
        for v, column in zip(table.schema.variables, table.block.arrays, strict=True):
            if v.is_discrete and column[i] != v.arity:
                known.hard[v.name] = int(column[i])
            elif not v.is_discrete and not np.isnan(column[i]):
                known.values[v.name] = float(column[i])
        rows = forward_sampler(net, known).rows(draws, seed + i)
        for k, column in enumerate(rows.block.arrays):
            drawn[k].append(column)
    columns = [np.stack(c, axis=1) for c in drawn]  # [draws, rows]
    return [
        Table(Block(net.schema, tuple(c[d] for c in columns), table.weights)) for d in range(draws)
    ]


def _weights(table: Table) -> Any:
    if table.weights is None:
        return np.ones(len(table))
    return np.ascontiguousarray(table.weights, dtype=np.float64)


def joined(parts: list[Table]) -> Table:
    """Weighted tables over the same variables as one."""
    return _joined(parts, [_weights(p) for p in parts])


def _joined(parts: list[Table], weights: list[Any]) -> Table:
    schema = parts[0].schema
    arrays = tuple(
        np.concatenate([p.block.arrays[p.schema.index(n)] for p in parts]) for n in schema.names
    )
    return Table(Block(schema, arrays, np.concatenate(weights)))
