"""Edge strengths by the bootstrap: how often an edge is learned again from resampled rows.

    strength(a — b) = share of the resamples whose graph joins a and b
    direction(a → b) = of those, the share with the arrow a → b in their class (a line counts ½)

(Friedman, Goldszmidt & Wyner 1999.) A resample draws N rows with replacement; here as whole
weights of the rows there are, so that no row is copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

import numpy as np

from credo.core.errors import InputError, unknown_name
from credo.core.frozen import Frozen
from credo.core.progress import track
from credo.core.render import bar, table_html, table_text
from credo.core.threads import checked_threads
from credo.data import Stream, Table, spooled
from credo.model.graphs.dag import Dag
from credo.model.graphs.equivalence import Cpdag
from credo.model.values.randomness import Rng, generator, size
from credo.model.values.reals import shown
from credo.model.values.value import choice
from credo.stats.block import Block
from credo.train.parameters.sources import Opened
from credo.train.structure.incomplete import has_gaps
from credo.train.structure.learning import MISSING, learn
from credo.train.structure.searching import searched

__all__ = ["EdgeStrengths", "edge_strengths"]

Edge = tuple[str, str]

_GAPS = {
    "structural-em": "cells are missing: each resample was learned by structural EM",
    "available-cases": "cells are missing: what parents gain is measured on the rows that have "
    "them (available-cases)",
    "node-average": "cells are missing: each family is scored on the rows it has, scaled to all "
    "rows (node-average)",
    "complete-rows": "cells are missing: the rows without a gap were used",
}


@dataclass(frozen=True, eq=False)
class EdgeStrengths(Frozen):
    """The strength and direction of every edge that was learned at least once.

    `strength[a, b]` is the share of resamples that join a and b, whatever the arrow; it is the
    same for (b, a). `direction[a, b]` is the share of those with the arrow a → b. `notes` say what
    was done about missing cells.
    """

    nodes: tuple[str, ...]
    strength: Mapping[Edge, float]
    direction: Mapping[Edge, float]
    samples: int
    notes: tuple[str, ...] = ()

    def __getitem__(self, edge: Edge) -> float:
        """The share of resamples with the edge a → b in this direction."""
        for name in edge:
            if name not in self.nodes:
                raise unknown_name("Node", name, self.nodes, "in these strengths")
        return self.strength.get(edge, 0.0) * self.direction.get(edge, 0.0)

    def average(self, threshold: float = 0.5) -> Dag:
        """The averaged network: edges that strong or stronger, strongest first, arrows by majority.

        An edge that would close a cycle is left out.
        """
        number = isinstance(threshold, (int, float, np.number)) and not isinstance(threshold, bool)
        if not number or not 0 <= threshold <= 1:
            raise InputError(
                f"The threshold must be a number between 0 and 1, got {shown(threshold)}."
            )
        dag = Dag.empty(self.nodes)
        for a, b in self._ranked():
            if self.strength[a, b] >= threshold:
                try:
                    dag = dag.add((a, b))
                except InputError:  # a cycle
                    continue
        return dag

    def _ranked(self) -> list[Edge]:
        """Each joined pair once, in its likelier direction, strongest first."""
        place = {n: i for i, n in enumerate(self.nodes)}
        pairs = []
        for a, b in self.strength:
            if place[a] < place[b]:
                forward = self.direction[a, b] >= self.direction[b, a]
                pairs.append((a, b) if forward else (b, a))
        return sorted(pairs, key=lambda e: (-self.strength[e], place[e[0]], place[e[1]]))

    def _rows(self) -> Iterator[list[str]]:
        for a, b in self._ranked():
            s, d = self.strength[a, b], self.direction[a, b]
            yield [f"{a} → {b}", f"{s:.3f}", f"{d:.3f}", bar(s, 10)]

    def __str__(self) -> str:
        found = table_text(["edge", "strength", "direction", ""], self._rows(), right=[1, 2])
        return "\n".join([found, *self.notes])

    def __repr__(self) -> str:
        return f"EdgeStrengths({len(self.strength) // 2} edges, {self.samples} resamples)"

    def _repr_html_(self) -> str:
        return table_html(["edge", "strength", "direction", ""], self._rows(), right=[1, 2])


def edge_strengths(
    source: Any,
    score: Any = None,
    search: str = "hill-climb",
    *,
    samples: int = 100,
    rng: Rng = 0,
    missing: str = "structural-em",
    starts: int = 1,
    weights: Any = None,
    schema: Any = None,
    threads: int | None = None,
    **options: Any,
) -> EdgeStrengths:
    """How sure each edge is: the structure is learned again from resampled rows.

    `score`, `search`, `missing` and further options are those of `cr.learn`, of each resample;
    resamples run side by side on `threads` threads, whose number never changes the result. The
    default search is quick; with 100 resamples a strength has a standard error of at most 0.05. The
    rows of a stream are drawn by Poisson weights; one with gaps is read into memory for structural
    EM and for complete rows. Where structural EM takes too long, `missing="available-cases"` is
    much quicker.

    >>> import credo as cr
    >>> table = cr.read({"rain": [0, 0, 1, 1] * 20, "wet": [0, 0, 1, 1] * 19 + [0, 1, 1, 1]})
    >>> found = cr.edge_strengths(table, "bic", samples=20)
    >>> found.strength["rain", "wet"], found.direction["rain", "wet"]
    (1.0, 0.5)
    >>> print(found.average())
    [rain][wet|rain]
    """
    opened = Opened(source, {}, weights, schema).source
    if not isinstance(opened, (Table, Stream)):
        raise InputError("The bootstrap needs the rows of a table.", hint="Read it with cr.read.")
    count = size(samples, "samples")
    if count < 1:
        raise InputError(f"samples must be at least 1, got {samples!r}.")
    choice(missing, MISSING, "missing")
    chance = generator(rng)
    gaps = has_gaps(opened)
    if gaps:
        options |= {"missing": missing, "starts": starts}
    one = learn if gaps else searched  # a resample of rows with gaps goes the way of all such rows
    nodes = opened.schema.names
    joined: dict[Edge, float] = {}
    towards: dict[Edge, float] = {}
    seeds = [int(s) for s in chance.integers(1 << 62, size=count)]

    workers = checked_threads(threads)
    with spooled(opened) as rows, ThreadPoolExecutor(workers) as pool:

        def again(seed: int) -> Cpdag:  # searches run without the GIL
            table = _resampled(rows, seed)
            return one(table, score, search, rng=seed, threads=1, **options).dag.cpdag()

        jobs = [pool.submit(copy_context().run, again, seed) for seed in seeds]  # on time as here
        try:
            for cpdag in track((job.result() for job in jobs), "resampling", total=count):
                for a, b in cpdag.directed:
                    _count(joined, towards, (a, b), 1.0)
                for a, b in cpdag.undirected:
                    _count(joined, towards, (a, b), 0.5)
        finally:
            for job in jobs:
                job.cancel()  # the pool would wait for all of them
    direction = {e: towards.get(e, 0.0) / n for e, n in joined.items()}
    notes = (_GAPS[missing],) if gaps else ()
    return EdgeStrengths(nodes, {e: n / count for e, n in joined.items()}, direction, count, notes)


def _count(joined: dict[Edge, float], towards: dict[Edge, float], edge: Edge, share: float) -> None:
    back = edge[::-1]
    for e, s in ((edge, share), (back, 1.0 - share)):
        joined[e] = joined.get(e, 0.0) + 1
        towards[e] = towards.get(e, 0.0) + s


def _resampled(table: Any, seed: int) -> Any:
    """The rows that were drawn, with how often each was."""
    if isinstance(table, Stream):
        return table.redrawn(seed)
    chance = np.random.default_rng(seed)
    block = table.block
    rows = block.rows
    if block.weights is None:
        times = np.bincount(chance.integers(rows, size=rows), minlength=rows)
        kept = np.flatnonzero(times)
        weights = times[kept].astype(np.int64)
    else:
        total = float(block.weights.sum())
        draws = chance.multinomial(round(total), block.weights / total)
        kept = np.flatnonzero(draws)
        weights = draws[kept].astype(np.int64)
    return Table(Block(block.schema, tuple(a[kept] for a in block.arrays), weights))
