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
    starts: tuple[Floats, ...]
    iterations: int
    objective: float

    def assign(self, table: Table) -> tuple[NDArray[np.intp], None]:
        """The nearest centre of each row; gaps are left out."""
        return nearest(self.space.points(table), self.centres)[0], None

    def steps(self, table: Table) -> Steps:
        """The E and M steps from the best start, again."""
        w = None if table.weights is None else table.weights.astype(np.float64)
        return self.climbed(self.space.points(table), w)

    def climbed(self, points: Floats, w: Floats | None, iterations: int = 300) -> Steps:
        """The steps from the start that leads to the least W; of equals the first."""
        runs = [lloyd(points, s, w, iterations=iterations)[2] for s in self.starts]
        least = min(r.objective[-1] for r in runs)
        return next(r for r in runs if r.objective[-1] <= least * (1 + 1e-9))


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
    space = space_of(table, checked_scale(scale, "like")) if space is None else space
    points = space.points(table) if points is None else points
    w = None if table.weights is None else table.weights.astype(np.float64)
    gaps = any(table.block.gaps) and bool(np.isnan(points).any())
    whole_number(iterations, "iterations")
    given = None if start is None else _given(start, k, points)
    tries = 1 if start is not None else whole_number(starts, "starts")
    seed = int(generator(rng).integers(1 << 31))
    run = _gappy if gaps else _plain
    objective, labels, centres, laps, settled, begun = run(
        points, k, w, given, tries, seed, iterations, tolerance
    )
    _all_used(labels, points, k)
    model = Centres(space, centres, begun, laps, objective)
    trace: tuple[float, ...] = (objective,)
    if points.size * k * len(begun) <= _EAGER:
        trace = model.climbed(points, w, laps).trace
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


def _given(start: Any, k: int, points: Floats) -> Floats:
    centres = np.array(start, dtype=np.float64, ndmin=2)
    if centres.shape != (k, points.shape[1]) or not np.isfinite(centres).all():
        raise InputError(
            f"start must be {k} centres of {points.shape[1]} finite coordinates each (of the "
            f"scaled columns; scale='none' for the numbers as they are), got {centres.shape}."
        )
    return centres


_Run = tuple[float, NDArray[np.intp], Floats, int, bool, tuple[Floats, ...]]


def _plain(
    points: Floats,
    k: int,
    w: Floats | None,
    given: Floats | None,
    tries: int,
    seed: int,
    iterations: int,
    tolerance: float,
) -> _Run:
    """scikit-learn's Lloyd; every start is kept, so that its steps can be shown."""
    from sklearn import config_context
    from sklearn.cluster import KMeans, kmeans_plusplus
    from sklearn.exceptions import ConvergenceWarning

    made: list[Floats] = []
    norms: list[Floats] = []

    def first(x: Floats, n_clusters: int, random_state: Any) -> Floats:
        if not norms:
            norms.append(np.einsum("ij,ij->i", x, x))
        found: Floats = kmeans_plusplus(
            x, n_clusters, sample_weight=w, x_squared_norms=norms[0], random_state=random_state
        )[0]
        made.append(found.copy())
        return found

    fitted = KMeans(
        k,
        init=first if given is None else given,
        n_init=tries,
        max_iter=iterations,
        tol=tolerance,
        random_state=seed,
    )
    with warnings.catch_warnings(), config_context(assume_finite=True):
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted.fit(points, sample_weight=w)
    laps = int(fitted.n_iter_)
    mean = points.mean(axis=0)  # scikit-learn centres the rows first
    begun = (given,) if given is not None else tuple(m + mean for m in made)
    return (
        float(fitted.inertia_),
        fitted.labels_.astype(np.intp),
        fitted.cluster_centers_,
        laps,
        tolerance == 0 and laps < iterations,
        begun,
    )


def _gappy(
    points: Floats,
    k: int,
    w: Floats | None,
    given: Floats | None,
    tries: int,
    seed: int,
    iterations: int,
    tolerance: float,
) -> _Run:
    """credo's own steps, which leave gaps out; starts as if gaps were at the mean."""
    from sklearn.cluster import kmeans_plusplus

    mean = np.nansum(points, axis=0) / np.maximum((~np.isnan(points)).sum(axis=0), 1)
    whole = filled(points, mean)
    chance = np.random.RandomState(seed)
    best: _Run | None = None
    for _ in track(range(tries), "k-means", total=tries):
        first = given
        if first is None:
            first = kmeans_plusplus(whole, k, sample_weight=w, random_state=chance)[0]
        labels, centres, steps = lloyd(
            points, first, w, iterations=iterations, tolerance=min(tolerance, 1e-6)
        )
        squares = distances_to_own(points, centres, labels)
        objective = float(squares.sum() if w is None else w @ squares)
        # a later start must be better by more than rounding, so that ties fall the same way
        if best is None or objective < best[0] * (1 - 1e-12):
            laps, settled = len(steps.moved), steps.moved[-1] == 0
            best = (objective, labels, centres, laps, settled, (first,))
    assert best is not None
    return best


def _all_used(labels: Any, points: Floats, k: int) -> None:
    if (np.bincount(labels, minlength=k) == 0).any():
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
