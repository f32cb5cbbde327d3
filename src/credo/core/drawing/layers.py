"""Layers of a directed graph: every parent above its children, long edges cut into short ones.

The first two steps of Sugiyama, Tagawa & Toda (1981). A node's layer is the longest path to
it; nodes then slide to where their edges are shortest, and a layer that would be too wide
passes nodes on to the next. An edge over several layers gets a bend at each one it crosses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import sqrt

Pairs = Sequence[tuple[int, int]]


@dataclass(slots=True)
class Layered:
    """Rows of vertices: nodes are 0 … n − 1, bends follow. `chains` leads each edge down."""

    n: int
    rows: list[list[int]]
    chains: list[list[int]]
    up: list[list[int]] = field(default_factory=list)
    down: list[list[int]] = field(default_factory=list)

    def row_of(self) -> list[int]:
        """The row of each vertex."""
        out = [0] * len(self.up)
        for r, row in enumerate(self.rows):
            for v in row:
                out[v] = r
        return out


def components(n: int, edges: Pairs) -> list[list[int]]:
    """The parts no edge joins, the largest first.

    >>> components(4, [(1, 3)])
    [[1, 3], [0], [2]]
    """
    part = list(range(n))

    def root(v: int) -> int:
        while part[v] != v:
            part[v] = part[part[v]]
            v = part[v]
        return v

    for a, b in edges:
        part[root(a)] = root(b)
    out: dict[int, list[int]] = {}
    for v in range(n):
        out.setdefault(root(v), []).append(v)
    return sorted(out.values(), key=lambda c: (-len(c), c[0]))


def layered(n: int, edges: Pairs, most: int | None = None) -> Layered:
    """Rows for a graph whose edges make no cycle, of at most about `most` nodes.

    >>> layered(3, [(0, 1), (1, 2), (0, 2)]).rows
    [[0], [1, 3], [2]]
    """
    level = _levels(n, edges, most or max(14, round(2.2 * sqrt(n))))
    rows: list[list[int]] = [[] for _ in range(max(level, default=-1) + 1)]
    for v in range(n):
        rows[level[v]].append(v)
    out = Layered(n, rows, [], [[] for _ in range(n)], [[] for _ in range(n)])
    for a, b in edges:
        chain = [a]
        for r in range(level[a] + 1, level[b]):
            rows[r].append(len(out.up))
            chain.append(len(out.up))
            out.up.append([])
            out.down.append([])
        chain.append(b)
        for u, v in pairwise(chain):
            out.down[u].append(v)
            out.up[v].append(u)
        out.chains.append(chain)
    return out


def _levels(n: int, edges: Pairs, cap: int) -> list[int]:
    parents: list[list[int]] = [[] for _ in range(n)]
    children: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges:
        parents[b].append(a)
        children[a].append(b)
    waits = [len(p) for p in parents]
    order = [v for v in range(n) if not waits[v]]
    for v in order:
        for c in children[v]:
            waits[c] -= 1
            if not waits[c]:
                order.append(c)
    fans = _fans(parents, children)
    level = [0] * n
    size: dict[int, int] = {}
    for v in order:
        at = max((level[p] + 1 for p in parents[v]), default=0)
        while parents[v] and v not in fans and size.get(at, 0) >= cap:
            at += 1
        level[v] = at
        size[at] = size.get(at, 0) + 1
    for _ in range(8):
        moved = False
        for v in reversed(order):
            if v in fans:
                continue
            low = max((level[p] + 1 for p in parents[v]), default=None)
            high = min((level[c] - 1 for c in children[v]), default=None)
            pull = len(children[v]) - len(parents[v])
            best = high if pull > 0 else low if pull < 0 else None
            if best is None and pull == 0 and low is not None and high is not None:
                best = (low + high) // 2
            if best is None or best == level[v]:
                continue
            there = size.get(best, 0)
            if there >= cap and there + 1 >= size[level[v]]:
                continue  # full, and no emptier than the row it would leave
            size[level[v]] -= 1
            size[best] = size.get(best, 0) + 1
            level[v], moved = best, True
        if not moved:
            break
    for v, below in fans.items():
        level[v] = level[parents[v][0]] + 1 + below
    used = {at: i for i, at in enumerate(sorted(set(level)))}
    return [used[at] for at in level]


def _fans(parents: list[list[int]], children: list[list[int]]) -> dict[int, int]:
    """Many leaves of one parent, dealt out over a few rows: how far down each one goes."""
    out: dict[int, int] = {}
    for mine in children:
        leaves = [c for c in mine if not children[c] and len(parents[c]) == 1]
        if len(leaves) > 12:
            rows = round(sqrt(len(leaves) / 6))
            out |= {c: i % rows for i, c in enumerate(leaves)}
    return out
