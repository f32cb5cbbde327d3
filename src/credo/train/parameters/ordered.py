"""Ordered states: neighbours that the rows do not tell apart share what was seen of them.

    P(θ) = 2^−(K−1) Σ_partitions of 1 … K into runs of neighbours  Dirichlet over the runs

Within a run the states are as probable as the prior says, so few rows of a scale give a smooth
table and many rows any table: each of the 2^(K−1) partitions is weighed by its marginal likelihood,
and their posterior means are averaged, exactly, by one sweep forwards and one back over the ends of
runs. The table keeps the pseudo-counts of that mean, for as many rows as it has seen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

Floats = NDArray[np.float64]


def smooth_neighbours(counts: Floats, alpha: Floats) -> Floats:
    """The posterior pseudo-counts of rows of ordered states, a row for each configuration.

    >>> one = np.ones((1, 4))
    >>> smooth_neighbours(np.array([[3.0, 0.0, 0.0, 0.0]]), one).round(2).tolist()
    [[3.48, 1.37, 1.11, 1.04]]
    >>> smooth_neighbours(np.zeros((1, 4)), one).round(9).tolist()
    [[1.0, 1.0, 1.0, 1.0]]
    """
    rows, k = counts.shape
    n, a = _sums(counts), _sums(alpha)
    logs = _sums(counts * np.log(alpha))
    score = np.full((k + 1, k + 1, rows), -np.inf)  # of the run from i to j
    for i in range(k):
        for j in range(i + 1, k + 1):
            seen, own = n[:, j] - n[:, i], a[:, j] - a[:, i]
            inside = logs[:, j] - logs[:, i] - seen * np.log(own)
            score[i, j] = gammaln(own + seen) - gammaln(own) + inside
    forth, back = np.full((2, k + 1, rows), -np.inf)
    forth[0] = back[k] = 0.0
    for j in range(1, k + 1):
        forth[j] = logsumexp(forth[:j] + score[:j, j], axis=0)
    for i in range(k - 1, -1, -1):
        back[i] = logsumexp(score[i, i + 1 :] + back[i + 1 :], axis=0)
    out = np.zeros((rows, k))
    for i in range(k):
        for j in range(i + 1, k + 1):
            weight = np.exp(forth[i] + score[i, j] + back[j] - forth[k])
            both = (n[:, j] - n[:, i]) / (a[:, j] - a[:, i]) + 1.0
            out[:, i:j] += (weight * both)[:, None] * alpha[:, i:j]
    return out


def _sums(x: Floats) -> Floats:
    """Sums of the first 0, 1, 2, … columns."""
    return np.concatenate([np.zeros((len(x), 1)), np.cumsum(x, axis=1)], axis=1)
