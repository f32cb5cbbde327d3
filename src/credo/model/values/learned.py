"""Learned: what a distribution was learned from, so that more rows can be added to it.

    posterior = prior + observed;   more rows: posterior = prior + (observed + more)

The statistic is kept, not only the sum, so that an update is the fit of all rows at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.render import Told
from credo.model.networks.line_prior import LinePrior
from credo.stats.counts import Counts
from credo.stats.moments import Moments

__all__ = ["ESTIMATES", "Learned"]

ESTIMATES = ("mean", "map", "mle", "sample", "fixed", "ordered")
"""Posterior mean, mode, maximum likelihood, the same with n − p in the variance, known before."""


@dataclass(frozen=True, eq=False)
class Learned(Told):
    """The statistic, the prior and the estimate behind one distribution.

    `prior` is the pseudo-counts of a table, or a `LinePrior`; None without a prior. `tied` names
    the families that share one table. After EM `completed` is the posterior for each of some
    completions of the rows, drawn given the observed cells: pseudo-counts with a first axis of
    completions, or a `LinePosterior` with one.
    """

    observed: Counts | Moments
    estimate: str
    prior: NDArray[np.float64] | LinePrior | None = None
    tied: tuple[str, ...] = ()
    completed: Any = None

    def __post_init__(self) -> None:
        if self.estimate not in ESTIMATES:
            raise InputError(f"The estimate {self.estimate!r} is not one of {list(ESTIMATES)}.")

    def on(self, order: list[int], names: tuple[str, ...]) -> Learned:
        """The same for a table with its axes in another order."""
        prior = self.prior.transpose(order) if isinstance(self.prior, np.ndarray) else self.prior
        completed = self.completed
        if completed is not None:
            completed = completed.transpose([0, *(i + 1 for i in order)])
        return Learned(self.observed.marginal(names), self.estimate, prior, self.tied, completed)

    def same_as(self, other: Any) -> bool:
        """Whether the same rows would give the same again."""
        return (
            isinstance(other, Learned)
            and (self.estimate, self.tied) == (other.estimate, other.tied)
            and self.observed == other.observed
            and (
                np.array_equal(self.prior, other.prior)
                if isinstance(self.prior, np.ndarray) and isinstance(other.prior, np.ndarray)
                else isinstance(self.prior, np.ndarray) == isinstance(other.prior, np.ndarray)
                and self.prior == other.prior
            )
        )
