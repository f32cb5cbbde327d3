"""The evidence of completed rows, for the criterion of Cheeseman & Stutz.

    ln P(D' | k) = ln ∫ P(D' | θ) p(θ) dθ

D' are the expected statistics of each class, taken as if they had been observed. The prior: a
Dirichlet with pseudo-counts 1 + s for the weights and 1 + s/J for the tables; for Gaussians the
normal-inverse-Wishart of Fraley & Raftery (2007), ν = d + 2 (3 where columns are apart),
κ = 1/100, Λ = I / k^(2/d), in units of each column's spread; for rates an exponential.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from credo.predict.rows.mixture_rows import Statistics, roots_of
from credo.train.mixtures.maximise import MixtureEM

Floats = NDArray[np.float64]

_KAPPA = 0.01


def cheeseman_stutz(log_likelihood: float, e: Statistics, m: MixtureEM, whole: float) -> float:
    """ln P(rows | k), about; `whole` is the `complete` of the statistics."""
    return log_likelihood + _evidence(e, m) - whole


def complete(e: Statistics, m: MixtureEM) -> float:
    """ln P(D' | θ), in the scaled units of the rows."""
    x = e.under

    def part(counts: Floats, p: Floats) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.where(counts > 0, counts * np.log(p), 0.0).sum())

    total = part(e.mass, x.weights)
    total += sum(part(c, t) for c, t in zip(e.counts, x.tables, strict=True))
    d = m.columns
    if x.rates.shape[1]:
        total += part(e.first[:, d:], x.rates) - float((e.there[:, d:] * x.rates).sum())
    if d == 0:
        return total
    if m.joint:
        roots = e.roots or roots_of(x.spread)
        whole = e.mass * (d * np.log(2 * np.pi) + roots.log_det) + roots.trace(e.second)
        return total - 0.5 * float(whole.sum())
    n = e.there[:, :d]
    total -= 0.5 * float((n * np.log(2 * np.pi * x.spread) + e.second / x.spread).sum())
    return total


def _evidence(e: Statistics, m: MixtureEM) -> float:
    """ln P(D')."""
    x = e.under
    total = _dirichlet(e.mass[None], 1.0 + m.prior)
    for counts in e.counts:
        total += _dirichlet(counts, 1.0 + m.prior / counts.shape[1])
    d = m.columns
    if x.rates.shape[1]:
        n, sums = e.there[:, d:], e.first[:, d:]
        b = 1.0 / m.rate_means
        total += float((np.log(b) + gammaln(1 + sums) - (1 + sums) * np.log(b + n)).sum())
    if d == 0:
        return total
    n = e.there[:, :d]
    step = np.where(n > 0, e.first[:, :d] / np.where(n > 0, n, 1.0), 0.0)
    middle = x.means + step
    pull = _KAPPA * n / (n + _KAPPA)
    means = 0.5 * float(np.log(_KAPPA / (_KAPPA + n)).sum())
    if not m.joint:
        scatter = np.maximum(e.second - n * step**2, 0.0) + pull * middle**2
        if m.form == "spherical":
            n, scatter = n.sum(axis=1), scatter.sum(axis=1)
        return total + means + float(_variances(n, scatter, m.size).sum())
    scatter = e.second - e.mass[:, None, None] * step[:, :, None] * step[:, None, :]
    scatter = scatter + pull[:, :1, None] * middle[:, :, None] * middle[:, None, :]
    weight = e.mass
    if m.form == "tied":
        scatter, weight = scatter.sum(axis=0)[None], np.array([e.mass.sum()])
    nu = d + 2.0
    after = np.linalg.slogdet(scatter + m.size * np.eye(d))[1]
    value = -0.5 * weight * d * np.log(np.pi) + 0.5 * nu * d * np.log(m.size)
    value += -0.5 * (nu + weight) * after + _gammas(nu + weight, d) - _gammas(nu, d)
    return total + means + float(value.sum())


def _gammas(nu: Floats | float, d: int) -> Floats:
    """ln Γ of d axes at ν/2, without the π that all of them share."""
    found: Floats = gammaln(0.5 * (np.asarray(nu)[..., None] - np.arange(d))).sum(axis=-1)
    return found


def _variances(n: Floats, scatter: Floats, size: float) -> Floats:
    nu = 3.0
    out: Floats = -0.5 * n * np.log(np.pi) + 0.5 * nu * np.log(size)
    out = out - 0.5 * (nu + n) * np.log(scatter + size)
    whole: Floats = out + gammaln(0.5 * (nu + n)) - gammaln(0.5 * nu)
    return whole


def _dirichlet(counts: Floats, alpha: float) -> float:
    j = counts.shape[-1]
    total = gammaln(j * alpha) - gammaln(j * alpha + counts.sum(axis=-1))
    return float((total + (gammaln(alpha + counts) - gammaln(alpha)).sum(axis=-1)).sum())
