"""Random decision networks, and their best strategy by trying every one."""

from itertools import product

import numpy as np

import credo as cr


def random_network(rng, *, memory="full", nodes=None, combine="add"):
    """A network of 5 to 8 nodes: chance, one to three decisions, one or two utilities."""
    n = nodes or int(rng.integers(5, 9))
    n_utilities = int(rng.integers(1, 3))
    inner = n - n_utilities
    n_decisions = int(rng.integers(1, 4 if inner > 3 else 2))
    kinds = rng.permutation(["d"] * n_decisions + ["c"] * (inner - n_decisions))
    names = [f"{k}{i}" for i, k in enumerate(kinds)]
    arity = {v: int(rng.integers(2, 4)) for v in names}
    parents, tables, utilities = {}, {}, {}
    for i, v in enumerate(names):
        most = 2 if v[0] == "c" else 1
        count = int(rng.integers(0, min(i, most) + 1))
        parents[v] = [str(p) for p in rng.choice(names[:i], size=count, replace=False)] if i else []
        if v[0] == "c":
            rows = rng.dirichlet(np.ones(arity[v]), [arity[p] for p in parents[v]])
            if rng.random() < 0.3 and parents[v]:  # some rows are certain
                rows[0] = 0
                rows[0][..., 0] = 1
            tables[v] = rows
    for j in range(n_utilities):
        count = int(rng.integers(1, min(3, inner) + 1))
        held = [str(p) for p in rng.choice(names, size=count, replace=False)]
        if j == 0:  # a decision matters
            held = list(dict.fromkeys([*held, next(v for v in names if v[0] == "d")]))
        parents[f"u{j}"] = held
        utilities[f"u{j}"] = rng.normal(0, 10, [arity[p] for p in held])
    edges = [(p, v) for v in parents for p in parents[v]]
    options = {v: list(range(arity[v])) for v in names if v[0] == "d"}
    dag = cr.Dag(edges, nodes=[*names, *utilities])
    return cr.DecisionNetwork(
        dag, tables, decisions=options, utilities=utilities, memory=memory, combine=combine
    )


def joint(net):
    """Π P and U over every chance variable and decision, dense; the variables in order."""
    names = list(net.names)
    shape = [net.variable(n).arity for n in names]
    p, parts = np.ones(shape), []

    def spread(values, own):
        order = sorted(range(len(own)), key=lambda k: names.index(own[k]))
        sizes = [shape[i] if n in own else 1 for i, n in enumerate(names)]
        return values.transpose(order).reshape(sizes)

    for name in names:
        if name not in net.decisions:
            cpt = net.chance.cpt(name)
            p = p * spread(cpt.values, [v.name for v in cpt.variables])
    for u in net.utilities.values():
        parts.append(np.broadcast_to(spread(u.values, [v.name for v in u.parents]), shape))
    total = np.sum(parts, axis=0) if net.combine == "add" else np.prod(parts, axis=0)
    return names, p, total, spread


def strategies(net):
    """How many there are."""
    out = 1
    for d in net.decisions:
        situations = int(np.prod([net.variable(n).arity for n in net.sees(d)], dtype=np.int64))
        out *= float(net.variable(d).arity) ** situations
    return out


def brute_force(net):
    """The largest expected utility over every strategy."""
    _, p, u, spread = joint(net)
    tables = []
    for d in net.decisions:
        shape = [net.variable(n).arity for n in net.sees(d)]
        k = net.variable(d).arity
        rules = product(range(k), repeat=int(np.prod(shape, dtype=np.int64)))
        tables.append([spread(np.eye(k)[np.reshape(r, shape)], [*net.sees(d), d]) for r in rules])
    return max(float((p * u * np.prod(np.broadcast_arrays(*rule), axis=0)).sum())
               for rule in product(*tables))  # fmt: skip


def simple(rng, most=800, **options):
    """A random network with few enough strategies to try them all."""
    while True:
        net = random_network(rng, **options)
        if strategies(net) <= most:
            return net
