"""k-means: k centres, each the mean of the rows nearest to it.

    W = Σ_i w_i |x_i − μ_c(i)|²  →  least

The best of several starts by k-means++ (Arthur & Vassilvitskii 2007). scikit-learn draws the starts
and finds the best of them; `lloyd.py` takes the steps from it, and writes down what each E and M
step gains. Where cells are missing it takes those from every start. Rows in parts: `spread.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.core.progress import track
from credo.core.schema import Schema
from credo.data import Table, unmasked
from credo.model.values.randomness import Rng, generator
from credo.model.values.reals import shown
from credo.train.clusters.geometry import AS_COORDINATES, in_words, usual_distance
from credo.train.clusters.lloyd import Points, Run, Steps, lloyd, nearest
from credo.train.clusters.partition import Partition, told_of_bare
from credo.train.clusters.space import Space, checked_scale, space_of

Floats = NDArray[np.float64]

_REACH = 1e5  # spreads that a row may lie out where starts are compared: squares keep their digits
_WORKERS = 4  # starts at once, at most: each has a copy of the rows


@dataclass(frozen=True, slots=True)
class Centres(Frozen):
    """The fitted value of k-means: centres in the scaled space, where they started, the steps."""

    space: Space
    centres: Floats
    start: Floats
    steps: Steps

    def assign(self, table: Table) -> tuple[NDArray[np.intp], None]:
        """The nearest centre of each row; missing cells are left out."""
        return nearest(self.space.points(table), self.centres)[0], None


def partition_k_means(
    table: Table,
    k: int,
    *,
    rng: Rng = 0,
    scale: str = "auto",
    restarts: int = 10,
    max_iter: int = 300,
    tol: float = 1e-4,
    start: Any = None,
    space: Space | None = None,
    points: Floats | None = None,
) -> Partition:
    """k-means of a table's rows; `start` gives centres (k × coordinates) instead of k-means++.

    `tol` is scikit-learn's: centres that move by less, against the variance, are at rest.
    """
    space = space_of(table, checked_scale(scale, "like")) if space is None else space
    points = points_of(space, table) if points is None else points
    w = None if table.weights is None else table.weights.astype(np.float64)
    gaps = any(table.block.gaps) and bool(np.isnan(points).any())
    whole_number(max_iter, "max_iter")
    checked_tol(tol)
    if start is not None:
        run = lloyd(Points(points, w), _given(start, k, points), max_iter=max_iter, tol=tol)
    else:
        seed = int(generator(rng).integers(1 << 31))
        tries = whole_number(restarts, "restarts")
        run = best_of_starts(points, k, w, tries, seed, max_iter=max_iter, tol=tol)
    refuse_empty(run, k)
    model = Centres(space, run.centres, run.start, run.steps)
    notes = [*space.notes, *told_of_distance(space, table.schema, gaps)]
    if gaps and k > 1:
        notes.append(f"the silhouette is in {usual_distance(table)}")
    notes += told_of_bare(table)
    return Partition(
        run.labels,
        k,
        model.assign,
        quality={"within": run.objective},
        trace=run.steps.trace,
        reason=run.reason,
        notes=tuple(notes),
        model=model,
    )


def points_of(space: Space, table: Table) -> Floats:
    """The points that k-means climbs on, of which its steps make copies."""
    return space.points(table, copies=5)


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


# --- the best of several starts ---------------------------------------------------------------


def best_of_starts(
    points: Floats,
    k: int,
    weights: Floats | None,
    restarts: int,
    seed: int,
    *,
    max_iter: int = 300,
    tol: float = 0.0,
) -> Run:
    """The steps from the best of several starts.

    scikit-learn works on one thread a start, so that any number of threads gives the same answer.
    """
    near, middle = _brought_near(points)

    def climb(start: Floats) -> Run:
        return lloyd(Points(points, weights), start, max_iter=max_iter, tol=tol)

    chance = np.random.RandomState(seed % (1 << 31))
    with _controller().limit(limits=1):
        rows = [_drawn(near, k, weights, chance) for _ in range(restarts)]
        starts = [np.where(np.isnan(points[r]), near[r] + middle, points[r]) for r in rows]
        if restarts == 1:
            return climb(starts[0])
        if np.isnan(points).any():
            runs = [climb(s) for s in track(starts, "k-means", total=restarts)]
            best = runs[_least([r.objective for r in runs])]
        else:
            ends = _raced(near, [near[r] for r in rows], weights, max_iter, tol)
            least = _least([w for w, _ in ends])
            best, (w, centres) = climb(starts[least]), ends[least]
            if best.objective > w * (1 + 1e-9):  # rows as near to two centres went elsewhere
                best = min(climb(centres + middle), best, key=lambda run: run.objective)
    return replace(best, reason=f"{best.reason}; the best of {restarts} starts")


def _drawn(
    near: Floats, k: int, weights: Floats | None, chance: np.random.RandomState
) -> NDArray[np.intp]:
    """The rows that k-means++ starts from."""
    from sklearn.cluster import kmeans_plusplus

    rows: NDArray[np.intp] = kmeans_plusplus(near, k, sample_weight=weights, random_state=chance)[1]
    return rows


def _raced(
    near: Floats, starts: Sequence[Floats], weights: Floats | None, max_iter: int, tol: float
) -> list[tuple[float, Floats]]:
    """What scikit-learn's k-means reaches from each start: W and the centres."""
    from sklearn.cluster import KMeans

    def reached(start: Floats) -> tuple[float, Floats]:
        peer = KMeans(len(start), init=start, n_init=1, max_iter=max_iter, tol=tol)
        peer.fit(near, sample_weight=weights)
        return float(peer.inertia_), peer.cluster_centers_

    with (
        warnings.catch_warnings(),
        ThreadPoolExecutor(
            min(_core.cores(), _WORKERS), initializer=lambda: _controller().limit(limits=1)
        ) as pool,
    ):
        warnings.simplefilter("ignore")  # of fewer clusters than k: the answer says it
        return list(track(pool.map(reached, starts), "k-means", total=len(starts)))


@cache
def _controller() -> Any:
    import sklearn.cluster  # noqa: F401  (its libraries must be there to be limited)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _least(found: Sequence[float]) -> int:
    """A later start must be better by more than rounding, so that ties fall the same way."""
    best = 0
    for i, value in enumerate(found):
        if value < found[best] * (1 - 1e-12):
            best = i
    return best


def _brought_near(points: Floats) -> tuple[Floats, Floats]:
    """The points about their medians, for starts: none farther than `_REACH`.

    Missing cells are at the mean, but where half of the numbers are.

    A number at 1e12 would draw all means to where no row is, and hide every other distance.
    """
    near = np.empty_like(points)
    middle = np.empty(points.shape[1])
    for j, column in enumerate(points.T):
        gone = np.isnan(column)
        seen = column[~gone] if gone.any() else column
        some = np.sort(seen[:: max(len(seen) // 1000, 1)])
        low, middle[j], high = some[[len(some) // 4, len(some) // 2, 3 * len(some) // 4]]
        reach = _REACH * float(high - low or np.abs(seen - middle[j]).mean() or 1.0)
        near[:, j] = np.clip(column - middle[j], -reach, reach)
        if gone.any():
            mean = seen.mean() if low == high else np.clip(seen.mean(), low, high)
            near[gone, j] = mean - middle[j]
    return near, middle


def refuse_empty(run: Run, k: int) -> None:
    """Refuse clusters without rows."""
    used = int(np.count_nonzero(run.sums.rows))
    if used < k:
        raise InputError(
            f"k-means found {used:,} cluster{'s' * (used != 1)}, fewer than {k:,}: the others "
            "stayed empty.",
            hint=f"Ask for k={used}{' or fewer' * (used > 1)}.",
        )


# --- what is said and refused -----------------------------------------------------------------


def told_of_distance(space: Space, schema: Schema, gaps: bool) -> list[str]:
    """How far apart rows are taken to be, in words."""
    notes = [in_words("euclidean", space.scale)]
    if schema.discrete:
        notes.append(f"{AS_COORDINATES}; method='latent-class' models them instead")
    if gaps:
        notes.append("missing cells are left out of the distances")
    return notes


def checked_tol(tol: Any) -> None:
    """Refuse a tolerance that is no share: 0 climbs until no row moves."""
    real = isinstance(tol, (int, float, np.number)) and not isinstance(tol, bool)
    if not real or not 0 <= tol < np.inf:
        raise InputError(f"tol must be a number, 0 or more, got {tol!r}.")


def whole_number(value: Any, name: str, least: int = 1) -> int:
    """A whole number, at least `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} must be a whole number, {least} or more, got {value!r}.")
    return int(value)
