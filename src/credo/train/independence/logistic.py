"""A test of x ⊥ y | z for two discrete variables where z has numbers: a logistic regression.

    ln P(y = j | x, u) / P(y = 0 | x, u) = a_j · φ(u) + b_jx · (1, u)        φ(u) = (1, u, u uᵀ)
    S = sᵀ I⁻¹ s        s the slope of the log-likelihood at its top without b, I its information

in each configuration of the states in z, u being its numbers. Rao's S has as many degrees of
freedom as b has directions that a has not; without numbers it is Pearson's X². The ratio of the
likelihoods with b and without rejects too often in small tables; S does so hardly.

Rows are looked at: no counts or moments of numbers decide this question. A ratio of conditional
Gaussian likelihoods would, if numbers were Gaussian in each state of x and y together; where they
are causes instead of effects, and not Gaussian, it would reject what is true. Here nothing is asked
of the distribution of u. The squares make room for states in which the numbers scatter differently.

y is the variable of fewer states (of equals the one whose name comes first), so that the order of x
and y does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from credo.data import Table
from credo.stats.configurations import grouped

__all__ = ["logistic_test"]

Floats = NDArray[np.float64]

_DIRECTION = 1e-8  # a column whose rest beside others is less than this of it adds nothing
_ROWS = 5  # for each parameter, at least
_STEPS = 100
_RISE = 1e-11  # of the log-likelihood


def logistic_test(
    table: Table, x: str, y: str, given: Sequence[str]
) -> tuple[float, float, float, float | None]:
    """S, its degrees of freedom, p, and the mutual information in nats.

    A configuration whose rows are too few for the regression, or show one state only, is left out.

    >>> import credo as cr
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(20, 80, 500)
    >>> old = [rng.random(500) < (age - 20) / 60 for _ in range(2)]
    >>> table = cr.read({"a": old[0], "b": old[1], "age": age})
    >>> _, freedom, p, _ = logistic_test(table, "a", "b", ["age"])
    >>> freedom, p > 0.05
    (2.0, True)
    """
    from scipy.special import chdtrc

    schema = table.schema
    below, above = sorted((x, y), key=lambda n: (schema[n].arity, n))
    states = [n for n in given if schema[n].is_discrete]
    codes = np.stack([table.codes(n).astype(np.int64) for n in (above, below, *states)], axis=1)
    numbers = [table.values(n).astype(np.float64) for n in given if not schema[n].is_discrete]
    u: Floats = np.stack(numbers, axis=1)
    arities = np.array([schema[n].arity for n in (above, below, *states)])
    there = (codes < arities).all(axis=1) & ~np.isnan(u).any(axis=1)
    weights = np.ones(len(u)) if table.weights is None else table.weights.astype(np.float64)
    codes, u, weights = codes[there], u[there], weights[there]
    value = free = nats = used = 0.0
    for rows in _configurations(codes[:, 2:]):
        found = _compared(codes[rows, 0], codes[rows, 1], u[rows], weights[rows])
        if found is not None:
            value, free, nats = value + found[0], free + found[1], nats + found[2]
            used += float(weights[rows].sum())
    p = float(chdtrc(free, value)) if free > 0 else 1.0
    return value, free, p, nats / used if used else None


def _configurations(codes: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """The rows of each configuration."""
    if not codes.shape[1]:
        return [np.arange(len(codes))] if len(codes) else []
    found, group = grouped(codes)
    return [np.flatnonzero(group == i) for i in range(len(found))]


def _compared(
    x: NDArray[np.int64], y: NDArray[np.int64], u: Floats, weights: Floats
) -> tuple[float, float, float] | None:
    """S, its degrees of freedom, and what x adds to the log-likelihood of y."""
    (seen_x, x), (seen_y, y) = (np.unique(a, return_inverse=True) for a in (x, y))
    if len(seen_x) < 2 or len(seen_y) < 2:
        return None
    spread = u.std(axis=0)
    varies = spread > 1e-12 * np.abs(u).max(axis=0)
    u = (u[:, varies] - u[:, varies].mean(axis=0)) / spread[varies]
    one = np.ones((len(u), 1))
    pairs = [u[:, [i]] * u[:, [j]] for i in range(u.shape[1]) for j in range(i, u.shape[1])]
    base = _directions(np.hstack([one, u, *pairs]))
    shown = (x[:, None] == np.arange(1, len(seen_x))).astype(np.float64)
    own = np.hstack([shown[:, [i]] * np.hstack([one, u]) for i in range(shown.shape[1])])
    more = _directions(own, base)
    classes = len(seen_y) - 1
    extra = more.shape[1]
    if not extra or weights.sum() <= _ROWS * classes * (base.shape[1] + extra):
        return None
    target = (y[:, None] == np.arange(1, classes + 1)).astype(np.float64)
    below = Regression(base, target, weights).climbed(np.zeros((base.shape[1], classes)))
    whole = Regression(np.hstack([base, more]), target, weights)
    start = np.vstack([below, np.zeros((extra, classes))])
    low, share = whole.at(start)
    slope, curve = whole.slope_and_information(share)
    score = float(slope @ np.linalg.pinv(curve, rcond=1e-10, hermitian=True) @ slope)
    high, _ = whole.at(whole.climbed(start))
    return max(score, 0.0), float(extra * classes), max(high - low, 0.0)


def _directions(columns: Floats, beside: Floats | None = None) -> Floats:
    """Orthogonal columns of length √n that span the same, beside others of their kind."""
    n = len(columns)
    rest = columns
    if beside is not None:
        for _ in range(2):  # the second time for the digits
            rest = rest - beside @ (beside.T @ rest) / n
    left, size, _ = np.linalg.svd(rest, full_matrices=False)
    whole = float(np.linalg.norm(columns, axis=0).max())
    out: Floats = left[:, size > _DIRECTION * whole] * math.sqrt(n)
    return out


class Regression:
    """A multinomial logistic regression: ln P(state j) / P(state 0) = q · b_j."""

    def __init__(self, q: Floats, target: Floats, weights: Floats) -> None:
        self.q, self.target, self.weights = q, target, weights

    def at(self, b: Floats) -> tuple[float, Floats]:
        """The log-likelihood, and the probabilities of all states but the first."""
        eta = np.hstack([np.zeros((len(self.q), 1)), self.q @ b])
        eta -= eta.max(axis=1, keepdims=True)
        log_p = eta - np.log(np.exp(eta).sum(axis=1, keepdims=True))
        first = 1.0 - self.target.sum(axis=1)
        each = first * log_p[:, 0] + (self.target * log_p[:, 1:]).sum(axis=1)
        return float(self.weights @ each), np.exp(log_p[:, 1:])

    def slope_and_information(self, share: Floats) -> tuple[Floats, Floats]:
        """The first derivatives of the log-likelihood, and the second ones with their sign turned.

        Both go through the states, and for each of them through the columns.
        """
        q, weights, classes = self.q, self.weights, share.shape[1]
        slope = (q.T @ (weights[:, None] * (self.target - share))).T.ravel()
        curve = np.empty((classes, q.shape[1], classes, q.shape[1]))
        for i in range(classes):
            for j in range(classes):
                w = weights * share[:, i] * ((i == j) - share[:, j])
                curve[i, :, j, :] = q.T @ (w[:, None] * q)
        return slope, curve.reshape(len(slope), len(slope))

    def climbed(self, b: Floats) -> Floats:
        """The top, by Newton's steps, halved where they fall.

        Where the states can be told apart without error the coefficients have no end; the
        likelihood has, and it is what is climbed to.
        """
        value, share = self.at(b)
        for _ in range(_STEPS):
            slope, curve = self.slope_and_information(share)
            most = float(curve.diagonal().max())
            curve[np.diag_indices(len(curve))] += 1e-10 * max(most, 1e-300)
            step = np.linalg.solve(curve, slope).reshape(b.shape[::-1]).T
            new, share = self.at(b + step)
            while new < value and np.abs(step).max() > 1e-9:
                step /= 2
                new, share = self.at(b + step)
            rise = new - value
            if rise < 0:
                break
            value, b = new, b + step
            if rise <= _RISE * (1.0 + abs(value)):
                break
        return b
