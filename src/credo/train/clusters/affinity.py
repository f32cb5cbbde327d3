"""Rows of a table as the graph that spectral clustering cuts: how alike two rows are.

    w_ij = 1 where j is among the k nearest rows of i, the mean of both ways (a sparse graph);
    or w_ij = exp(−γ d_ij²) of all pairs, or on landmarks where they are too many (Nyström)

Equal rows are one node with the weight of its copies, and nodes stand in the order of their cells.
A new row has the mean of the coordinates of the rows near it, over the eigenvalues.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.core.frozen import Frozen
from credo.data import Table
from credo.train.clusters.distinct import by_content, different
from credo.train.clusters.geometry import Geometry, geometry_of
from credo.train.clusters.k_means import whole_number
from credo.train.clusters.partition import told_of_bare, told_of_weights
from credo.train.clusters.space import free_memory
from credo.train.clusters.spectral import (
    Nodes,
    Spectrum,
    bridges,
    eigen,
    largest_eigen,
    spectrum_of_graph,
)

Floats = NDArray[np.float64]

NEIGHBOURS = 10
"""Rows that each row is tied to, unless the table is small."""

DENSE = 5_000
"""Rows up to which a dense affinity is decomposed as it is."""

_LANDMARKS = 500
_CHECKED = 200  # rows on both sides of the affinities that landmarks are judged by
_FEW = 20  # directions below which their number is told
_CHUNK = 1 << 23
_SAME = 1e-9  # distances that differ by less are the same, but for rounding
_ALONE = 1e-20  # an affinity to all others below which a row is tied to nothing
_LEAST = 1e-6  # the same on landmarks, whose affinities are less exact
_WEAK = 1e-6  # an eigenvalue that tells nothing
_JOINED = (
    "the graph of neighbours falls into {pieces:,} pieces, more than k = {k:,}: the nearest were "
    "joined; k={pieces} takes them as they are, more neighbours= tie them"
)


def spectrum_of(
    table: Table,
    *,
    seed: int = 0,
    distance: str = "auto",
    scale: str = "auto",
    memory: int | str | None = None,
    affinity: str = "neighbours",
    neighbours: int | None = None,
    gamma: float | None = None,
    landmarks: int | None = None,
) -> Spectrum:
    """The spectrum of a table's rows.

    `affinity` is 'neighbours' (a tie to each of the `neighbours` nearest rows, itself among them:
    10, but in a table of fewer than 20 rows half of them, and at least 2) or 'rbf', exp(−γ d²),
    with `gamma` 2 over the median squared distance unless it is given. `landmarks` asks for that
    many rows to stand for all; above 5,000 rows an rbf has 500 of them.
    """
    if affinity not in ("neighbours", "rbf"):
        raise InputError(
            f"affinity must be 'neighbours' or 'rbf', got {affinity!r}.", hint="Or give graph=."
        )
    if affinity == "rbf" and neighbours is not None:
        raise InputError(
            "neighbours= belongs to affinity='neighbours'.",
            hint="An rbf ties all rows: gamma= says how far its ties reach.",
        )
    nodes, ordered = _nodes_of(table, distance, scale)
    notes = [*ordered.notes, *told_of_bare(table), *told_of_weights(table, "spectral")]
    n = len(nodes.copies)
    if affinity == "neighbours":
        if gamma is not None or landmarks is not None:
            raise InputError("gamma= and landmarks= belong to affinity='rbf'.")
        usual = max(min(NEIGHBOURS, table.rows // 2), 2)
        wanted = usual if neighbours is None else neighbours
        k = min(whole_number(wanted, "neighbours"), table.rows)
        notes.append(f"each row is tied to its {k} nearest rows, itself among them")
        return _of_neighbours(nodes, k, seed, tuple(notes))
    g = _gamma(ordered, gamma)
    notes.append(f"affinity exp(−{g:.4g} d²)")
    if landmarks is None and n <= DENSE:
        return _of_all_pairs(nodes, g, seed, memory, tuple(notes))
    m = min(whole_number(_LANDMARKS if landmarks is None else landmarks, "landmarks", 2), n)
    return _on_landmarks(nodes, g, m, seed, memory, tuple(notes))


def _nodes_of(table: Table, distance: str, scale: str) -> tuple[Nodes, Geometry]:
    """The different rows of a table; and all of them, in the order of their cells.

    Means and ranges are taken in that order too, and columns stand in an order of their own, so
    that rounding cannot tell two orders apart.
    """
    table = table.select(by_content(table))
    found = different(table)
    ordered = geometry_of(table.take(found.order), distance, scale, copies=4)
    back = np.argsort(found.order)
    known = ordered.take(found.first)
    return Nodes(found.copies, found.each, ordered.take(back), known), ordered


def _extended(near: Callable[[Geometry], Any], spectrum: Spectrum, table: Table, r: int) -> Floats:
    """The coordinates of new rows; `near` says how near each is to each node."""
    nodes = spectrum.nodes
    assert nodes.geometry is not None
    values, vectors = spectrum.vectors(r)
    weight = near(nodes.geometry.of(table))
    mean = (weight @ vectors[:, :r]) / weight.sum(axis=1)[:, None]
    found: Floats = mean / np.where(np.abs(values[:r]) > 1e-12, values[:r], 1.0)
    return found


# --- the nearest rows -------------------------------------------------------------------------


def _of_neighbours(nodes: Nodes, k: int, seed: int, notes: tuple[str, ...]) -> Spectrum:
    """The spectrum of rows that are tied to their k nearest, themselves among them."""
    from scipy import sparse

    known = nodes.known
    assert known is not None
    near = _nearest(known, known, nodes.copies, k).maximum(sparse.eye_array(known.rows)).tocsr()
    return spectrum_of_graph(
        (near + near.T) * 0.5,
        nodes,
        seed,
        notes,
        "the graph of neighbours",
        partial(bridges, known),
        _JOINED,
        flat=known.points is not None and known.points.shape[1] <= 3,
        extend=partial(_extended, partial(_nearest_rows, known, nodes.copies, k)),
    )


def _nearest_rows(known: Geometry, copies: Floats, k: int, rows: Geometry) -> Any:
    """How many of the k nearest rows of each new one each node holds."""
    from scipy import sparse

    return _nearest(rows, known, copies, k) @ sparse.diags_array(copies)


def _nearest(a: Geometry, b: Geometry, copies: Floats, k: int) -> Any:
    """The nodes of b that hold the k nearest rows of each row of a: a sparse matrix of ones.

    By Gower's distance, where many rows are as near, all of those as near as the last are there.
    """
    from scipy import sparse

    many = min(k, b.rows)
    if a.points is not None and b.points is not None:
        from sklearn.neighbors import NearestNeighbors

        middle = b.points.mean(axis=0)  # far from 0, squares would round the distances away
        search = NearestNeighbors(n_neighbors=many).fit(b.points - middle)
        near = search.kneighbors(a.points - middle, return_distance=False)
        before = np.cumsum(copies[near], axis=1) - copies[near]
        of, at = np.nonzero(before < k)
        return sparse.csr_array((np.ones(len(of)), (of, near[of, at])), shape=(a.rows, b.rows))
    parts = []
    step = max(_CHUNK // b.rows, 1)
    for i in range(0, a.rows, step):
        d = a.take(slice(i, i + step)).to(b)
        near = np.argpartition(d, many - 1, axis=1)[:, :many]
        away = np.take_along_axis(d, near, axis=1)
        by = np.argsort(away, axis=1)
        reached = np.cumsum(np.take_along_axis(copies[near], by, axis=1), axis=1) >= k
        last = np.where(reached.any(axis=1), reached.argmax(axis=1), many - 1)
        edge = np.take_along_axis(away, by, axis=1)[np.arange(len(d)), last]
        parts.append(sparse.csr_array((d <= edge[:, None] * (1 + _SAME)).astype(np.float64)))
    return sparse.vstack(parts).tocsr()


# --- all pairs --------------------------------------------------------------------------------


def _gamma(geometry: Geometry, given: float | None) -> float:
    if given is not None:
        real = isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
        if not real or not 0 < given < np.inf:
            raise InputError(f"gamma must be a finite number above 0, got {given!r}.")
        return float(given)
    chance = np.random.default_rng(0)
    rows = chance.choice(geometry.rows, min(geometry.rows, 500), replace=False)
    part = geometry.take(np.sort(rows))
    d = part.to(part)
    away = d[np.triu_indices(len(d), 1)] ** 2
    typical = float(np.median(away[away > 0])) if (away > 0).any() else 1.0
    return 2.0 / typical


def _near(a: Geometry, b: Geometry, gamma: float, to_nearest: bool = False) -> Floats:
    """exp(−γ d²); `to_nearest` divides each row by its largest, so that none is all 0."""
    d = a.to(b)
    d *= d
    if to_nearest:
        d -= d.min(axis=1, keepdims=True)
    d *= -gamma
    return np.exp(d, out=d)


def _of_all_pairs(
    nodes: Nodes, gamma: float, seed: int, memory: Any, notes: tuple[str, ...]
) -> Spectrum:
    known = nodes.known
    assert known is not None
    size = 24.0 * known.rows**2
    if size > free_memory(memory):
        raise LimitError(
            f"An affinity of all pairs would take {size / 1e9:.3g} GB.",
            hint="Use landmarks=500, or affinity='neighbours'.",
        )
    solve = partial(_dense_eigen, known, nodes.copies, gamma, seed)
    extend = partial(_extended, partial(_near_rows, known, nodes.copies, gamma))
    return Spectrum(nodes, solve, extend, seed, notes)


def _dense_eigen(
    known: Geometry, copies: Floats, gamma: float, seed: int, r: int
) -> tuple[Floats, Floats]:
    """A row has no affinity to itself, only to its copies, or every outlier would be a piece.

    One that is near no other at all is a piece: it keeps its own.
    """
    near = _near(known, known, gamma)
    itself = np.diag_indices(len(near))
    near[itself] = 1.0 - 1.0 / copies
    near[itself] = np.where(near @ copies < _ALONE, 1.0, near[itself])
    return eigen(near, r, seed, copies=copies)


def _near_rows(known: Geometry, copies: Floats, gamma: float, rows: Geometry) -> Floats:
    """How near new rows are to each node, as a share of how near the nearest one is."""
    found: Floats = _near(rows, known, gamma, to_nearest=True) * copies
    return found


# --- landmarks --------------------------------------------------------------------------------


def _on_landmarks(
    nodes: Nodes, gamma: float, m: int, seed: int, memory: Any, notes: tuple[str, ...]
) -> Spectrum:
    """The spectrum of exp(−γ d²) ≈ F Fᵀ, by m landmarks drawn at random.

    F = C U S^−½ of the affinities C of rows to landmarks, with U S Uᵀ those among the landmarks
    (Williams & Seeger 2001).
    """
    from scipy.linalg import eigh

    known = nodes.known
    assert known is not None
    n = known.rows
    size = 16.0 * n * m
    if size > free_memory(memory):
        raise LimitError(
            f"{m:,} landmarks for {n:,} rows would take {size / 1e9:.3g} GB.",
            hint="Use fewer landmarks=, or affinity='neighbours'.",
        )
    chance = np.random.default_rng(seed)
    chosen = np.sort(chance.choice(n, m, replace=False))
    marks = known.take(chosen)
    s, u = eigh(_near(marks, marks, gamma))
    kept = s > 1e-10 * s[-1]
    turn = u[:, kept] / np.sqrt(s[kept])
    step = max(_CHUNK // m, 1)
    parts = (known.take(slice(i, i + step)) for i in range(0, n, step))
    features = np.concatenate([_near(part, marks, gamma) @ turn for part in parts])
    error = _error(known, features, gamma, chance)
    told = (
        f"{m:,} landmarks drawn at random stand for all rows; relative error of the affinities "
        f"{error:.2g} (root mean square, {_CHECKED} × {_CHECKED} rows)"
    )
    if features.shape[1] < _FEW:
        told += f"; they tell {features.shape[1]:,} directions apart, so that k can be no more"
    base = _Landmarks(features, known, nodes.copies, chosen, gamma, seed)
    return Spectrum(nodes, base.solve, base.extend, seed, (*notes, told))


@dataclass(frozen=True, eq=False)
class _Landmarks(Frozen):
    """Rows by their features F, and which of them are the landmarks."""

    features: Floats
    known: Geometry
    copies: Floats
    chosen: NDArray[np.intp]
    gamma: float
    seed: int

    def solve(self, r: int) -> tuple[Floats, Floats]:
        """The r largest eigenvalues of D^−½ F Fᵀ D^−½, where no row has an affinity to itself."""
        from scipy.sparse.linalg import LinearOperator

        f, c = self.features, self.copies
        itself = np.einsum("ij,ij->i", f, f)
        degree = f @ (c @ f) - itself
        tied = degree >= _LEAST
        if not tied[self.chosen].any():  # each landmark is alone: it keeps its own
            tied, degree, itself = itself >= _LEAST, degree + itself, np.zeros(len(c))
        half = np.where(tied, np.sqrt(c / np.maximum(degree, _LEAST)), 0.0)
        own = itself * half * half / c

        def product(v: Floats) -> Floats:
            v = v.ravel()
            out: Floats = half * (f @ (f.T @ (half * v))) - own * v
            return out

        matrix = LinearOperator((len(c), len(c)), matvec=product, dtype=np.float64)
        values, vectors = largest_eigen(matrix, min(r, f.shape[1]), self.seed, 1e-10)
        strong = values > _WEAK
        found = vectors[:, strong] * (half / c)[:, None]
        if not tied.all():  # what is near nothing goes with the nearest landmark that is
            lone, marks = np.flatnonzero(~tied), self.chosen[tied[self.chosen]]
            near = self.known.take(lone).to(self.known.take(marks)).argmin(axis=1)
            found[lone] = found[marks[near]]
        return values[strong], found

    def extend(self, spectrum: Spectrum, table: Table, r: int) -> Floats:
        """The coordinates of new rows, from those of the landmarks."""
        marks = self.known.take(self.chosen)
        near = partial(_near_rows, marks, self.copies[self.chosen], self.gamma)
        assert spectrum.nodes.geometry is not None
        values, vectors = spectrum.vectors(r)
        weight = near(spectrum.nodes.geometry.of(table))
        found: Floats = weight @ vectors[self.chosen, :r] / weight.sum(axis=1)[:, None] / values[:r]
        return found


def _error(
    geometry: Geometry, features: Floats, gamma: float, chance: np.random.Generator
) -> float:
    n = geometry.rows
    left, right = (np.sort(chance.choice(n, min(_CHECKED, n), replace=False)) for _ in range(2))
    true = _near(geometry.take(left), geometry.take(right), gamma)
    away = features[left] @ features[right].T - true
    return float(np.sqrt((away**2).sum() / (true**2).sum()))
