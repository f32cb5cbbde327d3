"""Linkage of rows of which only tied ones merge: distances from a table, ties from a graph.

The merges are scikit-learn's structured ones. A graph in pieces is made whole first, as there:
every two pieces are tied by their nearest rows, found without the distances of all pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.data import Table
from credo.train.clusters.geometry import geometry_of
from credo.train.clusters.linkage import Linked
from credo.train.clusters.notes import told_of_weights
from credo.train.clusters.ties import Ties
from credo.train.clusters.tree import Tree

__all__ = ["structured"]

Floats = NDArray[np.float64]


def structured(
    table: Table, ties: Ties, method: str, scale: str, notes: tuple[str, ...] = ()
) -> Linked:
    """The tree of a table's rows of which only tied clusters merge."""
    from sklearn.cluster import AgglomerativeClustering

    if any(table.block.gaps):
        gap = table.schema.names[table.block.gaps.index(True)]
        raise InputError(
            f"Linkage with graph= needs every cell, and {gap!r} has missing ones.",
            hint="Fill them or leave the column out, or leave graph= out.",
        )
    geometry = geometry_of(table, "euclidean", scale)
    assert geometry.points is not None
    tied, pieces = _whole(geometry.points, ties)
    made = AgglomerativeClustering(
        1, connectivity=tied, linkage=method, compute_full_tree=True, compute_distances=True
    ).fit(geometry.points)
    told = [*notes, *geometry.notes, "only clusters that are tied merge"]
    told += told_of_weights(table, method)
    if pieces > 1:
        told.append("the graph falls into pieces, which were joined by their nearest rows")
    n = table.rows
    sizes = np.ones(2 * n - 1)
    for t, (a, b) in enumerate(made.children_):
        sizes[n + t] = sizes[a] + sizes[b]
    links = np.column_stack([np.sort(made.children_, axis=1), made.distances_, sizes[n:]])
    return Linked(Tree(links, method), geometry, tuple(told), tied=True)


def _whole(points: Floats, ties: Ties) -> tuple[Any, int]:
    """The matrix of ties with every two pieces tied by their nearest rows; how many there were."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import KDTree

    matrix = ties.matrix
    pieces, piece = connected_components(matrix, directed=False)
    if pieces == 1:
        return matrix, 1
    rows = [np.flatnonzero(piece == i) for i in range(pieces)]
    trees = [KDTree(points[r]) for r in rows]
    a, b = [], []
    for i in range(pieces):
        for j in range(i):
            few, many = (i, j) if len(rows[i]) <= len(rows[j]) else (j, i)
            away, near = trees[many].query(points[rows[few]])
            at = int(np.argmin(away))
            a.append(rows[few][at])
            b.append(rows[many][near[at]])
    extra = csr_array((np.ones(len(a)), (a, b)), shape=matrix.shape)
    return (matrix + extra + extra.T).tocsr(), int(pieces)
