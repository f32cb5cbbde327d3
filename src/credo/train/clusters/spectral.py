"""Spectral clustering: rows as a graph, cut where its ties are few.

    W_ij = affinity of two rows,  d_i = Σ_j W_ij,  D^−½ W D^−½ v = μ v

Each row becomes the point (v_1, …, v_k) / √d of the first k eigenvectors, and k-means groups the
points (Shi & Malik 2000; Ng, Jordan & Weiss 2001; von Luxburg 2007). The number of eigenvalues near
1 is the number of groups: the largest gap after μ_k suggests k.

Neighbours give a sparse W, exact at any size. The affinity exp(−γ d²) is dense: up to 5,000 rows it
is exact, above it stands on landmarks (`nystrom.py`) and says its error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.data import Table
from credo.errors import InputError, LimitError
from credo.stats.configurations import frozen
from credo.train.clusters.frozen import Frozen
from credo.train.clusters.geometry import Geometry, geometry_of
from credo.train.clusters.k_means import whole_number
from credo.train.clusters.known import with_known
from credo.train.clusters.lloyd import nearest
from credo.train.clusters.notes import told_of_bare
from credo.train.clusters.partition import Partition
from credo.train.clusters.space import free_memory

__all__ = ["DENSE", "Spectrum", "eigen", "spectrum_of"]

Floats = NDArray[np.float64]

DENSE = 5_000
"""Rows up to which a dense affinity is decomposed as it is."""

NEIGHBOURS = 10
"""Rows that each row is tied to, unless the table is small."""

_SMALL = 1_000  # rows up to which a sparse affinity is decomposed as a dense one
_SETTLED = 1e-5  # how far eigenvalues of larger ones may still be off, relatively
_CHUNK = 1 << 23


@dataclass(frozen=True, eq=False)
class Spectrum(Frozen):
    """The first eigenvectors of an affinity; made as far as they are asked for.

    `solve(r)` gives the r largest eigenvalues and the rows' coordinates; `extend(self, table, r)`
    gives the coordinates of new rows; `joined(k)` the spectrum of a graph of more than k pieces,
    once they are joined to k.
    """

    rows: int
    solve: Callable[[int], tuple[Floats, Floats]]
    extend: Callable[[Spectrum, Table, int], Floats] | None
    geometry: Geometry | None
    seed: int
    notes: tuple[str, ...] = ()
    pieces: int = 1
    joined: Callable[[int], Spectrum] | None = None
    _kept: dict[str, tuple[Floats, Floats]] = field(default_factory=dict, repr=False)

    def vectors(self, r: int) -> tuple[Floats, Floats]:
        """At least r eigenvalues, largest first, and the coordinates that go with them."""
        kept = self._kept.get("it")
        if kept is None or len(kept[0]) < r:
            kept = self._kept["it"] = self.solve(min(r, self.rows))
        return frozen(kept[0]), frozen(kept[1])

    def candidates(self, ks: Sequence[int]) -> dict[int, dict[str, float]]:
        """The eigenvalue of each k, and the gap to the next."""
        values, _ = self.vectors(min(max(ks) + 1, self.rows))
        out = {}
        for k in ks:
            after = float(values[k]) if k < len(values) else 0.0
            out[k] = {
                "eigenvalue": float(values[k - 1]),
                "gap to next": float(values[k - 1]) - after,
            }
        return out

    def assigned(
        self, labels: NDArray[np.intp], centres: Floats, table: Table
    ) -> tuple[NDArray[np.intp], None]:
        """Where a row goes: with one that is the same, else to the centre nearest to it."""
        assert self.extend is not None and self.geometry is not None
        k = len(centres)
        found = nearest(self.extend(self, table, k)[:, :k], centres)[0].astype(np.intp)
        return with_known(found, self.geometry.of(table), self.geometry, labels), None

    def partition(self, k: int) -> Partition:
        """k-means of the rows in the first k coordinates."""
        if self.joined is not None and self.pieces > k:
            return self.joined(k).partition(k)
        from sklearn.cluster import KMeans

        values, vectors = self.vectors(k)
        if len(values) < k:
            raise InputError(f"The affinity has {len(values)} directions, too few for k = {k}.")
        points = np.ascontiguousarray(vectors[:, :k])
        fitted = KMeans(k, n_init=10, random_state=self.seed % (1 << 31)).fit(points)
        labels = fitted.labels_.astype(np.intp)
        if len(np.unique(labels)) < k:
            raise InputError(
                f"The rows make fewer than {k:,} groups: too many are the same.",
                hint="Ask for fewer clusters.",
            )
        return Partition(
            labels,
            k,
            partial(self.assigned, labels, fitted.cluster_centers_),
            trace=tuple(values.tolist()),
            reason=f"k-means of {k} eigenvectors, the best of 10 starts",
            notes=self.notes,
            model=self,
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
    geometry = geometry_of(table, distance, scale)
    notes = [*geometry.notes, *told_of_bare(table)]
    if table.weights is not None:
        notes.append("spectral clustering counts every row once; weights are used in profiles")
    n = geometry.rows
    if affinity == "neighbours":
        if gamma is not None or landmarks is not None:
            raise InputError("gamma= and landmarks= belong to affinity='rbf'.")
        wanted = max(min(NEIGHBOURS, n // 2), 2) if neighbours is None else neighbours
        k = min(whole_number(wanted, "neighbours"), n)
        notes.append(f"each row is tied to its {k} nearest rows, itself among them")
        return _by_neighbours(geometry, k, seed, tuple(notes))
    g = _gamma(geometry, gamma)
    notes.append(f"affinity exp(−{g:.4g} d²)")
    if landmarks is None and n <= DENSE:
        return _dense(geometry, g, seed, memory, tuple(notes))
    from credo.train.clusters.nystrom import on_landmarks

    m = min(whole_number(500 if landmarks is None else landmarks, "landmarks", 2), n)
    return on_landmarks(geometry, g, m, seed, memory, tuple(notes))


def eigen(affinity: Any, r: int, seed: int, flat: bool = False) -> tuple[Floats, Floats]:
    """The r largest eigenvalues of D^−½ W D^−½, and the vectors over √d; W sparse or dense.

    The first vectors are known: √d on each piece of the graph, with the eigenvalue 1. The others
    are found beside them. `flat` says that the graph lies in at most three dimensions, where a
    factorisation of it stays sparse. Each vector's largest entry is positive.
    """
    from scipy import sparse
    from scipy.linalg import eigh

    n = affinity.shape[0]
    degree = np.asarray(affinity.sum(axis=1)).ravel()
    root = np.sqrt(np.where(degree > 0, degree, 1.0))
    if sparse.issparse(affinity):
        half = sparse.diags_array(1.0 / root)
        matrix = (half @ affinity @ half).tocsr()
    else:
        matrix = affinity / root / root[:, None]
    if n <= _SMALL or r >= n - 1 or not sparse.issparse(matrix):
        whole = matrix.toarray() if sparse.issparse(matrix) else matrix
        values, vectors = eigh(whole, subset_by_index=[max(n - r, 0), n - 1])
    else:
        values, vectors = _sparse_eigen(matrix, root, degree, r, seed, flat)
    order = np.argsort(-values, kind="stable")
    vectors = vectors[:, order] / root[:, None]
    sign = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return values[order], vectors * np.where(sign == 0, 1.0, sign)


def _sparse_eigen(
    matrix: Any, root: Floats, degree: Floats, r: int, seed: int, flat: bool
) -> tuple[Floats, Floats]:
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    n = len(root)
    start = np.random.default_rng(seed).uniform(-1, 1, n)
    if flat:
        laplacian = (sparse.eye_array(n) - matrix).tocsc()
        values, vectors = eigsh(laplacian, r, sigma=-1e-5, which="LM", v0=start)
        return 1.0 - values, vectors
    count, piece = connected_components(matrix, directed=False)
    sizes = np.bincount(piece)
    largest = np.argsort(-sizes, kind="stable")[:r]
    rank = np.full(count, -1)
    rank[largest] = np.arange(len(largest))
    weight = np.where(degree > 0, root, 0.0)
    known = np.zeros((n, len(largest)))
    inside = rank[piece] >= 0
    known[np.flatnonzero(inside), rank[piece[inside]]] = weight[inside]
    length = np.sqrt((known**2).sum(axis=0))
    known /= np.where(length > 0, length, 1.0)
    ones = np.where(length > 0, 1.0, 0.0)
    left = r - len(largest)
    if left == 0:
        return ones, known
    rest = LinearOperator(
        (n, n), matvec=lambda x: matrix @ x - known @ (known.T @ x), dtype=np.float64
    )
    try:
        values, vectors = eigsh(
            rest, left, which="LA", v0=start, ncv=min(n, max(4 * left, 40)), tol=_SETTLED
        )
    except ArpackNoConvergence:
        raise InputError(
            "The eigenvectors of the affinity did not settle.",
            hint="Use more neighbours=, or affinity='rbf'.",
        ) from None
    return np.concatenate([ones, values]), np.concatenate([known, vectors], axis=1)


def _by_neighbours(geometry: Geometry, k: int, seed: int, notes: tuple[str, ...]) -> Spectrum:
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    n = geometry.rows
    near = _nearest_rows(geometry, geometry, k, itself=True)
    ties = sparse.csr_array(
        (np.ones(n * k), (np.repeat(np.arange(n), k), near.ravel())), shape=(n, n)
    )
    affinity = (ties + ties.T) * 0.5
    piece = connected_components(affinity, directed=False)[1]
    return _of_ties(geometry, affinity, piece, k, seed, notes)


def _of_ties(
    geometry: Geometry,
    affinity: Any,
    piece: NDArray[Any],
    k: int,
    seed: int,
    notes: tuple[str, ...],
) -> Spectrum:
    """The spectrum of rows tied to their k nearest, in pieces that nothing ties."""
    n, pieces = geometry.rows, int(piece.max()) + 1
    told = notes
    if pieces > 1:
        told = (*notes, f"the graph of neighbours falls into {pieces:,} pieces")
    flat = geometry.points is not None and geometry.points.shape[1] <= 3
    solve = partial(eigen, affinity, seed=seed, flat=flat)
    joined = partial(_joined, geometry, affinity, piece, k, seed, notes)
    extend = partial(_through_neighbours, k)
    return Spectrum(n, solve, extend, geometry, seed, told, pieces, joined)


def _joined(
    geometry: Geometry,
    affinity: Any,
    piece: NDArray[Any],
    k: int,
    seed: int,
    notes: tuple[str, ...],
    wanted: int,
) -> Spectrum:
    """The spectrum once the nearest pieces are joined, so that as many as wanted are left."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    from credo.train.clusters.pieces import bridges

    n, pieces = geometry.rows, int(piece.max()) + 1
    a, b = bridges(geometry, piece, wanted).T
    ties = sparse.csr_array((np.full(len(a), 0.5), (a, b)), shape=(n, n))
    tied = affinity + ties + ties.T
    into = connected_components(tied, directed=False)[1]
    said = (
        f"the graph of neighbours falls into {pieces:,} pieces, more than k = {wanted:,}: the "
        f"nearest were joined; k={pieces} takes them as they are, more neighbours= tie them"
    )
    made = _of_ties(geometry, tied, into, k, seed, notes)
    return replace(made, notes=(*notes, said))


def _through_neighbours(k: int, spectrum: Spectrum, table: Table, r: int) -> Floats:
    """The coordinates of new rows: the mean of those of their k nearest rows."""
    assert spectrum.geometry is not None
    rows = spectrum.geometry.of(table)
    values, vectors = spectrum.vectors(r)
    mean = vectors[_nearest_rows(rows, spectrum.geometry, k, itself=False)].mean(axis=1)
    found: Floats = mean[:, :r] / _away_from_0(values[:r])
    return found


def _nearest_rows(a: Geometry, b: Geometry, k: int, itself: bool) -> NDArray[np.intp]:
    """The k nearest rows of b to each row of a; its own row first where a and b are the same."""
    if a.points is not None:
        from sklearn.neighbors import NearestNeighbors

        assert b.points is not None
        found: NDArray[np.intp] = (
            NearestNeighbors(n_neighbors=k)
            .fit(b.points)
            .kneighbors(a.points, return_distance=False)
        )
    else:
        found = np.empty((a.rows, k), dtype=np.intp)
        step = max(_CHUNK // b.rows, 1)
        for i in range(0, a.rows, step):
            d = a.take(slice(i, i + step)).to(b)
            if itself:
                d[np.arange(len(d)), np.arange(i, i + len(d))] = -1.0
            part = np.argpartition(d, k - 1, axis=1)[:, :k]
            found[i : i + step] = part
    return found


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


def _dense(
    geometry: Geometry, gamma: float, seed: int, memory: Any, notes: tuple[str, ...]
) -> Spectrum:
    size = 24.0 * geometry.rows**2
    if size > free_memory(memory):
        raise LimitError(
            f"An affinity of all pairs would take {size / 1e9:.3g} GB.",
            hint="Use landmarks=500, or affinity='neighbours'.",
        )

    solve = partial(_dense_eigen, geometry, gamma, seed)
    extend = partial(_through_affinity, gamma)
    return Spectrum(geometry.rows, solve, extend, geometry, seed, notes)


def _near(rows: Geometry, known: Geometry, gamma: float) -> Floats:
    d = rows.to(known)
    return np.exp(-gamma * d * d, out=d)


def _dense_eigen(geometry: Geometry, gamma: float, seed: int, r: int) -> tuple[Floats, Floats]:
    return eigen(_near(geometry, geometry, gamma), r, seed)


def _through_affinity(gamma: float, spectrum: Spectrum, table: Table, r: int) -> Floats:
    """The coordinates of new rows: the mean of all rows', by their affinity."""
    assert spectrum.geometry is not None
    w = _near(spectrum.geometry.of(table), spectrum.geometry, gamma)
    values, vectors = spectrum.vectors(r)
    total = np.maximum(w.sum(axis=1, keepdims=True), 1e-300)
    found: Floats = (w @ vectors[:, :r]) / total / _away_from_0(values[:r])
    return found


def _away_from_0(values: Floats) -> Floats:
    return np.where(np.abs(values) > 1e-12, values, 1.0)
