"""Tree-augmented naive Bayes: each feature may have one other feature as a parent.

    P(c, x) = P(c) · Π_j P(x_j | c, x_parent(j))

The tree is the one of largest likelihood: a maximum spanning tree under the conditional mutual
information of each pair given the class (Friedman, Geiger & Goldszmidt 1997, after Chow & Liu 1968)

    I(i; j | c) = Σ n(c, i, j)/n · ln [ n(c, i, j) n(c) / (n(c, i) n(c, j)) ]

All it needs is the counts of the pairs with the class, in one tally. Rows with a gap in a pair are
left out of that pair. Continuous features take no part in the tree: they hang from the class alone.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, SchemaError
from credo.model.graphs.dag import Dag
from credo.stats.counts import Counts
from credo.train.structure.trees import spanning_forest

Floats = NDArray[np.float64]


def conditional_information(n: NDArray[Any]) -> float:
    """I(i; j | c) in nats, from the counts [class, i, j].

    >>> round(conditional_information(np.array([[[2, 0], [0, 2]]])), 6)  # equal variables: ln 2
    0.693147
    """
    counts = np.asarray(n, dtype=np.float64)
    total = counts.sum()
    if total == 0:
        return 0.0
    c = counts.sum(axis=(1, 2), keepdims=True)
    ci, cj = counts.sum(axis=2, keepdims=True), counts.sum(axis=1, keepdims=True)
    seen = counts > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = counts * (np.log(counts) + np.log(c) - np.log(ci) - np.log(cj))
    return max(float(terms[seen].sum() / total), 0.0)


def spanning_tree(weights: Floats, root: int = 0) -> list[int]:
    """The parent of each node in a maximum spanning tree (−1 for the root), by Prim's algorithm.

    Ties go to the lower numbers, so the tree does not depend on chance.

    >>> spanning_tree(np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 2.0], [1.0, 2.0, 0.0]]))
    [-1, 0, 1]
    """
    least = np.finfo(np.float64).tiny  # an edge that tells nothing is one, if there is no other
    return spanning_forest(np.maximum(weights, least), root)


def class_features(source: Any, target: str) -> tuple[list[str], list[str]]:
    """The discrete and the continuous features of a source; a class must be discrete."""
    if target not in source.schema:
        source.schema[target]  # says what is there instead
    if not source.schema[target].is_discrete:
        raise SchemaError(
            f"The class {target!r} is continuous.",
            hint=f"Read the table with schema={{{target!r}: 'discrete'}}.",
        )
    names = [n for n in source.schema.names if n != target]
    discrete = [n for n in names if source.schema[n].is_discrete]
    return discrete, [n for n in names if n not in discrete]


def pair_families(source: Any, target: str) -> list[Any]:
    """The families whose counts TAN and AODE need: the class, each feature, each pair of states.

    >>> import credo as cr
    >>> len(pair_families(cr.examples.play_tennis(), "PlayTennis"))  # 1 + 4 + 4 · 3 / 2
    11
    """
    discrete, continuous = class_features(source, target)
    families: list[Any] = [(target, []), *((n, [target]) for n in (*discrete, *continuous))]
    return families + [(b, [target, a]) for a, b in combinations(discrete, 2)]


def tan(source: Any, target: str, *, root: str | None = None) -> Dag:
    """The graph of tree-augmented naive Bayes, learned from anything that can tally.

    >>> import credo as cr
    >>> tan(cr.examples.play_tennis(), "PlayTennis").parents("Humidity")
    ('PlayTennis', 'Temperature')
    """
    discrete, continuous = class_features(source, target)
    first = 0
    if root is not None:
        if root not in discrete:
            raise InputError(f"The root of the tree must be a discrete feature, got {root!r}.")
        first = discrete.index(root)
    weights = np.zeros((len(discrete), len(discrete)))
    pairs = list(combinations(range(len(discrete)), 2))
    if pairs:
        tally = source.tally([(discrete[j], [target, discrete[i]]) for i, j in pairs])
        for i, j in pairs:
            counts = tally[discrete[j], [target, discrete[i]]]
            assert isinstance(counts, Counts)
            weights[i, j] = weights[j, i] = conditional_information(counts.dense().values)
    edges = [(target, n) for n in (*discrete, *continuous)]
    for j, parent in enumerate(spanning_tree(weights, first)):
        if parent >= 0:
            edges.append((discrete[parent], discrete[j]))
    return Dag(edges, nodes=[target, *discrete, *continuous])
