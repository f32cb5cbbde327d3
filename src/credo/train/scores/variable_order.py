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

from credo.core.schema import Variable
from credo.data import Table
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
    """Tell variables with the same counts apart by their tables with the others, where few are.

    One other variable after the other, itself taken with all that look like it, until no two
    are alike or those that are hold the same rows; all at once where each would be a pass.
    """
    others = _alike(place, [v.name for v in variables if v.is_discrete])
    groups = [g for g in others if len(g) > 1]
    if sum(map(len, groups)) * sum(map(len, others)) > _MOST_PAIRS:
        return
    told: dict[str, list[Any]] = {n: [] for n in place}
    units = sorted(others, key=lambda g: (len(g), place[g[0]][:3]))
    known: dict[tuple[str, str], list[Any]] = {}
    if not isinstance(source, Table):
        known = _tables(source, [(w, v) for g in groups for v in g for u in units for w in u])
    alike = _different(source, groups, place, known)
    for unit in units:
        asked = [(w, v) for g in alike for v in g for w in unit]
        tables = known or _tables(source, asked)
        for v in (v for g in alike for v in g):
            told[v].append(sorted(tables[w, v] for w in unit if v != w))
        alike = [part for g in alike for part in _parts(g, told) if len(part) > 1]
        if not alike:
            break
    for n in place:
        place[n] = (*place[n][:3], told[n], n)


def _alike(place: Place, names: Sequence[str]) -> list[list[str]]:
    """The variables in groups of the same place, but for their names."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for name in names:
        groups.setdefault(place[name][:-1], []).append(name)
    return list(groups.values())


def _parts(group: list[str], told: dict[str, list[Any]]) -> list[list[str]]:
    parts: dict[str, list[str]] = {}
    for v in group:
        parts.setdefault(repr(told[v]), []).append(v)
    return list(parts.values())


def _different(
    source: Source, groups: list[list[str]], place: Place, known: dict[tuple[str, str], list[Any]]
) -> list[list[str]]:
    """The groups without copies: columns that are another under other names of the states."""
    tables = known or _tables(source, [(g[0], v) for g in groups for v in g[1:]])
    out = []
    for g in groups:
        states = np.count_nonzero(place[g[0]][2])
        kept = [v for v in g[1:] if np.count_nonzero(tables[g[0], v]) > states]
        out += [[g[0], *kept]] if kept else []
    return out


def _tables(source: Source, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[Any]]:
    """The sorted cells of the table of each pair."""
    pairs = [(a, b) for a, b in pairs if a != b]
    if not pairs:
        return {}
    if isinstance(source, Table):
        block = source.block
        at = {block.schema.variables[i].name: k for k, i in enumerate(block.discrete)}
        flat, begin = block.native.count_flat([[at[a], at[b]] for a, b in pairs], block.weights)
        parts = (flat[begin[k] : begin[k + 1]] for k in range(len(pairs)))
    else:
        tally = source.tally(Families.of([(a, [b]) for a, b in pairs]))
        parts = (np.asarray(tally[a, [b]]).ravel() for a, b in pairs)
    return {pair: np.sort(cells).tolist() for pair, cells in zip(pairs, parts, strict=True)}


def _place(variable: Variable, counts: NDArray[Any]) -> tuple[Any, ...]:
    return 0, variable.arity, tuple(np.sort(counts)[::-1].tolist()), variable.name
