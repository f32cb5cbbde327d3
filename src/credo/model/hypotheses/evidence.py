"""Evidence: the log-likelihood of all data so far, under every hypothesis of a space.

    L_k = Σ_x n_x · ln P(x | h_k)          P(h_k | data) ∝ P(h_k) · exp(L_k)

A probability never multiplies another, so a million observations do not underflow.
A likelihood of zero is remembered as a fact, with the step that brought it, not as −∞.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import LimitError, shown
from credo.model.values.reals import Floats

LOWEST = -1e250
"""A log-likelihood below this is taken as a likelihood of zero: its multiples overflow."""
HIGHEST = 1e250
"""A log-density above this is refused, for the same reason."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The log-likelihood of each hypothesis, and which are ruled out since when.

    `ruled_at[k]` is the step whose observation has likelihood zero under hypothesis k, the
    first such step; −1 while there is none.

    >>> e = Evidence.none(2).add(np.log([[0.5, 0.25]]), np.array([1000.0]), np.array([0]))
    >>> e.log_likelihood.round(3)
    array([ -693.147, -1386.294])
    """

    total: Floats
    lost: Floats  # what rounding took from the total (Knuth's two-sum): many small steps add up
    ruled_at: NDArray[np.int64]

    @classmethod
    def none(cls, hypotheses: int) -> Evidence:
        """No data: every log-likelihood is 0."""
        zeros = np.zeros(hypotheses)
        return cls(zeros, zeros, np.full(hypotheses, -1, dtype=np.int64))

    def add(self, rows: Floats, counts: Floats, steps: NDArray[np.int64]) -> Evidence:
        """The evidence after some more observations.

        `rows[i, k]` is ln P(xᵢ | h_k), `counts[i]` how often xᵢ came, `steps[i]` when first.
        """
        zero = rows < LOWEST
        ruled = self.ruled_at
        if zero.any():
            when = np.where(zero, steps[:, None], np.iinfo(np.int64).max).min(axis=0)
            ruled = np.where((ruled < 0) & zero.any(axis=0), when, ruled)
            rows = np.where(zero, 0.0, rows)
        more = counts @ rows + self.lost
        total = self.total + more
        back = total - self.total
        return Evidence(total, (self.total - (total - back)) + (more - back), ruled)

    def with_totals(self, totals: Mapping[int, float]) -> Evidence:
        """The same with the whole log-likelihood of some hypotheses told anew."""
        total, lost = self.total.copy(), self.lost.copy()
        total[list(totals)], lost[list(totals)] = list(totals.values()), 0.0
        return Evidence(total, lost, self.ruled_at)

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which hypotheses give the data a likelihood above zero."""
        return self.ruled_at < 0

    @property
    def log_likelihood(self) -> Floats:
        """ln P(data | h) for each hypothesis; −∞ where it is impossible."""
        return np.where(self.alive, self.total, -np.inf)


def log_sum_exp(values: Floats) -> float:
    """ln Σ exp(v), without overflow or underflow.

    >>> round(log_sum_exp(np.array([-1000.0, -1000.0])) + 1000, 6)
    0.693147
    """
    top = float(values.max())
    return top if np.isinf(top) else top + float(np.log(np.exp(values - top).sum()))


def density(logs: Floats, outcome: object) -> float:
    """Σ exp(logs), the density of an outcome; one that no float can hold is refused.

    >>> density(np.array([1474.0]), "x")
    Traceback (most recent call last):
    credo.errors.LimitError: The density of 'x' is exp(1474), beyond a float. Ask for log_p instead.
    """
    with np.errstate(over="ignore"):
        found = float(np.exp(logs).sum())
    if np.isinf(found):
        raise LimitError(
            f"The density of {shown(outcome)} is exp({log_sum_exp(logs):.6g}), beyond a float.",
            hint="Ask for log_p instead.",
        )
    return found


def posterior(log_prior: Floats, evidence: Evidence) -> tuple[Floats, float]:
    """The logarithms of the posterior, and ln P(data).

    >>> log_p, log_evidence = posterior(np.log([0.5, 0.5]), Evidence.none(2))
    >>> np.exp(log_p), log_evidence
    (array([0.5, 0.5]), 0.0)
    """
    joint = log_prior + evidence.log_likelihood
    total = log_sum_exp(joint)
    return joint - total, total
