"""Agglomerative clustering: the two nearest clusters merge, again and again.

    single    d(A, B) = least distance between a row of A and one of B
    complete  d(A, B) = greatest
    average   d(A, B) = mean over all pairs
    ward      d(A, B)² = 2·|A|·|B| / (|A| + |B|) · |mean A − mean B|²

Chains of nearest neighbours (Müllner 2011) do complete, average and ward of points; Gower's
distances, and those of points with hundreds of coordinates, go to fastcluster (Müllner 2013).
Single link is the minimum spanning tree, which needs no matrix of distances: a million points are
feasible (Borůvka's rounds over a k-d tree).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, LimitError
from credo.core.frozen import Frozen
from credo.core.threads import checked_threads
from credo.data import Table
from credo.train.clusters.distinct import different
from credo.train.clusters.geometry import Geometry, geometry_of
from credo.train.clusters.known import with_known
from credo.train.clusters.notes import told_of_bare, told_of_weights
from credo.train.clusters.partition import Partition
from credo.train.clusters.space import fits, free_memory
from credo.train.clusters.tree import Tree

__all__ = [
    "LINKS",
    "Linked",
    "checked_rows",
    "cut_reason",
    "guard_pairs",
    "linked_of",
    "partition_of",
    "told_of_ties",
    "tree_of",
]

Floats = NDArray[np.float64]

LINKS = ("single", "complete", "average", "ward")

_TOUCHING = 1e-148  # what a distance of 0 between different rows is, at most
_SAME = 1e-12  # heights this near, as a share of the tree's, are the same
_WIDE, _CACHED = 100, 1 << 18  # columns, and cells, from which pairs are faster than points
_SQUARED = 1e140  # numbers whose squared distances can still be added up
_CHUNK = 1 << 23  # distances at once when rows are assigned


@dataclass(frozen=True)
class Linked(Frozen):
    """The fitted value of a linkage: the tree and the rows it stands on.

    `tied` says that a graph told which clusters may merge, so that equal rows can be apart.
    """

    tree: Tree
    geometry: Geometry
    notes: tuple[str, ...] = ()
    tied: bool = False

    def assigned(
        self, labels: NDArray[np.intp], k: int, table: Table
    ) -> tuple[NDArray[np.intp], None]:
        """Where a row goes: with one that is the same, else to the cluster nearest by the link."""
        rows = self.geometry.of(table)
        return with_known(self._nearest(rows, labels, k), rows, self.geometry, labels), None

    def _nearest(self, rows: Geometry, labels: NDArray[np.intp], k: int) -> NDArray[np.intp]:
        """The cluster that the method finds nearest to each row."""
        out = np.empty(rows.rows, dtype=np.intp)
        order = np.argsort(labels, kind="stable")
        known = self.geometry.take(order)
        starts = np.searchsorted(labels[order], np.arange(k))
        sizes = np.bincount(labels, minlength=k)
        if self.tree.method == "ward" and rows.points is not None:
            assert self.geometry.points is not None
            from scipy.spatial.distance import cdist

            from credo.train.clusters.lloyd import means_of

            means = means_of(self.geometry.points, labels, k)
            cost = cdist(rows.points, means, "sqeuclidean") * (sizes / (sizes + 1.0))
            out[:] = cost.argmin(axis=1)
            return out
        step = max(_CHUNK // max(known.rows, 1), 1)
        for i in range(0, rows.rows, step):
            d = rows.take(slice(i, i + step)).to(known)
            if self.tree.method == "single":
                by = np.minimum.reduceat(d, starts, axis=1)
            elif self.tree.method == "complete":
                by = np.maximum.reduceat(d, starts, axis=1)
            else:
                by = np.add.reduceat(d, starts, axis=1) / sizes
            out[i : i + step] = by.argmin(axis=1)
        return out


def linked_of(
    table: Table,
    method: str,
    *,
    distance: str = "auto",
    scale: str = "auto",
    memory: int | str | None = None,
) -> Linked:
    """The tree of a table's rows."""
    if method == "ward" and distance == "auto" and not any(table.block.gaps):
        distance = "euclidean"
    geometry = geometry_of(table, distance, scale)
    notes = list(geometry.notes)
    if geometry.name == "euclidean":
        assert geometry.points is not None
        links = tree_of(geometry.points, method, memory)
    else:
        assert geometry.mixed is not None
        guard_pairs(table.rows, method, memory, mixed=True)
        pairs, lost = geometry.mixed.pairs()
        if any(table.block.gaps):
            lost -= _same_first(pairs, different(table).each)
        if lost:
            notes.append(
                f"{lost:,} pairs of rows have no column in common and are taken as 1 apart"
            )
        notes += told_of_bare(table)
        if method == "ward":
            notes.append("ward takes Gower's distances as if they were Euclid's")
        links = _links_of_pairs(pairs, table.rows, method)
        links[links[:, 2] < _TOUCHING, 2] = 0.0
    notes += told_of_weights(table, method)
    return Linked(Tree(links, method), geometry, tuple(notes))


def _same_first(pairs: Floats, each: NDArray[np.intp]) -> int:
    """Have rows that are the same merge before others that gaps put at the distance 0.

    A row with gaps can touch two rows that are apart, and its copies would go with either. IN/OUT
    the distances of all pairs; IN which of the different rows each row is. How many of the same
    were apart: rows without any cell.
    """
    at, n, apart = 0, len(each), 0
    for i in range(n - 1):
        own = pairs[at : at + n - 1 - i]
        own[own == 0.0] = 1e-2 * _TOUCHING  # the squares of ward link are still above 0
        same = each[i + 1 :] == each[i]
        apart += int((own[same] > _TOUCHING).sum())
        own[same] = 0.0
        at += n - 1 - i
    return apart


def tree_of(points: Floats, method: str, memory: int | str | None = None) -> Floats:
    """The merges of points under Euclid's distance, in SciPy's form."""
    if method == "single":
        return _spanning(points)
    if method != "ward":  # which needs no distances of all pairs
        guard_pairs(len(points), method, memory)
    if _by_pairs(points, method, memory):
        from scipy.spatial.distance import pdist

        return _links_of_pairs(pdist(points), len(points), method)
    return _core.links_of_points(points, method)


def _by_pairs(points: Floats, method: str, memory: int | str | None) -> bool:
    """Whether fastcluster shall link the distances of all pairs, and not the kernel the points.

    The kernel asks for a distance when it needs it, ward's for each of a new mean, which costs
    more the wider the points are, most of all where they leave the cache. The trees are the same;
    complete and average link take half the memory by pairs, ward more.
    """
    n, width = points.shape
    wide = width >= _WIDE and (method == "ward" or n * width >= _CACHED)
    if method == "ward":  # which squares the distances there
        there = wide and fits(4.0 * n * (n - 1), memory)
        return there and float(np.abs(points).max()) < _SQUARED
    return wide or not fits(8.0 * n**2, memory)


def _links_of_pairs(pairs: Floats, n: int, method: str) -> Floats:
    """fastcluster's tree of n rows. IN/OUT the distances of all pairs, which it writes over.

    `fastcluster.linkage` would copy them first, which takes twice what `guard_pairs` allows.
    """
    from fastcluster import linkage_wrap, mthidx

    links = np.empty((n - 1, 4))
    linkage_wrap(n, pairs, links, mthidx[method])
    return links


def _spanning(points: Floats) -> Floats:
    """Single link from the minimum spanning tree."""
    if points.shape[1] == 1:  # neighbours on a line
        order = np.argsort(points[:, 0], kind="stable")
        lengths = np.diff(points[order, 0])
        edges = np.stack([order[:-1], order[1:]], axis=1)
        by = np.argsort(lengths, kind="stable")
        return _core.links_of_tree(
            np.ascontiguousarray(edges[by], dtype=np.int64), np.ascontiguousarray(lengths[by])
        )
    return _core.links_of_tree(*_core.spanning_tree(points, checked_threads(None)))


def guard_pairs(n: int, method: str, memory: int | str | None, mixed: bool = False) -> None:
    """Refuse before the distances of all pairs would not fit."""
    size = 4.0 * n * (n - 1)
    if fits(size, memory):
        return
    instead = (
        "Use method='k-means' or 'latent-class', or a sample of the rows (table.take)."
        if mixed
        else "Use method='single', 'ward' or 'k-means', which need no matrix, or a sample of the "
        "rows (table.take)."
    )
    raise LimitError(
        f"{method.capitalize()} link of {n:,} rows needs the distances of all pairs, "
        f"{size / 1e9:,.3g} GB, and {free_memory(memory) / 1e9:.3g} GB may be used.",
        hint=f"{instead} memory= raises the limit.",
    )


def partition_of(linked: Linked, labels: NDArray[np.intp], reason: str) -> Partition:
    """The partition that a cut of the tree makes."""
    k = int(labels.max()) + 1
    n = linked.tree.rows
    return Partition(
        labels,
        k,
        partial(linked.assigned, labels, k),
        trace=tuple(linked.tree.heights[-min(n - 1, 50) :].tolist()),
        reason=reason,
        notes=(*linked.notes, *told_of_ties(linked.tree, k)),
        model=linked,
    )


def cut_reason(tree: Tree, k: int, how: str) -> str:
    """Where the tree was cut, in words."""
    n = tree.rows
    low = float(tree.heights[n - k - 1]) if k < n else 0.0
    high = float(tree.heights[n - k]) if k > 1 else float("inf")
    between = f"between the heights {low:.4g} and {high:.4g}" if k > 1 else f"above {low:.4g}"
    return f"cut {how}, {between}"


def told_of_ties(tree: Tree, k: int) -> tuple[str, ...]:
    """A note where the cut parts merges of the same height."""
    n, h = tree.rows, tree.heights
    if not 1 < k < n or abs(h[n - k] - h[n - k - 1]) > _SAME * max(float(h.max()), 1e-300):
        return ()
    return (
        f"merges tie at the cut (height {float(h[n - k]):.4g}): in another order of the rows, "
        "others may be together",
    )


def checked_rows(n: int, k: Any) -> None:
    """Refuse a table too small for the clusters asked for."""
    if n < 2:
        raise InputError(f"Clustering needs at least two rows, and the table has {n}.")
    if isinstance(k, int) and k > n:
        raise InputError(f"k must be at most the number of rows, {n:,}, got {k:,}.")
