"""Rows tied to their nearest ones: the graph that spectral clustering cuts.

A tie is ½ for each of the two rows that has the other among its nearest. Equal rows are one node,
which counts as so many; of the last one that a row is tied to, as many copies as are left over
count, so that every row has as many ties as any other.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.data import Table
from credo.train.clusters.geometry import Geometry
from credo.train.clusters.pieces import bridges

if TYPE_CHECKING:
    from credo.train.clusters.spectral import Nodes, Spectrum

__all__ = ["spectrum_of_neighbours"]

Floats = NDArray[np.float64]

_CHUNK = 1 << 23
_FLAT = 15  # columns up to which a k-d tree finds neighbours; above, x² − 2xy + y² does
_TELLS = 1e-9  # squared distances below this share of x² + y² are mostly rounding
_JOINED = (
    "the graph of neighbours falls into {pieces:,} pieces, more than k = {k:,}: the nearest were "
    "joined; k={pieces} takes them as they are, more neighbours= tie them"
)


def spectrum_of_neighbours(nodes: Nodes, k: int, seed: int, notes: tuple[str, ...]) -> Spectrum:
    """The spectrum of rows that are tied to their k nearest, themselves among them."""
    from scipy import sparse

    from credo.train.clusters.spectral import spectrum_of_graph

    assert nodes.known is not None
    n = nodes.known.rows
    near = _nearest_rows(nodes.known, nodes.known, min(k, n), itself=True)
    share = _weights(near, nodes.copies, k) / nodes.copies[near]
    of = np.broadcast_to(np.arange(n)[:, None], near.shape)
    there = share > 0
    ties = sparse.csr_array((share[there], (of[there], near[there])), shape=(n, n))
    points = nodes.known.points
    return spectrum_of_graph(
        (ties + ties.T) * 0.5,
        nodes,
        seed,
        notes,
        "the graph of neighbours",
        partial(bridges, nodes.known),
        _JOINED,
        flat=points is not None and points.shape[1] <= 3,
        extend=partial(_through_neighbours, k),
    )


def _through_neighbours(k: int, spectrum: Spectrum, table: Table, r: int) -> Floats:
    """The coordinates of new rows: the mean of those of their k nearest rows."""
    nodes = spectrum.nodes
    assert nodes.geometry is not None and nodes.known is not None
    values, vectors = spectrum.vectors(r)
    most = min(k, nodes.known.rows)
    near = _nearest_rows(nodes.geometry.of(table), nodes.known, most, itself=False)
    weight = _weights(near, nodes.copies, k)
    mean = np.einsum("ij,ijr->ir", weight, vectors[near][:, :, :r]) / weight.sum(axis=1)[:, None]
    found: Floats = mean / np.where(np.abs(values[:r]) > 1e-12, values[:r], 1.0)
    return found


def _weights(near: NDArray[np.intp], copies: Floats, k: int) -> Floats:
    """How many rows of each of the nearest nodes count, so that they are k in all."""
    many = copies[near]
    before = np.cumsum(many, axis=1) - many
    return np.clip(k - before, 0.0, many)


def _nearest_rows(a: Geometry, b: Geometry, k: int, itself: bool) -> NDArray[np.intp]:
    """The k nearest rows of b to each row of a, the nearest first; `itself` says that a is b."""
    if itself and k == 1:
        return np.arange(a.rows)[:, None]
    if a.points is None or b.points is None:
        return _by_all_pairs(a, b, k, np.arange(a.rows), itself)
    from sklearn.neighbors import NearestNeighbors

    middle = b.points.mean(axis=0)  # far from 0, squares would round the distances away
    known = b.points - middle
    asked = known if itself else a.points - middle
    by_squares = known.shape[1] > _FLAT or k >= len(known) // 2
    search = NearestNeighbors(n_neighbors=k, algorithm="brute" if by_squares else "kd_tree")
    found: NDArray[np.intp]
    away, found = search.fit(known).kneighbors(asked)
    if by_squares:
        size = (known**2).sum(axis=1).max() + (asked**2).sum(axis=1)
        lost = np.flatnonzero(away[:, -1] ** 2 < _TELLS * size)
        if len(lost):
            found[lost] = _by_all_pairs(a, b, k, lost, itself)
    return found


def _by_all_pairs(
    a: Geometry, b: Geometry, k: int, rows: NDArray[np.intp], itself: bool
) -> NDArray[np.intp]:
    """The k nearest rows of b to some rows of a, from their distances to all."""
    found = np.empty((len(rows), k), dtype=np.intp)
    step = max(_CHUNK // b.rows, 1)
    for i in range(0, len(rows), step):
        some = rows[i : i + step]
        d = a.take(some).to(b)
        if itself:
            d[np.arange(len(d)), some] = -1.0
        part = np.sort(np.argpartition(d, k - 1, axis=1)[:, :k], axis=1)
        by = np.argsort(np.take_along_axis(d, part, axis=1), axis=1, kind="stable")
        found[i : i + step] = np.take_along_axis(part, by, axis=1)
    return found
