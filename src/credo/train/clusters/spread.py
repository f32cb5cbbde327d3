"""k-means of rows that lie in parts: every step is one fold, and no row comes here.

The rows are looked at once for the scale and once for a sample of 20,000, whose clusters are the
start; then codes are kept, on disk or with the workers of an engine, and each step sends the
centres and gets sums back. What is here in the end is a small number a row: its label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.data import Stream, Table, spooled
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
from credo.train.clusters.lloyd import Spread, lloyd, nearest
from credo.train.clusters.partition import Partition, told_of_rows
from credo.train.clusters.quality import share_explained
from credo.train.clusters.space import Space, checked_scale, space_of

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
    sample = sample_of(stream, seed)
    refuse_same_rows(sample.select(names), k)
    rows = replace(stream, schema=stream.schema.select(names))
    space = space_of(rows, checked_scale(scale, "like"))
    first = partition_k_means(sample.select(names), k, rng=seed, restarts=restarts, space=space)
    assert isinstance(first.model, Centres)
    with spooled(rows) as kept:

        def fold(task: Any, merge: Any) -> Any:
            return kept.fold(_Points(space, task), merge)

        run = lloyd(Spread(fold), first.model.centres, max_iter=max_iter, tol=tol)
        refuse_empty(run, k)
        found = kept.fold(_Labelling(space, run.centres), size=len)
    model = Centres(space, run.centres, run.start, run.steps, sample)
    told = f"read batch by batch; the start is k-means of {sample.rows:,} rows drawn at random"
    if k > 1 and sample.rows < len(stream):
        told += ", and the silhouette is theirs"
    notes = [*space.notes, *told_of_distance(space, rows.schema, found.gaps)]
    if k > 1 and not sample.block.names_with_gaps.isdisjoint(space.names):
        notes.append(f"the silhouette is in {usual_distance(sample.select(names))}")
    bare = (found.bare + 1).tolist()
    numbers = rows.numbers if bare else None
    notes += [*told_of_rows(bare if numbers is None else [numbers.of(i - 1) for i in bare]), told]
    total = float(run.sums.about_the_mean.sum())
    return Partition(
        found.labels,
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


def sample_of(stream: Stream, seed: int) -> Table:
    """Rows drawn at random without replacement, in their order."""
    n = len(stream)
    chance = np.random.default_rng(seed)
    sample = stream.take(np.sort(chance.choice(n, min(SAMPLE, n), replace=False)))
    return Table(replace(sample.block, schema=stream.schema), raw=sample.raw)


@dataclass(frozen=True)
class _Points:
    """A task on points and weights, of a table."""

    space: Space
    task: Any

    def __call__(self, table: Table) -> Any:
        weights = None if table.weights is None else table.weights.astype(np.float64)
        return self.task(self.space.points(table), weights)


@dataclass(frozen=True)
class _Labelled:
    """The labels of rows, in their order; where rows without any cell stand; whether cells are
    missing.
    """

    labels: NDArray[Any]
    bare: NDArray[np.intp]
    gaps: bool

    def __len__(self) -> int:
        return len(self.labels)

    def __add__(self, other: _Labelled) -> _Labelled:
        return _Labelled(
            np.concatenate([self.labels, other.labels]),
            np.concatenate([self.bare, other.bare + len(self)]),
            self.gaps or other.gaps,
        )


@dataclass(frozen=True)
class _Labelling:
    """A task: the nearest centre of each row."""

    space: Space
    centres: NDArray[np.float64]

    def __call__(self, table: Table) -> _Labelled:
        points = self.space.points(table)
        gone = np.isnan(points)
        labels = nearest(points, self.centres)[0].astype(np.min_scalar_type(len(self.centres) - 1))
        return _Labelled(labels, np.flatnonzero(gone.all(axis=1)), bool(gone.any()))
