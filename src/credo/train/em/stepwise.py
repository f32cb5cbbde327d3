"""Stepwise EM: one look at each batch of rows, for streams that never end or never fit.

    s ← (1 − η_k) s + η_k · E[statistics of a row | batch k, θ],   θ = M(n·s),   η_k = (k + 2)^−d

The expected statistics are averaged over batches with weights that fade (Cappé & Moulines 2009;
Liang & Klein 2009). A decay d between ½ and 1 makes it converge; the nearer to ½, the sooner the
first batches are forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from credo.core.errors import ImpossibleError
from credo.data import Stream, Table
from credo.train.em.maximise import Maximiser
from credo.train.em.problem import Expected, Numbers, Problem

__all__ = ["Stepwise", "batches_of"]


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


@dataclass
class Stepwise:
    """The state of a stepwise climb: the averaged statistics and the parameters they give."""

    maximiser: Maximiser
    numbers: Numbers
    decay: float
    trace: list[float] = field(default_factory=list)
    weight: float = 0.0
    seen: int = 0
    average: Expected | None = None

    def take(self, table: Table, whole: float | None) -> None:
        """Learn from one batch; `whole` is the weight of all rows, where it is known."""
        problem = self._problem(table)
        found = self._expected(problem)
        self.trace.append(found.log_likelihood / problem.weight)
        self.weight += problem.weight
        rate = 1.0 if self.average is None else (self.seen + 2.0) ** -self.decay
        counts, moments = found.counts / problem.weight, found.moments / problem.weight
        if self.average is not None:
            counts = (1 - rate) * self.average.counts + rate * counts
            moments = (1 - rate) * self.average.moments + rate * moments
        self.average = Expected(counts, moments, 0.0)
        self.seen += 1
        self.numbers = self.maximiser.maximise(self.scaled(whole))

    def _expected(self, problem: Problem) -> Expected:
        """What is expected of a batch; of one with cells that none had before, half a row more."""
        try:
            return problem.expect(self.numbers)
        except ImpossibleError:
            if self.average is None:
                raise
            seen = self.scaled(None)
            return problem.expect(
                self.maximiser.maximise(Expected(seen.counts + 0.5, seen.moments, 0.0))
            )

    def scaled(self, whole: float | None) -> Expected:
        """The averaged statistics as those of all rows."""
        assert self.average is not None
        n = self.weight if whole is None else whole
        return Expected(self.average.counts * n, self.average.moments * n, 0.0)

    def log_likelihood(self, batches: Any) -> float:
        """ln P of rows under the parameters now."""
        return float(sum(self._problem(b).expect(self.numbers).log_likelihood for b in batches))

    def _problem(self, table: Table) -> Problem:
        own = self.maximiser.problem
        return Problem(own.layout, [table], own.scales, own.threads)
