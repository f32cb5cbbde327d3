"""Agglomerative clustering: the two nearest clusters merge, again and again, and make a tree.

    single    d(A, B) = least distance between a row of A and one of B
    complete  d(A, B) = greatest
    average   d(A, B) = mean over all pairs
    ward      d(A, B)² = 2·|A|·|B| / (|A| + |B|) · |mean A − mean B|²

fastcluster makes the trees (Müllner 2013). Single link of points is the minimum spanning tree,
which needs no matrix of distances: a million points are feasible (Borůvka's rounds over a k-d
tree).
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
from credo.core.render import Told, number
from credo.core.threads import checked_threads
from credo.data import Table
from credo.stats.configurations import frozen
from credo.train.clusters.candidates import largest
from credo.train.clusters.distinct import different, with_known
from credo.train.clusters.geometry import Geometry, geometry_of
from credo.train.clusters.partition import Partition, told_of_bare, told_of_weights
from credo.train.clusters.space import fits, free_memory

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree(Told, Frozen):
    """The tree of an agglomerative clustering; `cut` makes clusters of it.

    >>> import credo as cr
    >>> rows = {"x": [0.0, 0.1, 5.0, 5.2, 9.0]}
    >>> tree = cr.cluster(rows, "single", k=2, scale="none").tree
    >>> print(tree)
    single link of 5 rows: heights 0.1 to 4.9; the largest gap is at 3 clusters
    >>> tree.cut(k=3).tolist(), tree.cut(height=1).tolist(), tree.cut("gap").tolist()
    ([0, 0, 1, 1, 2], [0, 0, 1, 1, 2], [0, 0, 1, 1, 2])
    """

    links: Floats
    method: str
    of: str = "rows"  # or the "nodes" of a graph

    def __post_init__(self) -> None:
        links = np.ascontiguousarray(self.links, dtype=np.float64)
        object.__setattr__(self, "links", frozen(links))

    @property
    def rows(self) -> int:
        """The number of rows, or of a graph's nodes."""
        return len(self.links) + 1

    @property
    def heights(self) -> Floats:
        """The height of each merge, in the order of the merges."""
        heights: Floats = self.links[:, 2]
        return heights

    def cut(self, by: str | None = None, *, k: int | None = None, height: Any = None) -> Labels:
        """The cluster of each row, numbered by their first rows.

        `k` asks for so many clusters, `height` undoes every merge above it, "gap" cuts where the
        next merge is highest above the last one.
        """
        if (by is not None) + (k is not None) + (height is not None) != 1:
            raise InputError("A cut is made by one of k=, height= and 'gap'.")
        if by is not None:
            if by != "gap":
                raise InputError(f"A tree is cut by k=, height= or 'gap', got {by!r}.")
            return self._first(self.rows - self.gap_k())
        if height is not None:
            real = isinstance(height, (int, float, np.number)) and not isinstance(height, bool)
            if not real or height != height:
                raise InputError(f"height must be a number, got {height!r}.")
            if height < 0:
                raise InputError(f"height must be 0 or more, got {height!r}.")
            above = np.maximum.accumulate(self.heights) > height
            return self._first(int(above.argmax()) if above.any() else len(above))
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= self.rows:
            raise InputError(f"k must be a whole number from 1 to {self.rows:,}, got {k!r}.")
        return self._first(self.rows - int(k))

    def height_of(self, k: int) -> float:
        """A height at which a line cuts the tree into k clusters: midway between two merges."""
        n = self.rows
        low = float(self.heights[n - k - 1]) if k < n else 0.0
        high = float(self.heights[n - k]) if k > 1 else low * 1.05 + (low == 0)
        return (low + high) / 2

    def gaps(self, most: int | None = None) -> dict[int, float]:
        """For each number of clusters from 2, how far the tree can be climbed with it."""
        n = self.rows
        most = n - 1 if most is None else min(most, n - 1)
        h = self.heights
        return {k: float(h[n - k] - h[n - k - 1]) for k in range(2, most + 1)}

    def gap_k(self, most: int | None = None) -> int:
        """The number of clusters at the largest gap; of equal gaps the smallest."""
        gaps = self.gaps(most)
        return largest(gaps) if gaps else self.rows

    def _first(self, merges: int) -> Labels:
        """The clusters after the first so many merges."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        parts = self.links[:merges, :2].astype(np.int64).ravel()
        made = self.rows + np.repeat(np.arange(merges), 2)
        size = self.rows + merges
        joined = coo_array((np.ones(len(parts), dtype=np.int8), (parts, made)), shape=(size, size))
        labels: Labels = connected_components(joined, directed=False)[1][: self.rows]
        return labels.astype(np.intp)

    def __str__(self) -> str:
        h = self.heights
        return (
            f"{self.method} link of {self.rows:,} {self.of}: "
            f"heights {number(float(h.min()), 4)} to {number(float(h.max()), 4)}; "
            f"the largest gap is at {self.gap_k()} clusters"
        )

    def __repr__(self) -> str:
        return f"Tree({self.method} link, {self.rows:,} {self.of})"


LINKS = ("single", "complete", "average", "ward")

_TOUCHING = 1e-148  # what a distance of 0 between different rows is, at most
_SAME = 1e-12  # heights this near, as a share of the tree's, are the same
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
        return _core.links_of_tree(*_core.spanning_tree(points, checked_threads(None)))
    if method == "ward":  # which needs no distances of all pairs
        from fastcluster import linkage_vector

        near = points - np.median(points, axis=0)  # squares of numbers near 1 keep their digits
        power = int(np.frexp(np.abs(near).max())[1])  # a power of 2, so that ties stay ties
        links: Floats = linkage_vector(np.ldexp(near, -power), "ward")
        links[:, 2] = np.ldexp(links[:, 2], power)
        return links
    guard_pairs(len(points), method, memory)
    from scipy.spatial.distance import pdist

    return _links_of_pairs(pdist(points), len(points), method)


def _links_of_pairs(pairs: Floats, n: int, method: str) -> Floats:
    """fastcluster's tree of n rows. IN/OUT the distances of all pairs, which it writes over.

    `fastcluster.linkage` would copy them first, which takes twice what `guard_pairs` allows.
    """
    from fastcluster import linkage_wrap, mthidx

    links = np.empty((n - 1, 4))
    linkage_wrap(n, pairs, links, mthidx[method])
    return links


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
