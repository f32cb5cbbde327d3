"""The transform after which a column is most nearly Gaussian, by profile likelihood.

    ℓ(t) = −N/2 · ln Var t(x) + Σ ln t'(x)

mean and variance at their maximum, the slope in it, so that transforms compare on the user's scale
(Box & Cox 1964; Yeo & Johnson 2000). It costs ln N, as two numbers do by BIC; a column that
gains less keeps its own scale. Only maps of the whole line are tried unless one is named, and one
imagined row beyond each end has its say: a number that no row has shown is not ruled out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.scales import Transform

__all__ = ["PRICED", "best_transform", "named_transform", "transform_gain"]

Floats = NDArray[np.float64]

PRICED = 2
"""The numbers that a transform costs: centre, spread and power are searched, and on Gaussian
columns gain about as much as two."""

_POINTS = 192  # of a column, at which transforms are compared
_EXTREMES = 32  # at each end are looked at one by one
_POWERS = np.linspace(0.0, 2.0, 9)


def best_transform(numbers: Floats, weights: NDArray[Any] | None = None) -> Transform | None:
    """The transform that makes a column most nearly Gaussian; None where none is worth its price.

    >>> rng = np.random.default_rng(0)
    >>> best_transform(rng.normal(size=500)) is None
    True
    >>> skewed = np.exp(rng.normal(3.0, 1.0, size=500))
    >>> found = best_transform(skewed)
    >>> found.kind, found.power
    ('yeo-johnson', 0.0)
    """
    x, n = _points(numbers, weights)
    total = float(n.sum())
    if len(x) < 5:
        return None
    x, n = _with_ends(x, n)
    ends = np.quantile(x, [0.0, 0.25, 0.5, 0.75, 1.0], weights=n, method="inverted_cdf")
    wide = sorted({float(b - a) for a in ends for b in ends if b > a})
    spreads = sorted({w * f for w in (*wide, (wide[0] * wide[-1]) ** 0.5) for f in (0.1, 0.3, 1.0)})
    best, found = 0.0, None
    for centre in (ends[0], ends[2], ends[4]):
        at = _best_of(x, n, centre, np.array(spreads), _POWERS)
        if at[0] > best:
            best, found = at[0], (centre, at[1], at[2])
    if found is None:
        return None
    centre, spread, power = found
    near = spread * np.array([0.5, 0.7, 1.0, 1.4, 2.0])
    powers = np.clip(power + np.linspace(-0.25, 0.25, 11), 0.0, 2.0)
    best, spread, power = _best_of(x, n, centre, near, powers)
    if best <= 0.5 * PRICED * math.log(max(total, 2.0)):
        return None
    step = 10.0 ** math.floor(math.log10(spread) - 1)  # the centre as finely as the spread
    return Transform(
        "yeo-johnson", float(f"{round(centre / step) * step:.12g}"), _short(spread), round(power, 3)
    )


def named_transform(kind: str, name: str, numbers: Floats) -> Transform:
    """The transform of a kind that was asked for by name, on the scale of the column.

    >>> named_transform("log", "price", np.array([1.0, 4.0]))
    Transform(kind='log', centre=0.0, spread=1.0, power=1.0, low=0.0, high=inf)
    """
    there = numbers[~np.isnan(numbers)]
    transform = Transform(kind)
    if kind == "yeo-johnson":
        return best_transform(numbers) or transform
    if not transform.holds(there).all():
        low, high = transform.domain
        bound = f"above {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
        outside = there[~transform.holds(there)][0]
        raise InputError(
            f"The transform {kind!r} takes numbers {bound}; {name!r} has {outside:g}.",
            hint=f"Give numbers={{{name!r}: 'transformed'}}, which takes any number.",
        )
    return transform


def transform_gain(transform: Transform, numbers: Floats, weights: Any = None) -> float:
    """What a transform gains in ln P(column) as one Gaussian, before its price."""
    there = ~np.isnan(numbers)
    x = numbers[there]
    n = np.ones(len(x)) if weights is None else weights[there].astype(np.float64)
    gain = _height(transform.forward(x), n) - _height(x, n)
    return float(gain + n @ transform.log_slope(x))


def _points(numbers: Floats, weights: NDArray[Any] | None) -> tuple[Floats, Floats]:
    """A column as at most some hundred numbers with weights, its extremes as they are."""
    there = np.isfinite(numbers)
    if weights is not None:
        there &= weights > 0
    x = numbers[there]
    n = np.ones(len(x)) if weights is None else weights[there].astype(np.float64)
    values, inverse = np.unique(x, return_inverse=True)
    count = np.bincount(inverse, n, minlength=len(values)).astype(np.float64)
    if len(values) <= _POINTS:
        return values, count
    group = np.arange(len(values), dtype=np.float64)
    inner = slice(_EXTREMES, len(values) - _EXTREMES)
    below = np.cumsum(count[inner]) - count[inner] / 2
    parts = _POINTS - 2 * _EXTREMES
    group[inner] = _EXTREMES + np.floor(below / (count[inner].sum() / parts))
    group[-_EXTREMES:] = _EXTREMES + parts + np.arange(_EXTREMES)
    _, at = np.unique(group, return_inverse=True)
    size = np.bincount(at, count).astype(np.float64)
    return np.bincount(at, count * values) / size, size


def _with_ends(x: Floats, n: Floats) -> tuple[Floats, Floats]:
    """The points and one imagined row beyond each end, as far out as the rows of the tail lie on
    average beyond where it begins: a transform that is steep at an end would rule out the next
    number beyond it.
    """
    most = max(math.sqrt(n.sum()), 3.0)

    def beyond(values: Floats, count: Floats) -> float:
        last = min(int(np.searchsorted(np.cumsum(count), most)), len(values) - 1)
        tail, share = values[:last], count[:last]
        return float(share @ np.abs(tail - values[last]) / share.sum()) if last else 0.0

    low, high = x[0] - beyond(x, n), x[-1] + beyond(x[::-1], n[::-1])
    return np.r_[low, x, high], np.r_[1.0, n, 1.0]


def _best_of(
    x: Floats, n: Floats, centre: float, spreads: Floats, powers: Floats
) -> tuple[float, float, float]:
    """The gain over no transform of the best spread and power about a centre."""
    u = (x - centre) / spreads[:, None]
    log = np.log1p(np.abs(u))
    bend = np.where(x >= centre, powers[:, None] - 1, 1 - powers[:, None])  # [power, row]
    power = bend + 1  # above the centre, and 2 − power below
    safe = np.where(power < 1e-12, 1.0, power)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        size = np.expm1(power * log[:, None]) / safe  # [spread, power, row]
        np.copyto(size, log[:, None], where=power < 1e-12)
        z = np.where(x >= centre, size, -size)
        gain = _height(z, n) - _height(x, n) + (log * n) @ bend.T
        gain -= n.sum() * np.log(spreads)[:, None]
    gain = np.where(np.isfinite(gain), gain, 0.0)
    at, k = np.unravel_index(int(gain.argmax()), gain.shape)
    if not gain[at, k] > 0:
        return 0.0, float(spreads[0]), 1.0
    return float(gain[at, k]), float(spreads[at]), float(powers[k])


def _height(z: Floats, n: Floats) -> Any:
    """−N/2 · ln Var z, along the last axis."""
    total = n.sum()
    mean = (z @ n) / total
    away = (z - np.asarray(mean)[..., None]) ** 2 @ n / total
    with np.errstate(divide="ignore"):
        return -0.5 * total * np.log(away)


def _short(value: float) -> float:
    """Three digits: what is chosen from rows is not known to more."""
    return float(f"{value:.3g}")
