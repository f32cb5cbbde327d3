"""Brute force: the whole joint table of a small network in NumPy, and every answer from it."""

from __future__ import annotations

import itertools

import numpy as np

from credo.core.schema import Variable
from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MANY = [(n, seed) for n in (1, 3, 5, 6, 7) for seed in range(8)]


def random_network(seed, n=6, arities=(2, 4), zeros=0.0, edges=0.45, most_parents=3):
    """A random network; `zeros` is the share of cells of its tables that are zero."""
    rng = np.random.default_rng([seed, n])
    names = [f"v{i}" for i in range(n)]
    variables = {
        v: Variable(
            v, "discrete", tuple(f"s{k}" for k in range(rng.integers(*arities, endpoint=True)))
        )
        for v in names
    }
    order = rng.permutation(names)
    pairs, tables = [], {}
    for i, child in enumerate(order):
        parents = [p for p in order[:i] if rng.random() < edges][:most_parents]
        pairs += [(str(p), str(child)) for p in parents]
        shape = [variables[v].arity for v in (*parents, child)]
        values = rng.dirichlet(np.full(shape[-1], 0.8), size=shape[:-1])
        values = np.where(rng.random(shape) < zeros, 0.0, values + 1e-3)
        values[..., 0] += values.sum(axis=-1) == 0
        values /= values.sum(axis=-1, keepdims=True)
        tables[str(child)] = Cpt(variables[child], tuple(variables[p] for p in parents), values)
    return Network(Dag(pairs, nodes=names), tables)


def grid(n, seed=0):
    """A directed grid of binary variables: the treewidth is n."""
    rng = np.random.default_rng(seed)
    edges, tables = [], {}
    for i in range(n):
        for j in range(n):
            parents = [f"x{a}_{b}" for a, b in ((i - 1, j), (i, j - 1)) if a >= 0 and b >= 0]
            edges += [(p, f"x{i}_{j}") for p in parents]
            tables[f"x{i}_{j}"] = rng.dirichlet([1.0, 1.0], size=(2,) * len(parents))
    return Network(edges, tables, states={n: [0, 1] for n in tables})


class Joint:
    """P(x₁ … x_n) as one table, an axis for each variable in the network's order."""

    def __init__(self, net):
        self.net, self.names = net, net.names
        self.at = {n: i for i, n in enumerate(net.names)}
        terms = []
        for name in net.names:
            local = net.cpt(name)
            terms += [local.values, [self.at[v.name] for v in local.variables]]
        self.p = np.einsum(*terms, list(range(len(net.names))))

    def likelihood(self, name, value):
        """One number for each state: what the evidence says of it."""
        variable = self.net.variable(name)
        if isinstance(value, dict):
            return np.array([float(value.get(s, 0.0)) for s in variable.states])
        states = value if isinstance(value, (set, list)) else {value}
        return np.array([float(s in states) for s in variable.states])

    def times(self, evidence):
        """The joint with the evidence multiplied in; its sum is P(e)."""
        table = self.p.copy()
        for name, value in evidence.items():
            shape = [1] * table.ndim
            shape[self.at[name]] = -1
            table = table * self.likelihood(name, value).reshape(shape)
        return table

    def evidence(self, evidence):
        return float(self.times(evidence).sum())

    def posterior(self, targets, evidence):
        table = self.times(evidence)
        axes = [self.at[t] for t in targets]
        kept = table.sum(axis=tuple(i for i in range(table.ndim) if i not in axes))
        order = np.argsort(np.argsort(axes))
        return kept.transpose(order) / kept.sum()

    def best(self, targets, evidence):
        """The largest P(targets, e), and the states that reach it."""
        table = self.posterior(targets, evidence) * self.evidence(evidence)
        at = np.unravel_index(table.argmax(), table.shape)
        states = {t: self.net.variable(t).states[i] for t, i in zip(targets, at, strict=True)}
        return states, float(table.max())


def random_evidence(net, rng, share=0.35, kinds=("hard", "soft", "set")):
    """Evidence of every kind on some of the variables."""
    out = {}
    for v in net.variables:
        if rng.random() > share:
            continue
        kind = rng.choice(kinds)
        if kind == "hard":
            out[v.name] = v.states[rng.integers(v.arity)]
        elif kind == "soft":
            weights = rng.random(v.arity) * rng.choice([1.0, 7.0])
            if v.arity > 2:
                weights[rng.integers(v.arity)] = 0.0
            out[v.name] = dict(zip(v.states, weights.tolist(), strict=True))
        else:
            k = int(rng.integers(1, v.arity + 1))
            out[v.name] = {v.states[i] for i in rng.choice(v.arity, k, replace=False)}
    return out


def is_hard(value):
    return not isinstance(value, (dict, set)) or (isinstance(value, set) and len(value) == 1)


def rows_of(net, joint, rng, n, gaps=0.0):
    """Rows drawn from the joint, cells missing at random, as columns."""
    flat = rng.choice(joint.p.size, size=n, p=joint.p.ravel())
    codes = np.stack(np.unravel_index(flat, joint.p.shape), axis=1)
    missing = rng.random(codes.shape) < gaps
    return {
        v.name: [None if missing[r, i] else v.states[codes[r, i]] for r in range(n)]
        for i, v in enumerate(net.variables)
    }


def each_row(columns):
    names = list(columns)
    for cells in zip(*columns.values(), strict=True):
        yield {n: c for n, c in zip(names, cells, strict=True) if c is not None}


def all_states(net):
    return itertools.product(*(v.states for v in net.variables))
