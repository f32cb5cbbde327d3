"""Mixtures of rows that lie in parts: learned of a sample, then by every row where it is.

The sample chooses k and the start; EM goes on from there, and in each step the parameters go to the
rows and expected statistics come back. Codes are kept meanwhile, on disk or with the workers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.threads import checked_threads
from credo.data import Stream, Table, spooled
from credo.model.mixtures.candidates import Candidate, Candidates
from credo.model.mixtures.mixture import Mixture
from credo.predict.rows.mixture import Plan, Scales, lay, log_density_left
from credo.predict.rows.mixture_rows import Parameters, Statistics
from credo.train.em.run import Run
from credo.train.mixtures.choose import Options
from credo.train.mixtures.evidence import cheeseman_stutz, complete
from credo.train.mixtures.learn import cells_of, learned
from credo.train.mixtures.problem import problem_of

Floats = NDArray[np.float64]

SAMPLE = 50_000


def learned_in_parts(
    source: Stream,
    plan_of: Callable[[Table], Plan],
    k: int | str,
    options: Options,
    rng: np.random.Generator,
    threads: int | None,
) -> tuple[Mixture, Table]:
    """The mixture of all rows, and the sample that it began with."""
    began = time.perf_counter()
    if options.average:
        raise InputError(
            "average=True keeps the mixtures of every k, for rows in memory.",
            hint="Give k=, or take a sample of the rows.",
        )
    n = len(source)
    places = np.sort(rng.choice(n, min(SAMPLE, n), replace=False))
    sample = source.take(places)
    plan = plan_of(sample)
    first = learned(sample, plan, k, options, rng, threads).mixture
    problem = problem_of(
        cells_of(sample, plan), options.covariance, checked_threads(threads), first.k
    )
    how = _How(plan, problem.scales, options.covariance in ("full", "tied"))
    with spooled(replace(source, schema=source.schema.select(plan.names))) as kept:
        rows = _Spread(kept, how, float(source.tally([]).rows))
        floor = problem.floor(options.variance_floor, options.least_variance)
        em = replace(problem.em(first.k, options.prior, floor), rows=rows)  # type: ignore[arg-type]
        start = problem.parameters(first)
        run = Run(em, start, options.tol or -math.inf, options.accelerate)
        run.finish(options.max_iter)
        entropy, left = kept.fold(_Leaving(how, run.parameters))
    x = run.parameters if isinstance(options.start, Mixture) else run.parameters.by_size()
    made = problem.mixture(x, first.name)
    height, parameters = run.log_likelihood + left, made.free_parameters
    bic = height - 0.5 * parameters * math.log(max(rows.weight, 1.0))
    stutz = cheeseman_stutz(height, run.expected, em, complete(run.expected, em))
    candidate = Candidate(made.k, height, parameters, bic, bic - entropy, stutz)
    assert first.record is not None
    said = f"{'k and ' * (k == 'auto')}the start came from {len(sample):,} rows drawn at random"
    record = replace(
        first.record,
        score=height,
        trace=tuple(v + left for v in run.trace),
        reason=run.reason,
        seconds=time.perf_counter() - began,
        notes=(*first.record.notes, said),
        details={
            "rows": rows.weight, "iterations": run.iterations, "converged": run.converged,
        },
    )  # fmt: skip
    table = Candidates((candidate,), options.criterion)
    return replace(made, record=record, candidates=table), sample


@dataclass(frozen=True)
class _How:
    """How the rows of a part become those that the kernel reads."""

    plan: Plan
    scales: Scales
    joint: bool

    def cells(self, table: Table) -> Any:
        """The cells of a table."""
        return cells_of(table, self.plan)

    def laid(self, cells: Any, k: int) -> Any:
        """The same as the kernel reads them."""
        return lay(cells, self.scales, self.joint and bool(self.plan.reals), k)


@dataclass(frozen=True)
class _Spread:
    """Rows that are asked where they are: the part of `Laid` that EM needs."""

    kept: Any
    how: _How
    weight: float

    def expect(self, x: Parameters, threads: int = 1) -> tuple[Statistics, float]:
        """The E-step: statistics, and ln P(rows)."""
        found = self.kept.fold(_Expecting(self.how, x))
        return replace(found.statistics, under=x), found.log


@dataclass(frozen=True)
class _Expected:
    """What is expected of some rows; parts add up."""

    statistics: Statistics
    log: float

    def __add__(self, other: _Expected) -> _Expected:
        a, b = self.statistics, other.statistics
        made = replace(
            a,
            mass=a.mass + b.mass,
            counts=tuple(x + y for x, y in zip(a.counts, b.counts, strict=True)),
            first=a.first + b.first,
            second=a.second + b.second,
            there=a.there + b.there,
        )
        return _Expected(made, self.log + other.log)


@dataclass(frozen=True)
class _Expecting:
    """A task: the E-step of some rows."""

    how: _How
    x: Parameters

    def __call__(self, table: Table) -> _Expected:
        rows = self.how.laid(self.how.cells(table), self.x.k)
        return _Expected(*rows.expect(self.x, 1))


@dataclass(frozen=True)
class _Leaving:
    """A task: −Σ P(c | row) ln P(c | row), and what scaling leaves out of ln P(rows)."""

    how: _How
    x: Parameters

    def __call__(self, table: Table) -> Floats:
        cells = self.how.cells(table)
        share, _ = self.how.laid(cells, self.x.k).score(self.x, 1)
        logs = np.log(share, where=share > 0, out=np.zeros_like(share))
        terms = np.stack(
            [-np.einsum("nc,nc->n", share, logs), log_density_left(cells, self.how.scales)]
        )
        found: Floats = terms.sum(axis=1) if cells.weights is None else terms @ cells.weights
        return found
