"""Cliques of an undirected graph, and whether it is chordal.

A clique is a set of nodes of which each is joined to each; the maximal ones are listed by
Bron & Kerbosch (1973) with a pivot. A graph is chordal, or triangulated, when every cycle of four
or more nodes has a chord; maximum cardinality search tells (Tarjan & Yannakakis 1984).
"""

from __future__ import annotations

from collections.abc import Sequence

from credo.core.errors import LimitError

__all__ = ["is_chordal", "maximal_cliques", "search_order"]

MAX_CLIQUES = 100_000
"""More maximal cliques than this are not listed."""

Near = Sequence[set[int]]


def maximal_cliques(near: Near) -> list[list[int]]:
    """The maximal cliques, each sorted, in the order of their nodes.

    >>> maximal_cliques([{1, 2}, {0, 2}, {0, 1, 3}, {2}])
    [[0, 1, 2], [2, 3]]
    """
    out: list[list[int]] = []
    # (nodes taken, nodes that may be added, nodes that were tried)
    stack: list[tuple[list[int], set[int], set[int]]] = [([], set(range(len(near))), set())]
    while stack:
        taken, open_, tried = stack.pop()
        if not open_ and not tried:
            out.append(sorted(taken))
            if len(out) > MAX_CLIQUES:
                raise LimitError(f"The graph has more than {MAX_CLIQUES:,} maximal cliques.")
            continue
        if not open_:
            continue
        pivot = max(open_ | tried, key=lambda v: len(open_ & near[v]))
        open_, tried = set(open_), set(tried)
        for v in sorted(open_ - near[pivot]):
            stack.append(([*taken, v], open_ & near[v], tried & near[v]))
            open_.remove(v)
            tried.add(v)
    return sorted(c for c in out if c)


def search_order(near: Near) -> list[int]:
    """Nodes by maximum cardinality search: next is one with most neighbours already placed.

    >>> search_order([{1}, {0, 2}, {1}])
    [0, 1, 2]
    """
    n = len(near)
    weight = [0] * n
    buckets: list[dict[int, None]] = [dict.fromkeys(range(n))] + [{} for _ in range(n)]
    placed = [False] * n
    order: list[int] = []
    top = 0
    while len(order) < n:
        while not buckets[top]:
            top -= 1
        v = min(buckets[top]) if len(buckets[top]) < 50 else next(iter(buckets[top]))
        del buckets[top][v]
        placed[v] = True
        order.append(v)
        for w in near[v]:
            if not placed[w]:
                del buckets[weight[w]][w]
                weight[w] += 1
                buckets[weight[w]][w] = None
        top = min(top + 1, n - 1)
    return order


def is_chordal(near: Near) -> bool:
    """Whether every cycle of four or more nodes has a chord.

    >>> is_chordal([{1, 3}, {0, 2}, {1, 3}, {0, 2}]), is_chordal([{1, 2}, {0, 2}, {0, 1}])
    (False, True)
    """
    order = search_order(near)
    rank = {v: i for i, v in enumerate(order)}
    for v in order:
        before = [w for w in near[v] if rank[w] < rank[v]]
        if before:
            last = max(before, key=rank.__getitem__)
            if not set(before) - {last} <= near[last]:
                return False
    return True
