"""EM by brute force: every completion of every row, in NumPy; the oracle of the kernels."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import credo as cr


def brute_step(
    net: cr.Network, rows: list[dict[str, Any]], weights: list[float]
) -> tuple[float, dict[str, np.ndarray]]:
    """ln P(rows) and the expected counts of every family, from the joint of every row."""
    counts = {n: np.zeros(net.cpt(n).shape) for n in net.names}
    total = 0.0
    for row, weight in zip(rows, weights, strict=True):
        free = [n for n in net.names if row.get(n) is None]
        found = []
        for states in itertools.product(*(range(net.variable(n).arity) for n in free)):
            codes = {n: net.variable(n).code(row[n]) for n in net.names if row.get(n) is not None}
            codes |= dict(zip(free, states, strict=True))
            p = 1.0
            where = {}
            for n in net.names:
                local = net.cpt(n)
                where[n] = tuple(codes[v.name] for v in local.variables)
                p *= local.values[where[n]]
            found.append((p, where))
        z = sum(p for p, _ in found)
        total += weight * np.log(z)
        for p, where in found:
            for n, at in where.items():
                counts[n][at] += weight * p / z
    return total, counts


def brute_tables(
    net: cr.Network, counts: dict[str, np.ndarray], add: float = 0.0
) -> dict[str, np.ndarray]:
    """Normalised counts; uniform where there are none, or less than 1e-14 of all rows."""
    out = {}
    for n in net.names:
        c = counts[n] + add
        s = c.sum(axis=-1, keepdims=True)
        there = s > 1e-14 * counts[n].sum()
        out[n] = np.where(there, c / np.where(there, s, 1.0), 1.0 / c.shape[-1])
    return out


def gaussian_step(
    net: cr.Network, rows: list[dict[str, Any]]
) -> tuple[float, dict[str, dict[tuple[int, ...], np.ndarray]]]:
    """ln p(rows) and Σ E[z zᵀ], z = (1, continuous parents, child), by configuration.

    For each state of the missing discrete variables the joint Gaussian of all continuous ones is
    built in full and conditioned with covariances.
    """
    discrete = [n for n in net.names if net.variable(n).is_discrete]
    lines = [n for n in net.names if not net.variable(n).is_discrete]
    order = [n for n in _sorted(net) if n in lines]
    total, sums = 0.0, {n: {} for n in lines}  # type: ignore[var-annotated]
    for row in rows:
        free = [n for n in discrete if row.get(n) is None]
        found = []
        for states in itertools.product(*(range(net.variable(n).arity) for n in free)):
            codes = {n: net.variable(n).code(row[n]) for n in discrete if row.get(n) is not None}
            codes |= dict(zip(free, states, strict=True))
            log = 0.0
            for n in discrete:
                local = net.cpt(n)
                log += np.log(local.values[tuple(codes[v.name] for v in local.variables)])
            mean, cov = _joint(net, order, codes)
            seen = [i for i, n in enumerate(order) if row.get(n) is not None]
            gone = [i for i, n in enumerate(order) if row.get(n) is None]
            x = np.array([row[order[i]] for i in seen], dtype=float)
            full, spread = mean.copy(), np.zeros_like(cov)
            if seen:
                s = cov[np.ix_(seen, seen)]
                away = x - mean[seen]
                log += -0.5 * (
                    len(seen) * np.log(2 * np.pi)
                    + np.linalg.slogdet(s)[1]
                    + away @ np.linalg.solve(s, away)
                )
                full[seen] = x
            if gone:
                if seen:
                    gain = np.linalg.solve(s, cov[np.ix_(seen, gone)]).T
                    full[gone] = mean[gone] + gain @ away
                    spread[np.ix_(gone, gone)] = (
                        cov[np.ix_(gone, gone)] - gain @ cov[np.ix_(seen, gone)]
                    )
                else:
                    spread = cov
            found.append((log, codes, full, spread))
        logs = np.array([f[0] for f in found])
        z = logs.max() + np.log(np.exp(logs - logs.max()).sum())
        total += z
        for log, codes, full, spread in found:
            for n in lines:
                local = net.cpt(n)
                at = tuple(codes[p.name] for p in local.discrete)
                pick = [order.index(v.name) for v in (*local.continuous, local.child)]
                vec = np.concatenate([[1.0], full[pick]])
                outer = np.outer(vec, vec)
                outer[1:, 1:] += spread[np.ix_(pick, pick)]
                sums[n][at] = sums[n].get(at, 0.0) + np.exp(log - z) * outer
    return total, sums


def _sorted(net: cr.Network) -> list[str]:
    out: list[str] = []
    while len(out) < len(net.names):
        for n in net.names:
            if n not in out and all(p in out for p in net.dag.parents(n)):
                out.append(n)
    return out


def _joint(
    net: cr.Network, order: list[str], codes: dict[str, int]
) -> tuple[np.ndarray, np.ndarray]:
    mean, cov = np.zeros(len(order)), np.zeros((len(order), len(order)))
    for i, n in enumerate(order):
        local = net.cpt(n)
        at = tuple(codes[p.name] for p in local.discrete)
        above = [order.index(p.name) for p in local.continuous]
        b = local.coefficients[at]
        mean[i] = local.intercept[at] + b @ mean[above]
        cov[i, :i] = cov[:i, i] = b @ cov[above, :i]
        cov[i, i] = local.variance[at] + b @ cov[np.ix_(above, above)] @ b
    return mean, cov


def lines_of(
    net: cr.Network, sums: dict[str, dict[tuple[int, ...], np.ndarray]]
) -> dict[str, dict[tuple[int, ...], tuple[np.ndarray, float]]]:
    """Least squares on expected sums: (intercept and slopes, variance) by configuration."""
    out: dict[str, Any] = {}
    for n, by in sums.items():
        out[n] = {}
        for at, m in by.items():
            b = np.linalg.solve(m[:-1, :-1], m[:-1, -1])
            d = np.concatenate([-b, [1.0]])
            out[n][at] = (b, float(d @ m @ d) / m[0, 0])
    return out
