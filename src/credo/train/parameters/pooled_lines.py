"""The line of a configuration looks like that of all: a hierarchical prior, from the rows.

    σ_u² ~ ν σ_w² / χ²(ν),   value at ȳ ~ N(x̄, σ_u²/κ),   slope j ~ N(b_j, σ_u²/(κ s_j²)),
    κ = σ_w²/σ_p²

σ_p² is what the line of all rows leaves; b and σ_w² are the common slope of lines with a level of
their own, and what they leave within the configurations, one imagined row like all among them; s_j²
is the variance of parent j. So the level of a configuration is one draw from the spread of all, its
variance is worth ν rows of theirs, and a state of one row neither loses its line nor makes one of
no variance. Each line is a posterior under known numbers then (empirical Bayes, as in Gelman et al.
2013, §5), and `line_log_marginal` its marginal likelihood: the score (`cpp/score_lines.hpp`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from credo.model.networks.line_prior import LinePrior
from credo.stats.moments import Moments

__all__ = ["LIKE_ALL", "UNIT", "pooled_prior", "settled"]

LIKE_ALL = 4.0
"""ν: how many rows the variance of all configurations is worth to that of each."""

UNIT = 1.0
"""ν in the score: one row, as BIC has it. Four would take more parents than new rows reward."""

_COLLINEAR = 1e-11  # the least share of a variance that is left after regression

Floats = NDArray[np.float64]


def pooled_prior(moments: Moments, rows: float = LIKE_ALL) -> LinePrior:
    """The prior of each configuration's line, by the moments of them all.

    Without discrete parents all rows are the one configuration: the unit-information prior.

    >>> import credo as cr
    >>> table = {"g": list("aaabbbc"), "x": [1.0, 1.1, 0.9, 5.0, 5.2, 4.8, 3.0]}
    >>> prior = pooled_prior(cr.tally(table, [("x", ["g"])])["x", ["g"]])
    >>> round(prior.mean, 3), round(prior.kappa, 3), round(prior.beta / prior.alpha, 3)
    (3.0, 0.18, 0.709)
    """
    if not len(moments.n):
        return LinePrior()
    whole = moments.marginal([v.name for v in moments.continuous])
    n, mean, scatter = float(whole.n[0]), whole.mean[0], whole.scatter[0]
    k = len(mean) - 1
    if not scatter[k, k] > 0:
        return LinePrior()  # it does not vary
    pooled = _regressed(scatter * (1 + 1 / n))[1] / _freedom(n, 1, k)
    slope, left = _regressed(moments.scatter.sum(axis=0) + scatter / n)
    variance = min(left / _freedom(n, len(moments.n), k), pooled)
    kappa = variance / pooled
    ridge = kappa * np.maximum(np.diagonal(scatter)[:k], 1e-280) / n
    return LinePrior(
        float(mean[k]), kappa, slope, ridge, rows / 2, rows * variance / 2, mean[:k]
    )  # fmt: skip


def settled(prior: LinePrior, moments: Moments) -> LinePrior:
    """A prior with numbers: `like_all` is the reference prior where one line has rows enough."""
    if not prior.like_all:
        return prior
    enough = not moments.discrete and moments.total > len(moments.continuous) + 2
    return LinePrior() if enough else pooled_prior(moments, prior.like_all)


def _freedom(n: float, groups: int, k: int) -> float:
    return max(n - groups - k, 0.0) + 1


def _regressed(scatter: Floats) -> tuple[Floats, float]:
    """Slopes of the last variable on the others, and what they leave; 0 for what others tell."""
    k = len(scatter) - 1
    size = np.sqrt(np.diagonal(scatter))
    unit = np.where(size > 0, size, 1.0)
    scaled = scatter / unit[:, None] / unit
    chosen: list[int] = []
    for i in range(k):
        if size[i] > 0 and _left(scaled, chosen, i) > _COLLINEAR:
            chosen.append(i)
    slope = np.zeros(k)
    if chosen:
        slope[chosen] = np.linalg.solve(scaled[np.ix_(chosen, chosen)], scaled[chosen, k])
    left = max(1.0 - float(slope @ scaled[:k, k]), _COLLINEAR)
    return slope * unit[k] / unit[:k], float(scatter[k, k]) * left


def _left(scaled: Floats, chosen: list[int], i: int) -> float:
    """The share of a variance that others leave."""
    if not chosen:
        return 1.0
    along = scaled[chosen, i]
    return float(1.0 - along @ np.linalg.solve(scaled[np.ix_(chosen, chosen)], along))
