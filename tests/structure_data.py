"""Random graphs, tables from networks, and slow scores that are plainly right."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import gammaln

import credo as cr
from credo.stats.block import Block


def random_dag(names, rng, density=0.4) -> cr.Dag:
    order = list(rng.permutation(names))
    edges = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :] if rng.random() < density]
    return cr.Dag(edges, names)


def random_member(dag: cr.Dag, rng, turns=30) -> cr.Dag:
    """An equivalent graph: covered edges turned at random."""
    for _ in range(turns):
        if not dag.edges:
            return dag
        a, b = dag.edges[rng.integers(len(dag.edges))]
        if set(dag.parents(b)) - {a} == set(dag.parents(a)):
            dag = dag.reverse((a, b))
    return dag


def random_table(rng, rows, arities, mixing=0.7):
    """Columns that depend on the ones before them."""
    columns, names = {}, [f"v{i}" for i in range(len(arities))]
    for i, r in enumerate(arities):
        own = rng.integers(0, r, rows)
        if i:
            other = columns[names[rng.integers(i)]]
            copy = rng.random(rows) < mixing
            own[copy] = other[copy] % r
        columns[names[i]] = own
    return columns


def discrete(columns, arities=None) -> cr.Table:
    schema = {
        n: list(range(arities[i] if arities else int(max(c)) + 1))
        for i, (n, c) in enumerate(columns.items())
    }
    return cr.read({n: list(map(int, c)) for n, c in columns.items()}, schema=schema)


def sampled(net: cr.Network, rows: int, seed: int) -> cr.Table:
    """Rows drawn from a discrete network, ancestors first."""
    rng = np.random.default_rng(seed)
    codes: dict[str, np.ndarray] = {}
    for name in net.dag.order:
        local = net.distributions[name]
        p = local.values[tuple(codes[v.name] for v in local.parents)]
        p = np.broadcast_to(p, (rows, local.child.arity))
        cut = np.cumsum(p, axis=1)
        codes[name] = np.minimum(
            (rng.random(rows)[:, None] > cut).sum(axis=1), local.child.arity - 1
        )
    arrays = tuple(codes[n].astype(np.uint8) for n in net.names)
    return cr.Table(Block(net.schema, arrays))


def counts_of(table: cr.Table, child: str, parents) -> np.ndarray:
    """[parent rows, states of the child] by a plain loop."""
    shape = [table.schema[p].arity for p in parents] + [table.schema[child].arity]
    out = np.zeros(shape)
    weights = np.ones(len(table)) if table.weights is None else table.weights
    for *at, w in zip(*(table.codes(n) for n in (*parents, child)), weights, strict=True):
        if all(a < s for a, s in zip(at, shape, strict=True)):
            out[tuple(at)] += w
    return out.reshape(-1, shape[-1])


def closed_form(table: cr.Table, dag: cr.Dag, name: str, ess: float = 1.0) -> float:
    """Scores by their definitions, with SciPy's gammaln."""
    total = 0.0
    n = len(dag.nodes)
    weights = table.weights
    rows = len(table) if weights is None else weights.sum()
    for child in dag.nodes:
        c = counts_of(table, child, dag.parents(child))
        q, r = c.shape
        if name in ("loglik", "aic", "bic", "mdl", "fnml", "qnml"):
            above = c.sum(axis=1, keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                total += np.nansum(np.where(c > 0, c * np.log(c / above), 0.0))
            if name == "aic":
                total -= q * (r - 1)
            if name in ("bic", "mdl"):
                total -= 0.5 * np.log(rows) * q * (r - 1)
            if name == "mdl":
                k = len(dag.parents(child))
                total -= np.log(n) + gammaln(n) - gammaln(k + 1) - gammaln(n - k)
            if name == "fnml":
                total -= sum(brute_complexity(int(m), r) for m in above.ravel())
            if name == "qnml":
                total -= approximate(rows, q * r) - approximate(rows, q)
            continue
        if name == "k2":
            alpha = np.ones_like(c)
        elif name == "bdeu":
            alpha = np.full_like(c, ess / (q * r))
        else:  # bds: only the rows of parents that were seen have pseudo-counts
            seen = c.sum(axis=1) > 0
            c, alpha = c[seen], np.full((seen.sum(), r), ess / (seen.sum() * r))
        total += (gammaln(c + alpha) - gammaln(alpha)).sum()
        above = alpha.sum(axis=1)
        total -= (gammaln(c.sum(axis=1) + above) - gammaln(above)).sum()
    return float(total)


def approximate(n, k):
    if k <= 1:
        return 0.0
    a = k / n
    c = 0.5 + 0.5 * np.sqrt(1 + 4 / a)
    return n * (np.log(a) + (a + 2) * np.log(c) - 1 / c) - 0.5 * np.log(c + 2 / a)


def brute_complexity(n: int, k: int) -> float:
    """ln Σ over all tables of n rows and k states of the multinomial maximum likelihood."""
    if n == 0 or k == 1:
        return 0.0
    h = np.arange(n + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = gammaln(n + 1) - gammaln(h + 1) - gammaln(n - h + 1)
        log = log + np.where(h > 0, h * np.log(h / n), 0)
        log = log + np.where(h < n, (n - h) * np.log((n - h) / n), 0)
    c = [1.0, np.exp(log).sum()]
    for j in range(1, k - 1):
        c.append(c[-1] + n / j * c[-2])
    return float(np.log(c[k - 1]))


def all_dags(names):
    """Every labelled DAG over a few names."""
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    for choice in product((0, 1, 2), repeat=len(pairs)):
        edges = [p if c == 1 else p[::-1] for p, c in zip(pairs, choice, strict=True) if c]
        try:
            yield cr.Dag(edges, names)
        except cr.errors.InputError:
            continue
