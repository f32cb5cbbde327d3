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
from credo.train.clusters.lloyd import Spread, lloyd
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
        model = Centres(space, run.centres, run.start, run.steps)
        found = labelled(kept, model.assign, k)
    told = f"read batch by batch; the start is k-means of {sample.rows:,} rows drawn at random"
    if k > 1 and sample.rows < len(stream):
        told += ", and the silhouette is theirs"
    notes = [*space.notes, *told_of_distance(space, rows.schema, found.gaps)]
    if k > 1 and not sample.block.names_with_gaps.isdisjoint(space.names):
        notes.append(f"the silhouette is in {usual_distance(sample.select(names))}")
    notes += [*told_of_rows(found.bare_numbers(rows)), told]
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
        sample=sample,
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
class Labelled:
    """The labels of rows, in their order; the weight of each cluster; where rows without any cell
    stand; whether cells are missing.
    """

    labels: NDArray[Any]
    sizes: NDArray[Any]
    bare: NDArray[np.intp]
    gaps: bool

    def __len__(self) -> int:
        return len(self.labels)

    def __add__(self, other: Labelled) -> Labelled:
        return Labelled(
            np.concatenate([self.labels, other.labels]),
            self.sizes + other.sizes,
            np.concatenate([self.bare, other.bare + len(self)]),
            self.gaps or other.gaps,
        )

    def bare_numbers(self, rows: Stream) -> list[int]:
        """The numbers in the source of the rows without any cell."""
        bare: list[int] = self.bare.tolist()
        numbers = rows.numbers if bare else None
        return [i + 1 if numbers is None else numbers.of(i) for i in bare]


def labelled(rows: Any, assign: Any, k: int) -> Labelled:
    """The cluster of every row, found where it is."""
    found: Labelled = rows.fold(_Labelling(assign, k), size=len)
    return found


@dataclass(frozen=True)
class _Labelling:
    """A task: the cluster of each row."""

    assign: Any
    k: int

    def __call__(self, table: Table) -> Labelled:
        labels = self.assign(table)[0].astype(np.min_scalar_type(self.k - 1))
        sizes = np.bincount(labels, table.weights, minlength=self.k)
        columns = zip(table.schema.variables, table.block.arrays, strict=True)
        gone = np.ones(len(table), dtype=bool)
        for v, a in columns if all(table.block.gaps) else ():
            gone &= a == v.arity if v.is_discrete else np.isnan(a)
        bare = np.flatnonzero(gone) if all(table.block.gaps) else np.empty(0, np.intp)
        return Labelled(labels, sizes, bare, any(table.block.gaps))
