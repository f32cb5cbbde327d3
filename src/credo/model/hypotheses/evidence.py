"""Evidence: the log-likelihood of all data so far, under every hypothesis of a space.

    L_k = Σ_x n_x · ln P(x | h_k)          P(h_k | data) ∝ P(h_k) · exp(L_k)

A probability never multiplies another, so a million observations do not underflow. The sum
is kept in two floats, high and low (Dekker 1971, Numer. Math. 18; Knuth's two-sum), because
a posterior is the exponential of a difference of such sums: the last digits of L matter.
With them, one at a time, all at once, in any order or as counts gives the same posterior.
A likelihood of zero is remembered as a fact, with the step that brought it, not as −∞.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import LimitError, shown
from credo.model.values.reals import Floats

__all__ = ["HIGHEST", "Evidence", "density", "log_sum_exp", "posterior"]

LOWEST = -1e250
"""A log-likelihood below this is taken as a likelihood of zero: its multiples overflow."""
HIGHEST = 1e250
"""A log-density above this is refused, for the same reason."""


def _two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded sum and what the rounding lost, exactly."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded product and what the rounding lost, exactly (Dekker's split)."""
    with np.errstate(over="ignore", invalid="ignore"):
        p = a * b
        ca, cb = 134217729.0 * a, 134217729.0 * b
        a1, b1 = ca - (ca - a), cb - (cb - b)
        a2, b2 = a - a1, b - b1
        low = a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)
    return p, np.where(np.isfinite(low), low, 0.0)


def _total(high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """The sum over the first axis, halving it each time."""
    while len(high) > 1:
        if len(high) % 2:
            pad = np.zeros((1, high.shape[1]))
            high, low = np.concatenate([high, pad]), np.concatenate([low, pad])
        half = len(high) // 2
        s, lost = _two_sum(high[:half], high[half:])
        high, low = _two_sum(s, low[:half] + low[half:] + lost)
    return high[0], low[0]


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The log-likelihood of each hypothesis as `high + low`, and which are ruled out since when.

    `ruled_at[k]` is the step whose observation has likelihood zero under hypothesis k, the
    first such step; −1 while there is none.

    >>> e = Evidence.none(2).add(np.log([[0.5, 0.25]]), np.array([1000.0]), np.array([0]))
    >>> e.log_likelihood.round(3)
    array([ -693.147, -1386.294])
    """

    high: Floats
    low: Floats
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
        if (counts == 1).all():
            high, low = rows, np.zeros_like(rows)
        else:
            high, low = _two_product(rows, np.broadcast_to(counts[:, None], rows.shape))
        high, low = _total(high, low)
        s, lost = _two_sum(self.high, high)
        high, low = _two_sum(s, self.low + low + lost)
        return Evidence(high, low, ruled)

    def with_totals(self, totals: Mapping[int, float]) -> Evidence:
        """The same with the whole log-likelihood of some hypotheses told anew."""
        high, low = self.high.copy(), self.low.copy()
        for k, total in totals.items():
            high[k], low[k] = total, 0.0
        return Evidence(high, low, self.ruled_at)

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which hypotheses give the data a likelihood above zero."""
        return self.ruled_at < 0

    @property
    def log_likelihood(self) -> Floats:
        """ln P(data | h) for each hypothesis; −∞ where it is impossible."""
        return np.where(self.alive, self.high + self.low, -np.inf)


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

    The largest term is subtracted from high and low parts apart, so that nothing is lost.

    >>> log_p, log_evidence = posterior(np.log([0.5, 0.5]), Evidence.none(2))
    >>> np.exp(log_p), log_evidence
    (array([0.5, 0.5]), 0.0)
    """
    joint = np.where(evidence.alive, log_prior + (evidence.high + evidence.low), -np.inf)
    best = int(joint.argmax())
    gap = (evidence.high - evidence.high[best]) + (
        (evidence.low - evidence.low[best])
        + (np.where(np.isinf(log_prior), 0.0, log_prior) - log_prior[best])
    )
    gap = np.where(np.isinf(joint), -np.inf, gap)
    total = log_sum_exp(gap)
    return gap - total, float(joint[best]) + total
