"""The log-likelihood of an undirected model, from counts, with its gradient.

    ℓ(w) = Σ_cells n · ln φ − N ln Z,      ∂ℓ/∂w = Sᵀ (n − N · P)

n are the counts of each potential's configurations and P their probabilities under the model, which
one backward pass of the compiled plan gives for all potentials at once. ℓ is concave.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.train.markov.log_linear import LogLinear

__all__ = ["Likelihood"]

Floats = NDArray[np.float64]
_NOTHING = np.zeros((1, 0), dtype=np.int32)


class Likelihood:
    """ℓ and its gradient at any parameters, for counts that are given once."""

    def __init__(self, design: LogLinear, plan: Any, counts: Floats, rows: float) -> None:
        self.design = design
        self.plan = plan
        self.counts = counts
        self.rows = rows
        self.observed = np.asarray(design.matrix.T @ counts)

    @staticmethod
    def plan_of(design: LogLinear) -> Any:
        """The plan whose backward pass gives the probabilities of every potential's cells."""
        arities = [v.arity for v in design.variables]
        model = _core.Model(arities, [list(s) for s in design.scopes])
        return model.compile([], [], families=True, directed=False)

    def __call__(self, w: Floats) -> tuple[float, Floats]:
        """ℓ(w) and its gradient."""
        logs = self.design.logs(w)
        tables, scale = split_tables(logs, self.design.offsets)
        log_z, _, families = self.plan.run(tables, _NOTHING, [], 1)
        expected = self.design.matrix.T @ (self.rows * families[0])
        value = float(self.observed @ w) - self.rows * (float(log_z[0]) + scale)
        return value, self.observed - np.asarray(expected)


def split_tables(logs: Floats, offsets: Sequence[int]) -> tuple[list[Floats], float]:
    """exp of the log potentials, each table with its largest number at 1, and the scale's ln."""
    tables, scale = [], 0.0
    for a, b in pairwise(offsets):
        most = float(logs[a:b].max())
        tables.append(np.exp(logs[a:b] - most))
        scale += most
    return tables, scale
