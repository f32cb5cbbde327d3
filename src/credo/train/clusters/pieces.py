"""A graph in more pieces than clusters: two pieces are joined, again and again, until k are left.

Every mixture of the pieces is an eigenvector of eigenvalue 1, so which k of them a solver gives is
chance. Rows of a table are joined by the nearest of two pieces (single link of whole pieces). In a
graph alone nothing says how far apart pieces are: the two with the least strength of ties are
joined, which costs least modularity. Of equals those that come first are joined: rows come in the
order of what they hold and nodes in that of their names, so no order of a table or graph decides.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.train.clusters.geometry import Geometry

__all__ = ["bridges", "bridges_of_least"]

Rows = NDArray[np.intp]

_CHUNK = 1 << 23


def bridges(geometry: Geometry, piece: Rows, k: int) -> Rows:
    """The pairs of rows to tie, so that k pieces are left."""
    edges, lengths = _between(geometry, piece)
    into = np.arange(int(piece.max()) + 1)
    left = len(into)
    out = []
    for at in np.argsort(lengths, kind="stable").tolist():
        if left <= k:
            break
        a, b = into[piece[edges[at]]]
        if a != b:
            into[into == b] = a
            left -= 1
            out.append(edges[at])
    return np.array(out, dtype=np.intp)


def bridges_of_least(degree: NDArray[np.float64], piece: Rows, k: int) -> Rows:
    """The pairs of nodes to tie, so that k pieces are left: those of the least degrees join.

    >>> bridges_of_least(np.array([1.0, 1, 4, 4, 2, 2]), np.array([0, 0, 1, 1, 2, 2]), 2).tolist()
    [[0, 4]]
    """
    _, first = np.unique(piece, return_index=True)
    total = np.bincount(piece, degree)
    heap = list(zip(total.tolist(), first.tolist(), strict=True))
    heapq.heapify(heap)
    out = []
    while len(heap) > k:
        (least, a), (more, b) = heapq.heappop(heap), heapq.heappop(heap)
        out.append((a, b))
        heapq.heappush(heap, (least + more, min(a, b)))
    return np.array(out, dtype=np.intp)


def _between(geometry: Geometry, piece: Rows) -> tuple[Rows, NDArray[np.float64]]:
    """Pairs of rows of different pieces, the nearest of each two pieces that matter among them."""
    if geometry.points is not None:  # the spanning tree of all rows holds that of the pieces
        edges, lengths = _core.spanning_tree(geometry.points)
        across = piece[edges[:, 0]] != piece[edges[:, 1]]
        return edges[across].astype(np.intp), lengths[across]
    n, count = len(piece), int(piece.max()) + 1
    order = np.argsort(piece, kind="stable")
    known = geometry.take(order)
    starts = np.searchsorted(piece[order], np.arange(count))
    ends = np.append(starts[1:], n)
    least = np.full((count, count), np.inf)
    pair = np.zeros((count, count, 2), dtype=np.intp)
    step = max(_CHUNK // n, 1)
    for own in range(count):
        for i in range(starts[own], ends[own], step):
            rows = order[i : min(i + step, ends[own])]
            d = geometry.take(rows).to(known)
            for other in range(own + 1, count):
                part = d[:, starts[other] : ends[other]]
                at = int(part.argmin())
                a, b = divmod(at, part.shape[1])
                if part[a, b] < least[own, other]:
                    least[own, other] = part[a, b]
                    pair[own, other] = rows[a], order[starts[other] + b]
    there = np.isfinite(least)
    return pair[there], least[there]
