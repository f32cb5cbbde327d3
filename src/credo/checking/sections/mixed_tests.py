"""A test of x ⊥ y | z for a number y and anything else: lines with x beside lines without.

    F_u = ((RSS₀ − RSS₁) / Δp) / (RSS₁ / (n − p₁))      in each configuration u of the states in z

Within a configuration the variance is one, so F is exact under the model; the p-values of the
configurations are combined by Fisher's −2 Σ ln p_u ~ χ²(2U).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from credo.stats.moments import Moments
from credo.train.independence.tests import IndependenceTest

__all__ = ["line_test"]

Floats = NDArray[np.float64]


def line_test(moments: Moments, x: str, y: str, given: Sequence[str]) -> IndependenceTest | None:
    """The test of y (continuous) on x given z, from their moments; None if no rows can tell.

    The name in the result is 'f-lines'.
    """
    from scipy.special import chdtrc, fdtrc

    discrete = [v.name for v in moments.discrete]
    lines = [n for n in given if n not in discrete]
    states = [n for n in given if n in discrete]
    if x in discrete:
        whole = moments.marginal([*states, x, *lines, y])
        groups = _groups(whole, [whole.discrete[i].name for i in range(len(whole.discrete))], x)
        below = moments.marginal([*states, *lines, y])
        full = [[whole.scatter[i] for i in members] for members in groups.values()]
        sizes = [[float(whole.n[i]) for i in members] for members in groups.values()]
        base = {tuple(c): i for i, c in enumerate(below.configurations.tolist())}
        null = [below.scatter[base[key]] for key in groups]
        extra = 0
    else:
        whole = moments.marginal([*states, *lines, x, y])
        full = [[s] for s in whole.scatter]
        sizes = [[float(n)] for n in whole.n]
        keep = [*range(len(lines)), len(lines) + 1]
        null = [s[np.ix_(keep, keep)] for s in whole.scatter]
        extra = 1
    k = len(lines)
    total, combined = 0, 0.0
    for parts, n, s0 in zip(full, sizes, null, strict=True):
        used = [(s, m) for s, m in zip(parts, n, strict=True) if m > k + 1 + extra]
        if len(used) < (1 if extra else 2) or len(used) < len(parts):
            # a state with too few rows for a line of its own: the test would not be exact
            if not (extra == 0 and k == 0):
                continue
            used = list(zip(parts, n, strict=True))
            if len(used) < 2:
                continue
        rss1, rss0 = sum(_rss(s) for s, _ in used), _rss(s0)
        p1 = len(used) * (k + 1 + extra)
        p0 = k + 1
        rows = sum(m for _, m in used)
        free = rows - p1
        if free <= 0 or not rss1 > 0 or p1 <= p0:
            continue
        f = max((rss0 - rss1) / (p1 - p0), 0.0) / (rss1 / free)
        combined -= 2 * log(max(float(fdtrc(p1 - p0, free, f)), 1e-300))
        total += 1
    if not total:
        return None
    p = float(chdtrc(2 * total, combined))
    return IndependenceTest(x, y, tuple(given), "f-lines", combined, float(2 * total), p)


def _groups(moments: Moments, names: Sequence[str], x: str) -> dict[tuple[int, ...], list[int]]:
    """Configurations by those of all but x."""
    at = list(names).index(x)
    out: dict[tuple[int, ...], list[int]] = {}
    for i, c in enumerate(moments.configurations.tolist()):
        out.setdefault(tuple(c[:at] + c[at + 1 :]), []).append(i)
    return out


def _rss(scatter: Floats) -> float:
    """What is left of the last variable after a line in the others."""
    k = len(scatter) - 1
    if not k:
        return float(scatter[0, 0])
    size = np.sqrt(np.diag(scatter)[:k])
    safe = np.where(size > 0, size, 1.0)
    inner = scatter[:k, :k] / np.outer(safe, safe)
    right = scatter[:k, k] / safe
    return max(float(scatter[k, k] - right @ np.linalg.pinv(inner, hermitian=True) @ right), 0.0)
