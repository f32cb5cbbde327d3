"""Lloyd's steps: k-means as hard EM, on parts of rows that may have missing values.

    E: each row goes to its nearest centre      c(i) = argmin_c Σ_j (x_ij − μ_cj)²
    M: each centre becomes the mean of its rows  μ_cj = Σ_{i in c} w_i x_ij / Σ_{i in c} w_i

Sums run over the cells that are there. Neither step can raise the within-cluster sum of squares
W = Σ_i w_i Σ_j (x_ij − μ_c(i)j)², so the steps end (MacQueen 1967; Lloyd 1982; with missing values,
k-POD of Chi, Chi & Baraniuk 2016). The rows are in memory, or folded part by part where they
are: what an M step needs of a part adds up. The end is scikit-learn's: no row moves, or the centres
move by less than the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.render import Shown, View, number
from credo.predict.rows.far_rows import AFAR

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

_CELLS = 1 << 16  # numbers of a block of rows, which stays in the cache
_ROUNDING = 1e-14  # of the products that distances are compared by


# --- the E step -------------------------------------------------------------------------------


def nearest(points: Floats, centres: Floats) -> tuple[Labels, Floats]:
    """Each row's nearest centre, of equally near ones the first, and its squared distance.

    >>> nearest(np.array([[0.0, 1.0], [np.nan, 6.0]]), np.array([[0.0, 0.0], [9.0, 5.0]]))
    (array([0, 1]), array([1., 1.]))
    """
    labels = _labels(points, centres)
    return labels, _squared(points - centres[labels])


def _squared(ways: Floats) -> Floats:
    found: Floats = np.einsum("ij,ij->i", ways, ways)
    gone = np.isnan(found)
    if gone.any():
        there = np.nan_to_num(ways[gone])
        found[gone] = np.einsum("ij,ij->i", there, there)
    return found


def _labels(points: Floats, centres: Floats) -> Labels:
    """Each row's nearest centre, block by block.

    |u − v|² = |u|² − 2u·v + |v|², and |u|² is the same for every centre: a product of matrices
    tells, however far out a row is. Where rounding could hide which of two is nearer, differences
    are squared one by one.
    """
    labels = np.zeros(len(points), dtype=np.intp)
    origin = np.median(centres, axis=0)
    v = centres - origin
    spread = float(np.abs(v).max())
    step = max(_CELLS // max(len(centres), points.shape[1]), 1)
    for i in range(0, len(points) if len(centres) > 1 else 0, step):
        block = points[i : i + step]
        near, far = _near(block - origin, v, spread)
        labels[i : i + step] = near.argmax(axis=0)
        close = np.flatnonzero((np.count_nonzero(near, axis=0) != 1) & ~far)
        if len(close):
            labels[i + close] = _one_by_one(block[close], centres).argmin(axis=1)
    return labels


def _near(u: Floats, v: Floats, spread: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which centres v may be nearest to each row u, but for rounding; and whether a row is so far
    out that differences would tell less.
    """
    gone = np.isnan(u) if np.isnan(u.sum()) else np.zeros((1, u.shape[1]), dtype=bool)
    holes = np.flatnonzero(gone.any(axis=0))
    if len(holes):
        u[gone] = 0.0
    top = max(float(u.max(initial=0.0)), -float(u.min(initial=0.0)))
    far = np.zeros(len(u), dtype=bool)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = v * v
        score = squares.sum(axis=1)[:, None]
        if len(holes):
            score = score - squares[:, holes] @ gone[:, holes].T
        if top > AFAR * spread:
            size = np.abs(u).max(axis=1)
            far = size > AFAR * spread
            scale = np.where(far, size, 1.0)  # products of those could pass 1e308
            u, score = np.clip(u, -_TOP, _TOP) / scale[:, None], score / scale
        score = score - 2 * (v @ u.T)
        margin = _ROUNDING * len(squares.T) * spread * (min(top, AFAR * spread) + spread)
        near: NDArray[np.bool_] = score <= score.min(axis=0) + np.where(far, 0.0, margin)
    return near, far


_TOP = np.finfo(np.float64).max


def _one_by_one(points: Floats, centres: Floats) -> Floats:
    """The squared distance of each row to each centre, over the cells that are there."""
    from scipy.spatial.distance import cdist

    if not np.isnan(points).any():
        found: Floats = cdist(points, centres, "sqeuclidean")
        return found
    return np.stack([np.nansum((points - c) ** 2, axis=1) for c in centres], axis=1)


# --- the M step -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sums:
    """What an M step needs of some rows: weights and sums by cluster; parts add up with `+`.

    `weight` and `total` are k × coordinates (missing values make weights differ), `squares` are of
    each coordinate. Sums are of rows less `about`, the centre of their cluster: so they lose no
    digits, however far from 0 it lies.
    """

    weight: Floats
    total: Floats
    rows: Floats
    squares: Floats
    about: Floats

    def __add__(self, other: Sums) -> Sums:
        return Sums(
            self.weight + other.weight,
            self.total + other.total,
            self.rows + other.rows,
            self.squares + other.squares,
            self.about,
        )

    @property
    def objective(self) -> float:
        """W, about the centres."""
        return float(self.squares.sum())

    @property
    def centres(self) -> Floats:
        """The means; where nothing was seen, the old centres."""
        return self.about + self.total / np.where(self.weight > 0, self.weight, 1.0)

    @property
    def about_the_mean(self) -> Floats:
        """The sum of squares about the mean of all rows, of each coordinate."""
        n, first = self.weight, self.about[:1]
        means = self.centres - first
        every = (n * means).sum(axis=0) / np.maximum(n.sum(axis=0), 1e-300)
        away = (means - every) ** 2 - (means - (self.about - first)) ** 2
        found: Floats = np.maximum(self.squares + (n * away).sum(axis=0), 0.0)
        return found

    @property
    def variance(self) -> float:
        """The mean over the coordinates of the variance of their cells."""
        n = np.maximum(self.weight.sum(axis=0), 1e-300)
        return float((self.about_the_mean / n).mean())


def sums_of(points: Floats, labels: Labels, weights: Floats | None, about: Floats) -> Sums:
    """The sums by cluster of rows that have been assigned."""
    from scipy.sparse import csc_array

    n, k = len(points), len(about)
    w = np.ones(n) if weights is None else weights
    by = csc_array((w, labels, np.arange(n + 1)), shape=(k, n))
    rows: Floats = np.bincount(labels, w, minlength=k).astype(np.float64)
    ways = points - about[labels]
    squares = np.einsum("ij,ij->j", ways, ways if weights is None else ways * w[:, None])
    holes = np.flatnonzero(np.isnan(squares))
    weight: Floats = np.repeat(rows[:, None], points.shape[1], axis=1)
    if len(holes):
        gone = np.isnan(ways[:, holes])
        ways[:, holes] = held = np.where(gone, 0.0, ways[:, holes])
        squares[holes] = (w[:, None] * held * held).sum(axis=0)
        weight[:, holes] -= by @ gone.astype(np.float64)
        weight[weight < 1e-12 * rows[:, None]] = 0.0  # but for rounding
    total = by @ ways
    return Sums(weight, total, rows, squares, about)


def means_of(points: Floats, labels: Labels, k: int, weights: Floats | None = None) -> Floats:
    """The mean of each cluster's points."""
    return sums_of(points, labels, weights, np.zeros((k, points.shape[1]))).centres


# --- the steps --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Steps(Shown):
    """The steps of hard EM: the objective after each E and each M step.

    >>> import numpy as np
    >>> x = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> print(lloyd(Points(x), np.array([[0.0], [1.0]])).steps)
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
        """The objective after each E step: it never rises."""
        return self.objective[::2]

    def _view(self) -> View:
        rows = [
            [
                str(i // 2 + 1),
                "M" if i % 2 else "E",
                number(w),
                "" if i % 2 else f"{self.moved[i // 2]:,}",
            ]
            for i, w in enumerate(self.objective)
        ]
        return View("", ["iteration", "step", "W", "moved"], rows, [0, 2, 3])


@dataclass(frozen=True, slots=True)
class Run:
    """Steps from one start to their end; `reason` says why they ended, `labels` are of rows in
    memory."""

    labels: NDArray[Any]
    centres: Floats
    start: Floats
    steps: Steps
    sums: Sums
    reason: str

    @property
    def objective(self) -> float:
        """W at the end."""
        return self.steps.objective[-1]


@dataclass(frozen=True)
class Step:
    """A task: one E step from new centres, on rows that were where older centres put them.

    `old` are their labels then, where they are at hand; else they are found again.
    """

    centres: Floats
    before: Floats | None
    old: Labels | None = None

    def __call__(self, points: Floats, weights: Floats | None) -> Stepped:
        """The step of some rows."""
        fresh = _labels(points, self.centres)
        between, moved = 0.0, len(points)
        if self.before is not None:
            old = _labels(points, self.before) if self.old is None else self.old
            other = np.flatnonzero(fresh != old)
            some, moved = points[other], len(other)
            gained = _squared(some - self.centres[old[other]])
            gained -= _squared(some - self.centres[fresh[other]])
            between = float((gained if weights is None else weights[other] * gained).sum())
        return Stepped(sums_of(points, fresh, weights, self.centres), between, moved, fresh)


@dataclass(frozen=True, slots=True)
class Stepped:
    """What a step gives: sums, what the moves gained, how many rows moved, and of rows in memory
    their labels.
    """

    sums: Sums
    gained: float
    moved: int
    labels: Labels | None = None

    def __add__(self, other: Stepped) -> Stepped:
        return Stepped(self.sums + other.sums, self.gained + other.gained, self.moved + other.moved)


@dataclass(frozen=True)
class Farthest:
    """A task: the different rows farthest from their centres, and how far; a missing cell is where
    the centre is. Rows that lie where their centre does, but for rounding, are none.
    """

    centres: Floats
    most: int

    def __call__(self, points: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
        """Those of some rows."""
        own = self.centres[_labels(points, self.centres)]
        filled = np.where(np.isnan(points), own, points)
        squares = ((filled - own) ** 2).sum(axis=1)
        squares[squares <= 1e-28 * (filled * filled).sum(axis=1)] = 0.0
        some = np.argsort(-squares, kind="stable")[: 8 * self.most]
        some = some[squares[some] > 0]
        return self._first(filled[some], squares[some])

    def merge(self, a: tuple[Floats, Floats], b: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """Those of both."""
        return self._first(np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]]))

    def _first(self, far: Floats, size: Floats) -> tuple[Floats, Floats]:
        _, first = np.unique(far, axis=0, return_index=True)
        kept = first[np.argsort(-size[first], kind="stable")][: self.most]
        return far[kept], size[kept]


class Points:
    """Rows in memory; the labels of the last step are kept for the next."""

    def __init__(self, points: Floats, weights: Floats | None = None) -> None:
        self.points, self.weights = points, weights
        self.labels: Labels | None = None

    def step(self, centres: Floats, before: Floats | None) -> Stepped:
        """One E step."""
        found = Step(centres, before, self.labels)(self.points, self.weights)
        self.labels = found.labels
        return found

    def farthest(self, centres: Floats, most: int) -> Floats:
        """The rows farthest from their centres."""
        return Farthest(centres, most)(self.points, self.weights)[0]


@dataclass(frozen=True)
class Spread:
    """Rows that lie in parts: `fold(task, merge)` gives what a task of the points and weights of a
    part adds up to.
    """

    fold: Callable[[Any, Any], Any]

    def step(self, centres: Floats, before: Floats | None) -> Stepped:
        """One E step."""
        found: Stepped = self.fold(Told(Step(centres, before)), Stepped.__add__)
        return found

    def farthest(self, centres: Floats, most: int) -> Floats:
        """The rows farthest from their centres."""
        task = Farthest(centres, most)
        found: Floats = self.fold(task, task.merge)[0]
        return found


@dataclass(frozen=True)
class Told:
    """A task: a step whose labels are left where they are."""

    step: Step

    def __call__(self, points: Floats, weights: Floats | None) -> Stepped:
        """What the step says of the rows."""
        return replace(self.step(points, weights), labels=None)


def lloyd(rows: Points | Spread, start: Floats, *, max_iter: int = 300, tol: float = 0.0) -> Run:
    """Hard EM from given centres until no row moves, or the centres by less than the tolerance.

    Ways are squared, summed over centres and compared with `tol` times the variance. A centre
    without rows is put on the row that is farthest from its own.
    """
    centres, before = start, None
    trace: list[float] = []
    moved: list[int] = []
    at_rest = False
    while True:
        step = rows.step(centres, before)
        sums = step.sums
        trace += [sums.objective + max(step.gained, 0.0)] if trace else []
        trace.append(sums.objective)
        moved.append(step.moved)
        empty = np.flatnonzero(sums.rows == 0)
        far = rows.farthest(centres, len(empty)) if len(empty) else centres[:0]
        over = len(moved) > max_iter
        stuck = len(trace) > 2 and trace[-1] >= trace[-3]
        if over or (not len(far) and (step.moved == 0 or at_rest or stuck)):
            break
        placed = sums.centres
        placed[empty[: len(far)]] = far
        at_rest = float(((placed - centres) ** 2).sum()) <= tol * sums.variance
        centres, before = placed, centres
    laps = min(len(moved), max_iter)
    if moved[-1] == 0:
        reason = f"no row moves, after {laps} iterations"
    elif at_rest and not over:
        reason = f"{laps - 1} iterations: the centres moved less than the tolerance"
    elif stuck and not over:
        reason = f"{laps} iterations: rounding moves rows to and fro, W falls no more"
    else:
        reason = f"the limit of {max_iter} iterations"
    labels = np.empty(0, np.intp) if step.labels is None else step.labels
    return Run(labels, centres, start, Steps(tuple(trace), tuple(moved)), sums, reason)
