"""The discriminative twins: tables as matrices for regressions, and a generative twin for them.

Naive Bayes models P(x, y); logistic regression models P(y | x) with the same linear form (Ng &
Jordan 2002). For a continuous target the pair is the naive linear Gaussian

    y ~ N(m, s²),   x_j | y ~ N(a_j + b_j·y, s_j²)     ⇒     y | x Gaussian, its mean linear in x

and linear regression.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.data import Table

__all__ = ["Design", "LinearGaussianTwin"]

Floats = NDArray[np.float64]


class Design:
    """A table as a matrix: a column for each state, standardised numbers, and where they lack."""

    def __init__(self, table: Table, target: str) -> None:
        self.names = [n for n in table.schema.names if n != target]
        self.centre: dict[str, tuple[float, float]] = {}
        self.gaps = {}
        weights = np.ones(len(table)) if table.weights is None else table.weights
        for name in self.names:
            if not table.schema[name].is_discrete:
                values = table.values(name)
                there = ~np.isnan(values)
                seen, w = values[there], weights[there]
                mean = float(np.average(seen, weights=w)) if len(seen) else 0.0
                sd = math.sqrt(np.average((seen - mean) ** 2, weights=w)) if len(seen) else 1.0
                self.centre[name] = (mean, sd or 1.0)
                self.gaps[name] = len(seen) < len(values)

    def matrix(self, table: Table) -> Floats:
        """The rows of a table as numbers; missing states are all 0, missing numbers the mean."""
        parts = []
        for name in self.names:
            variable = table.schema[name]
            if variable.is_discrete:
                one = np.eye(variable.arity + 1)[:, : variable.arity]
                parts.append(one[table.codes(name)])
                continue
            mean, sd = self.centre[name]
            z = (table.values(name) - mean) / sd
            gone = np.isnan(z)
            parts.append(np.where(gone, 0.0, z)[:, None])
            if self.gaps[name]:
                parts.append(gone[:, None].astype(np.float64))
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(table), 0))


class LinearGaussianTwin:
    """y ~ N(m, s²) and each column a line in y: naive Bayes for a continuous target."""

    def fit(self, x: Floats, y: Floats, weights: Floats) -> LinearGaussianTwin:
        """The lines by maximum likelihood; columns that do not vary are left out."""
        share = weights / weights.sum()
        self.mean = float(share @ y)
        centred = y - self.mean
        self.variance = max(float(share @ centred**2), 1e-300)
        level = share @ x
        self.slope = ((share * centred) @ (x - level)) / self.variance
        self.level = level - self.slope * self.mean
        noise = share @ (x - self.level - np.outer(y, self.slope)) ** 2
        self.used = noise > 1e-12
        self.noise = np.where(self.used, noise, 1.0)
        return self

    def predict(self, x: Floats) -> tuple[Floats, float]:
        """The mean of y for each row, and its variance: precisions add up."""
        gain = np.where(self.used, self.slope / self.noise, 0.0)
        precision = 1 / self.variance + float((gain * self.slope).sum())
        total: Any = self.mean / self.variance + (x - self.level) @ gain
        return total / precision, 1 / precision
