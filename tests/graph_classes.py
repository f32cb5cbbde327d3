"""Classes of graphs with hidden causes, by enumeration, and FCI with d-separation as oracle."""

from __future__ import annotations

from itertools import combinations, product

import credo as cr
from credo.errors import InputError
from credo.model.causal.pag import Pag
from credo.train.structure.fci import fci


def random_dag(rng, observed, hidden):
    names = [f"v{i}" for i in range(observed)] + [f"u{i}" for i in range(hidden)]
    order = list(rng.permutation(names))
    edges = [e for e in combinations(order, 2) if rng.random() < 0.4 and not e[1].startswith("u")]
    return cr.Dag(edges, names), names[:observed]


def by_oracle(dag, names):
    return fci(
        names,
        lambda asked: [
            dag.d_separated(names[i], names[j], given=[names[v] for v in z]) for i, j, z in asked
        ],
    )


def separations(separated, names):
    out = {}
    for a, b in combinations(names, 2):
        others = [n for n in names if n not in (a, b)]
        for k in range(len(others) + 1):
            for z in combinations(others, k):
                out[a, b, z] = separated(a, b, z)
    return out


def members(dag, names):
    """Every maximal ancestral graph with the same separations, as marks at the second end."""
    truth = separations(lambda a, b, z: dag.d_separated(a, b, given=z), names)
    pairs = [
        (a, b) for a, b in combinations(names, 2)
        if not any(s for (x, y, _), s in truth.items() if (x, y) == (a, b))
    ]  # fmt: skip
    joined = set(map(frozenset, pairs))
    wanted = {}
    for b in names:
        for a, c in combinations([n for n in names if frozenset((n, b)) in joined], 2):
            if frozenset((a, c)) not in joined:
                z = next(z for (x, y, z), s in truth.items() if {x, y} == {a, c} and s)
                wanted[a, b, c] = b not in z
    seen = []
    for marks in product((("-", ">"), (">", "-"), (">", ">")), repeat=len(pairs)):
        at = {}
        for (a, b), (x, y) in zip(pairs, marks, strict=True):
            at[b, a], at[a, b] = x, y
        if any((at[a, b] == ">" and at[c, b] == ">") != w for (a, b, c), w in wanted.items()):
            continue
        edges = [(a, b) for (a, b), m in at.items() if m == ">" and at[b, a] == "-"]
        arcs = [(a, b) for a, b in pairs if at[a, b] == ">" and at[b, a] == ">"]
        try:
            graph = cr.CausalGraph(edges, names, hidden=arcs)
        except InputError:
            continue  # a cycle
        if any(a in graph.ancestors(b) or b in graph.ancestors(a) for a, b in arcs):
            continue  # not ancestral
        whole = graph.canonical()
        if all(whole.d_separated(a, b, given=z) == s for (a, b, z), s in truth.items()):
            seen.append(at)
    assert seen
    return seen


def true_pag(dag, names):
    """Marks that all of them share."""
    seen = members(dag, names)

    def shared(a, b):
        found = {at[a, b] for at in seen}
        return found.pop() if len(found) == 1 else "o"

    pairs = [(a, b) for a, b in combinations(names, 2) if (a, b) in seen[0]]
    return Pag(tuple(names), tuple((a, b, shared(b, a), shared(a, b)) for a, b in pairs))
