"""d-separation: which nodes a graph makes independent, given what is observed.

A path is active given Z when every collider on it is in Z or has a descendant in Z, and no
other node on it is in Z. X and Y are d-separated by Z when no path between them is active;
then X ⊥ Y | Z in every distribution that factorises along the graph (Pearl 1988, section 3.3).

One search over (node, direction of arrival) finds all that can be reached, in time linear in
nodes and edges: the Bayes ball (Shachter 1998; Koller & Friedman 2009, algorithm 3.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

__all__ = ["active_path", "ancestral", "open_path", "reachable", "separated", "simple_paths"]

Lists = Sequence[Sequence[int]]

_UP, _DOWN = 0, 1  # arrived from a child, arrived from a parent


def ancestral(parents: Lists, given: Iterable[int]) -> bytearray:
    """Marks the observed nodes and their ancestors: the colliders that are open.

    >>> list(ancestral([[], [0], [1]], [1]))
    [1, 1, 0]
    """
    marked = bytearray(len(parents))
    line = list(given)
    for v in line:
        marked[v] = 1
    while line:
        for p in parents[line.pop()]:
            if not marked[p]:
                marked[p] = 1
                line.append(p)
    return marked


def _ball(
    parents: Lists,
    children: Lists,
    start: Iterable[int],
    given: Iterable[int],
    ends: frozenset[int] = frozenset(),
) -> tuple[list[int], dict[int, int]]:
    """The states 2·node + direction in the order they are reached, and from where.

    It stops where it comes to one of `ends`.
    """
    opened = ancestral(parents, given)
    seen = bytearray(len(parents))
    for v in given:
        seen[v] = 1
    line = [2 * v + _UP for v in start]
    before = dict.fromkeys(line, -1)
    for state in line:
        v, way = divmod(state, 2)
        nexts: list[int] = []
        if way == _UP:
            if not seen[v]:
                nexts += [2 * p + _UP for p in parents[v]]
                nexts += [2 * c + _DOWN for c in children[v]]
        else:
            if not seen[v]:
                nexts += [2 * c + _DOWN for c in children[v]]
            if opened[v]:
                nexts += [2 * p + _UP for p in parents[v]]
        for s in nexts:
            if s not in before:
                before[s] = state
                line.append(s)
                if s // 2 in ends:
                    return line, before
    return line, before


def reachable(
    parents: Lists, children: Lists, start: Iterable[int], given: Iterable[int]
) -> set[int]:
    """The nodes that an active path joins to one of `start`; `start` itself is among them.

    >>> alarm = [[], [], [0, 1]], [[2], [2], []]
    >>> reachable(*alarm, [0], []), reachable(*alarm, [0], [2])
    ({0, 2}, {0, 1})
    """
    given = list(given)
    return {s // 2 for s in _ball(parents, children, start, given)[0]} - set(given)


def separated(
    parents: Lists, children: Lists, start: Iterable[int], end: Iterable[int], given: Iterable[int]
) -> bool:
    """Whether no active path joins one of `start` to one of `end`.

    >>> alarm = [[], [], [0, 1]], [[2], [2], []]
    >>> separated(*alarm, [0], [1], []), separated(*alarm, [0], [1], [2])
    (True, False)
    """
    given, ends = list(given), frozenset(end)
    line, _ = _ball(parents, children, start, given, ends)
    return ends.isdisjoint({s // 2 for s in line} - set(given))


def active_path(
    parents: Lists, children: Lists, start: Iterable[int], end: Iterable[int], given: Iterable[int]
) -> list[int]:
    """A shortest active path from one of `start` to one of `end`; empty when there is none.

    A shortest walk of the ball visits no node twice: cutting out the loop would leave it
    active, since a loop that leaves a node downwards and returns turns at an open collider.

    >>> active_path([[], [], [0, 1]], [[2], [2], []], [0], [1], [2])
    [0, 2, 1]
    """
    ends = set(end)
    line, before = _ball(parents, children, start, list(given))
    for s in line:
        if s // 2 in ends:
            path = []
            while s >= 0:
                path.append(s // 2)
                s = before[s]
            return path[::-1]
    return []


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


def simple_paths(near: Lists, start: int, end: int, most: int) -> list[list[int]]:
    """At most `most` paths that visit no node twice, the shortest first (Yen 1971).

    >>> simple_paths([[1, 2], [0, 2], [0, 1]], 0, 2, most=5)
    [[0, 2], [0, 1, 2]]
    """
    found: list[list[int]] = []
    waiting: list[tuple[int, list[int]]] = []
    known: set[tuple[int, ...]] = set()

    def offer(path: list[int]) -> None:
        if path and tuple(path) not in known:
            known.add(tuple(path))
            heappush(waiting, (len(path), path))

    offer(_shortest(near, start, end, set(), set()))
    while waiting and len(found) < most:
        path = heappop(waiting)[1]
        found.append(path)
        if len(found) == most:
            break
        for i in range(len(path) - 1):
            root = path[: i + 1]
            tried = {p[i + 1] for p in found if p[: i + 1] == root}
            rest = _shortest(near, path[i], end, set(root[:-1]), tried)
            offer(root[:-1] + rest if rest else [])
    return found


def _shortest(near: Lists, start: int, end: int, closed: set[int], tried: set[int]) -> list[int]:
    """A shortest path outside `closed` whose first step is not in `tried`."""
    before = {start: -1}
    line = [start]
    for v in line:
        for w in near[v]:
            if w in before or w in closed or (v == start and w in tried):
                continue
            before[w] = v
            if w == end:
                path = [w]
                while path[-1] != start:
                    path.append(before[path[-1]])
                return path[::-1]
            line.append(w)
    return []
