"""A dense affinity on landmarks: a few rows stand for all.

    W ≈ F Fᵀ − diag |f_i|²,   F = C U S^−½,   C the affinity of all rows to the landmarks,
                              A = U S Uᵀ that among the landmarks

(Fowlkes, Belongie, Chung & Malik 2004.) A row has no affinity to itself, as in the exact affinity,
or every outlier among the landmarks would be a group: what F Fᵀ has of it on the diagonal is taken
off. Products with W stay cheap, and the eigenvectors of D^−½ W D^−½ need no more (Lanczos). A row
that is near no other, as far as landmarks can tell, is left out, and goes where the nearest
landmark goes. The error is measured: the affinities of 200 × 200 rows drawn at random against
their approximation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.core.frozen import Frozen
from credo.data import Table
from credo.train.clusters.geometry import Geometry
from credo.train.clusters.space import free_memory

if TYPE_CHECKING:
    from credo.train.clusters.spectral import Nodes, Spectrum

__all__ = ["on_landmarks"]

Floats = NDArray[np.float64]

_CHECKED = 200
_FEW = 20  # directions below which their number is told
_CHUNK = 1 << 22
_SMALL = 1500  # rows up to which the matrix is decomposed whole
_LEAST = 1e-6  # an affinity to all others below which landmarks cannot tell it from 0
_WEAK = 1e-6  # an eigenvalue that tells nothing


def on_landmarks(
    nodes: Nodes, gamma: float, m: int, seed: int, memory: Any, notes: tuple[str, ...]
) -> Spectrum:
    """The spectrum of exp(−γ d²) by m landmarks drawn at random."""
    from scipy.linalg import eigh

    from credo.train.clusters.spectral import Spectrum

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
