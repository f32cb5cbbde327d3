"""Rows tied to their nearest ones: the graph that spectral clustering cuts.

A tie is ½ for each of the two rows that has the other among its nearest. Equal rows are one node,
which counts as so many. Rows that are as near as the last one share what is left over, so that
every row has as many ties as any other, and no order decides between equals.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.data import Table
from credo.train.clusters.geometry import Geometry
from credo.train.clusters.pieces import bridges

if TYPE_CHECKING:
    from credo.train.clusters.spectral import Nodes, Spectrum

__all__ = ["spectrum_of_neighbours"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_CHUNK = 1 << 23
_SAME = 1e-9  # distances that differ by less are the same, but for rounding
_MOST = 256  # nodes that a row is tied to
_CUT = (
    "{rows:,} rows have more than {most} different rows as near as their {k} nearest: the names of "
    "states and the signs of numbers decide which of them they are tied to"
)
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
    counts, cut = _shared(nodes.known, nodes.known, nodes.copies, k, itself=True)
    ties = counts @ sparse.diags_array(1.0 / nodes.copies)
    points = nodes.known.points
    return spectrum_of_graph(
        (ties + ties.T) * 0.5,
        nodes,
        seed,
        (*notes, *([_CUT.format(rows=cut, most=_MOST, k=k)] if cut else [])),
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
    weight, _ = _shared(nodes.geometry.of(table), nodes.known, nodes.copies, k, itself=False)
    mean = (weight @ vectors[:, :r]) / weight.sum(axis=1)[:, None]
    found: Floats = mean / np.where(np.abs(values[:r]) > 1e-12, values[:r], 1.0)
    return found


def _shared(a: Geometry, b: Geometry, copies: Floats, k: int, itself: bool) -> tuple[Any, int]:
    """How many rows of each node of b are among the k nearest of each row of a: a sparse matrix.

    Those as near as the last share what is left. Also for how many rows of a these were too many.
    """
    from scipy import sparse

    many = min(k + 2, b.rows)  # with the next one, which tells whether there are more as near
    asked = np.arange(a.rows)
    parts: list[tuple[Rows, Rows, Floats]] = []
    cut = 0
    while len(asked):
        part = a if len(asked) == a.rows else a.take(asked)
        near, away = _nearest_rows(part, b, many, itself and part is a)
        if itself:  # it is the nearest, though others may be as near
            near[:, -1] = np.where((near == asked[:, None]).any(axis=1), near[:, -1], asked)
        away = _away(part, b, near) if away is None else away
        if itself:
            away[near == asked[:, None]] = -1.0
        by = np.argsort(away, axis=1, kind="stable")
        near, away = np.take_along_axis(near, by, axis=1), np.take_along_axis(away, by, axis=1)
        have = copies[near]
        last = (np.cumsum(have, axis=1) < k).sum(axis=1).clip(max=many - 1)
        edge = away[np.arange(len(asked)), last]
        done = away[:, -1] > edge * (1 + 2 * _SAME)
        if many >= min(_MOST, b.rows):
            cut = 0 if many == b.rows else int((~done).sum())
            done[:] = True
        tied = np.abs(away - edge[:, None]) <= _SAME * np.abs(edge[:, None])
        before = np.where(tied | (away > edge[:, None]), 0.0, have)
        left = (k - before.sum(axis=1)) / np.maximum((tied * have).sum(axis=1), 1e-300)
        weight = before + tied * have * np.minimum(left, 1.0)[:, None]
        there = (weight > 0) & done[:, None]
        parts.append((asked[np.nonzero(there)[0]], near[there], weight[there]))
        asked = asked[~done]
        many = min(4 * many, _MOST, b.rows)
    of, to, weights = (np.concatenate(p) for p in zip(*parts, strict=True))
    return sparse.csr_array((weights, (of, to)), shape=(a.rows, b.rows)), cut


def _away(a: Geometry, b: Geometry, near: Rows) -> Floats:
    """The distance of each row of a to those of b that are near to it, from their points."""
    assert a.points is not None and b.points is not None
    found = np.empty(near.shape)
    step = max(_CHUNK // (near.shape[1] * a.points.shape[1]), 1)
    for i in range(0, a.rows, step):
        here = slice(i, i + step)
        apart = b.points[near[here]] - a.points[here, None]
        found[here] = np.sqrt(np.einsum("ijc,ijc->ij", apart, apart))
    return found


def _nearest_rows(a: Geometry, b: Geometry, k: int, itself: bool) -> tuple[Rows, Floats | None]:
    """The k nearest rows of b to each row of a, the nearest first; `itself` says that a is b.

    Their distances too, where those of all pairs were made and cost more than points would.
    """
    if a.points is None or b.points is None:
        return _by_all_pairs(a, b, k, np.arange(a.rows), itself)
    if itself and k == 1:
        return np.arange(a.rows)[:, None], None
    from sklearn.neighbors import NearestNeighbors

    middle = b.points.mean(axis=0)  # far from 0, squares would round the distances away
    known = b.points - middle
    asked = known if itself else a.points - middle
    by_squares = known.shape[1] > _FLAT or k >= len(known) // 2
    search = NearestNeighbors(n_neighbors=k, algorithm="brute" if by_squares else "kd_tree")
    found: Rows
    away, found = search.fit(known).kneighbors(asked)
    if by_squares:
        size = (known**2).sum(axis=1).max() + (asked**2).sum(axis=1)
        lost = np.flatnonzero(away[:, -1] ** 2 < _TELLS * size)
        if len(lost):
            found[lost] = _by_all_pairs(a, b, k, lost, itself)[0]
    return found, None


def _by_all_pairs(
    a: Geometry, b: Geometry, k: int, rows: Rows, itself: bool
) -> tuple[Rows, Floats]:
    """The k nearest rows of b to some rows of a, and how far they are: one's own is before all."""
    found, away = np.empty((len(rows), k), dtype=np.intp), np.empty((len(rows), k))
    step = max(_CHUNK // b.rows, 1)
    for i in range(0, len(rows), step):
        some, here = rows[i : i + step], slice(i, i + step)
        d = a.take(some).to(b)
        if itself:
            d[np.arange(len(d)), some] = -1.0
        part = np.sort(np.argpartition(d, k - 1, axis=1)[:, :k], axis=1)
        near = np.take_along_axis(d, part, axis=1)
        by = np.argsort(near, axis=1, kind="stable")
        found[here] = np.take_along_axis(part, by, axis=1)
        away[here] = np.take_along_axis(near, by, axis=1)
    return found, away
