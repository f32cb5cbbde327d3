"""The line of a configuration looks like that of all: a hierarchical prior, from the rows.

    σ_u² ~ ν σ_w² / χ²(ν),   value at ȳ ~ N(x̄, σ_u²/κ),   slope j ~ N(b_j, σ_u²/(κ s_j²)),
    κ = σ_w²/σ_p²

σ_p² is what the line of all rows leaves; b and σ_w² are the common slope of lines with a level of
their own, and what they leave within the configurations, one imagined row like all among them; s_j²
is the variance of parent j. So the level of a configuration is one draw from the spread of all, its
variance is worth ν rows of theirs, and a state of one row neither loses its line nor makes one of
no variance. Each line is a posterior under known numbers then (empirical Bayes, as in Gelman et al.
2013, §5), and `line_log_marginal` its marginal likelihood: the score (`cpp/score_lines.hpp`).

The numbers of several discrete parents lean on their main effects instead of the level of all:

    value at ȳ = x̄ + Σ_p e_p[u_p] + i_u,   e_p ~ N(0, τ_p²),   i_u ~ N(0, τ²)
    value at ȳ ~ N(x̄ + Σ_p ê_p[u_p], σ_u²/κ_u),   κ_u = σ_w²/(τ² + V_u)

with the effects ê, what is not known of them (V_u), and their variances by mean-field EM (Searle,
Casella & McCulloch 1992, §8). So a configuration of no row has what its states do elsewhere, and
where effects add up all lean strongly.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.model.networks.line_prior import LinePrior
from credo.stats.moments import Moments

__all__ = ["FLOOR", "LIKE_ALL", "UNIT", "pooled_prior", "settled", "with_main_effects"]

LIKE_ALL = 4.0
"""ν: how many rows the variance of all configurations is worth to that of each."""

UNIT = 1.0
"""ν in the score: one row, as BIC has it. Four would take more parents than new rows reward."""

FLOOR = 1e-6
"""A variance is at least this share of the child's own: a relation that is exact but for few rows
would rule those few out. The twin of `kFloor` in `cpp/score_terms.hpp`."""

_COLLINEAR = 1e-11  # parents that leave one less of its variance determine it
_SWEEPS = 30  # of EM: variances that are still on their way to 0 are small by then

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


def with_main_effects(prior: LinePrior, moments: Moments) -> LinePrior:
    """The pooled prior with a level for each configuration: what its states add up to.

    >>> import credo as cr
    >>> seen = [(g, h, 5 * g + 2 * h + e) for g in range(3) for h in range(3) for e in (-1, 0, 1)
    ...         if (g, h) != (2, 2)]
    >>> g, h, x = zip(*seen, strict=True)
    >>> table = {"g": list(map(str, g)), "h": list(map(str, h)), "x": x}
    >>> moments = cr.tally(table, [("x", ["g", "h"])])["x", ["g", "h"]]
    >>> prior = with_main_effects(pooled_prior(moments), moments)
    >>> prior.mean[2].round(1).tolist()  # of g = 2; the last has no row, and leans on 13.3
    [10.0, 11.7, 13.3]
    """
    if len(moments.discrete) < 2 or not prior.kappa:
        return prior
    n, at = moments.n, moments.configurations.astype(np.intp).T
    arities = [v.arity for v in moments.discrete]
    slope, _, centre = prior.vectors(len(moments.continuous) - 1)
    level = moments.mean[:, -1] - prior.mean - (moments.mean[:, :-1] - centre) @ slope
    variance = prior.beta / prior.alpha
    own = variance / prior.kappa  # τ²
    spread = [own] * len(arities)  # τ_p²
    effects = [np.zeros(a) for a in arities]
    unsure = [np.zeros(a) for a in arities]  # the variances of the effects
    for _ in range(_SWEEPS):
        weight = n / (variance + n * own)
        left = level - _sums(effects, at)
        for p, arity in enumerate(arities):
            left += effects[p][at[p]]
            unsure[p] = spread[p] / (1 + spread[p] * np.bincount(at[p], weight, arity))
            effects[p] = unsure[p] * np.bincount(at[p], weight * left, arity)
            left -= effects[p][at[p]]
            seen = np.unique(at[p])
            spread[p] = float((effects[p] ** 2 + unsure[p])[seen].mean())
        share = own * weight  # of what is left in a configuration, what is its own
        each = share**2 * (left**2 + _sums(unsure, at)) + own * (1 - share)
        own = float(each.mean())
    every = np.ogrid[tuple(slice(a) for a in arities)]
    return replace(
        prior,
        mean=prior.mean + _sums(effects, every),
        kappa=variance / (own + _sums(unsure, every)),
        ridge=prior.ridge / prior.kappa * (variance / own),
    )


def _sums(each: list[Floats], at: Any) -> Any:
    """Σ_p each_p[u_p] of some configurations, by their states."""
    return sum(values[where] for values, where in zip(each, at, strict=True))


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
    left = max(1.0 - float(slope @ scaled[:k, k]), FLOOR)
    return slope * unit[k] / unit[:k], float(scatter[k, k]) * left


def _left(scaled: Floats, chosen: list[int], i: int) -> float:
    """The share of a variance that others leave."""
    if not chosen:
        return 1.0
    along = scaled[chosen, i]
    return float(1.0 - along @ np.linalg.solve(scaled[np.ix_(chosen, chosen)], along))
