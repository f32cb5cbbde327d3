"""FCI against the class of ancestral graphs, found by enumeration, with d-separation as oracle."""

from __future__ import annotations

import pickle
from itertools import combinations, product

import numpy as np
import pytest

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


def true_pag(dag, names):
    """Marks that all maximal ancestral graphs with the same separations share."""
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

    def shared(a, b):
        found = {at[a, b] for at in seen}
        return found.pop() if len(found) == 1 else "o"

    return Pag(tuple(names), tuple((a, b, shared(b, a), shared(a, b)) for a, b in pairs))


def same(times, seed, most=5):
    rng = np.random.default_rng(seed)
    for _ in range(times):
        dag, names = random_dag(rng, int(rng.integers(3, most + 1)), int(rng.integers(1, 3)))
        assert by_oracle(dag, names) == true_pag(dag, names), str(dag)


def test_fci_is_the_true_class() -> None:
    same(60, 0)


@pytest.mark.slow
def test_fci_is_the_true_class_of_500_graphs() -> None:
    same(500, 1)


def test_selection_leaves_lines_without_heads() -> None:
    """R5 to R7: a ring of neighbours without directions, with a tail that hangs on it."""
    ring = cr.UndirectedGraph([("A", "B"), ("B", "C"), ("C", "D"), ("A", "D"), ("D", "E")])
    names = list("ABCDE")
    found = fci(
        names,
        lambda asked: [
            ring.separated(names[i], names[j], given=[names[v] for v in z]) for i, j, z in asked
        ],
    )
    assert {(a, b, x, y) for a, b, x, y in found.edges if "E" not in (a, b)} == {
        (a, b, "-", "-") for a, b in (("A", "B"), ("A", "D"), ("B", "C"), ("C", "D"))
    }
    marks = found._marks()
    assert marks["E", "D"] == "-" and marks["D", "E"] == "o"


def test_marks_are_true_of_the_graph() -> None:
    """A tail says ancestor, a head says none, on graphs too large to enumerate."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        dag, names = random_dag(rng, 8, 2)
        pag = by_oracle(dag, names)
        for a, b, at_a, at_b in pag.edges:
            for x, y, mark in ((a, b, at_a), (b, a, at_b)):
                if mark == "-":
                    assert x in dag.ancestors(y)
                if mark == ">":
                    assert x not in dag.ancestors(y)
        for a, b in combinations(names, 2):
            told = pag.causes(a, b)
            assert told is None or told == (a in dag.ancestors(b))


def test_a_table_with_a_hidden_cause() -> None:
    rng = np.random.default_rng(3)
    n = 20_000
    u = rng.random(n) < 0.5
    a, d = rng.random(n) < 0.5, rng.random(n) < 0.5
    b = rng.random(n) < 0.1 + 0.3 * a + 0.5 * u
    c = rng.random(n) < 0.1 + 0.3 * d + 0.5 * u
    found = cr.learn({"A": a, "B": b, "C": c, "D": d}, search="fci")
    assert str(found) == "A o→ B, B ↔ C, D o→ C"
    assert found.causes("B", "C") is False and found.causes("A", "B") is None
    assert "R0" in found.why("B", "C") and "independent" in found.why("A", "D")
    assert found.svg().count("<circle") == 2 and found.svg().count("<polygon") == 4
    shallow = cr.learn({"A": a, "B": b, "C": c, "D": d}, search="fci", max_condition=0)
    assert shallow.notes == ("sets of more than 0 variables were not tried",)
    assert "arrowtail=odot" in found.dot() and pickle.loads(pickle.dumps(found)) == found


def test_refusals() -> None:
    rows = {"A": [0, 1, 0, 1], "B": [0, 1, 1, 0]}
    for given, said in (
        ({"required": [("A", "B")]}, "required="),
        ({"alpha": 2}, "alpha must be between 0 and 1"),
        ({"steps": 3}, "steps="),
        ({"max_condition": -1}, "max_condition"),
        ({"score": "bic"}, "score="),
    ):
        with pytest.raises(InputError, match=said):
            cr.learn(rows, search="fci", **given)
    with pytest.raises(InputError, match="marks o, > or -"):
        Pag(("A", "B"), (("A", "B", "x", "o"),))
