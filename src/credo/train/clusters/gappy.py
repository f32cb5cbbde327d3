"""Lloyd's steps over rows with gaps, made fast: the steps of `lloyd.py`, which leave gaps out.

    d²_ic = Σ_j m_ij (x_ij − μ_cj)² = Σ_j m_ij x_ij² − 2 Σ_j x_ij μ_cj + Σ_j m_ij μ_cj²

with m_ij = 0 and x_ij = 0 where a cell is missing: two products of matrices say which centre is
nearest, and where rounding could, distances are taken cell by cell. A row whose own centre is
nearer than any other can have come is not looked at again (Hamerly 2010): over the cells that a row
has, no centre moves farther than over all. The end is scikit-learn's: no row moves, or the centres
move by less than the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.core.frozen import Frozen
from credo.train.clusters.lloyd import Steps, distances, repaired

__all__ = ["GappyRows", "gappy_rows"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

_SMALL = 1 << 18  # multiplications of a product that no library spreads over threads
_ROUNDING = 1e-13  # of the squares that distances are differences of
_SURE = 1 - 1e-9
_VOUCHED = 5e8  # squares about the shift, at most so many times the objective
_RISE = 1 + 1e-11


@dataclass(frozen=True, eq=False)
class GappyRows(Frozen):
    """Rows near 0, laid out by column: where a cell is missing `x` and `there` are 0."""

    points: Floats
    x: Floats
    there: Floats  # else 1; of the columns in `holes` only
    holes: NDArray[np.intp]
    squares: Floats  # Σ_j x_ij²
    weights: Floats
    weighed: Floats  # `x` and `there`, times the weights
    weighed_there: Floats
    shift: Floats  # what was taken off the rows to bring them near 0

    def climb(
        self, centres: Floats, iterations: int, tolerance: float
    ) -> tuple[Labels, Floats, Steps]:
        """Hard EM from given centres; labels, centres and the steps."""
        rest = self.rest(tolerance)
        labels = np.full(len(self.points), -1, dtype=np.intp)
        lower = np.empty(0)
        own = np.empty(0)
        trace: list[float] = []
        moved: list[int] = []
        done = False
        for turn in range(iterations):
            if not turn:
                fresh, lower = self._nearest(None, centres)
                own = self._own(None, centres, fresh)
            else:
                fresh, lower, own = self._e_step(centres, labels, lower, own)
            whole, own, placed = repaired(self.points, fresh, own, centres)
            if placed is not centres:
                centres, done = placed, False
                lower = np.full(len(lower), -np.inf)  # a centre has come from elsewhere
            moved.append(int(np.count_nonzero(whole != labels)))
            labels = whole
            trace.append(float((self.weights * own).sum()))
            if moved[-1] == 0 or done:
                break
            means = (self._means(labels, centres) + self.shift) - self.shift  # as given back
            shift = ((means - centres) ** 2).sum(axis=1)
            centres, done = means, bool(shift.sum() <= rest)
            lower = lower - np.sqrt(shift.max())
            own = self._own(None, centres, labels)
            trace.append(float((self.weights * own).sum()))
        else:  # the labels that go with the centres as they are now
            fresh, _, own = self._e_step(centres, labels, lower, own)
            if len(np.unique(fresh)) == len(centres):
                moved.append(int((fresh != labels).sum()))
                trace.append(float((self.weights * own).sum()))
                labels = fresh
        return labels, centres, Steps(tuple(trace), tuple(moved))

    def vouched(self, labels: Labels, centres: Floats, steps: Steps) -> bool:
        """Whether the steps have their digits, and never rose (see `lloyd.cpp`)."""
        w, trace = self.weights, np.array(steps.objective)
        mass = np.bincount(labels, weights=w, minlength=len(centres))
        with np.errstate(over="ignore"):
            squares = (w * self.squares).sum() + (mass * (centres * centres).sum(axis=1)).sum()
            fell = (trace[1:] <= trace[:-1] * _RISE).all()
            return bool(squares <= _VOUCHED * trace.min() and fell and not steps.stalled)

    def rest(self, tolerance: float) -> float:
        """Centres that move by no more, squared and summed, are at rest."""
        return tolerance * self._variance()

    def _e_step(
        self, centres: Floats, labels: Labels, lower: Floats, own: Floats
    ) -> tuple[Labels, Floats, Floats]:
        """Labels, how near another centre can be, and squares; a row moves if that is nearer."""
        doubt = np.flatnonzero(~(np.sqrt(own) < _SURE * lower))
        found, second = self._nearest(doubt, centres)
        other = found != labels[doubt]
        rows, found = doubt[other], found[other]
        squares = self._own(rows, centres, found)
        nearer = squares < own[rows]
        fresh, own, lower = labels.copy(), own.copy(), lower.copy()
        lower[doubt] = second
        lower[rows[~nearer]] = -np.inf  # as near as its own, but for rounding
        fresh[rows[nearer]], own[rows[nearer]] = found[nearer], squares[nearer]
        return fresh, lower, own

    def _own(self, rows: Labels | None, centres: Floats, labels: Labels) -> Floats:
        """The squared distance of rows to the centres of their labels, cell by cell."""
        every = slice(None) if rows is None else rows
        found = np.zeros(len(labels))
        hole = dict(zip(self.holes.tolist(), self.there, strict=True))
        for j, column in enumerate(self.x):
            away = column[every] - centres[:, j].take(labels)
            if j in hole:
                away *= hole[j][every]
            away *= away
            found += away
        return found

    def _nearest(self, rows: Labels | None, centres: Floats) -> tuple[Labels, Floats]:
        """The nearest centre of rows, and how near the next one is at least."""
        n, k = len(self.points) if rows is None else len(rows), len(centres)
        labels, second = np.zeros(n, dtype=np.intp), np.full(n, np.inf)
        if k == 1:
            return labels, second
        squares = centres * centres
        size = max(_SMALL // (centres.shape[1] * k), 1)
        with np.errstate(over="ignore", invalid="ignore"):
            length = squares.sum(axis=1)
            for at in range(0, n, size):
                here = slice(at, at + size)
                part = here if rows is None else rows[here]
                far = self.x[:, part].T @ (-2 * centres.T) + length
                if len(self.holes):
                    far += (self.there[:, part].T - 1.0) @ squares[:, self.holes].T
                far += self.squares[part, None]
                labels[here], second[here] = self._two(part, far, centres, length.max())
        return labels, second

    def _two(
        self, part: slice | Labels, far: Floats, centres: Floats, most: float
    ) -> tuple[Labels, Floats]:
        """The nearest centre, and a bound on the next one, of rows whose squares are at hand."""
        each = np.arange(len(far))
        label = far.argmin(axis=1)
        best = far[each, label]
        far[each, label] = np.inf
        following = far.min(axis=1)
        margin = _ROUNDING * (self.squares[part] + most)
        close = np.flatnonzero(~(following - best > margin))
        if len(close):
            exact = distances(self.points[part][close], centres)
            label[close] = exact.argmin(axis=1)
            exact[np.arange(len(close)), label[close]] = np.inf
            following[close] = exact.min(axis=1)
        return label, np.sqrt(np.maximum(following - margin, 0.0))

    def _means(self, labels: Labels, old: Floats) -> Floats:
        """The mean of each cluster's rows, over the cells that are there; else the old centre."""
        k = len(old)
        every = np.bincount(labels, weights=self.weights, minlength=k)
        mass = np.repeat(every[:, None], old.shape[1], axis=1)
        for j, there in zip(self.holes, self.weighed_there, strict=True):
            mass[:, j] = np.bincount(labels, weights=there, minlength=k)
        total = [np.bincount(labels, weights=column, minlength=k) for column in self.weighed]
        seen = mass > 0
        found: Floats = np.where(seen, np.stack(total, axis=1) / np.where(seen, mass, 1.0), old)
        return found

    def _variance(self) -> float:
        """The mean over the columns of the variance of their cells."""
        there = np.full(len(self.x), float(len(self.points)))
        there[self.holes] = self.there.sum(axis=1)
        there = np.maximum(there, 1.0)
        mean = self.x.sum(axis=1) / there
        return float(((self.x**2).sum(axis=1) / there - mean**2).mean())


def gappy_rows(points: Floats, weights: Floats | None, shift: Floats | None = None) -> GappyRows:
    """Rows with gaps (NaN), less a `shift` that brought them near 0, as the steps read them.

    >>> x = np.array([[0.0, 1.0], [1.0, np.nan], [9.0, 5.0], [np.nan, 6.0]])
    >>> labels, centres, steps = gappy_rows(x, None).climb(x[[0, 2]], 300, 1e-4)
    >>> labels.tolist(), centres.tolist()
    ([0, 0, 1, 1], [[0.5, 1.0], [9.0, 5.5]])
    """
    gone = np.isnan(points).T
    x = np.ascontiguousarray(np.where(gone, 0.0, points.T))
    holes = np.flatnonzero(gone.any(axis=1))
    there = (~gone[holes]).astype(np.float64)
    with np.errstate(over="ignore"):
        squares = (x * x).sum(axis=0)
    shift = np.zeros(points.shape[1]) if shift is None else shift
    if weights is None:
        return GappyRows(points, x, there, holes, squares, np.ones(len(points)), x, there, shift)
    w = weights.astype(np.float64)
    return GappyRows(points, x, there, holes, squares, w, w * x, w * there, shift)
