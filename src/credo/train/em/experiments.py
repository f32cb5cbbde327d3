"""The E-step of rows in which some variables were set.

A row in which X was set is a row of the network without X's own family: its likelihood leaves
P(x | parents) out, and so do the expected counts. Rows are grouped by what was set in them; in the
group of X its table is 1 everywhere, and what it counted is 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.data import Table
from credo.train.em.e_step import EStep, Layout, Parameters, Statistics
from credo.train.parameters.experiments import Experiments

__all__ = ["SetSteps"]

Floats = NDArray[np.float64]


class SetSteps(EStep):
    """The E-steps of all groups as one."""

    def __init__(
        self,
        layout: Layout,
        rows: Experiments,
        seen: Sequence[str],
        scales: Mapping[str, tuple[float, float]],
        threads: int,
    ) -> None:
        self.layout, self.scales, self.threads = layout, scales, threads
        self.parts: list[tuple[list[int], EStep]] = []
        for names, table in rows.groups():
            own = [n for n in names if n in layout.at]
            _refuse(layout, own, table)
            step = EStep(layout, [table.select(seen)], scales, threads)
            for n in own:
                step.observed[n] = 0.0
            self.parts.append(([layout.at[n] for n in own], step))
        steps = [step for _, step in self.parts]
        self.rows = sum(s.rows for s in steps)
        self.gaps, self.observed = (
            {n: sum(getattr(s, what)[n] for s in steps) for n in layout.names}
            for what in ("gaps", "observed")
        )
        self.marginals = {
            n: np.sum([s.marginals[n] for s in steps], axis=0) for n in steps[0].marginals
        }
        self.native = self  # type: ignore[assignment]

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return sum(s.weight for _, s in self.parts)

    @property
    def problems(self) -> int:
        """How many problems the rows were folded into."""
        return sum(s.native.problems for _, s in self.parts)

    def counted(self) -> tuple[Floats, Floats]:
        """What the families without gaps count."""
        found = [self._without(set_, Statistics(*s.native.counted())) for set_, s in self.parts]
        return sum(f.counts for f in found), sum(f.moments for f in found)  # type: ignore[return-value]

    def expect(self, x: Parameters) -> tuple[Statistics, float]:
        """Expected counts and moments under some parameters, and ln P(rows)."""
        found = []
        for set_, step in self.parts:
            theta = x.theta.copy()
            for i in set_:
                self.layout.table(theta, i)[...] = 1.0
            statistics, log = step.expect(Parameters(theta, x.lines))
            found.append((self._without(set_, statistics), log))
        counts = np.sum([s.counts for s, _ in found], axis=0)
        moments = np.sum([s.moments for s, _ in found], axis=0)
        return Statistics(counts, moments), float(sum(log for _, log in found))

    def _without(self, set_: Sequence[int], found: Statistics) -> Statistics:
        counts = np.array(found.counts)
        for i in set_:
            self.layout.table(counts, i)[...] = 0.0
        return Statistics(counts, found.moments)


def _refuse(layout: Layout, names: Sequence[str], table: Table) -> None:
    for name in names:
        child = layout.families[layout.at[name]][0]
        if not child.is_discrete:
            raise InputError(
                f"EM takes rows in which discrete variables were set; {name!r} is a number.",
                hint="Cut it into intervals, or leave out the rows in which it was set.",
            )
        if name not in table.schema or (np.asarray(table.codes(name)) == child.arity).any():
            raise InputError(
                f"{name!r} was set in rows in which its cell is missing.",
                hint="Write what it was set to, or leave those rows out.",
            )
