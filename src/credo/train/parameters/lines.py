"""Lines with Gaussian noise from moments: least squares, or a conjugate posterior.

    b = S_yy⁻¹ S_yx,   x at ȳ: x̄,   RSS = S_xx − bᵀ S_yx,   σ² = RSS / n   (n − p: sample variance)

The prior enters as κ imagined rows at (c, μ) whose parents scatter by λ, merged with the real ones
as two moments are; so one piece of algebra serves every case (DeGroot 1970, §9–11):

    α_n = α + n/2 − (flat coefficients)/2,   β_n = β + RSS/2

Without numbers for a prior, a configuration of the discrete parents whose rows do not determine its
line (too few of them, or parents that do not vary) borrows the line of all configurations together,
and its uncertainty; under `LinePrior(like_all=…)` every configuration leans on it, or on what the
states of several discrete parents add up to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.model.distributions.log_rising import log_rising
from credo.model.networks.family import MAX_CELLS, cells
from credo.model.networks.line_prior import LinePrior
from credo.model.networks.linear_gaussian import LinePosterior
from credo.stats.moments import Moments
from credo.train.parameters.pooled_lines import (
    FLOOR,
    UNIT,
    pooled_prior,
    settled,
    with_main_effects,
)

__all__ = [
    "Lines", "fit_lines", "line_log_likelihood", "line_log_marginal", "line_score",
]  # fmt: skip

_EXACT = 1e-6  # of the least variance: what rounding leaves of a line through every point
_ROUNDING = 1e-26  # a variance below this share of the mean's square is rounding
_COLLINEAR = 1e-10  # the least eigenvalue of the parents' correlations that still counts

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Lines:
    """The lines of one family: their parameters by configuration, and how they came about."""

    intercept: Floats
    coefficients: Floats
    variance: Floats
    posterior: LinePosterior | None
    borrowed: NDArray[np.bool_]  # the configurations of too few rows for a line of their own
    floored: bool  # some variance was 0, or next to it


@dataclass(frozen=True)
class _Solved:
    """Least squares for each configuration, with the prior's imagined rows among the rows."""

    weight: Floats
    centre: Floats
    value: Floats
    slope: Floats
    spread: Floats
    rss: Floats
    fits: NDArray[np.bool_]
    flat: NDArray[np.bool_]


def check_size(moments: Moments) -> None:
    """Refuse lines that would not fit, before they are allocated."""
    k = len(moments.continuous) - 1
    size = cells(moments.discrete) * (k + 1) ** 2
    if size > MAX_CELLS:
        raise LimitError(
            f"The lines of {moments.names[-1]!r} would have {size:,} numbers; at most "
            f"{MAX_CELLS:,} are allowed.",
            hint="Give it fewer parents, or parents with fewer states.",
        )


def fit_lines(moments: Moments, prior: LinePrior | None, estimate: str) -> Lines:
    """The lines of the last continuous variable in the others, by discrete configuration."""
    check_size(moments)
    leaning = False
    if prior is not None and prior.like_all:
        means = estimate in ("mean", "map")  # the rows alone make the others
        prior = with_main_effects(settled(prior, moments), moments) if means else LinePrior()
        leaning = prior.alpha > 0
    shape = tuple(v.arity for v in moments.discrete)
    every = _dense(moments, shape)
    least = _least_variance(moments)
    solved = _solve(*every, prior, least)
    n, p = every[0], len(moments.continuous)
    enough = 1.0 if estimate == "mean" else 0.0
    if prior is None:
        good = solved.fits & (n > p)
        alpha = None
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = solved.rss / (n - p if estimate == "sample" else n)
    else:
        alpha = _alpha(prior, n, moments)
        good = solved.fits & (alpha > enough) & (solved.weight > 0)
        variance = _variance(estimate, alpha, solved.rss, n, p - 1)
        if leaning and estimate == "mean":  # that of a new row, whose level is not known either
            variance = variance * (1 + 1 / solved.weight)
    alone, pooled, pooled_alpha = solved, variance, alpha
    if not good.all():
        common = LinePrior() if prior is not None and np.ndim(prior.mean) else prior
        total = float(moments.total)
        if moments.discrete:  # else there is one configuration
            whole = _dense(moments.marginal([v.name for v in moments.continuous]), ())
            alone = _solve(*whole, common, least)
            if common is not None:
                pooled_alpha = _alpha(common, whole[0], moments)
                pooled = _variance(estimate, pooled_alpha, alone.rss, whole[0], p - 1)
        if common is None:
            known = bool(alone.fits) and total > p
            pooled = alone.rss / max(total - p if estimate == "sample" else total, 1e-300)
        else:
            known = bool(alone.fits and np.all(pooled_alpha > enough) and alone.weight > 0)  # type: ignore[operator]
        if not known:
            raise _refusal(moments, alone, total, prior)
    borrow = ~good | (leaning & (n < len(moments.continuous) + 1))
    slope = _either(good, solved.slope, alone.slope)
    centre = _either(good, solved.centre, alone.centre)
    value = _either(good, solved.value, alone.value)
    posterior = None
    if alpha is not None and pooled_alpha is not None:
        posterior = LinePosterior(
            _either(good, solved.weight, alone.weight), centre, value, slope,
            _either(good, solved.spread, alone.spread), _either(good, alpha, pooled_alpha),
            _either(good, solved.rss, alone.rss) / 2,
        )  # fmt: skip
    sigma = _either(good, variance, pooled)
    floored = bool(np.where(good, solved.flat, alone.flat).any())
    intercept = value - (slope * centre).sum(axis=-1)
    return Lines(intercept, slope, np.maximum(sigma, least), posterior, borrow, floored)


def _dense(moments: Moments, shape: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
    """Weight, mean and scatter of every configuration; zeros where none was seen."""
    d = len(moments.continuous)
    n, mean, scatter = np.zeros(shape), np.zeros((*shape, d)), np.zeros((*shape, d, d))
    if len(moments.n):
        at = tuple(moments.configurations.T.astype(np.intp)) if shape else ()
        n[at] = moments.n if shape else moments.n[0]
        mean[at] = moments.mean if shape else moments.mean[0]
        scatter[at] = moments.scatter if shape else moments.scatter[0]
    return n, mean, scatter


def _least_variance(moments: Moments) -> float:
    """The least variance of a line: a share of its child's in all rows."""
    n, means = moments.n, moments.mean[:, -1]
    total = max(float(n.sum()), 1e-300)
    mean = float(n @ means) / total
    own = float(moments.scatter[:, -1, -1].sum() + n @ (means - mean) ** 2) / total
    square = mean**2
    if own > _ROUNDING * square:
        return max(FLOOR * own, _ROUNDING * square / 100, 1e-290)
    return FLOOR * max(square, 1.0)  # it does not vary


def _solve(
    n: Floats, mean: Floats, scatter: Floats, prior: LinePrior | None, least: float
) -> _Solved:
    """Least squares on the real and the imagined rows."""
    k = mean.shape[-1] - 1
    extra = 0.0
    if prior is not None and not _imagines_nothing(prior):
        slope, ridge, centre = prior.vectors(k)
        # κ rows at (c, μ); their parents scatter by λ, and the child along the slope b₀
        point = np.empty((*n.shape, k + 1))
        point[..., :k], point[..., k] = centre, prior.mean
        own = np.zeros((k + 1, k + 1))
        own[:k, :k] = np.diag(ridge)
        own[:k, k] = own[k, :k] = ridge * slope
        own[k, k] = float((ridge * slope**2).sum())
        total = n + prior.kappa
        safe = np.where(total > 0, total, 1.0)
        away = mean - point
        between = (
            (n * prior.kappa / safe)[..., None, None] * away[..., :, None] * away[..., None, :]
        )
        mean = np.where(
            (total > 0)[..., None], point + (n / safe)[..., None] * away, np.zeros(k + 1)
        )
        n, scatter = total, scatter + own + between
        extra = 2 * prior.beta
    yy, yx, xx = scatter[..., :k, :k], scatter[..., :k, k], scatter[..., k, k]
    size = np.sqrt(np.diagonal(yy, axis1=-2, axis2=-1))
    safe_size = np.where(size > 0, size, 1.0)
    corr = yy / (safe_size[..., :, None] * safe_size[..., None, :])
    fits = np.ones(n.shape, dtype=bool)
    b = np.zeros((*n.shape, k))
    if k:
        corr = np.where(np.eye(k, dtype=bool), np.where(size > 0, 1.0, 0.0)[..., None, :], corr)
        fits = np.linalg.eigvalsh(corr)[..., 0] > _COLLINEAR
        usable = np.where(fits[..., None, None], corr, np.eye(k))
        right = np.where(fits[..., None], yx / safe_size, 0.0)
        b = np.linalg.solve(usable, right[..., None])[..., 0] / safe_size
    rss = np.maximum(xx - (b * yx).sum(axis=-1), 0.0) + extra
    floor = np.maximum(n, 1.0) * least
    flat = rss <= floor * _EXACT
    return _Solved(
        n, mean[..., :k], mean[..., k], b, yy, np.maximum(rss, floor), fits & (n > 0), flat
    )


def _imagines_nothing(prior: LinePrior) -> bool:
    """Whether the rows alone say where the line is, as under the reference prior."""
    sure = (
        np.any(prior.mean)
        or np.any(prior.kappa)
        or prior.beta
        or prior.ridge.any()
        or prior.centre.any()
    )
    return not sure


def _alpha(prior: LinePrior, n: Floats, moments: Moments) -> Floats:
    k = len(moments.continuous) - 1
    flat_slopes = float((prior.ridge == 0).sum()) if prior.ridge.ndim else k * (prior.ridge == 0)
    flat = flat_slopes + (prior.kappa == 0)
    out: Floats = prior.alpha + (np.asarray(n) - flat) / 2
    return out


def _variance(estimate: str, alpha: Floats, rss: Floats, n: Floats, k: int) -> Floats:
    """σ² at the mean or the mode of the posterior; by the rows alone for `mle` and `sample`."""
    beta = rss / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        if estimate == "mean":
            out = beta / (alpha - 1)
        elif estimate == "map":  # of coefficients and variance together
            out = beta / (alpha + 1 + (k + 1) / 2)
        else:
            out = rss / (n - (k + 1 if estimate == "sample" else 0))
    found: Floats = np.asarray(out)
    return found


def _either(good: NDArray[np.bool_], mine: Floats, all_of: Floats) -> Floats:
    if mine is all_of:
        return mine
    extra = (None,) * (mine.ndim - good.ndim)
    out: Floats = np.where(good[(..., *extra)], mine, all_of)
    return out


def _refusal(moments: Moments, alone: _Solved, total: float, prior: LinePrior | None) -> InputError:
    *parents, child = (v.name for v in moments.continuous)
    if total > len(parents) + 1 and not alone.fits:
        return InputError(
            f"The continuous parents {', '.join(map(repr, parents))} of {child!r} determine each "
            "other (or one of them never changes), so no single line fits.",
            hint=f"Leave one out, or give a ridge: prior={{{child!r}: cr.LinePrior(ridge=1, …)}}.",
        )
    rows = len(parents) + (2 if prior is None else 4)
    return InputError(
        f"The line of {child!r} needs at least {rows} rows in which it and its parents are "
        f"observed, got {total:g}.",
        hint=f"Give more rows, or a prior: "
        f"prior={{{child!r}: cr.LinePrior(kappa=1, alpha=2, beta=1, ridge=1)}}.",
    )


def line_log_likelihood(moments: Moments, lines: Lines) -> float:
    """Σ ln p(x | u, y) of the rows behind the moments, from the moments alone."""
    at = tuple(moments.configurations.T.astype(np.intp)) if moments.discrete else ()
    if not len(moments.n):
        return 0.0
    b, variance = lines.coefficients[at], lines.variance[at]
    b = b.reshape(len(moments.n), -1)
    direction = np.concatenate([-b, np.ones((len(b), 1))], axis=1)
    away = moments.mean[:, -1] - lines.intercept[at] - (b * moments.mean[:, :-1]).sum(axis=1)
    inside = np.einsum("ui,uij,uj->u", direction, moments.scatter, direction)
    square = np.maximum(inside, 0.0) + moments.n * away**2
    return float(-0.5 * (moments.n * np.log(2 * np.pi * variance) + square / variance).sum())


def line_score(moments: Moments) -> float:
    """The marginal likelihood of lines that lean on all, slopes priced as few rows ask.

    The kernel of searches gives the same (`cpp/score_lines.hpp`).
    """
    k, n = len(moments.continuous) - 1, moments.total
    if k and n <= k + 3:
        return -math.inf
    price = 0.5 * k * math.log(n) * (k + 3) / (n - k - 3) if k else 0.0
    found = line_log_marginal(moments, pooled_prior(moments, UNIT))
    return (-0.5 * k * math.log(max(n, 1.0)) if found is None else found) - price


def line_log_marginal(moments: Moments, prior: LinePrior) -> float | None:
    """ln p(rows) with the lines integrated out; None where the prior is not a distribution."""
    prior = settled(prior, moments)
    if np.any(prior.kappa == 0) or prior.alpha == 0 or prior.beta == 0:
        return None
    k = len(moments.continuous) - 1
    _, ridge, _ = prior.vectors(k)
    if (ridge == 0).any():
        return None
    if not len(moments.n):
        return 0.0
    if np.ndim(prior.mean):
        at = tuple(moments.configurations.T.astype(np.intp))
        prior = replace(prior, mean=prior.mean[at], kappa=prior.kappa[at])
    after = _solve(moments.n, moments.mean, moments.scatter, prior, 0.0)
    log_det = np.linalg.slogdet(after.spread)[1] if k else 0.0
    each = (
        -moments.n / 2 * np.log(2 * np.pi)
        + log_rising(prior.alpha, moments.n / 2)
        + prior.alpha * np.log(prior.beta / (after.rss / 2)) - moments.n / 2 * np.log(after.rss / 2)
        + 0.5 * (np.log(prior.kappa) + np.log(ridge).sum() - np.log(after.weight) - log_det)
    )  # fmt: skip
    return float(each.sum())
