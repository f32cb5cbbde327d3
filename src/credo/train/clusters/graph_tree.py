"""The tree of a graph alone: what is tied most merges first.

Strengths are made shares of the strongest, two nodes are 1 − share apart, and 1 where there is no
tie; single, complete and average link are then what they are for any distances, without a matrix
of all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.data import Table
from credo.train.clusters.linkage import told_of_ties
from credo.train.clusters.partition import Partition
from credo.train.clusters.ties import Ties, modularity
from credo.train.clusters.tree import Tree

__all__ = ["TOLD", "GraphTree", "no_new_nodes", "tree_of_ties"]

Floats = NDArray[np.float64]

TOLD = "two nodes are 1 − strength / greatest strength apart, and 1 where there is no tie"


@dataclass(frozen=True)
class GraphTree(Frozen):
    """The fitted value of a graph's linkage: its tree, and the ties it stands on."""

    tree: Tree
    ties: Ties
    notes: tuple[str, ...] = ()

    def partition(self, labels: NDArray[np.intp], reason: str) -> Partition:
        """The partition of a cut."""
        k = int(labels.max()) + 1
        return Partition(
            labels,
            k,
            no_new_nodes,
            quality={"modularity": modularity(self.ties, labels, k)},
            trace=tuple(self.tree.heights[-50:].tolist()),
            reason=reason,
            notes=(*self.notes, *told_of_ties(self.tree, k)),
            model=self,
        )


def no_new_nodes(_: Table) -> Any:
    """The refusal to place what was not there when the ties were made."""
    raise InputError("New nodes have no ties yet: cluster the whole graph again.")


def tree_of_ties(ties: Ties, method: str) -> Tree:
    """The tree of a graph alone; pieces that nothing ties are joined at height 1.

    Of equally strong ties those of the first names merge first, in whatever order they came.
    """
    if method == "ward":
        raise InputError("ward needs the columns of a table.", hint="Use 'average'.")
    n, order = len(ties.nodes), ties.by_name
    if (order != np.arange(n)).any():
        links = tree_of_ties(ties.among(order), method).links.copy()
        leaves = links[:, :2] < n
        links[:, :2][leaves] = order[links[:, :2][leaves].astype(np.intp)]
        links[:, :2].sort(axis=1)
        return Tree(links, method, "nodes")
    shares = ties.strengths / ties.strengths.max()
    if method == "single":
        return Tree(_single(ties, shares, n), method, "nodes")
    links = _core.links_of_ties(n, ties.edges, shares, method == "average", 1.0)
    # what is left joins at height 1, the oldest clusters first
    rows = [links] if len(links) else []
    sizes = np.concatenate([np.ones(n), links[:, 3]])
    gone = np.zeros(n + len(links), dtype=bool)
    gone[links[:, :2].astype(np.int64).ravel()] = True
    left = np.flatnonzero(~gone)
    top, size = int(left[0]), float(sizes[left[0]])
    fresh = n + len(links)
    for other in left[1:].tolist():
        size += float(sizes[other])
        rows.append(np.array([[min(top, other), max(top, other), 1.0, size]]))
        top, fresh = fresh, fresh + 1
    return Tree(np.concatenate(rows), method, "nodes")


def _single(ties: Ties, shares: Floats, n: int) -> Floats:
    """The strongest spanning forest, its pieces joined at height 1."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    a, b = ties.edges.T
    graph = csr_array((2.0 - shares, (a, b)), shape=(n, n))  # a 0 would be no tie to SciPy
    forest = minimum_spanning_tree(graph).tocoo()
    count, piece = connected_components(graph, directed=False)
    _, first = np.unique(piece, return_index=True)
    edges = np.concatenate(
        [
            np.stack([forest.row, forest.col], axis=1),
            np.stack([np.full(count - 1, first[0]), first[1:]], axis=1),
        ]
    ).astype(np.int64)
    lengths = np.concatenate([forest.data - 1.0, np.ones(count - 1)])
    order = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    return _core.links_of_tree(
        np.ascontiguousarray(edges[order]), np.ascontiguousarray(lengths[order])
    )
