"""Rows in which variables were set, simulated; and closed forms to hold scores against."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
from scipy.special import gammaln

import credo as cr

DAG = cr.Dag.parse("[A][B|A][C|B]")


def simulate(rng, rows, net, targets):
    """Rows of which each has one of the targets set at random (None: nothing)."""
    values = {n: np.zeros(rows, dtype=int) for n in net.names}
    told = np.array([targets[i] or "" for i in rng.integers(0, len(targets), rows)])
    for n in net.dag.order:
        local = net.cpt(n)
        p = local.values[tuple(values[q.name] for q in local.parents)]
        p = np.broadcast_to(p, (rows, 2))
        values[n] = (rng.random(rows) < p[:, 1]).astype(int)
        values[n] = np.where(told == n, rng.integers(0, 2, rows), values[n])
    return {**{n: v.tolist() for n, v in values.items()}, "set": told.tolist()}


def network(rng):
    tables = {n: rng.dirichlet([0.7, 0.7], size=[2] * len(DAG.parents(n)) or None) for n in DAG}
    return cr.Network(DAG, tables)


def mbde(rows, child, parents, ess):
    """The closed form of bnlearn's mbde: BDeu of a family on the rows in which it was not set."""
    kept = [i for i, s in enumerate(rows["set"]) if s != child]
    counts = np.zeros([2] * (len(parents) + 1))
    for i in kept:
        counts[tuple(rows[n][i] for n in (*parents, child))] += 1
    q = 2 ** len(parents)
    a, b = ess / q, ess / (2 * q)
    n = counts.reshape(q, 2)
    return float(
        (gammaln(a) - gammaln(a + n.sum(axis=1))).sum() + (gammaln(b + n) - gammaln(b)).sum()
    )


def all_dags(n):
    pairs = list(combinations(range(n), 2))
    for marks in product((0, 1, 2), repeat=len(pairs)):
        edges = [(a, b) if m == 1 else (b, a) for (a, b), m in zip(pairs, marks, strict=True) if m]
        if any(all(p.index(a) < p.index(b) for a, b in edges) for p in permutations(range(n))):
            yield cr.Dag([(f"v{a}", f"v{b}") for a, b in edges], [f"v{i}" for i in range(n)])
