"""Rows through a plan: those that are alike in what matters are run once.

Rows with the same gaps share a plan, and rows with gaps of every kind share one plan in which each
variable may or may not be observed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.data import Table
from credo.predict.exact.engine import Engine
from credo.predict.mixed.densities import row_tables
from credo.predict.questions.evidence import Evidence
from credo.predict.rows.blanket import different

__all__ = ["patterns", "run"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_NUMBERS = 20_000_000  # densities of a block of rows
_PATTERNS = 32  # up to this many patterns of gaps, each gets a plan of its own


def run(
    engine: Engine, table: Table, targets: list[int], threads: int
) -> Iterator[tuple[NDArray[np.intp], Floats, Floats]]:
    """Row positions, ln P(e) and the first target's posterior, group by group."""
    schema = table.schema
    discrete = [v.name for v in schema.variables if v.is_discrete]
    continuous = [v.name for v in schema.variables if not v.is_discrete]
    codes = np.empty((len(table), len(discrete)), dtype=np.int32)
    for k, name in enumerate(discrete):
        column = table.block.arrays[schema.index(name)].astype(np.int32)
        column[column == schema[name].arity] = -1
        codes[:, k] = column
    values = {n: table.block.arrays[schema.index(n)] for n in continuous}
    seen = np.empty((len(table), len(discrete) + len(continuous)), dtype=bool)
    seen[:, : len(discrete)] = codes >= 0
    for k, reals in enumerate(values.values(), start=len(discrete)):
        seen[:, k] = ~np.isnan(reals)
    names = [*discrete, *continuous]
    # A sample tells at once when there are too many patterns for a plan each.
    if not continuous and len(patterns(seen[:1000])) > _PATTERNS:
        yield from _maybe(engine, discrete, codes, targets, threads)
        return
    groups = patterns(seen)
    if len(groups) > _PATTERNS and not continuous:
        yield from _maybe(engine, discrete, codes, targets, threads)
        return
    for pattern, at in groups:
        known = {n for n, s in zip(names, pattern, strict=True) if s}
        part = codes[at][:, [k for k, n in enumerate(discrete) if n in known]]
        here = {n: values[n][at] for n in continuous if n in known}
        hard = [n for n in discrete if n in known]
        yield from _one_pattern(engine, hard, part, here, at, targets, threads)


def patterns(seen: Mask) -> list[tuple[Mask, NDArray[np.intp]]]:
    """The different patterns of observed (or of missing) cells, each with its rows."""
    if seen.all():
        return [(np.ones(seen.shape[1], dtype=bool), np.arange(len(seen)))]
    packed = np.packbits(seen, axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    cuts = np.searchsorted(inverse[order], np.arange(1, len(first)))
    return [(seen[f], rows) for f, rows in zip(first, np.split(order, cuts), strict=True)]


def _one_pattern(
    engine: Engine,
    hard: list[str],
    codes: NDArray[np.int32],
    values: dict[str, Floats],
    at: NDArray[np.intp],
    targets: list[int],
    threads: int,
) -> Iterator[tuple[NDArray[np.intp], Floats, Floats]]:
    plain, engine = engine, engine.given(values, hard)
    if engine is not plain:
        step = max(_NUMBERS // max(sum(t.size for t in engine.tables), 1), 1)
        if len(at) > step:
            for start in range(0, len(at), step):
                part = slice(start, start + step)
                here = {n: v[part] for n, v in values.items()}
                yield from _one_pattern(plain, hard, codes[part], here, at[part], targets, threads)
            return
    observed = [engine.at[n] for n in (*hard, *values)]
    plan = engine.plan(observed, targets)
    tables: list[Floats] = engine.tables
    scale: Any = 0.0
    if values:
        columns = dict(zip(hard, codes.T, strict=True))
        tables, scale = row_tables(engine, values, columns)
        inverse = np.arange(len(codes))
        rows = np.zeros((len(codes), len(observed)), dtype=np.int32)
        rows[:, : len(hard)] = codes
    else:
        pruned = set(plan.pruned)
        relevant = [k for k, i in enumerate(observed) if i not in pruned]
        arities = [engine.arities[observed[k]] for k in relevant]
        first, inverse = different([codes[:, k] for k in relevant], arities, len(codes))
        rows = np.ascontiguousarray(codes[first])
    log_e, flat, _ = plan.run(tables, rows, [], threads)
    log_e = (np.asarray(log_e) + scale)[inverse]
    flat = flat[inverse]
    if values:
        _tails(engine, hard, codes, values, targets, log_e, flat)
    yield at, log_e, flat


def _tails(
    engine: Engine,
    hard: list[str],
    codes: NDArray[np.int32],
    values: dict[str, Floats],
    targets: list[int],
    log_e: Floats,
    flat: Floats,
) -> None:
    """Rows that seem impossible because densities vanished in the tails: each by itself."""
    names = [engine.net.names[i] for i in targets]
    for row in np.flatnonzero(log_e == -np.inf):
        evidence = Evidence(
            dict(zip(hard, codes[row].tolist(), strict=True)),
            values={n: float(v[row]) for n, v in values.items()},
        )
        outcome = engine.ask(evidence, names)
        log_e[row] = outcome.log_evidence[0]
        if outcome.marginals:
            flat[row] = outcome.marginals[0][0]


def _maybe(
    engine: Engine, names: list[str], codes: NDArray[np.int32], targets: list[int], threads: int
) -> Iterator[tuple[NDArray[np.intp], Floats, Floats]]:
    """Rows with gaps of every kind: one plan in which each variable may be observed."""
    maybe = [engine.at[n] for n in names]
    plan = engine.plan([], targets, maybe=maybe)
    log_e, flat, _ = plan.run(engine.tables, np.ascontiguousarray(codes), [], threads)
    yield np.arange(len(codes)), np.asarray(log_e), flat
