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

from credo.model.values.reals import Floats


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
    ruled_at: NDArray[np.int64]

    @classmethod
    def none(cls, hypotheses: int) -> Evidence:
        """No data: every log-likelihood is 0."""
        return cls(np.zeros(hypotheses), np.full(hypotheses, -1, dtype=np.int64))

    def add(self, rows: Floats, counts: Floats, steps: NDArray[np.int64]) -> Evidence:
        """The evidence after some more observations.

        `rows[i, k]` is ln P(xᵢ | h_k), `counts[i]` how often xᵢ came, `steps[i]` when first.
        """
        zero = np.isneginf(rows)
        ruled = self.ruled_at
        if zero.any():
            when = np.where(zero, steps[:, None], np.iinfo(np.int64).max).min(axis=0)
            ruled = np.where((ruled < 0) & zero.any(axis=0), when, ruled)
            rows = np.where(zero, 0.0, rows)
        return Evidence(self.total + counts @ rows, ruled)

    def with_totals(self, totals: Mapping[int, float]) -> Evidence:
        """The same with the whole log-likelihood of some hypotheses told anew."""
        total = self.total.copy()
        total[list(totals)] = list(totals.values())
        return Evidence(total, self.ruled_at)

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which hypotheses give the data a likelihood above zero."""
        return self.ruled_at < 0

    @property
    def log_likelihood(self) -> Floats:
        """ln P(data | h) for each hypothesis; −∞ where it is impossible."""
        return np.where(self.alive, self.total, -np.inf)


def posterior(log_prior: Floats, evidence: Evidence) -> tuple[Floats, float]:
    """The logarithms of the posterior, and ln P(data).

    >>> log_p, log_evidence = posterior(np.log([0.5, 0.5]), Evidence.none(2))
    >>> np.exp(log_p), log_evidence
    (array([0.5, 0.5]), 0.0)
    """
    from scipy.special import logsumexp

    joint = log_prior + evidence.log_likelihood
    total = float(logsumexp(joint))
    return joint - total, total
