"""What a graph refuses: names that are not text, edges given twice, loops and cycles.

A directed graph has no cycle exactly when its nodes can be put in an order in which every
parent comes before its children (Kahn 1962). Where that stops, what is left holds a cycle,
and the cycle is spelled out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from credo.core.errors import InputError

__all__ = [
    "arrow",
    "checked_edge",
    "checked_edges",
    "checked_nodes",
    "ordered",
    "shortest_cycle",
    "three_sets",
]

Edge = tuple[str, str]


def arrow(edge: Sequence[str]) -> str:
    """An edge, or a chain of them, as people write it.

    >>> arrow(("A", "B", "C"))
    'A → B → C'
    """
    return " → ".join(edge)


def _name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise InputError(f"The name of a node must be a non-empty text, got {name!r}.")
    return name


def checked_nodes(nodes: Iterable[str]) -> tuple[str, ...]:
    """Names of nodes in their order, each once.

    >>> checked_nodes(["A", "B", "A"])
    Traceback (most recent call last):
    credo.errors.InputError: The node 'A' is given twice.
    """
    if isinstance(nodes, str):
        raise InputError(
            f"The nodes must be a list of names, got the text {nodes!r}.",
            hint=f"Write [{nodes!r}] for a single node.",
        )
    try:
        out = tuple(_name(n) for n in nodes)
    except TypeError:
        raise InputError(f"The nodes must be a list of names, got {nodes!r}.") from None
    if len(set(out)) < len(out):
        seen: set[str] = set()
        twice = next(n for n in out if n in seen or seen.add(n))  # type: ignore[func-returns-value]
        raise InputError(f"The node {twice!r} is given twice.")
    return out


def checked_edge(edge: object) -> Edge:
    """One edge as (parent, child).

    >>> checked_edge("AB")
    Traceback (most recent call last):
    credo.errors.InputError: An edge must be a pair (parent, child), got 'AB'.
    >>> checked_edge(("A", "A"))
    Traceback (most recent call last):
    credo.errors.InputError: The edge A → A is a loop: a node cannot be its own parent.
    """
    if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 2:
        raise InputError(f"An edge must be a pair (parent, child), got {edge!r}.")
    parent, child = _name(edge[0]), _name(edge[1])
    if parent == child:
        raise InputError(
            f"The edge {arrow((parent, child))} is a loop: a node cannot be its own parent."
        )
    return parent, child


def checked_edges(edges: Any) -> tuple[Edge, ...]:
    """Edges in their order, each once.

    >>> checked_edges([("A", "B"), ("A", "B")])
    Traceback (most recent call last):
    credo.errors.InputError: The edge A → B is given twice.
    """
    if isinstance(edges, str):
        raise InputError(
            f"The edges must be a list of pairs (parent, child), got the text {edges!r}.",
            hint="To read the notation [A][B|A], use Dag.parse.",
        )
    try:
        given = list(edges)
    except TypeError:
        raise InputError(
            f"The edges must be a list of pairs (parent, child), got {edges!r}."
        ) from None
    out: dict[Edge, None] = {}
    for item in given:
        edge = checked_edge(item)
        if edge in out:
            raise InputError(f"The edge {arrow(edge)} is given twice.")
        out[edge] = None
    return tuple(out)


def three_sets(
    nodes: Sequence[str], sets: Sequence[Sequence[int]]
) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """The sets x, y and given of a question: the first two not empty, and none of them overlap."""
    labels = ("the first set", "the second set", "given")
    for which, found in zip(labels[:2], sets[:2], strict=True):
        if not found:
            raise InputError(f"{which.capitalize()} of nodes is empty.")
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if both := set(sets[i]) & set(sets[j]):
            raise InputError(
                f"{nodes[min(both)]!r} is in {labels[i]} and in {labels[j]}.",
                hint="The sets must not overlap.",
            )
    return sets[0], sets[1], sets[2]


def ordered(
    nodes: Sequence[str], parents: Sequence[Sequence[int]], children: Sequence[Sequence[int]]
) -> tuple[int, ...]:
    """A topological order: of the nodes whose parents are placed, the first as given is next.

    >>> ordered("ABC", [[1], [], [1]], [[], [0, 2], []])
    (1, 0, 2)
    >>> ordered("ABC", [[2], [0], [1]], [[1], [2], [0]])
    Traceback (most recent call last):
    credo.errors.InputError: The edges make a cycle: A → B → C → A. Remove or reverse one of them.
    """
    waits = [len(p) for p in parents]
    ready = [v for v, n in enumerate(waits) if not n]
    heapify(ready)
    out = []
    while ready:
        v = heappop(ready)
        out.append(v)
        for c in children[v]:
            waits[c] -= 1
            if not waits[c]:
                heappush(ready, c)
    if len(out) < len(waits):
        cycle = [nodes[v] for v in shortest_cycle([v for v, n in enumerate(waits) if n], children)]
        shown = (
            cycle if len(cycle) <= 20 else [*cycle[:10], f"… {len(cycle) - 19} more …", *cycle[-9:]]
        )
        raise InputError(
            f"The edges make a cycle: {arrow(shown)}.", hint="Remove or reverse one of them."
        )
    return tuple(out)


def shortest_cycle(among: Sequence[int], children: Sequence[Sequence[int]]) -> list[int]:
    """A cycle as short as any through the nodes tried, its first node repeated at the end.

    Every node is tried while there are few; of many, a hundred.
    """
    best: list[int] = []
    left = set(among)
    for start in sorted(among)[:100]:
        before = {start: start}
        line = [start]
        for v in line:
            for c in children[v]:
                if c == start:
                    path = [v]
                    while path[-1] != start:
                        path.append(before[path[-1]])
                    if not best or len(path) < len(best) - 1:
                        best = [*path[::-1], start]
                    line.clear()
                    break
                if c in left and c not in before:
                    before[c] = v
                    line.append(c)
            else:
                continue
            break
    if best:
        return best
    return _any_cycle(left, children)


def _any_cycle(left: set[int], children: Sequence[Sequence[int]]) -> list[int]:
    """A cycle found by walking back from any node that was never ready: it has such a parent."""
    back = {c: v for v in sorted(left, reverse=True) for c in children[v] if c in left}
    walk = [min(left)]
    seen = {walk[0]: 0}
    while (v := back[walk[-1]]) not in seen:
        seen[v] = len(walk)
        walk.append(v)
    return [v, *walk[seen[v] :][::-1]]
