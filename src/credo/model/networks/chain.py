"""Gaussians of several columns together, one for each class, as a chain of lines.

    N(x; μ_c, Σ_c) = Π_j N(x_j; a_cj + b_cj·x_{<j}, v_cj)

With Σ = A·D·Aᵀ, A unit lower triangular, the rows of I − A⁻¹ are the slopes and D the variances
that are left.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from credo.core.schema import Variable
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.values.reals import Floats

__all__ = ["chain_of_lines"]


def chain_of_lines(
    names: Sequence[str], hidden: Variable, means: Floats, spread: Floats
) -> list[LinearGaussian]:
    """Each column a line in those before it; `spread` is a covariance for each class, or the
    variances of columns that are independent.

    >>> c = Variable("c", "discrete", (0,))
    >>> _, b = chain_of_lines("ab", c, np.zeros((1, 2)), np.array([[[4.0, 2.0], [2.0, 2.0]]]))
    >>> b.coefficients.tolist(), b.variance.tolist()
    ([[0.5]], [1.0])
    """
    k, d = means.shape
    variables = [Variable(n, "continuous") for n in names]
    if spread.ndim == 2:
        lines = zip(variables, means.T, spread.T, strict=True)
        return [LinearGaussian(v, (hidden,), m, np.zeros((k, 0)), s) for v, m, s in lines]
    root = np.linalg.cholesky(spread)
    sd = np.diagonal(root, 0, 1, 2)
    slopes = np.eye(d) - np.linalg.inv(root / sd[:, None, :])
    out = []
    for j, v in enumerate(variables):
        slope = slopes[:, j, :j]
        intercept = means[:, j] - np.einsum("ci,ci->c", slope, means[:, :j])
        out.append(LinearGaussian(v, (hidden, *variables[:j]), intercept, slope, sd[:, j] ** 2))
    return out
