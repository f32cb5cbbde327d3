"""Messages of loopy belief propagation about a question, as arrays by factor and variable."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.predict.exact.reduction import Reduced

__all__ = ["Messages", "propagate"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Messages:
    """What the factors and the variables told each other last."""

    beliefs: list[Floats]
    to_variable: list[list[Floats]]
    """m(f→v): for each factor, an array for each variable of its scope."""
    to_factor: list[list[Floats]]
    """μ(v→f), likewise."""
    trace: Floats
    log_z: float
    damping: float
    converged: bool
    impossible: bool

    @property
    def residual(self) -> float:
        """How much a message changed in the last sweep."""
        return float(self.trace[-1]) if len(self.trace) else 0.0

    def family(self, problem: Reduced, factor: int) -> Floats:
        """The belief about all variables of a factor together."""
        table = problem.tables[factor].copy()
        for axis, up in enumerate(self.to_factor[factor]):
            shape = [1] * table.ndim
            shape[axis] = len(up)
            table *= up.reshape(shape)
        out: Floats = table / table.sum()
        return out


def propagate(
    problem: Reduced,
    *,
    sweeps: int = 500,
    tolerance: float = 1e-9,
    damping: float = 0.0,
    seconds: float | None = None,
) -> Messages:
    """Pass messages until they agree, or sweeps or seconds end it."""
    graph = _core.Loopy(list(problem.arities), [list(s) for s in problem.scopes])
    flat = [np.ascontiguousarray(t).ravel() for t in problem.tables]
    limit = -1.0 if seconds is None else seconds
    found = graph.run(flat, sweeps, tolerance, damping, limit)
    beliefs = np.split(found["beliefs"], graph.belief_offsets[1:-1])
    cuts = graph.offsets[1:-1]
    edges: list[list[Floats]] = []
    for kind in ("to_variable", "to_factor"):
        edges.append(list(np.split(found[kind], cuts)))
    first = np.cumsum([0, *(len(s) for s in problem.scopes)]).tolist()
    spans = list(pairwise(first))
    return Messages(
        beliefs if problem.names else [],
        [edges[0][a:b] for a, b in spans],
        [edges[1][a:b] for a, b in spans],
        found["trace"],
        float(found["log_z"]),
        float(found["damping"]),
        bool(found["converged"]),
        bool(found["impossible"]),
    )
