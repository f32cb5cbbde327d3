"""k-means of a table too big for memory: each pass adds up sums by cluster, batch by batch.

    pass 1   moments of every column (the scale)
    pass 2   a sample of 20,000 rows, clustered in memory: the start
    pass 3…  Lloyd's steps: batches are assigned, their sums by cluster merge with `+`

Memory is bounded by a batch, the sample, and one small number a row for the labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.data import Stream, Table
from credo.stats.block import Block
from credo.train.clusters.distinct import refuse_same_rows
from credo.train.clusters.geometry import usual_distance
from credo.train.clusters.k_means import (
    Centres,
    checked_tolerance,
    partition_k_means,
    told_of_distance,
    whole_number,
)
from credo.train.clusters.lloyd import Sums, nearest, sums_of
from credo.train.clusters.notes import told_of_rows
from credo.train.clusters.partition import Partition
from credo.train.clusters.quality import share_explained
from credo.train.clusters.space import Space, checked_scale, space_of

__all__ = ["StreamCentres", "partition_stream", "sample_of"]

Floats = NDArray[np.float64]

SAMPLE = 20_000
_OPTIONS = {"starts": 10, "iterations": 100, "tolerance": 1e-4}


@dataclass(frozen=True, slots=True)
class StreamCentres(Frozen):
    """The fitted value: centres in the scaled space, and the sample that was the start."""

    space: Space
    centres: Floats
    sample: Table

    def assign(self, table: Table) -> tuple[NDArray[np.intp], None]:
        """The nearest centre of each row."""
        return nearest(self.space.points(table), self.centres)[0], None


def partition_stream(
    stream: Stream,
    names: tuple[str, ...],
    k: int,
    *,
    seed: int = 0,
    scale: str = "auto",
    options: Mapping[str, Any] | None = None,
) -> Partition:
    """k-means of a stream: the objective never rises from pass to pass."""
    given = dict(options or {})
    for name in given:
        if name not in _OPTIONS:
            raise InputError(
                f"k-means of a stream has no option {name!r}.",
                hint=f"It has {', '.join(_OPTIONS)}.",
            )
    starts, iterations, tolerance = ({**_OPTIONS, **given}[n] for n in _OPTIONS)
    whole_number(iterations, "iterations")
    checked_tolerance(tolerance)
    sample = sample_of(stream, SAMPLE, seed)
    refuse_same_rows(sample.select(names), k)
    seen = _Columns(stream, names)
    space = space_of(seen, checked_scale(scale, "like"))  # type: ignore[arg-type]
    first = partition_k_means(sample.select(names), k, rng=seed, starts=starts, space=space)
    assert isinstance(first.model, Centres)
    centres = first.model.centres
    labels = np.empty(len(stream), dtype=np.min_scalar_type(k - 1))
    trace: list[float] = []
    reason = f"the limit of {iterations} passes"
    for _ in range(iterations):
        lap = _pass(seen, space, centres, k, labels, bool(trace))
        trace.append(lap.sums.objective)
        empty = np.flatnonzero(lap.sums.rows == 0)[: len(lap.far)]
        if lap.moved == 0 and not len(empty):
            reason = f"no row moves, after {len(trace)} passes"
            break
        little = len(trace) > 1 and trace[-2] - trace[-1] <= tolerance * trace[-1]
        if little and not len(empty):
            reason = f"W falls by less than {tolerance:g} of itself, after {len(trace)} passes"
            break
        centres = lap.sums.centres(centres)
        centres[empty] = lap.far[: len(empty)]
    else:  # the labels that go with the centres as they are now
        lap = _pass(seen, space, centres, k, labels, True)
        trace.append(lap.sums.objective)
    if (lap.sums.rows == 0).any():
        raise InputError(f"k-means found fewer than {k:,} clusters.", hint="Ask for fewer.")
    model = StreamCentres(space, centres, sample)
    total = lap.sums.about_the_mean(centres)
    told = f"read batch by batch; the start is k-means of {sample.rows:,} rows drawn at random"
    if k > 1 and sample.rows < len(stream):
        told += ", and the silhouette is theirs"
    notes = [*space.notes, *told_of_distance(space, seen.schema, lap.gaps)]
    if k > 1 and not sample.block.names_with_gaps.isdisjoint(space.names):
        notes.append(f"the silhouette is in {usual_distance(sample.select(names))}")
    notes += [*told_of_rows(lap.bare), told]
    return Partition(
        labels,
        k,
        model.assign,
        quality={"within": trace[-1], "explained": share_explained(trace[-1], total)},
        trace=tuple(trace),
        reason=reason,
        notes=tuple(notes),
        model=model,
        sizes=lap.sums.rows if stream.weighting.fractions else lap.sums.rows.astype(np.int64),
    )


@dataclass(frozen=True, slots=True)
class _Pass:
    """One E step over all rows: the sums that the M step needs, and how many rows moved.

    `far` are the rows farthest from their centres, to which centres without rows go; `gaps` says
    whether a cell is missing, `bare` holds the numbers of the rows without any.
    """

    sums: Sums
    far: Floats
    moved: int
    gaps: bool
    bare: tuple[int, ...]


def _pass(
    seen: _Columns, space: Space, centres: Floats, k: int, labels: NDArray[Any], again: bool
) -> _Pass:
    """Assign every row to its nearest centre, batch by batch."""
    total: Sums | None = None
    at = moved = 0
    gaps, bare = False, list[int]()
    far, farness = np.zeros((0, centres.shape[1])), np.zeros(0)
    for part, numbers in seen.stream.numbered(seen.names):
        points = space.points(part)
        if any(part.block.gaps):
            gone = np.isnan(points)
            gaps |= bool(gone.any())
            bare += [numbers.of(i) for i in np.flatnonzero(gone.all(axis=1)).tolist()]
        fresh, squares = nearest(points, centres)
        w = None if part.weights is None else part.weights.astype(np.float64)
        sums = sums_of(points, fresh, squares, k, w, centres)
        total = sums if total is None else total + sums
        far, farness = _farthest(far, farness, points, squares, centres[fresh], k)
        old = labels[at : at + part.rows]
        moved += int((old != fresh).sum()) if again else part.rows
        old[:] = fresh
        at += part.rows
    assert total is not None
    return _Pass(total, far, moved, gaps, tuple(bare))


def _farthest(
    far: Floats, farness: Floats, points: Floats, squares: Floats, own: Floats, k: int
) -> tuple[Floats, Floats]:
    """The k different rows farthest from their centres, of those known and of more; a gap stands
    where the row's centre does.
    """
    some = np.argpartition(-squares, k - 1)[:k] if len(squares) > k else np.arange(len(squares))
    some = some[squares[some] > 0]
    filled = np.where(np.isnan(points[some]), own[some], points[some])
    both, sizes = np.concatenate([far, filled]), np.concatenate([farness, squares[some]])
    _, first = np.unique(both, axis=0, return_index=True)
    kept = first[np.argsort(-sizes[first], kind="stable")][:k]
    return both[kept], sizes[kept]


@dataclass(frozen=True, slots=True)
class _Columns:
    """Some columns of a stream."""

    stream: Stream
    names: tuple[str, ...]

    @property
    def schema(self) -> Any:
        return self.stream.schema.select(self.names)

    def batches(self, names: Any = None) -> Iterator[Table]:
        return self.stream.batches(self.names if names is None else names)

    def tally(self, families: Any = None) -> Any:
        return self.stream.tally(families)


def sample_of(stream: Stream, size: int, seed: int) -> Table:
    """Rows drawn at random without replacement, in their order, in one pass."""
    n = len(stream)
    chance = np.random.default_rng(seed)
    wanted = np.sort(chance.choice(n, min(size, n), replace=False))
    parts, at = [], 0
    for part in stream.batches():
        here = wanted[(wanted >= at) & (wanted < at + part.rows)] - at
        if len(here):
            parts.append(part.take(here).block)
        at += part.rows
    arrays = tuple(np.concatenate(c) for c in zip(*(p.arrays for p in parts), strict=True))
    weights = [p.weights for p in parts if p.weights is not None]
    return Table(Block(stream.schema, arrays, np.concatenate(weights) if weights else None))
