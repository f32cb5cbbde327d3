"""Credible intervals of the entries of a table.

    θ_u ~ Dirichlet(α_u)   ⇒   θ_ux ~ Beta(α_ux, Σ α_u − α_ux)

Each entry alone is a Beta, so its interval is exact: no draws are needed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from credo.model.beta import Beta
from credo.model.interval import Interval, tails

__all__ = ["entry_intervals"]

Floats = NDArray[np.float64]


def entry_intervals(counts: Floats, level: float) -> Interval:
    """The central intervals of every entry of posterior pseudo-counts, rows along the last axis.

    >>> low, high = entry_intervals(np.array([6.0, 6.0]), 0.95)
    >>> low.round(6).tolist(), high.round(6).tolist()
    ([0.233794, 0.233794], [0.766206, 0.766206])
    """
    share = tails(level)
    if counts.shape[-1] == 1:  # one state is certain
        return Interval(np.ones(counts.shape), np.ones(counts.shape), level)
    # Rows repeat (unseen configurations, binary tables): each different pair is worked out once.
    # The rest is added up, not subtracted, so that nothing is lost beside a large count.
    rest = np.zeros_like(counts)
    rest[..., 1:] = counts[..., :-1].cumsum(axis=-1)
    rest[..., :-1] += counts[..., :0:-1].cumsum(axis=-1)[..., ::-1]
    pairs = np.stack([counts.ravel(), rest.ravel()], axis=1)
    different, where = np.unique(pairs, axis=0, return_inverse=True)
    ends = _quantiles(different, share)[where.ravel()]
    lower, upper = (ends[:, i].reshape(counts.shape) for i in (0, 1))
    return Interval(lower, upper, level)


def _quantiles(pairs: Floats, share: tuple[float, float]) -> Floats:
    """Both ends for each Beta(a, b); where the quick inverse is off, `Beta.quantile` finds them."""
    from scipy.special import betainc, betaincinv

    a, b = pairs[:, :1], pairs[:, 1:]
    q = np.array([share])
    with np.errstate(all="ignore"):
        out: Floats = np.asarray(betaincinv(a, b, q))
        miss = np.abs(betainc(a, b, out) - q)
    good = (miss <= 1e-9 * np.minimum(q, 1 - q)).all(axis=1)
    for none, value in ((a, 0.0), (b, 1.0)):  # a count of 0 is certain, as far as it goes
        out[none[:, 0] == 0] = value
        good |= none[:, 0] == 0
    for i in np.flatnonzero(~good):
        out[i] = Beta(float(a[i, 0]), float(b[i, 0])).quantile(q[0])
    return out
