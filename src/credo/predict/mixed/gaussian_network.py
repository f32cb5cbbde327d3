"""Questions about networks of continuous variables alone.

A network of lines with Gaussian noise is one multivariate Gaussian, the image of its noise:

    x = a + B x + D^½ ε   ⇒   x = m + L ε,   L = (I − B)⁻¹ D^½,   ε ~ N(0, I)

Observing x_k turns the noise: with L_kᵀ = Q R, the part of ε along the first columns of Q is
R⁻ᵀ (x_k − m_k) and the part along the rest stays free. No variance is found by subtraction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from credo.core.errors import InputError
from credo.model.distributions.gaussian import Gaussian
from credo.model.distributions.multivariate import MultivariateGaussian
from credo.model.networks.linear_gaussian import LinearGaussian

if TYPE_CHECKING:
    from credo.model.networks.network import Network
    from credo.predict.questions.evidence import Evidence

__all__ = ["gaussian_log_evidence", "gaussian_posterior", "gaussian_rows", "joint_gaussian"]

Floats = NDArray[np.float64]


def joint_gaussian(net: Network, names: Sequence[str]) -> tuple[list[str], Floats, Floats]:
    """The continuous variables that `names` rest on, their mean m, and L: their noise's image."""
    wanted = set(names) | set(net.dag.ancestors(list(names)))
    order = [n for n in net.dag.order if n in wanted]
    at = {n: i for i, n in enumerate(order)}
    mean = np.zeros(len(order))
    image = np.zeros((len(order), len(order)))
    for i, name in enumerate(order):
        line = net.distributions[name]
        assert isinstance(line, LinearGaussian)
        parents = [at[p.name] for p in line.continuous]
        slope = line.coefficients
        mean[i] = line.intercept + slope @ mean[parents]
        image[i] = slope @ image[parents]
        image[i, i] = np.sqrt(line.variance)
    return order, mean, image


def gaussian_posterior(
    net: Network, targets: Sequence[str], evidence: Evidence
) -> Gaussian | MultivariateGaussian:
    """The distribution of continuous variables given evidence."""
    known = list(evidence.values)
    order, mean, image = joint_gaussian(net, [*targets, *known])
    at = {n: i for i, n in enumerate(order)}
    t, k = [at[n] for n in targets], [at[n] for n in known]
    m, spread = mean[t], image[t]
    if k:
        q, r = np.linalg.qr(image[k].T, mode="complete")
        away = np.array([evidence.values[n] for n in known]) - mean[k]
        turned = spread @ q
        m = m + turned[:, : len(k)] @ _whitened(r[: len(k)], away, known)
        spread = turned[:, len(k) :]
    cov = spread @ spread.T
    if len(targets) == 1:
        return Gaussian(float(m[0]), float(cov[0, 0]), name=targets[0])
    return MultivariateGaussian(m, cov, names=tuple(targets))


def gaussian_log_evidence(net: Network, evidence: Evidence) -> float:
    """ln p of the observed variables."""
    known = list(evidence.values)
    values = np.array([[evidence.values[n] for n in known]])
    return float(gaussian_rows(net, known, values)[0])


def gaussian_rows(net: Network, names: Sequence[str], values: Floats) -> Floats:
    """ln p of rows, a column for each name; the others integrated out."""
    if not names:
        return np.zeros(len(values))
    order, mean, image = joint_gaussian(net, names)
    k = [order.index(n) for n in names]
    _, r = np.linalg.qr(image[k].T)
    white = _whitened(r, (values - mean[k]).T, names)
    log_det = np.log(np.abs(np.diag(r))).sum()
    out: Floats = -0.5 * (len(k) * np.log(2 * np.pi) + (white**2).sum(axis=0)) - log_det
    return out


def _whitened(r: Floats, away: Floats, names: Sequence[str]) -> Floats:
    """R⁻ᵀ times the distances from the mean."""
    diagonal = np.abs(np.diag(r))
    if not (diagonal > 1e-14 * np.sqrt((r**2).sum(axis=0))).all():
        raise InputError(
            f"The observed variables {', '.join(map(repr, names))} determine each other to the "
            "last digit, so they cannot be observed together.",
            hint="Leave one of them out, or give the lines more variance.",
        )
    out: Floats = solve_triangular(r, away, trans="T")
    return out
