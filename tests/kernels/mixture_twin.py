"""One pass of a mixture in NumPy, class by class and row by row: the oracle of the kernel."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp


def log_normal(x: np.ndarray, mean: np.ndarray, cov: np.ndarray) -> float:
    """ln of a Gaussian density over the cells that are there."""
    here = ~np.isnan(x)
    if not here.any():
        return 0.0
    z = x[here] - mean[here]
    s = cov[np.ix_(here, here)]
    far = float(z @ np.linalg.solve(s, z))
    return -0.5 * (here.sum() * np.log(2 * np.pi) + float(np.linalg.slogdet(s)[1]) + far)


def log_joint(x, codes, weights, tables, means, covs) -> np.ndarray:
    """ln P(row, class); x [n, d], codes [n, c] (a code beyond the table is missing)."""
    n, k = len(x), len(weights)
    out = np.tile(np.log(weights), (n, 1))
    for i in range(n):
        for c in range(k):
            out[i, c] += log_normal(x[i], means[c], covs[c])
            for j, table in enumerate(tables):
                if codes[i, j] < table.shape[1]:
                    out[i, c] += np.log(table[c, codes[i, j]])
    return out


def twin_step(x, codes, row_weights, weights, tables, means, covs):
    """ln P(rows), masses, counts, and first and second sums about the means, gaps integrated."""
    joint = log_joint(x, codes, weights, tables, means, covs)
    logs = logsumexp(joint, axis=1)
    share = np.exp(joint - logs[:, None]) * row_weights[:, None]
    counts = [np.zeros_like(t) for t in tables]
    k, d = len(weights), x.shape[1]
    first, second = np.zeros((k, d)), np.zeros((k, d, d))
    for i in range(len(x)):
        here = ~np.isnan(x[i])
        for c in range(k):
            for j, count in enumerate(counts):
                if codes[i, j] < count.shape[1]:
                    count[c, codes[i, j]] += share[i, c]
            full, left = np.zeros(d), np.array(covs[c])
            full[here] = (x[i] - means[c])[here]
            a = np.linalg.solve(covs[c][np.ix_(here, here)], covs[c][np.ix_(here, ~here)])
            full[~here] = full[here] @ a
            left = np.zeros((d, d))
            left[np.ix_(~here, ~here)] = covs[c][np.ix_(~here, ~here)] - (
                covs[c][np.ix_(~here, here)] @ a
            )
            first[c] += share[i, c] * full
            second[c] += share[i, c] * (np.outer(full, full) + left)
    return float(row_weights @ logs), share.sum(axis=0), counts, first, second, share
