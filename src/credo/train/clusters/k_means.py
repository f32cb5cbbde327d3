"""k-means: k centres, each the mean of the rows nearest to it.

    W = Σ_i w_i |x_i − μ_c(i)|²  →  least

Lloyd's steps, the best of several starts by k-means++ (Arthur & Vassilvitskii 2007). Steps and end
are scikit-learn's from the same start; a kernel makes them, and writes down what each E and M step
gains. Where cells are missing, `gappy.py` leaves them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.core.progress import track
from credo.core.schema import Schema
from credo.data import Table
from credo.data.sources.unnamed import unmasked
from credo.model.values.randomness import Rng, generator
from credo.model.values.reals import shown
from credo.train.clusters.gappy import gappy_rows
from credo.train.clusters.geometry import AS_COORDINATES, in_words, usual_distance
from credo.train.clusters.lloyd import Steps, lloyd, nearest
from credo.train.clusters.notes import told_of_bare
from credo.train.clusters.partition import Partition
from credo.train.clusters.space import Space, checked_scale, filled, space_of

__all__ = [
    "Centres",
    "best_of_starts",
    "checked_tolerance",
    "partition_k_means",
    "points_of",
    "told_of_distance",
    "whole_number",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Centres(Frozen):
    """The fitted value of k-means: centres in the scaled space, where they started, the steps."""

    space: Space
    centres: Floats
    start: Floats
    steps: Steps

    def assign(self, table: Table) -> tuple[NDArray[np.intp], None]:
        """The nearest centre of each row; gaps are left out."""
        return nearest(self.space.points(table), self.centres)[0], None


@dataclass(frozen=True, slots=True)
class _Run:
    """One climb, or the best of several."""

    objective: float
    labels: NDArray[np.intp]
    centres: Floats
    start: Floats
    steps: Steps

    def reason(self, iterations: int, tries: int) -> str:
        """Why it stopped, in words."""
        settled = self.steps.moved[-1] == 0
        laps = min(len(self.steps.objective) // 2 + settled, iterations)
        best = f"; the best of {tries} starts" if tries > 1 else ""
        if settled:
            return f"no row moves, after {laps} iterations{best}"
        if self.steps.stalled:
            return f"{laps} iterations: rounding moves rows to and fro, W falls no more{best}"
        if laps < iterations:
            return f"{laps} iterations: the centres moved less than the tolerance{best}"
        return f"the limit of {iterations} iterations{best}"


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
    points = points_of(space, table) if points is None else points
    w = None if table.weights is None else table.weights.astype(np.float64)
    gaps = any(table.block.gaps) and bool(np.isnan(points).any())
    whole_number(iterations, "iterations")
    checked_tolerance(tolerance)
    given = None if start is None else _given(start, k, points)
    tries = 1 if start is not None else whole_number(starts, "starts")
    seed = 0 if start is not None else int(generator(rng).integers(1 << 31))
    if gaps:
        best = _gappy(points, k, w, given, tries, seed, iterations, tolerance, space)
        labels = nearest(points, best.centres)[0]
    else:
        rows = _core.LloydRows(points, w)
        best = _plain(rows, points, k, given, tries, seed, iterations, tolerance)
        labels = _settled(rows, points, best)
    _all_used(best.labels, k)
    if labels is not best.labels and not np.bincount(labels, minlength=k).all():
        labels = best.labels
    model = Centres(space, best.centres, best.start, best.steps)
    notes = [*space.notes, *told_of_distance(space, table.schema, gaps)]
    if gaps and k > 1:
        notes.append(f"the silhouette is in {usual_distance(table)}")
    notes += told_of_bare(table)
    return Partition(
        labels,
        k,
        model.assign,
        quality={"within": best.objective},
        trace=best.steps.trace,
        reason=best.reason(iterations, tries),
        notes=tuple(notes),
        model=model,
    )


def points_of(space: Space, table: Table) -> Floats:
    """The points that k-means climbs on: where cells are missing, its steps make copies."""
    holed = not table.block.names_with_gaps.isdisjoint(space.names)
    return space.points(table, copies=5 if holed else 1)


def _given(start: Any, k: int, points: Floats) -> Floats:
    try:
        centres = np.array(unmasked(start), dtype=np.float64, ndmin=2, order="C")
        finite = np.isfinite(centres).all()
        got = str(centres.shape) if finite else "a coordinate that is not"
    except (TypeError, ValueError):
        centres, got = np.empty((0, 0)), shown(start)
    if centres.shape != (k, points.shape[1]) or not np.isfinite(centres).all():
        raise InputError(
            f"start must be {k} centres of {points.shape[1]} finite coordinates each (of the "
            f"scaled columns; scale='none' for the numbers as they are), got {got}."
        )
    return centres


def _plain(
    rows: _core.LloydRows,
    points: Floats,
    k: int,
    given: Floats | None,
    tries: int,
    seed: int,
    iterations: int,
    tolerance: float,
) -> _Run:
    """The kernel's steps, for rows that have every cell."""
    many = _core.cores()

    def climbed(start: Floats) -> _Run:
        labels, centres, objective, moved, _ = rows.climb(start, iterations, tolerance, many)
        steps = Steps(tuple(objective), tuple(moved))
        return _Run(objective[-1], labels, centres, start, steps)

    if given is not None:
        return climbed(given)
    chance = np.random.RandomState(seed)
    best: _Run | None = None
    for _ in track(range(tries), "k-means", total=tries):
        best = _better(climbed(points[_drawn(rows, k, chance)]), best)
    assert best is not None
    return best


def best_of_starts(
    points: Floats, k: int, weights: Floats | None, starts: int, seed: int
) -> tuple[NDArray[np.intp], Floats]:
    """Labels and centres of whole points: the best of several starts, until no point moves."""
    rows = _core.LloydRows(points, weights)
    best = _plain(rows, points, k, None, starts, seed % (1 << 31), 300, 0.0)
    return best.labels, best.centres


def _settled(rows: _core.LloydRows, points: Floats, run: _Run) -> NDArray[np.intp]:
    """The labels, where a row as near to two centres goes where a new one like it would.

    The kernel has found them about another origin, which parts such centres by rounding.
    """
    close = rows.near_ties(run.centres, _core.cores())
    if not len(close):
        return run.labels
    labels = run.labels.copy()
    labels[close] = nearest(points[close], run.centres)[0]
    return labels


def _drawn(rows: _core.LloydRows, k: int, chance: np.random.RandomState) -> NDArray[np.int64]:
    """The rows that k-means++ starts from: the draws are scikit-learn's of the same seed."""
    tries = 2 + int(np.log(k))
    return rows.start(k, chance.random_sample(1 + (k - 1) * tries), _core.cores())


def _better(run: _Run, best: _Run | None) -> _Run:
    """A later start must be better by more than rounding, so that ties fall the same way."""
    return run if best is None or run.objective < best.objective * (1 - 1e-12) else best


def _gappy(
    points: Floats,
    k: int,
    w: Floats | None,
    given: Floats | None,
    tries: int,
    seed: int,
    iterations: int,
    tolerance: float,
    space: Space,
) -> _Run:
    """credo's own steps, which leave gaps out; starts as if gaps were in the middle.

    They are made about the mean, so that sums of numbers far from 0 lose nothing. Where rows are so
    far apart that this loses more, they are made anew, slower, from the numbers as they are.
    """
    mean = np.nansum(points, axis=0) / np.maximum((~np.isnan(points)).sum(axis=0), 1)
    near = points - mean
    whole = filled(points, _middle(points, mean, space))
    rows, steady = _core.LloydRows(whole, w), gappy_rows(near, w, mean)
    chance = np.random.RandomState(seed)
    best: _Run | None = None
    for _ in track(range(tries), "k-means", total=tries):
        first = whole[_drawn(rows, k, chance)] if given is None else given
        labels, centres, steps = steady.climb(first - mean, iterations, tolerance)
        if steady.vouched(labels, centres, steps):
            centres = centres + mean
        else:
            rest = steady.rest(tolerance)
            labels, centres, steps = lloyd(points, first, w, iterations=iterations, rest=rest)
        best = _better(_Run(steps.objective[-1], labels, centres, first, steps), best)
    assert best is not None
    return best


def _middle(points: Floats, mean: Floats, space: Space) -> Floats:
    """Where a gap stands in a start: at the mean, but where half of the numbers are.

    A number at 1e12 draws the mean to where no row is, and rows with gaps would be the first to
    become centres.
    """
    out, at = mean.copy(), 0
    for axis in space.axes:
        if not axis.variable.is_discrete and np.isnan(points[:, at]).any():
            out[at] = np.clip(mean[at], *np.nanquantile(points[:, at], (0.25, 0.75)))
        at += axis.width
    return out


def _all_used(labels: Any, k: int) -> None:
    used = int(np.count_nonzero(np.bincount(labels, minlength=k)))
    if used < k:
        raise InputError(
            f"k-means found {used:,} cluster{'s' * (used != 1)}, fewer than {k:,}: the others "
            "stayed empty.",
            hint=f"Ask for k={used}{' or fewer' * (used > 1)}.",
        )


def told_of_distance(space: Space, schema: Schema, gaps: bool) -> list[str]:
    """How far apart rows are taken to be, in words."""
    notes = [in_words("euclidean", space.scale)]
    if schema.discrete:
        notes.append(f"{AS_COORDINATES}; method='latent-class' models them instead")
    if gaps:
        notes.append("missing cells are left out of the distances")
    return notes


def checked_tolerance(tolerance: Any) -> None:
    """Refuse a tolerance that is no share: 0 climbs until no row moves."""
    real = isinstance(tolerance, (int, float, np.number)) and not isinstance(tolerance, bool)
    if not real or not 0 <= tolerance < np.inf:
        raise InputError(f"tolerance must be a number, 0 or more, got {tolerance!r}.")


def whole_number(value: Any, name: str, least: int = 1) -> int:
    """A whole number, at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} must be a whole number, {least} or more, got {value!r}.")
    return int(value)
