"""Stepwise EM: one look at each batch of rows, for streams that never end or never fit.

    s ← (1 − η_k) s + η_k · E[statistics of a row | batch k, θ],   θ = M(n·s),   η_k = (k + 2)^−d

The expected statistics are averaged over batches with weights that fade (Cappé & Moulines 2009;
Liang & Klein 2009). A decay d between ½ and 1 makes it converge; the nearer to ½, the sooner the
first batches are forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np

from credo.core.errors import ImpossibleError, InputError
from credo.core.progress import track
from credo.data import Stream, Table
from credo.train.em.e_step import EStep
from credo.train.em.far_step import e_step_of
from credo.train.em.layout import Parameters, Statistics
from credo.train.em.maximise import NetworkEM
from credo.train.em.run import Run

__all__ = ["batches_of", "stepwise"]


def batches_of(
    rows: Table | Stream, names: list[str], size: int, passes: int, rng: np.random.Generator
) -> Iterator[Table]:
    """Small tables of a source: of a table in random order, of a stream as they come."""
    for _ in range(passes):
        if isinstance(rows, Stream):
            for part in rows.batches(names):
                for first in range(0, len(part), size):
                    yield part.take(slice(first, first + size))
            continue
        table = rows.select(names)
        order = rng.permutation(len(table))
        for first in range(0, len(table), size):
            yield table.take(order[first : first + size])


def stepwise(
    em: NetworkEM,
    start: Parameters,
    rows: Table | Stream,
    names: list[str],
    batch: int,
    passes: int,
    decay: float,
    rng: np.random.Generator,
) -> tuple[Run[Parameters, Statistics], float, int]:
    """The run of all batches, the weight of all rows, and how many batches there were."""
    if not 0.5 < decay <= 1:
        raise InputError(f"decay must be above 0.5 and at most 1, got {decay:g}.")
    run = Run[Parameters, Statistics](em, start, 0.0)
    whole = float(rows.block.weight) if isinstance(rows, Table) else None
    average: Statistics | None = None
    weight, seen = 0.0, 0
    parts = batches_of(rows, names, batch, passes, rng)
    for part in track(parts, "stepwise em", total=None):
        e_step = _e_step(em, part)
        known = None if average is None else _times(average, weight)
        found, log = _expected(em, e_step, run.parameters, known)
        run.trace.append(log / e_step.weight)
        weight += e_step.weight
        found = _times(found, 1 / e_step.weight)
        if average is not None:
            rate = (seen + 2.0) ** -decay
            old, found = _times(average, 1 - rate), _times(found, rate)
            found = Statistics(old.counts + found.counts, old.moments + found.moments)
        average, seen = found, seen + 1
        run.parameters = em.maximise(_times(average, weight if whole is None else whole))
    assert average is not None
    total = weight / passes if whole is None else whole
    run.before = run.statistics = _times(average, total)
    again = batches_of(rows, names, max(batch, 100_000), 1, rng)
    run.log_likelihood = sum(_e_step(em, b).expect(run.parameters)[1] for b in again)
    taken = "1 batch" if seen == 1 else f"{seen:,} batches"
    looks = "1 pass" if passes == 1 else f"{passes:,} passes"
    run.reason = f"{taken} in {looks} {'was' if seen == 1 else 'were'} taken"
    return run, total, seen


def _e_step(em: NetworkEM, table: Table) -> EStep:
    return e_step_of(em.layout, table, None, em.rows.scales, em.rows.threads, ExitStack())


def _times(s: Statistics, n: float) -> Statistics:
    return Statistics(s.counts * n, s.moments * n)


def _expected(
    em: NetworkEM, rows: EStep, x: Parameters, seen: Statistics | None
) -> tuple[Statistics, float]:
    """What is expected of a batch; of one with cells that none had before, half a row more."""
    try:
        return rows.expect(x)
    except ImpossibleError:
        if seen is None:
            raise
        return rows.expect(em.maximise(Statistics(seen.counts + 0.5, seen.moments)))
