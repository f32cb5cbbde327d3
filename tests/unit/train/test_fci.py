"""FCI against the class of ancestral graphs, found by enumeration, with d-separation as oracle."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pytest
from tests.graph_classes import by_oracle, random_dag, true_pag

import credo as cr
from credo.errors import InputError
from credo.model.causal.pag import Pag
from credo.train.structure.fci import fci


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
