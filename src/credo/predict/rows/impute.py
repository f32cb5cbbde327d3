"""Imputing: gaps filled from what the rest of the row says.

    mode        the most probable states of all gaps of a row together
    sample      a draw from P(gaps | rest of the row), jointly: x_j ~ P(x_j | rest, x_1 … x_{j−1})
    posterior   P(gap | rest of the row) for each gap by itself

A table filled by modes looks more certain than it is; m copies filled by samples carry the
uncertainty into whatever is computed from them (multiple imputation, Rubin 1987).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.bins import Bins
from credo.core.errors import InputError, unknown_name
from credo.core.frozen import Frozen
from credo.core.progress import track
from credo.core.render import table_html, table_text
from credo.core.schema import Schema
from credo.core.threads import checked_threads
from credo.data import Table
from credo.model.answers.distribution import Distribution
from credo.model.answers.number_answer import NumberAnswer
from credo.model.distributions.gaussian import Gaussian
from credo.model.values.randomness import Rng, generator
from credo.model.values.value import choice, whole
from credo.predict.exact.engine import Engine, engine_of
from credo.predict.questions.notes import tell
from credo.predict.rows.blanket import impossible_row
from credo.predict.rows.rows import read_rows
from credo.stats.block import Block

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["Gaps", "filled_table", "impute", "warn_outside", "without_gaps"]

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
        from credo.predict.rows.impute_mixed import mixed_fill

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
    arrays = [
        np.ascontiguousarray(codes[:, k], dtype=table.block.arrays[k].dtype)
        for k in range(codes.shape[1])
    ]
    return filled_table(table, arrays, rng if method == "sample" else None)


def filled_table(
    table: Table, arrays: Sequence[NDArray[Any]], rng: np.random.Generator | None
) -> Table:
    """The table with its gaps filled; a number in bins is drawn within its bin, or its median."""
    raw: dict[str, Floats] = {}
    for name, scale in table.schema.scales.items():
        array, own = arrays[table.schema.index(name)], np.array(table.values(name))
        gone = np.isnan(own)
        if isinstance(scale, Bins):
            share = 0.5 if rng is None else rng.random(int(gone.sum()))
            own[gone] = scale.draw(array[gone].astype(np.intp), share)
        else:
            own[gone] = scale.backward(array[gone])
        raw[name] = own
    return Table(Block(without_gaps(table.schema), tuple(arrays), table.weights), raw=raw)


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


_SHOWN = 20


@dataclass(frozen=True, eq=False)
class Gaps(Frozen, Mapping[Any, Any]):
    """The posterior of every gap, by (row, variable); rows count from 0.

    `rows[name]` are the rows in which a variable is missing, and `posteriors[name]` its posteriors
    there: a column for each state or bin, or mean and variance of a continuous variable (behind
    its transform, if it has one).

    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> gaps = net.impute({"rain": [None, False], "wet": [True, None]}, method="posterior")
    >>> gaps[0, "rain"]
    Distribution(rain: False 0.333333, True 0.666667)
    >>> print(gaps)
    row from 0  variable  most probable         p
             0  rain      True           0.666667
             1  wet       False               0.9
    """

    table: Table
    rows: Mapping[str, NDArray[Any]]
    posteriors: Mapping[str, NDArray[np.float64]]

    def __getitem__(self, key: Any) -> Any:
        try:
            row, name = key
        except (TypeError, ValueError):
            raise InputError(f"A gap is named by (row, variable), got {key!r}.") from None
        if name not in self.rows:
            raise unknown_name("Variable", name, list(self.rows), "among those with gaps")
        at = np.flatnonzero(self.rows[name] == row)
        if not len(at):
            raise InputError(f"{name!r} is not missing in row {row!r}.")
        return self._posterior(name, int(at[0]))

    def _posterior(self, name: str, at: int) -> Any:
        variable, values = self.table.schema[name], self.posteriors[name][at]
        if variable.is_discrete:
            found: Any = Distribution((variable,), values)
        else:
            found = Gaussian(float(values[0]), max(float(values[1]), 1e-300), name=name)
        return found if variable.scale is None else NumberAnswer(found, variable.scale, name)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        yield from sorted((int(r), n) for n, rows in self.rows.items() for r in rows)

    def __len__(self) -> int:
        return sum(len(r) for r in self.rows.values())

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = []
        for _, (row, name) in zip(range(_SHOWN), self, strict=False):
            found = self[row, name]
            if isinstance(found, Distribution):
                state = max(found, key=found.__getitem__)
                rows.append([str(row), name, str(state), f"{found[state]:.6g}"])
            else:
                rows.append([str(row), name, f"{found.mean:.6g}", f"± {found.variance**0.5:.4g}"])
        return ["row from 0", "variable", "most probable", "p"], rows

    def __str__(self) -> str:
        head, rows = self._table()
        more = len(self) - len(rows)
        return table_text(head, rows, right=[0, 3]) + (f"\n… {more:,} more gaps" if more else "")

    def __repr__(self) -> str:
        return f"Gaps({len(self):,} missing cells in {len(self.rows)} variables)"

    def _repr_html_(self) -> str:
        head, rows = self._table()
        return table_html(head, rows, right=[0, 3], caption=repr(self))


_RANGE = 20  # numbers that must be observed for their range to say something


def without_gaps(schema: Schema) -> Schema:
    """The schema of a table whose gaps were filled.

    >>> import credo as cr
    >>> schema = cr.read({"x": [1, 0, None, 1]}).schema
    >>> schema.missing, without_gaps(schema).missing
    ({'x': 0.25}, {'x': 0.0})
    """
    columns = tuple(replace(c, missing=0, missing_as={}) if c.used else c for c in schema.columns)
    return replace(schema, columns=columns)


def warn_outside(table: Table, filled: Sequence[Table]) -> None:
    """Name the columns in which a filled number lies outside of all that was observed."""
    said = []
    for v in table.schema.variables:
        if v.is_discrete and v.scale is None:
            continue
        seen = table.values(v.name)
        if not np.isnan(seen).any() or (~np.isnan(seen)).sum() < _RANGE:
            continue
        low, high = float(np.nanmin(seen)), float(np.nanmax(seen))
        new = np.concatenate([one.values(v.name)[np.isnan(seen)] for one in filled])
        out = int(((new < low) | (new > high)).sum())
        if out:
            said.append(
                f"{v.name} in {out:,} of {len(new):,} gaps (filled {new.min():.4g} to "
                f"{new.max():.4g}, observed {low:.4g} to {high:.4g})"
            )
    if said:
        tell(
            f"Filled with numbers outside of what was observed: {'; '.join(said)}. The model has "
            "normal noise and knows no bounds: clip them, or learn from a transformed column."
        )
