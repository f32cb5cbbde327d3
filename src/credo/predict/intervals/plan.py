"""A plan run under draws of the parameters: they are its batch, [draws, cells] for each table.

Entries below 1e-60 are taken as 0 at first, because numbers that small make the engine carry
exponents of their own, at fifty times the cost. Each can hide at most its own size of probability,
so where P(e) does not stand far above the sum of what was left out, the draw runs again with
nothing left out: every answer is right to 1e-13.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import LimitError
from credo.core.progress import track
from credo.predict.exact.engine import MAX_WORK, Engine
from credo.predict.intervals.draws import Draws, has_posterior
from credo.predict.intervals.gaussian import density_draws
from credo.predict.questions.evidence import Evidence

__all__ = ["MAX_NUMBERS", "DrawnPlan"]

MAX_NUMBERS = 200_000_000
"""Draws times the numbers kept of each may be this many."""

_BYTES = 128 * 2**20  # tables drawn at once
_SMALL = 1e-60  # an entry below this is left out at first
_RIGHT = 1e-13  # the share of P(e) that what is left out may have

Floats = NDArray[np.float64]


class DrawnPlan:
    """One question: the evidence, more variables known (`first`), and the targets."""

    def __init__(
        self, engine: Engine, evidence: Evidence, first: Sequence[str], targets: Sequence[str]
    ) -> None:
        engine = engine.given(evidence.values, evidence.hard)
        self.engine, self.evidence = engine, evidence
        known = [*evidence.hard, *evidence.values]
        observed = [engine.at[n] for n in (*known, *first)]
        self.codes = [*evidence.hard.values(), *([0] * len(evidence.values))]
        self.soft = [n for n in evidence.soft if n not in first]
        self.plan = engine.plan(
            observed, [engine.at[n] for n in targets], soft=[engine.at[n] for n in self.soft]
        )
        pruned = set(self.plan.pruned)
        net = engine.net
        names = [n for i, n in enumerate(net.names) if i not in pruned]
        # a line that the plan leaves out may still be part of another line's density
        lines = [*engine.lines(evidence.values)]
        lines += [n for t in evidence.tables for n in t.cases.group.names]
        lines = [n for n in dict.fromkeys(lines) if n not in names]
        self.drawn = [n for n in (*names, *lines) if has_posterior(net.distributions[n])]

    def check(self, draws: int, numbers: int, times: int = 1) -> None:
        """Refuse what would not fit, or would take hours, before anything is drawn."""
        if draws * numbers > MAX_NUMBERS:
            raise LimitError(
                f"{draws:,} draws of {numbers:,} probabilities are {draws * numbers:,} numbers; at "
                f"most {MAX_NUMBERS:,} are allowed.",
                hint="Use fewer draws, or ask for fewer variables at once.",
            )
        if self.plan.flops * draws * times > MAX_WORK:
            raise LimitError(
                f"The question needs {self.plan.flops * draws * times:,.0f} multiplications for "
                f"{draws:,} draws; at most {MAX_WORK:,} are allowed.",
                hint="Use fewer draws, observe more variables, or ask for fewer at once.",
            )

    def run(
        self, source: Draws, draws: int, configurations: Sequence[Sequence[int]] = ((),)
    ) -> Iterator[tuple[Floats, Floats]]:
        """ln P(e) [block, configurations] and the targets' posteriors, block by block of draws.

        The configurations are those of `first`.
        """
        for n in track(self._blocks(draws), "drawing parameters", total=draws, size=int):
            exact, scale = self._tables(source.next(self.drawn, n), n)
            tables, left = _without_small(exact)
            logs, flats = [], []
            for row in configurations:
                log_e, flat = self._once(tables, n, row)
                weak = np.flatnonzero(log_e < left) if left > -np.inf else ()
                if len(weak):
                    part = [t[weak] if t.ndim == 2 else t for t in exact]
                    log_e[weak], flat[weak] = self._once(part, len(weak), row)
                logs.append(log_e + scale)
                flats.append(flat)
            yield np.stack(logs, axis=1), np.stack(flats, axis=1)

    def _once(self, tables: list[Floats], n: int, row: Sequence[int]) -> tuple[Floats, Floats]:
        batch = np.tile(np.array([*self.codes, *row], dtype=np.int32), (n, 1))
        soft = [np.ascontiguousarray(self.evidence.soft[s][None, :]) for s in self.soft]
        log_e, flat, _ = self.plan.run(tables, np.ascontiguousarray(batch), soft, 1)
        return np.asarray(log_e), flat

    def _tables(self, drawn: Mapping[str, Any], n: int) -> tuple[list[Floats], Any]:
        engine = self.engine
        tables = list(engine.tables)
        for name, values in drawn.items():
            if isinstance(values, np.ndarray):
                tables[engine.at[name]] = np.ascontiguousarray(values)
        for table in self.evidence.tables:
            values = table.values(drawn)
            flat = np.ascontiguousarray(values.reshape(len(values), -1))
            tables[engine.at[table.name]] = flat if len(flat) > 1 else flat[0]
        if not self.evidence.values:
            return tables, 0.0
        return density_draws(engine, tables, self.evidence, drawn, n)

    def _blocks(self, draws: int) -> Iterator[int]:
        cells = sum(self.engine.tables[self.engine.at[n]].size for n in self.drawn)
        cells += 2 * self.engine.numbers
        most = max(int(_BYTES // (8 * max(cells, 1))), 1)
        for start in range(0, draws, most):
            yield min(most, draws - start)


def _without_small(tables: list[Floats]) -> tuple[list[Floats], float]:
    """The tables with small entries as 0, and the ln P(e) below which that may matter."""
    out, most = [], 0
    for table in tables:
        if table.ndim == 2:
            small = (table < _SMALL) & (table > 0)
            found = int(small.sum(axis=1).max(initial=0))
            if found:
                most += found
                table = np.where(small, 0.0, table)
        out.append(table)
    return out, float(np.log(most * _SMALL / _RIGHT)) if most else -np.inf
