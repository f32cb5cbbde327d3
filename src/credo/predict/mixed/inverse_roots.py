"""Inverse roots of covariances: Σ = L Lᵀ and R = L⁻¹, all that a Gaussian's density needs.

    ln |Σ| = −2 Σ ln R_ii        xᵀ Σ⁻¹ x = |R x|²        tr Σ⁻¹ S = Σ (R S) ∘ R

The kernel of mixtures makes its own; of many columns LAPACK's take a third of the time. They are
made once a step, and every part of the step reads them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError

__all__ = ["WIDE", "Roots", "roots_of"]

Floats = NDArray[np.float64]

WIDE = 128
"""From so many columns on LAPACK's roots are faster than those of the kernel."""

_FEW = 48  # columns, below which all classes at once are faster than one after the other


@dataclass(frozen=True, slots=True)
class Roots:
    """R of each class, lower triangles [k, d, d]; of a covariance that all share, the same view."""

    inverse: Floats

    @property
    def log_det(self) -> Floats:
        """ln |Σ| of each class."""
        found: Floats = -2.0 * np.log(self.inverse.diagonal(axis1=1, axis2=2)).sum(axis=1)
        return found

    def trace(self, of: Floats | None = None) -> Floats:
        """tr Σ⁻¹ S of each class, S being the identity unless it is given."""
        left = self.inverse if of is None else self.inverse @ of
        found: Floats = np.einsum("cij,cij->c", left, self.inverse)
        return found

    def squares(self, x: Floats) -> Floats:
        """xᵀ Σ⁻¹ x of each class, with x [k, d]."""
        found: Floats = ((self.inverse @ x[:, :, None]) ** 2).sum(axis=(1, 2))
        return found


def roots_of(covariances: Floats) -> Roots:
    """The inverse roots of covariances [k, d, d].

    >>> found = roots_of(np.array([[[4.0, 2.0], [2.0, 5.0]]]))
    >>> found.inverse.tolist(), np.round(np.exp(found.log_det), 9).tolist()
    ([[[0.5, 0.0], [-0.25, 0.5]]], [16.0])
    """
    shared = len(covariances) > 1 and covariances.strides[0] == 0
    given = covariances[:1] if shared else covariances
    try:
        if given.shape[-1] < _FEW:
            inverse = np.tril(np.linalg.inv(np.linalg.cholesky(given)))
        else:
            inverse = np.stack([_wide(c) for c in given])
    except np.linalg.LinAlgError:
        raise InputError(
            "A covariance is not positive definite.",
            hint="Raise variance_floor, or use covariance='diagonal'.",
        ) from None
    return Roots(np.broadcast_to(inverse, covariances.shape))


def _wide(covariance: Floats) -> Floats:
    from scipy.linalg.lapack import dpotrf, dtrtri

    diagonal = covariance.diagonal()
    if np.count_nonzero(covariance) == len(diagonal) and (diagonal > 0).all():  # as at a start
        return np.diag(1 / np.sqrt(diagonal))
    upper, failed = dpotrf(covariance.T, lower=0)  # symmetric, and so in LAPACK's order
    if not failed:
        upper, failed = dtrtri(upper, lower=0, overwrite_c=1)
    if failed or not np.isfinite(upper).all():
        raise np.linalg.LinAlgError
    found: Floats = upper.T
    return found
