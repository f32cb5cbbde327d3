"""What follows from a covariance: variances, standard deviations and correlations.

σ_i = √Σ_ii,   r_ij = Σ_ij / (σ_i σ_j)
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Spread"]

Floats = NDArray[np.float64]


class _Covarying(Protocol):
    @property
    def covariance(self) -> Floats: ...


class Spread:
    """The spread of a distribution of several variables that has a `covariance`.

    >>> from credo.model.distributions.multivariate import MultivariateGaussian
    >>> two = MultivariateGaussian([0, 0], [[4, 1], [1, 1]])
    >>> two.variance.tolist(), two.sd.tolist(), two.correlation.tolist()
    ([4.0, 1.0], [2.0, 1.0], [[1.0, 0.5], [0.5, 1.0]])
    """

    __slots__ = ()

    @property
    def variance(self: _Covarying) -> Floats:
        """The variance of each variable."""
        return np.diag(self.covariance)

    @property
    def sd(self: _Covarying) -> Floats:
        """The standard deviation of each variable."""
        out: Floats = np.sqrt(np.diag(self.covariance))
        return out

    @property
    def correlation(self: _Covarying) -> Floats:
        """The correlations of the variables."""
        covariance = self.covariance
        sd = np.sqrt(np.diag(covariance))
        out: Floats = covariance / np.outer(sd, sd)
        return out
