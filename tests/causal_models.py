"""Random causal models with hidden variables, by brute force: one array with an axis a variable."""

from __future__ import annotations

from itertools import combinations

import numpy as np

import credo as cr


def random_graph(rng, n, p=0.45, q=0.3):
    names = [f"v{i}" for i in range(n)]
    order = rng.permutation(n)
    pairs = [(names[order[i]], names[order[j]]) for i, j in combinations(range(n), 2)]
    edges = [e for e in pairs if rng.random() < p]
    return cr.CausalGraph(edges, names, hidden=[e for e in pairs if rng.random() < q])


class Model:
    """Tables of every variable and every hidden cause, two or three states each."""

    def __init__(self, graph, rng, states=2):
        self.graph = graph
        self.dag = graph.canonical()
        self.tables = {}
        self.arity = dict.fromkeys(self.dag.nodes, states)
        for n in self.dag.nodes:
            shape = [self.arity[p] for p in self.dag.parents(n)]
            self.tables[n] = rng.dirichlet(np.ones(self.arity[n]), size=shape)

    def joint(self, do=()):
        """P(observed variables, in the order of nodes); of those in `do` it is given each value."""
        at = {n: i for i, n in enumerate(self.dag.nodes)}
        parts = []
        for n in self.dag.nodes:
            if n not in do:
                parts += [self.tables[n], [*(at[p] for p in self.dag.parents(n)), at[n]]]
        for n in do:
            parts += [np.ones(self.arity[n]), [at[n]]]
        return np.einsum(*parts, [at[n] for n in self.graph.nodes], optimize="greedy")

    def effect(self, y, x, z=()):
        """P(y | do(x), z) with the axes y, x, z."""
        whole = self.joint(do=x)
        nodes = self.graph.nodes
        ids = list(range(len(nodes)))
        out = np.einsum(whole, ids, [nodes.index(n) for n in (*y, *x, *z)])
        return out / out.sum(axis=tuple(range(len(y))), keepdims=True) if z else out


def leaf_of(joint, nodes):
    """The probabilities of a joint distribution, as a formula asks for them."""

    def leaf(p):
        names = (*p.given, *p.of)
        out = np.einsum(joint, list(range(len(nodes))), [nodes.index(n) for n in names])
        below = out.sum(axis=tuple(range(len(p.given), len(names))), keepdims=True)
        return names, (out / below)[None]

    return leaf


def value(formula, joint, nodes, axes):
    """The value of a formula on a joint, with these axes; those it lacks have length 1."""
    from credo.model.causal.formula import aligned, evaluated

    return aligned(evaluated(formula, leaf_of(joint, nodes)), axes)[0]
