"""Lloyd's steps: k-means as hard EM, on points that may have gaps.

    E: each row goes to its nearest centre      c(i) = argmin_c Σ_j (x_ij − μ_cj)²
    M: each centre becomes the mean of its rows  μ_cj = Σ_{i in c} w_i x_ij / Σ_{i in c} w_i

Sums run over the cells that are there. Neither step can raise the within-cluster sum of squares
W = Σ_i w_i Σ_j (x_ij − μ_c(i)j)², so the steps end (MacQueen 1967; Lloyd 1982; with gaps, k-POD of
Chi, Chi & Baraniuk 2016).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.core.render import number, table_html, table_text
from credo.predict.rows.far_rows import AFAR

__all__ = ["Steps", "Sums", "distances", "lloyd", "nearest", "repaired", "sums_of"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

PATIENCE = 8
"""So many E steps may pass without a lower objective (as in `lloyd.hpp`)."""

_CELLS = 1 << 15  # cells of a block of rows, which stays in the cache
_CHUNK = 1 << 20  # numbers of a block of distances


def distances(points: Floats, centres: Floats) -> Floats:
    """The squared distance of each row to each centre, over the cells that are there."""
    from scipy.spatial.distance import cdist

    gone = np.isnan(points)
    holed = gone.any(axis=1)
    if not holed.any():
        found: Floats = cdist(points, centres, "sqeuclidean")
        return found
    out = np.empty((len(points), len(centres)))
    out[~holed] = cdist(points[~holed], centres, "sqeuclidean")
    x = np.where(gone, 0.0, points)[holed]
    there = (~gone[holed]).astype(np.float64)
    rows = np.empty((len(x), len(centres)))
    for c, centre in enumerate(centres):  # x² − 2xc + c² would lose all far from 0
        away = x - centre
        away *= there
        np.einsum("ij,ij->i", away, away, out=rows[:, c])
    out[holed] = rows
    return out


def nearest(points: Floats, centres: Floats) -> tuple[Labels, Floats]:
    """Each row's nearest centre, and its squared distance; of equally near ones the first."""
    n, k = len(points), len(centres)
    labels = np.empty(n, dtype=np.intp)
    squares = np.empty(n)
    step = max(min(_CHUNK // k, _CELLS // max(points.shape[1], 1)), 1)
    for i in range(0, n, step):
        d = distances(points[i : i + step], centres)
        labels[i : i + step] = d.argmin(axis=1)
        squares[i : i + step] = d.min(axis=1)
    spread = ((centres - centres[0]) ** 2).sum(axis=1).max()
    far = np.flatnonzero(squares / AFAR**2 > spread)
    if len(far) and k > 1:
        labels[far] = _nearest_of_far(points[far], centres)
    return labels, squares


def _nearest_of_far(points: Floats, centres: Floats) -> Labels:
    """The nearest centre of rows so far out that their squared distances round to one.

    |u − v|² = |u|² − 2u·v + |v|², and |u|² is the same for every centre; u and v are the ways from
    the first centre, and all is divided by the greatest part of u.
    """
    top = np.finfo(np.float64).max
    v = centres - centres[0]
    u = np.clip(points - centres[0], -top, top)
    there = ~np.isnan(u)
    u = np.where(there, u, 0.0)
    size = np.abs(u).max(axis=1, keepdims=True)
    size = np.where(size > 0, size, 1.0)
    found: Labels = ((there @ (v * v).T) / size - 2 * (u / size) @ v.T).argmin(axis=1)
    return found


@dataclass(frozen=True, slots=True)
class Sums:
    """What an M step needs of some rows: weights and sums by cluster; parts add up with `+`.

    `weight` and `total` are k × coordinates (gaps make weights differ), `objective` is W. Sums are
    of rows less `about`, a point for each cluster: about its centre they lose no digits, however
    far from 0 it lies.
    """

    weight: Floats
    total: Floats
    rows: Floats
    objective: float
    about: Floats

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.weight + other.weight,
            self.total + other.total,
            self.rows + other.rows,
            self.objective + other.objective,
            self.about,
        )

    def centres(self, old: Floats) -> Floats:
        """The means; where nothing was seen, the old ones."""
        seen = self.weight > 0
        return np.where(seen, self.about + self.total / np.where(seen, self.weight, 1.0), old)

    def about_the_mean(self, centres: Floats) -> float:
        """The sum of squares about the mean of all rows, where `objective` is about `centres`."""
        first, n = centres[:1], self.weight
        means = self.centres(centres) - first
        every = (n * means).sum(axis=0) / np.maximum(n.sum(axis=0), 1e-300)
        away = (means - every) ** 2 - (means - (centres - first)) ** 2
        return self.objective + float((n * away).sum())


def sums_of(
    points: Floats,
    labels: Labels,
    squares: Floats,
    k: int,
    weights: Floats | None,
    about: Floats | None = None,
) -> Sums:
    """The sums by cluster of rows that have been assigned, about 0 or points of their own."""
    from scipy.sparse import csr_array

    n = len(points)
    w = np.ones(n) if weights is None else weights.astype(np.float64)
    by = csr_array((w, (labels, np.arange(n))), shape=(k, n))
    rows = np.asarray(by.sum(axis=1)).ravel()
    ways = points if about is None else points - about[labels]
    gone = np.isnan(ways)
    if gone.any():
        total = np.asarray(by @ np.where(gone, 0.0, ways))
        weight = np.asarray(by @ (~gone).astype(np.float64))
    else:
        total = np.asarray(by @ ways)
        weight = np.broadcast_to(rows[:, None], total.shape).copy()
    origin = np.zeros_like(total) if about is None else about
    return Sums(weight, total, rows, float((w * squares).sum()), origin)


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of hard EM: the objective after each E and each M step.

    >>> import numpy as np
    >>> x = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> print(lloyd(x, np.array([[0.0], [1.0]]))[2])
    iteration  step        W  moved
            1  E         145      4
            1  M     48.6667
            2  E     17.5556      1
            2  M           1
            3  E           1      0
    """

    objective: tuple[float, ...]
    moved: tuple[int, ...]

    @property
    def trace(self) -> tuple[float, ...]:
        """The objective after each E step, and at the end: it never rises."""
        return self.objective[::2]

    @property
    def stalled(self) -> bool:
        """Whether rows moved to and fro at the end, and the objective fell no more."""
        old, late = self.trace[:-PATIENCE], self.trace[-PATIENCE:]
        return bool(old) and self.moved[-1] > 0 and min(late) >= min(old)

    def _rows(self) -> list[list[str]]:
        return [
            [
                str(i // 2 + 1),
                "M" if i % 2 else "E",
                number(w),
                "" if i % 2 else f"{self.moved[i // 2]:,}",
            ]
            for i, w in enumerate(self.objective)
        ]

    def __str__(self) -> str:
        return table_text(["iteration", "step", "W", "moved"], self._rows(), right=[0, 2, 3])

    def _repr_html_(self) -> str:
        return table_html(["iteration", "step", "W", "moved"], self._rows(), right=[0, 2, 3])


def lloyd(
    points: Floats,
    centres: Floats,
    weights: Floats | None = None,
    *,
    iterations: int = 300,
    rest: float = 0.0,
) -> tuple[Labels, Floats, Steps]:
    """Hard EM from given centres until no row moves, or the centres by no more than `rest` in all.

    Ways are squared, and summed over centres. A centre that loses all its rows is put on the row
    that is farthest from its own. Each square is summed from differences, and each mean from ways
    about the centre before it: right to the last digits wherever the rows lie.
    """
    k = len(centres)
    labels = np.full(len(points), -1, dtype=np.intp)
    trace: list[float] = []
    moved: list[int] = []
    at_rest = False
    for _ in range(iterations + 1):
        fresh, squares = nearest(points, centres)
        fresh, squares, placed = repaired(points, fresh, squares, centres)
        found = sums_of(points, fresh, squares, k, weights, placed)
        moved.append(int((fresh != labels).sum()))
        labels, at_rest = fresh, at_rest and placed is centres
        trace.append(found.objective)
        ended = moved[-1] == 0 or at_rest or len(moved) > iterations
        if ended or Steps(tuple(trace), tuple(moved)).stalled:
            centres = placed
            break
        centres = found.centres(placed)
        at_rest = bool(((centres - placed) ** 2).sum() <= rest)
        at = distances_to_own(points, centres, labels)
        trace.append(float(at.sum() if weights is None else (weights * at).sum()))
    return labels, centres, Steps(tuple(trace), tuple(moved))


def distances_to_own(points: Floats, centres: Floats, labels: Labels) -> Floats:
    """Each row's squared distance to its own centre, over the cells that are there."""
    away = points - centres[labels]
    away *= away
    found: Floats = np.nansum(away, axis=1)
    return found


def repaired(
    points: Floats, labels: Labels, squares: Floats, centres: Floats
) -> tuple[Labels, Floats, Floats]:
    """No cluster without a row, as long as there are rows away from their centres.

    Labels, squares, and the centres: one that had no rows is put on the row that it gets.
    """
    k = len(centres)
    empty = np.flatnonzero(np.bincount(labels, minlength=k) == 0)
    if not len(empty):
        return labels, squares, centres
    labels, squares, placed = labels.copy(), squares.copy(), centres.copy()
    rounding = 1e-28 * np.nansum(points * points, axis=1)  # copies of a row stay together
    changed = False
    for c in empty:
        sizes = np.bincount(labels, minlength=k)
        far = np.where((sizes[labels] > 1) & (squares > rounding), squares, 0.0)
        row = int(far.argmax())
        if far[row] <= 0:
            break
        labels[row], squares[row], changed = c, 0.0, True
        placed[c] = np.where(np.isnan(points[row]), placed[c], points[row])
    return labels, squares, placed if changed else centres
