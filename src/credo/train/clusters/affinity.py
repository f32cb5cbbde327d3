"""Rows of a table as the graph that spectral clustering cuts: how alike two rows are.

    w_ij = exp(−γ d_ij²) of all pairs, or on landmarks where they are too many (Nyström);
    or by how many rows of one node are among the k nearest of the other, the mean of both ways

Equal rows are one node with the weight of its copies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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
from credo.train.clusters.spectral import Nodes, Spectrum, bridges, eigen, spectrum_of_graph

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


_ALONE = 1e-20  # an affinity to all others below which coordinates would be rounding
NEIGHBOURS = 10
"""Rows that each row is tied to, unless the table is small."""

DENSE = 5_000
"""Rows up to which a dense affinity is decomposed as it is."""


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
        return spectrum_of_neighbours(nodes, k, seed, tuple(notes))
    g = _gamma(ordered, gamma)
    notes.append(f"affinity exp(−{g:.4g} d²)")
    if landmarks is None and n <= DENSE:
        return _dense(nodes, g, seed, memory, tuple(notes))
    m = min(whole_number(500 if landmarks is None else landmarks, "landmarks", 2), n)
    return on_landmarks(nodes, g, m, seed, memory, tuple(notes))


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


def _dense(nodes: Nodes, gamma: float, seed: int, memory: Any, notes: tuple[str, ...]) -> Spectrum:
    size = 24.0 * len(nodes.copies) ** 2
    if size > free_memory(memory):
        raise LimitError(
            f"An affinity of all pairs would take {size / 1e9:.3g} GB.",
            hint="Use landmarks=500, or affinity='neighbours'.",
        )

    solve = partial(_dense_eigen, nodes, gamma, seed)
    return Spectrum(nodes, solve, partial(_through_affinity, gamma), seed, notes)


def _dense_eigen(nodes: Nodes, gamma: float, seed: int, r: int) -> tuple[Floats, Floats]:
    """A row has no affinity to itself, only to its copies, or every outlier would be a piece.

    One that is near no other at all is a piece: it keeps its own.
    """
    assert nodes.known is not None
    near = _near(nodes.known, nodes.known, gamma)
    itself = np.diag_indices(len(near))
    near[itself] = 1.0 - 1.0 / nodes.copies
    near[itself] = np.where(near @ nodes.copies < _ALONE, 1.0, near[itself])
    return eigen(near, r, seed, copies=nodes.copies)


def _through_affinity(gamma: float, spectrum: Spectrum, table: Table, r: int) -> Floats:
    """The coordinates of new rows: the mean of all rows', by their affinity."""
    nodes = spectrum.nodes
    assert nodes.geometry is not None and nodes.known is not None
    w = _near(nodes.geometry.of(table), nodes.known, gamma) * nodes.copies
    values, vectors = spectrum.vectors(r)
    total = np.maximum(w.sum(axis=1, keepdims=True), 1e-300)
    away = np.where(np.abs(values[:r]) > 1e-12, values[:r], 1.0)
    found: Floats = (w @ vectors[:, :r]) / total / away
    return found


def spectrum_of_neighbours(nodes: Nodes, k: int, seed: int, notes: tuple[str, ...]) -> Spectrum:
    """The spectrum of rows that are tied to their k nearest, themselves among them."""
    from scipy import sparse

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


_CHECKED = 200
_FEW = 20  # directions below which their number is told
_SMALL = 1500  # rows up to which the matrix is decomposed whole
_LEAST = 1e-6  # an affinity to all others below which landmarks cannot tell it from 0
_WEAK = 1e-6  # an eigenvalue that tells nothing


def on_landmarks(
    nodes: Nodes, gamma: float, m: int, seed: int, memory: Any, notes: tuple[str, ...]
) -> Spectrum:
    """The spectrum of exp(−γ d²) by m landmarks drawn at random."""
    from scipy.linalg import eigh

    geometry = nodes.known
    assert geometry is not None
    n = geometry.rows
    size = 16.0 * n * m
    if size > free_memory(memory):
        raise LimitError(
            f"{m:,} landmarks for {n:,} rows would take {size / 1e9:.3g} GB.",
            hint="Use fewer landmarks=, or affinity='neighbours'.",
        )
    chance = np.random.default_rng(seed)
    chosen = np.sort(chance.choice(n, m, replace=False))
    marks = geometry.take(chosen)
    among = _near(marks, marks, gamma)
    s, u = eigh(among)
    kept = s > 1e-10 * s[-1]
    turn: Floats = u[:, kept] / np.sqrt(s[kept])
    features = np.empty((n, turn.shape[1]))
    step = max(_CHUNK // m, 1)
    for i in range(0, n, step):
        features[i : i + step] = _near(geometry.take(slice(i, i + step)), marks, gamma) @ turn
    error = _error(geometry, features, gamma, chance)
    itself = np.einsum("ij,ij->i", features, features)
    reach = features @ (nodes.copies @ features) - itself
    told_apart = reach >= _LEAST
    if not told_apart.any():  # each row is alone: it keeps its own
        told_apart, itself = np.ones(n, dtype=bool), np.zeros(n)
    total = (nodes.copies * told_apart) @ features
    degree = np.maximum(features @ total - itself, _LEAST)
    base = _Landmarks(marks, gamma, turn, total, told_apart[chosen])
    told = (
        f"{m:,} landmarks drawn at random stand for all rows; relative error of the affinities "
        f"{error:.2g} (root mean square, {_CHECKED} × {_CHECKED} rows)"
    )
    most = turn.shape[1]
    if most < _FEW:
        told += f"; they tell {most:,} directions apart, so that k can be no more"
    counted = np.where(told_apart, nodes.copies, 0.0)
    solve = partial(base.solve, geometry, features, counted, degree, itself, seed)
    return Spectrum(nodes, solve, base.extend, seed, (*notes, told))


@dataclass(frozen=True, eq=False)
class _Landmarks(Frozen):
    """What takes affinities to the landmarks to coordinates."""

    marks: Geometry
    gamma: float
    turn: Floats
    total: Floats
    near_others: NDArray[np.bool_]
    _lift: dict[str, Floats] = field(default_factory=dict, repr=False)

    def solve(
        self,
        geometry: Geometry,
        features: Floats,
        counted: Floats,
        degree: Floats,
        itself: Floats,
        seed: int,
        r: int,
    ) -> tuple[Floats, Floats]:
        """The r largest eigenvalues, and the coordinates of the rows with these features."""
        r = min(r, features.shape[1])
        half = np.sqrt(counted / degree)
        values, vectors = _eigen(
            features * half[:, None], np.sign(counted) * itself / degree, r, seed
        )
        strong = values > _WEAK
        values, vectors = values[strong], vectors[:, strong]
        there = counted > 0
        found = np.zeros_like(vectors)
        found[there] = vectors[there] / np.sqrt(counted * degree)[there, None]
        self._lift["it"] = features.T @ (counted[:, None] * found) / values
        if not there.all():
            found[~there] = self._nearest(geometry.take(np.flatnonzero(~there)))
        return values, found

    def coordinates(self, part: Floats, r: int) -> tuple[Floats, NDArray[np.bool_]]:
        """The first r coordinates of rows, from their features, and whether they are near any."""
        own = part @ self.total
        near = own >= _LEAST
        found: Floats = (part @ self._lift["it"][:, :r]) / np.where(near, own, 1.0)[:, None]
        return found, near

    def extend(self, spectrum: Spectrum, table: Table, r: int) -> Floats:
        """The coordinates of new rows."""
        assert spectrum.nodes.geometry is not None
        spectrum.vectors(r)
        rows = spectrum.nodes.geometry.of(table)
        found, near = self.coordinates(_near(rows, self.marks, self.gamma) @ self.turn, r)
        if not near.all():
            found[~near] = self._nearest(rows.take(np.flatnonzero(~near)))[:, :r]
        return found

    def _nearest(self, rows: Geometry) -> Floats:
        """The coordinates of the nearest landmark that is near others."""
        marks = (
            self.marks.take(np.flatnonzero(self.near_others))
            if self.near_others.any()
            else self.marks
        )
        at = marks.take(rows.to(marks).argmin(axis=1))
        part = _near(at, self.marks, self.gamma) @ self.turn
        return self.coordinates(part, self._lift["it"].shape[1])[0]


def _eigen(root: Floats, itself: Floats, r: int, seed: int) -> tuple[Floats, Floats]:
    """The r largest eigenvalues of B Bᵀ − diag(itself), and their vectors."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    n = len(root)
    if n <= _SMALL or r >= n - 1:
        whole = root @ root.T
        whole[np.diag_indices(n)] -= itself
        values, vectors = eigh(whole, subset_by_index=[n - min(r, n), n - 1])
    else:

        def product(v: Floats) -> Floats:
            v = v.ravel()
            out: Floats = root @ (root.T @ v) - itself * v
            return out

        start = np.random.default_rng(seed).normal(size=n)
        matrix = LinearOperator((n, n), matvec=product, dtype=np.float64)
        try:
            values, vectors = eigsh(
                matrix, r, which="LA", v0=start, ncv=min(n, max(4 * r, 40)), tol=1e-10
            )
        except ArpackNoConvergence:
            raise InputError(
                "The eigenvectors of the affinity did not settle.",
                hint="Use more landmarks=, or affinity='neighbours'.",
            ) from None
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def _near(a: Geometry, b: Geometry, gamma: float) -> Floats:
    d = a.to(b)
    d *= d
    d *= -gamma
    return np.exp(d, out=d)


def _error(
    geometry: Geometry, features: Floats, gamma: float, chance: np.random.Generator
) -> float:
    n = geometry.rows
    left, right = (np.sort(chance.choice(n, min(_CHECKED, n), replace=False)) for _ in range(2))
    true = _near(geometry.take(left), geometry.take(right), gamma)
    away = features[left] @ features[right].T - true
    return float(np.sqrt((away**2).sum() / (true**2).sum()))
