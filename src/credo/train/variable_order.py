"""The inner order of variables: told by their values alone.

Sorted by arity and counts, never by the order of columns or by names, so that ties in a search
break the same way whatever the table looks like. Variables with the same counts are told apart by
their tables with the others; names decide only what is left, or where very many are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.data import Table
from credo.schema import Variable
from credo.stats.counts import Counts
from credo.stats.family import Families
from credo.stats.tally import Source

__all__ = ["placed"]

Place = dict[str, tuple[Any, ...]]

_MOST_PAIRS = 3000  # tables that are counted to tell apart variables with the same counts


def placed(source: Source, variables: Sequence[Variable]) -> tuple[float, list[str], Place]:
    """The weight of the rows, the variables with gaps, and the place of each variable."""
    rows, gaps, place = _singles(source, variables)
    _separate(source, variables, place)
    return rows, gaps, place


def _singles(source: Source, variables: Sequence[Variable]) -> tuple[float, list[str], Place]:
    """The weight of the rows, the variables with gaps, and where each variable stands.

    The place is told by the values; the name only breaks what is left of ties.
    """
    counts: dict[str, NDArray[Any]] = {}
    if isinstance(source, Table) and all(v.is_discrete for v in variables):
        block = source.block
        at = {block.schema.variables[i].name: k for k, i in enumerate(block.discrete)}
        weights: Any = block.weights
        flat, begin = block.native.count_flat([[at[v.name]] for v in variables], weights)
        for k, v in enumerate(variables):
            counts[v.name] = flat[begin[k] : begin[k + 1]]
        rows = float(block.weight)
        missing = dict(zip(block.schema.names, block.gaps, strict=True))
        gaps = [v.name for v in variables if missing[v.name]]
        return rows, gaps, {v.name: _place(v, counts[v.name]) for v in variables}
    tally = source.tally([v.name for v in variables])
    place = {}
    for v in variables:
        single = tally[v.name]
        if isinstance(single, Counts):
            place[v.name] = _place(v, np.asarray(single))
        else:
            n = float(single.n.sum()) or 1.0
            size = float(single.scatter[0, 0, 0]) / n if len(single.n) else 0.0
            place[v.name] = (1, float(f"{size:.9g}"), (), v.name)
    return float(tally.rows), [v.name for v in variables if tally[v.name].skipped > 0], place


def _separate(source: Source, variables: Sequence[Variable], place: Place) -> None:
    """Tell variables with the same counts apart by their tables with the others, where few are."""
    alike: dict[tuple[Any, ...], list[str]] = {}
    for name, at in place.items():
        alike.setdefault(at[:-1], []).append(name)
    tied = [n for names in alike.values() if len(names) > 1 for n in names]
    others = [v.name for v in variables if v.is_discrete]
    tied = [n for n in tied if n in others]
    if not tied or len(tied) * len(others) > _MOST_PAIRS:
        return
    pairs = [(w, [v]) for v in tied for w in others if v != w]
    tally = source.tally(Families.of(pairs))
    for v in tied:
        tables = sorted(
            (place[w][:3], tuple(np.sort(np.asarray(tally[w, [v]]), axis=None).tolist()))
            for w in others
            if w != v
        )
        place[v] = (*place[v][:3], tuple(tables), v)
    for n in place:
        if len(place[n]) == 4:
            place[n] = (*place[n][:3], (), n)


def _place(variable: Variable, counts: NDArray[Any]) -> tuple[Any, ...]:
    return 0, variable.arity, tuple(np.sort(counts)[::-1].tolist()), variable.name
