"""A dense affinity on landmarks: a few rows stand for all.

    W ≈ C A⁺ Cᵀ,   C the affinity of all rows to the landmarks, A that among the landmarks

With A = U S Uᵀ and F = C U S^−½ it is F Fᵀ, so the eigenvectors of D^−½ W D^−½ come from a matrix
as small as the landmarks are few (Fowlkes, Belongie, Chung & Malik 2004). The error is measured:
the affinities of 200 × 200 rows drawn at random against their approximation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.data import Table
from credo.errors import LimitError
from credo.train.clusters.frozen import Frozen
from credo.train.clusters.geometry import Geometry
from credo.train.clusters.space import free_memory

if TYPE_CHECKING:
    from credo.train.clusters.spectral import Nodes, Spectrum

__all__ = ["on_landmarks"]

Floats = NDArray[np.float64]

_CHECKED = 200
_FEW = 20  # directions below which their number is told
_CHUNK = 1 << 22


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
    marks = geometry.take(np.sort(chance.choice(n, m, replace=False)))
    among = _near(marks, marks, gamma)
    s, u = eigh(among)
    kept = s > 1e-10 * s[-1]
    turn: Floats = u[:, kept] / np.sqrt(s[kept])
    features = np.empty((n, turn.shape[1]))
    step = max(_CHUNK // m, 1)
    for i in range(0, n, step):
        features[i : i + step] = _near(geometry.take(slice(i, i + step)), marks, gamma) @ turn
    error = _error(geometry, features, gamma, chance)
    total = nodes.copies @ features
    degree = np.maximum(features @ total, 1e-12)
    scaled = features * np.sqrt(nodes.copies / degree)[:, None]
    values, inner = eigh(scaled.T @ scaled)
    values, inner = values[::-1], inner[:, ::-1]
    strong = values > 1e-10 * max(values[0], 1e-300)
    values, inner = values[strong], inner[:, strong] / np.sqrt(values[strong])
    del scaled

    base = _Landmarks(marks, gamma, turn, total, inner, values)
    told = (
        f"{m:,} landmarks drawn at random stand for all rows; relative error of the affinities "
        f"{error:.2g} (root mean square, {_CHECKED} × {_CHECKED} rows)"
    )
    if len(values) < _FEW:
        told += f"; they tell {len(values):,} directions apart, so that k can be no more"
    solve = partial(base.solve, features)
    return Spectrum(nodes, solve, base.extend, seed, (*notes, told))


@dataclass(frozen=True, eq=False)
class _Landmarks(Frozen):
    """What takes affinities to the landmarks to coordinates."""

    marks: Geometry
    gamma: float
    turn: Floats
    total: Floats
    inner: Floats
    values: Floats

    def coordinates(self, part: Floats, r: int) -> Floats:
        """The first r coordinates of rows, from their features."""
        own = np.maximum(part @ self.total, 1e-12)
        found: Floats = (part @ self.inner[:, :r]) / own[:, None]
        return found

    def solve(self, features: Floats, r: int) -> tuple[Floats, Floats]:
        """The r largest eigenvalues, and the coordinates of the rows with these features."""
        r = min(r, len(self.values))
        return self.values[:r], self.coordinates(features, r)

    def extend(self, spectrum: Spectrum, table: Table, r: int) -> Floats:
        """The coordinates of new rows."""
        assert spectrum.nodes.geometry is not None
        near = _near(spectrum.nodes.geometry.of(table), self.marks, self.gamma)
        return self.coordinates(near @ self.turn, r)


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
