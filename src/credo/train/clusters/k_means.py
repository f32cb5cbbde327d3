"""k-means: k centres, each the mean of the rows nearest to it.

    W = Σ_i w_i |x_i − μ_c(i)|²  →  least

scikit-learn's Lloyd, from several starts by k-means++ (Arthur & Vassilvitskii 2007), the best kept.
Where cells are missing, credo's own steps, which leave them out (`lloyd.py`).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.data import Table
from credo.errors import InputError
from credo.model.randomness import Rng, generator
from credo.progress import track
from credo.train.clusters.lloyd import Steps, distances_to_own, lloyd, nearest
from credo.train.clusters.partition import Partition
from credo.train.clusters.space import Space, checked_scale, filled, space_of

__all__ = ["Centres", "partition_k_means", "whole_number"]

Floats = NDArray[np.float64]

_EAGER = 300_000  # rows × coordinates × centres up to which the trace is made at once


@dataclass(frozen=True, slots=True)
class Centres:
    """The fitted value of k-means: its centres in the scaled space, and where it started."""

    space: Space
    centres: Floats
    start: Floats
    iterations: int

    def assign(self, table: Table) -> tuple[NDArray[np.intp], None]:
        """The nearest centre of each row; gaps are left out."""
        return nearest(self.space.points(table), self.centres)[0], None

    def steps(self, table: Table) -> Steps:
        """The E and M steps from the best start, again."""
        w = None if table.weights is None else table.weights.astype(np.float64)
        return lloyd(self.space.points(table), self.start, w)[2]


def partition_k_means(
    table: Table,
    k: int,
    *,
    rng: Rng = 0,
    scale: str = "auto",
    starts: int = 10,
    iterations: int = 300,
    tolerance: float = 1e-4,
    start: Any = None,
    space: Space | None = None,
    points: Floats | None = None,
) -> Partition:
    """k-means of a table's rows; `start` gives centres (k × coordinates) instead of k-means++.

    `tolerance` is scikit-learn's: centres that move by less, against the variance, are at rest.
    """
    space = space_of(table, checked_scale(scale, "sd")) if space is None else space
    points = space.points(table) if points is None else points
    w = None if table.weights is None else table.weights.astype(np.float64)
    gaps = bool(np.isnan(points).any())
    whole_number(starts, "starts")
    whole_number(iterations, "iterations")
    tries = 1 if start is not None else starts
    chance = generator(rng)
    best: tuple[float, Any] | None = None
    bottom = filled(points, np.zeros(points.shape[1])) if gaps else points
    for _ in track(range(tries), "k-means", total=tries):
        first = _start(bottom, k, w, chance) if start is None else _given(start, k, points)
        run = _gappy if gaps else _plain
        found = run(points, first, w, iterations, tolerance)
        # a later start must be better by more than rounding, so that ties fall the same way
        if best is None or found[0] < best[0] * (1 - 1e-12):
            best = found[0], (first, *found[1:])
    assert best is not None
    objective, (first, labels, centres, laps, settled) = best
    _all_used(labels, points, k)
    model = Centres(space, centres, first, laps)
    trace: tuple[float, ...] = (objective,)
    if points.size * k <= _EAGER:
        trace = lloyd(points, first, w, iterations=laps)[2].trace
    notes = [*space.notes, *_notes(space, table, gaps)]
    bare = int(np.isnan(points).all(axis=1).sum()) if gaps else 0
    if bare:
        notes.append(f"{bare:,} rows have no cell: their cluster says nothing")
    return Partition(
        labels,
        k,
        model.assign,
        quality={"within": objective},
        trace=trace,
        reason=(
            f"no row moves, after {laps} iterations"
            if settled
            else f"{laps} iterations: the centres moved less than the tolerance"
            if laps < iterations
            else f"the limit of {iterations} iterations"
        )
        + (f"; the best of {tries} starts" if tries > 1 else ""),
        notes=tuple(notes),
        model=model,
    )


def _start(points: Floats, k: int, w: Floats | None, chance: np.random.Generator) -> Floats:
    from sklearn.cluster import kmeans_plusplus

    seed = int(chance.integers(1 << 31))
    centres: Floats = kmeans_plusplus(points, k, sample_weight=w, random_state=seed)[0]
    return centres


def _given(start: Any, k: int, points: Floats) -> Floats:
    centres = np.array(start, dtype=np.float64, ndmin=2)
    if centres.shape != (k, points.shape[1]) or not np.isfinite(centres).all():
        raise InputError(
            f"start must be {k} centres of {points.shape[1]} finite coordinates each (of the "
            f"scaled columns; scale='none' for the numbers as they are), got {centres.shape}."
        )
    return centres


def _plain(
    points: Floats, first: Floats, w: Floats | None, iterations: int, tolerance: float
) -> tuple[float, Any, Floats, int, bool]:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    fitted = KMeans(len(first), init=first, n_init=1, max_iter=iterations, tol=tolerance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted.fit(points, sample_weight=w)
    labels = fitted.labels_.astype(np.intp)
    centres: Floats = fitted.cluster_centers_
    laps = int(fitted.n_iter_)
    return float(fitted.inertia_), labels, centres, laps, tolerance == 0 and laps < iterations


def _gappy(
    points: Floats, first: Floats, w: Floats | None, iterations: int, tolerance: float
) -> tuple[float, Any, Floats, int, bool]:
    labels, centres, steps = lloyd(
        points, first, w, iterations=iterations, tolerance=min(tolerance, 1e-6)
    )
    squares = distances_to_own(points, centres, labels)
    objective = float(squares.sum() if w is None else w @ squares)
    return objective, labels, centres, len(steps.moved), steps.moved[-1] == 0


def _all_used(labels: Any, points: Floats, k: int) -> None:
    if len(np.unique(labels)) < k:
        different = len(np.unique(points, axis=0))
        raise InputError(
            f"The table has only {different:,} different rows, which cannot make {k:,} clusters."
            if different < k
            else f"k-means found fewer than {k:,} clusters.",
            hint=f"Ask for k={min(different, k - 1)} or fewer.",
        )


def _notes(space: Space, table: Table, gaps: bool) -> list[str]:
    notes = []
    by = {"sd": "its standard deviation", "range": "its range"}
    if space.scale == "none":
        notes.append("Euclid's distance of the numbers as they are")
    else:
        notes.append(f"Euclid's distance, each column divided by {by[space.scale]}")
    if table.schema.discrete:
        notes.append(
            "states are 0/1 coordinates, each column weighing as one number; "
            "method='latent-class' models them instead"
        )
    if gaps:
        notes.append("missing cells are left out of the distances")
    return notes


def whole_number(value: Any, name: str, least: int = 1) -> int:
    """A whole number, at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} must be a whole number, {least} or more, got {value!r}.")
    return int(value)
