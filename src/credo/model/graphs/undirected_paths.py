"""Separation in an undirected graph: a path is open when no node inside it is observed.

    x ⊥ y | z   when every path from x to y passes through z

Nothing else to know: in an undirected graph there are no colliders (Pearl 1988, section 3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from credo.core.errors import InputError
from credo.model.graphs.paths import Path, Reason, Step
from credo.model.graphs.separation import simple_paths

if TYPE_CHECKING:
    from credo.model.graphs.undirected import UndirectedGraph

__all__ = ["Trail", "open_path", "undirected_reason"]


@dataclass(frozen=True, slots=True)
class _Stop(Step):
    """One inner node of a path, observed or not."""

    def __str__(self) -> str:
        return f"{'open' if self.open else 'blocked'} at {self.node}: {self.because}"


@dataclass(frozen=True, slots=True)
class Trail(Path):
    """A path of an undirected graph.

    >>> from credo.model.graphs.undirected import UndirectedGraph
    >>> print(UndirectedGraph([("A", "B"), ("B", "C")]).why("A", "C").paths[0].text)
    A — B — C
    """

    @property
    def text(self) -> str:
        """The nodes with a line for each edge."""
        return " — ".join(self.nodes)


def open_path(
    near: Sequence[Sequence[int]], start: Sequence[int], end: Sequence[int], given: Sequence[int]
) -> list[int]:
    """A shortest path from one of `start` to one of `end` around what is given; else empty.

    >>> open_path([[1], [0, 2], [1]], [0], [2], []), open_path([[1], [0, 2], [1]], [0], [2], [1])
    ([0, 1, 2], [])
    """
    ends, closed = set(end), set(given)
    before = dict.fromkeys(start, -1)
    line = list(start)
    for v in line:
        if v in ends:
            path = [v]
            while before[path[-1]] >= 0:
                path.append(before[path[-1]])
            return path[::-1]
        for w in near[v]:
            if w not in before and w not in closed:
                before[w] = v
                line.append(w)
    return []


def undirected_reason(
    graph: UndirectedGraph, x: Sequence[int], y: Sequence[int], z: Sequence[int], most: int
) -> Reason:
    """The reason for sets of positions that do not overlap; at most `most` paths are listed."""
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InputError(f"At least one path must be shown, got paths={most!r}.")
    near = graph.adjacency
    a, b, c = (tuple(graph.nodes[i] for i in found) for found in (x, y, z))
    free = open_path(near, x, y, z)
    if free:
        return Reason(a, b, c, False, (_trail(graph, free, z),))
    found: list[list[int]] = []
    for start, end in product(x, y):
        found += simple_paths(near, start, end, most + 1 - len(found))
        if len(found) > most:
            break
    paths = tuple(_trail(graph, p, z) for p in found[:most])
    return Reason(a, b, c, True, paths, len(found) <= most)


def _trail(graph: UndirectedGraph, path: Sequence[int], observed: Sequence[int]) -> Trail:
    steps = tuple(
        _Stop(graph.nodes[v], "chain", v not in observed,
              "observed" if v in observed else "not observed")
        for v in path[1:-1]
    )  # fmt: skip
    return Trail(tuple(graph.nodes[v] for v in path), (True,) * (len(path) - 1), steps)
