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
from credo.model.naive_bayes.features import Normal
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Network
from credo.model.values.record import Record
from credo.stats.counts import Counts
from credo.train.naive_bayes.fit import train
from credo.train.naive_bayes.options import Options, not_negative
from credo.train.naive_bayes.plan import Plan
from credo.train.naive_bayes.tally import tally_by_class

__all__ = [
    "class_features",
    "conditional_information",
    "gaussian_leaves",
    "pair_families",
    "smoothed",
    "spanning_tree",
    "tan",
    "tan_network",
]

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
    n = len(weights)
    parent = [-1] * n
    best = weights[root].copy() if n else np.zeros(0)
    source = np.full(n, root)
    inside = np.zeros(n, dtype=bool)
    if n:
        inside[root] = True
    for _ in range(n - 1):
        gain = np.where(inside, -np.inf, best)
        new = int(gain.argmax())
        parent[new] = int(source[new])
        inside[new] = True
        better = ~inside & (weights[new] > best)
        best[better], source[better] = weights[new][better], new
    return parent


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
    return _graph(source, target, discrete, continuous, root)


def _graph(
    source: Any, target: str, discrete: list[str], continuous: list[str], root: str | None
) -> Dag:
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


def tan_network(
    source: Any, target: str, *, smoothing: float = 1.0, root: str | None = None
) -> Network:
    """Tree-augmented naive Bayes with its tables: θ = (n + l) / (N + l·J) in each parent row.

    >>> import credo as cr
    >>> net = tan_network(cr.examples.play_tennis(), "PlayTennis")
    >>> len(net.dag.edges)
    7
    """
    l = not_negative(smoothing, "smoothing")  # noqa: E741  (the lecture's letter)
    discrete, continuous = class_features(source, target)
    dag = _graph(source, target, discrete, continuous, root)
    families = [(n, list(dag.parents(n))) for n in [target, *discrete]]
    tally = source.tally(families)
    tables: dict[str, Any] = {}
    for child, parents in families:
        counts = tally[child, parents]
        assert isinstance(counts, Counts)
        extra = 0.0 if child == target else l
        tables[child] = smoothed(counts, extra)
    tables |= gaussian_leaves(source, target, continuous)
    record = Record(f"tree-augmented naive Bayes with l = {smoothing}", source.schema.source)
    return Network(dag, tables, record=record)


def smoothed(counts: Counts, l: float) -> Cpt:  # noqa: E741
    """A table of (n + l) / (N + l·J); a parent row that was never seen is uniform."""
    n = counts.dense().values.astype(np.float64) + l
    total = n.sum(axis=-1, keepdims=True)
    theta = np.where(total > 0, n / np.where(total > 0, total, 1.0), 1.0 / n.shape[-1])
    return Cpt(counts.variables[-1], counts.variables[:-1], theta, n if l > 0 else None)


def gaussian_leaves(source: Any, target: str, names: list[str]) -> dict[str, LinearGaussian]:
    """Continuous features that hang from the class alone: a Gaussian for each class."""
    if not names:
        return {}
    plan = Plan(dict.fromkeys(names, "gaussian"))
    model = train(tally_by_class(source, target, plan), Options())
    empty = np.zeros((len(model.classes), 0))
    out = {}
    for f in model.features:
        assert isinstance(f, Normal)
        child, parents = source.schema[f.name], (source.schema[target],)
        out[f.name] = LinearGaussian(child, parents, f.mean, empty, f.variance)
    return out
