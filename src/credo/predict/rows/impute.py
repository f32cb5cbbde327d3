"""Imputing: gaps filled from what the rest of the row says.

    mode        the most probable states of all gaps of a row together
    sample      a draw from P(gaps | rest of the row), jointly: x_j ~ P(x_j | rest, x_1 … x_{j−1})
    posterior   P(gap | rest of the row) for each gap by itself

A table filled by modes looks more certain than it is; m copies filled by samples carry the
uncertainty into whatever is computed from them (multiple imputation, Rubin 1987).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.progress import track
from credo.core.threads import checked_threads
from credo.data import Table
from credo.model.values.randomness import Rng, generator
from credo.model.values.value import choice, whole
from credo.predict.exact.engine import Engine, engine_of
from credo.predict.rows.blanket import impossible_row
from credo.predict.rows.gaps import Gaps
from credo.predict.rows.impute_mixed import mixed_fill
from credo.predict.rows.impute_notes import warn_outside, without_gaps
from credo.predict.rows.rows import read_rows
from credo.stats.block import Block

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["impute"]

_BLOCK = 4096  # rows filled at a time

Floats = NDArray[np.float64]


def impute(
    net: Network,
    rows: Any,
    method: str = "mode",
    *,
    copies: int | None = None,
    rng: Rng = 0,
    threads: int = 1,
    notes: bool = False,
) -> Table | list[Table] | Gaps:
    """Fill the gaps of a table; see `Network.impute`. `notes` names numbers that no row has."""
    choice(method, ("mode", "sample", "posterior"), "method")
    threads = checked_threads(threads)
    if copies is not None:
        whole(copies, 1, "copies")
        if method != "sample":
            raise InputError("copies= goes with method='sample': modes would all be the same.")
    table = read_rows(net, rows)
    draws = generator(rng)
    if not net.is_discrete:
        filled = mixed_fill(net, table, method, draws, copies or 1)
        if isinstance(filled, Gaps):
            return filled
        if notes:
            warn_outside(table, filled)
        return filled if copies is not None else filled[0]
    if method == "posterior":
        fill: Any = lambda: _posteriors(net, table, threads)  # noqa: E731
    else:
        fill = lambda: _filled(net, table, method, draws, threads)  # noqa: E731
    if copies is not None:
        return [fill() for _ in track(range(copies), "imputing", total=copies)]
    out: Table | Gaps = fill()
    return out


def _codes(table: Table) -> NDArray[np.int32]:
    out = np.empty((len(table), len(table.schema)), dtype=np.int32)
    for k, v in enumerate(table.schema.variables):
        column = table.block.arrays[k].astype(np.int32)
        column[column == v.arity] = -1
        out[:, k] = column
    return out


def _filled(
    net: Network, table: Table, method: str, rng: np.random.Generator, threads: int
) -> Table:
    engine = engine_of(net)
    codes = _codes(table)
    holes = np.flatnonzero((codes < 0).any(axis=1))
    where = [engine.at[n] for n in table.schema.names]
    for first in range(0, len(holes), _BLOCK):
        at = holes[first : first + _BLOCK]
        part = np.ascontiguousarray(codes[at])
        if method == "mode":
            codes[at] = _modes(engine, where, part, at, threads)
        else:
            codes[at] = _drawn(engine, where, part, at, rng, threads)
    return _rebuilt(table, codes)


def _rebuilt(table: Table, codes: NDArray[np.int32]) -> Table:
    arrays = tuple(
        np.ascontiguousarray(codes[:, k], dtype=table.block.arrays[k].dtype)
        for k in range(codes.shape[1])
    )
    return Table(Block(without_gaps(table.schema), arrays, table.weights))


def _modes(
    engine: Engine, where: list[int], codes: NDArray[np.int32], at: Any, threads: int
) -> NDArray[np.int32]:
    """The most probable completion of each row."""
    plan = engine.plan([], None, maybe=where, mode="max")
    states, log_p = plan.explain(engine.tables, codes, [], threads)
    _refuse(log_p, at)
    found: NDArray[np.int32] = states[:, where]
    return np.where(codes >= 0, codes, found)


def _drawn(
    engine: Engine,
    where: list[int],
    codes: NDArray[np.int32],
    at: Any,
    rng: np.random.Generator,
    threads: int,
) -> NDArray[np.int32]:
    """Column by column: each gap is drawn given the row and the gaps drawn before."""
    codes = codes.copy()
    for k in range(codes.shape[1]):
        gone = np.flatnonzero(codes[:, k] < 0)
        if not len(gone):
            continue
        plan = engine.plan([], [where[k]], maybe=where)
        log_e, flat, _ = plan.run(engine.tables, np.ascontiguousarray(codes[gone]), [], threads)
        _refuse(log_e, at[gone])
        below = flat.cumsum(axis=1)
        u = rng.random(len(gone)) * below[:, -1]
        state = (below <= u[:, None]).sum(axis=1)
        last = flat.shape[1] - 1 - (flat[:, ::-1] > 0).argmax(axis=1)  # no state of probability 0
        codes[gone, k] = np.minimum(state, last)
    return codes


def _posteriors(net: Network, table: Table, threads: int) -> Gaps:
    engine = engine_of(net)
    codes = _codes(table)
    where = [engine.at[n] for n in table.schema.names]
    columns = [k for k in range(codes.shape[1]) if (codes[:, k] < 0).any()]
    holes = np.flatnonzero((codes < 0).any(axis=1))
    found: dict[str, list[Floats]] = {table.schema.names[k]: [] for k in columns}
    rows: dict[str, list[Any]] = {table.schema.names[k]: [] for k in columns}
    for first in range(0, len(holes), _BLOCK):
        at = holes[first : first + _BLOCK]
        part = np.ascontiguousarray(codes[at])
        plan = engine.plan([], [where[k] for k in columns], maybe=where)
        log_e, flat, _ = plan.run(engine.tables, part, [], threads)
        _refuse(log_e, at)
        begin = 0
        for k in columns:
            name, arity = table.schema.names[k], table.schema.variables[k].arity
            gone = part[:, k] < 0
            found[name].append(flat[gone, begin : begin + arity])
            rows[name].append(at[gone])
            begin += arity
    return Gaps(
        table,
        {n: np.concatenate(r) for n, r in rows.items()},
        {n: np.concatenate(p) for n, p in found.items()},
    )


def _refuse(log_e: Floats, at: Any) -> None:
    bad = np.flatnonzero(log_e == -np.inf)
    if len(bad):
        raise impossible_row(int(at[bad[0]]))
