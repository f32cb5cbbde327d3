"""The E-step: expected statistics of every family, and ln P(rows).

    E[n_ijk] = Σ_rows weight · P(x_i = k, parents_i = j | row, θ)

The rows are folded once into problems (`folded.py`): families that are observed are counted and
never touched again, gaps fall into components that are solved each by itself, and equal ones are
one. Rows whose gaps hang together too widely go through the inference engine's batched plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import ImpossibleError, LimitError, TableError
from credo.predict.exact.engine import guard
from credo.train.em.folded import MIXED_STATES, Folded
from credo.train.em.layout import Layout, Parameters, Statistics

Floats = NDArray[np.float64]


class EStep:
    """A graph and rows: what an E-step needs, made once."""

    def __init__(self, folded: Folded, threads: int) -> None:
        self.layout, self.scales, self.threads = folded.how.layout, folded.how.scales, threads
        self.native: Any = folded.native
        self.shift, self.rows = folded.shift, folded.rows
        self.gaps, self.observed = folded.gaps, folded.observed
        self.marginals = folded.marginals
        refuse(self.layout, self.native.too_large, self.native.total)
        self._plan_left()

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self.native.total)

    def _plan_left(self) -> None:
        """A plan for the rows left to the engine; columns that are always there are cheaper."""
        codes, weights = self.native.left()
        self.plan = None
        if not len(weights):
            return
        unique, inverse = np.unique(codes, axis=0, return_inverse=True)
        total = np.zeros(len(unique))
        np.add.at(total, inverse.ravel(), weights)
        always = (unique >= 0).all(axis=0)
        never = (unique < 0).all(axis=0)
        observed = np.flatnonzero(always).tolist()
        maybe = np.flatnonzero(~always & ~never).tolist()
        model = _core.Model(self.layout.arities, self.layout.scopes)
        self.plan = model.compile(observed, [], families=True, maybe=maybe)
        guard(self.plan)
        self._left = np.ascontiguousarray(unique[:, [*observed, *maybe]], dtype=np.int32)
        self._left_weights = total

    def expect(self, x: Parameters) -> tuple[Statistics, float]:
        """Expected counts and moments under some parameters, and ln P(rows)."""
        counts, moments, log, impossible = self.native.step(x.theta, x.lines, self.threads)
        if self.plan is not None and not impossible:
            layout = self.layout
            tables = [layout.table(x.theta, i).ravel() for i in range(len(layout.names))]
            more, log_left, impossible = self.plan.expect(
                tables, self._left, self._left_weights, self.threads
            )
            counts, log = counts + more, log + log_left
        if impossible or log == -np.inf:
            raise ImpossibleError(
                "A row has probability zero under the parameters that EM starts from, so no "
                "expected counts exist.",
                hint="Start from tables without zeros there: another start=, or a prior.",
            )
        return Statistics(counts, moments), float(log + self.shift)


def refuse(layout: Layout, too_large: Sequence[int], total: float) -> None:
    """Refuse rows that cannot be folded, and none at all."""
    if too_large:
        names = [layout.names[i] for i in too_large]
        raise LimitError(
            f"In some row {len(names)} discrete variables that hang together are missing at "
            f"once beside continuous ones ({', '.join(map(repr, names[:6]))}, …), with more "
            f"than {MIXED_STATES:,} states together.",
            hint="Leave such rows out, or simplify the graph.",
        )
    if not total:
        raise TableError("There are no rows to learn from.")
