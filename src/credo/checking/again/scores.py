"""Scores of models on rows: the mean of ln P with its standard error, and paired differences.

    mean = Σ w ℓ / W        standard error = √( Σ w (ℓ − mean)² / W ) / √W

Rows that both models call possible are compared one by one, so that what makes a row hard for
both cancels out; rows that a model rules out are counted, not hidden in an infinite mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.checking.again.row_scores import Scored

__all__ = ["BITS", "Score", "difference", "score_of"]

Floats = NDArray[np.float64]

BITS = 1 / math.log(2)
"""Bits in a nat."""


@dataclass(frozen=True, slots=True)
class Score:
    """The mean of ln P a row, in nats and bits, with its standard error (in nats).

    `impossible` is the weight of the rows that the model rules out, `unknown` that of the rows
    that could not be scored; the mean is over the others. `lead` is how much better the model of
    the report does than this one, in nats a row, with its standard error.
    """

    name: str
    nats: float
    error: float
    rows: float
    impossible: float = 0.0
    unknown: float = 0.0
    lead: float = 0.0
    lead_error: float = 0.0
    note: str = ""

    @property
    def bits(self) -> float:
        """The mean in bits a row."""
        return self.nats * BITS

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        return {
            "name": self.name, "nats": self.nats, "bits": self.bits, "error": self.error,
            "rows": self.rows, "impossible": self.impossible, "unknown": self.unknown,
            "lead": self.lead, "lead_error": self.lead_error, "note": self.note,
        }  # fmt: skip


def mean_error(values: Floats, weights: Floats) -> tuple[float, float]:
    """A weighted mean and its standard error; a weight is a number of rows."""
    total = float(weights.sum())
    if not total > 0:
        return 0.0, 0.0
    mean = float(weights @ values) / total
    if total <= 1:
        return mean, 0.0
    spread = float(weights @ (values - mean) ** 2) / (total - 1)
    return mean, math.sqrt(spread / total)


def score_of(name: str, scored: Scored, weights: Floats, note: str = "") -> Score:
    """The score of one model."""
    good = scored.possible
    mean, error = mean_error(scored.log[good], weights[good])
    return Score(
        name, mean, error, float(weights.sum()),
        float(weights[scored.known & ~good].sum()), float(weights[~scored.known].sum()), note=note,
    )  # fmt: skip


def difference(a: Scored, b: Scored, weights: Floats) -> tuple[float, float]:
    """How much better a does than b on the rows possible under both: mean and standard error."""
    both = a.possible & b.possible
    return mean_error(a.log[both] - b.log[both], weights[both])
