"""From what a method found, places of families in lists, to the value with names and tables."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.model.structures.structure_posterior import StructurePosterior, consensus_edges
from credo.model.values.record import Record
from credo.stats.counts import Counts
from credo.stats.moments import Moments
from credo.train.averaging.augmented import Augmented
from credo.train.averaging.exact import Sums
from credo.train.averaging.families import learned_families, prior_said
from credo.train.averaging.lists import Weighed

__all__ = ["Made", "drawn", "drawn_with_cells", "posterior"]

_SHARE = 1e-6  # of a set of parents that is kept
_KEPT = 250  # graphs of each chain that are kept with the tables of their own completion

Key = tuple[str, tuple[str, ...], int]
"""A family by name, and which completion of the rows its table is from; -1: of all."""


@dataclass(frozen=True)
class Made:
    """What a method found, before families have names and distributions."""

    places: NDArray[np.int32]
    """[graphs, variables]: where a family is in its list, or its number in `augmented`."""
    logs: Any
    weights: Any
    draws: Any
    edges: Any
    errors: Any
    notes: Sequence[str]
    details: dict[str, Any]
    reason: str
    summed: Sums | None = None
    augmented: Augmented | None = None


def drawn(
    found: Weighed, graphs: NDArray[np.int32], edges: Any, errors: Any, notes: Sequence[str],
    details: dict[str, Any], reason: str, summed: Sums | None,
) -> Made:  # fmt: skip
    """Graphs that were drawn: the different ones, how often, and in which order."""
    places, times, draws = _different(graphs)
    scores = [found.lists.sets(c)[1] for c in range(graphs.shape[2])]
    logs = np.sum([s[places[:, c]] for c, s in enumerate(scores)], axis=0)
    return Made(
        places, logs, times / times.sum(), draws, edges, errors, notes, details, reason, summed
    )


def drawn_with_cells(
    chains: Augmented, graphs: NDArray[np.int32], edges: Any, errors: Any, notes: Sequence[str],
    details: dict[str, Any], reason: str,
) -> Made:  # fmt: skip
    """Graphs that were drawn with the cells: each has the tables of its own completion.

    The weight by which graphs are compared is how often they were drawn.
    """
    kept = graphs.shape[1]
    graphs = graphs[:, np.unique(np.linspace(0, kept - 1, min(kept, _KEPT)).astype(int))]
    places, times, draws = _different(graphs)
    families = chains.families
    own: dict[Any, float] = {}
    keys = [tuple(families[f].parents for f in row) for row in places.tolist()]
    for key, n in zip(keys, times.tolist(), strict=True):
        own[key] = own.get(key, 0.0) + n
    logs = np.log([own[key] / times.sum() for key in keys])
    details = {**details, "distinct": len(own)}
    return Made(
        places, logs, times / times.sum(), draws, edges, errors, notes, details, reason,
        augmented=chains,
    )  # fmt: skip


def _different(graphs: NDArray[np.int32]) -> tuple[NDArray[np.int32], Any, NDArray[np.int32]]:
    """The different ones of [chains, kept, n], how often each, and which was drawn when."""
    chains, kept, n = graphs.shape
    places, inverse, times = np.unique(
        graphs.reshape(-1, n), axis=0, return_inverse=True, return_counts=True
    )
    return places, times, np.asarray(inverse).reshape(chains, kept).astype(np.int32)


def posterior(
    rows: Any, found: Weighed, made: Made, beside: dict[str, Any], began: float, seed: int,
    threads: int,
) -> StructurePosterior:  # fmt: skip
    """Families by name, their distributions, and the value; `beside` is for the record."""
    inner, order = found.rules.names, rows.schema.names
    names = tuple(n for n in order if n in inner)
    at = [inner.index(n) for n in names]
    place = {n: i for i, n in enumerate(names)}
    own: dict[Key, Counts | Moments] = {}

    def named(child: int, one: int) -> Key:
        if made.augmented is None:
            parents: Sequence[int] = found.lists.set(child, one)
        else:
            parents = made.augmented.families[one].parents
        above = sorted((inner[p] for p in parents), key=place.__getitem__)
        key = inner[child], tuple(above), -1 if made.augmented is None else one
        if made.augmented is not None:
            own[key] = made.augmented.families[one].statistic
        return key

    number: dict[Key, int] = {}
    members = np.empty((len(made.places), len(names)), dtype=np.int32)
    for k, c in enumerate(at):
        used, inverse = np.unique(made.places[:, c], return_inverse=True)
        ids = [number.setdefault(named(c, int(one)), len(number)) for one in used]
        members[:, k] = np.array(ids, dtype=np.int32)[inverse]
    edges, errors = made.edges[np.ix_(at, at)], made.errors[np.ix_(at, at)]
    pooled = rows if made.augmented is None else made.augmented.pooled()
    for key in _of_one_graph(names, edges, list(number), members, made):
        number.setdefault(key, len(number))
    families = learned_families(
        pooled, list(number), found.scores.spec, len(inner), threads, own
    )  # fmt: skip
    sets, paths = {}, None
    if made.summed is not None:
        if made.summed.paths is not None:
            paths = made.summed.paths[np.ix_(at, at)]
        for c, name in enumerate(inner):
            p = made.summed.families[c]
            kept = [i for i in np.argsort(-p, kind="stable") if p[i] >= _SHARE]
            sets[name] = tuple((named(c, int(i))[1], float(p[i])) for i in kept)
    spec = found.scores.spec
    details = {
        **made.details, "score": spec.name, "prior": found.prior, "max_parents": found.most,
        "families_scored": found.lists.scored, "families_listed": found.lists.size,
        "rows": found.scores.rows, "parameters": prior_said(spec, found.scores.variables), **beside,
    }  # fmt: skip
    record = Record(
        f"averaged over graphs with {spec.name}, prior {found.prior}",
        str(rows.schema.source),
        reason=made.reason,
        seconds=time.perf_counter() - began,
        seed=seed,
        notes=(
            f"{found.lists.scored:,} families scored; parameters have the prior "
            f"{details['parameters']}",
            *found.notes,
            *made.notes,
        ),
        details=details,
    )
    return StructurePosterior(
        tuple(rows.schema[n] for n in names), families, members, made.weights, made.logs,
        made.draws, edges, errors, paths, sets, record,
    )  # fmt: skip


def _of_one_graph(
    names: tuple[str, ...], edges: Any, keys: list[Key], members: Any, made: Made
) -> list[Key]:
    """The families of `post.network` at every threshold, and of `post.best`."""
    place = {n: i for i, n in enumerate(names)}
    parents: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
    out: list[Key] = [(n, (), -1) for n in names]
    for a, b in consensus_edges(names, edges, 0.5):
        parents[b] = tuple(sorted((*parents[b], a), key=place.__getitem__))
        out.append((b, parents[b], -1))
    best = members[int(np.argmax(np.round(made.logs, 9)))].tolist()
    return [*out, *((*keys[f][:2], -1) for f in best)]
