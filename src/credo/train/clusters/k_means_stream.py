"""k-means of a table too big for memory: each pass adds up sums by cluster, batch by batch.

    pass 1   moments of every column (the scale)
    pass 2   a sample of 20,000 rows, clustered in memory: the start
    pass 3…  Lloyd's steps, the rows read again for each

Memory is bounded by a batch, the sample, and one small number a row for the labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.data import Stream, Table
from credo.stats.block import Block
from credo.train.clusters.distinct import refuse_same_rows
from credo.train.clusters.geometry import usual_distance
from credo.train.clusters.k_means import (
    Centres,
    checked_tol,
    partition_k_means,
    refuse_empty,
    told_of_distance,
    whole_number,
)
from credo.train.clusters.lloyd import lloyd
from credo.train.clusters.notes import told_of_rows
from credo.train.clusters.partition import Partition
from credo.train.clusters.quality import share_explained
from credo.train.clusters.space import Space, checked_scale, space_of

__all__ = ["partition_stream", "sample_of"]

SAMPLE = 20_000
_OPTIONS = {"restarts": 10, "max_iter": 100, "tol": 1e-4}


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
    restarts, max_iter, tol = ({**_OPTIONS, **given}[n] for n in _OPTIONS)
    whole_number(max_iter, "max_iter")
    checked_tol(tol)
    sample = sample_of(stream, SAMPLE, seed)
    refuse_same_rows(sample.select(names), k)
    seen = _Columns(stream, names)
    space = space_of(seen, checked_scale(scale, "like"))  # type: ignore[arg-type]
    first = partition_k_means(sample.select(names), k, rng=seed, restarts=restarts, space=space)
    assert isinstance(first.model, Centres)
    run = lloyd(
        lambda: seen.points(space),
        first.model.centres,
        max_iter=max_iter,
        tol=tol,
        dtype=np.min_scalar_type(k - 1),
    )
    refuse_empty(run, k)
    model = Centres(space, run.centres, run.start, run.steps, sample)
    told = f"read batch by batch; the start is k-means of {sample.rows:,} rows drawn at random"
    if k > 1 and sample.rows < len(stream):
        told += ", and the silhouette is theirs"
    notes = [*space.notes, *told_of_distance(space, seen.schema, seen.gaps)]
    if k > 1 and not sample.block.names_with_gaps.isdisjoint(space.names):
        notes.append(f"the silhouette is in {usual_distance(sample.select(names))}")
    notes += [*told_of_rows(seen.bare), told]
    total = float(run.sums.about_the_mean.sum())
    return Partition(
        run.labels,
        k,
        model.assign,
        quality={
            "within": run.objective,
            "explained": share_explained(run.objective, total),
        },
        trace=run.steps.trace,
        reason=run.reason.replace("iterations", "passes"),
        notes=tuple(notes),
        model=model,
        sizes=run.sums.rows if stream.weighting.fractions else run.sums.rows.astype(np.int64),
    )


@dataclass(slots=True)
class _Columns:
    """Some columns of a stream, and what the last pass over them met: rows without any cell."""

    stream: Stream
    names: tuple[str, ...]
    gaps: bool = False
    bare: list[int] = field(default_factory=list)

    @property
    def schema(self) -> Any:
        return self.stream.schema.select(self.names)

    def batches(self, names: Any = None) -> Iterator[Table]:
        return self.stream.batches(self.names if names is None else names)

    def tally(self, families: Any = None) -> Any:
        return self.stream.tally(families)

    def points(
        self, space: Space
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64] | None]]:
        """The rows as points, with their weights, batch by batch."""
        self.gaps, self.bare = False, []
        for part, numbers in self.stream.numbered(self.names):
            points = space.points(part)
            if any(part.block.gaps):
                gone = np.isnan(points)
                self.gaps |= bool(gone.any())
                self.bare += [numbers.of(i) for i in np.flatnonzero(gone.all(axis=1)).tolist()]
            yield points, None if part.weights is None else part.weights.astype(np.float64)


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
