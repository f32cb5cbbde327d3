"""The order inside each layer: fewer crossings of edges.

Each vertex goes to the mean place of its neighbours in the layer above, then below, sweep by
sweep (Sugiyama et al. 1981); then neighbours change places where that removes crossings
(Gansner et al. 1993). The best order seen is kept.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from itertools import pairwise

from credo.core.drawing.layers import Layered

__all__ = ["crossings", "reduce_crossings"]


def crossings(g: Layered, rows: list[list[int]]) -> int:
    """How many pairs of edges between adjacent rows cross.

    >>> from credo.core.drawing.layers import layered
    >>> g = layered(4, [(0, 3), (1, 2)])
    >>> crossings(g, [[0, 1], [2, 3]]), crossings(g, [[0, 1], [3, 2]])
    (1, 0)
    """
    total = 0
    for above, below in pairwise(rows):
        place = {v: i for i, v in enumerate(below)}
        seen: list[int] = []
        for u in above:
            ends = sorted(place[v] for v in g.down[u])
            total += sum(len(seen) - bisect_right(seen, e) for e in ends)
            for e in ends:
                insort(seen, e)
    return total


def reduce_crossings(g: Layered) -> None:
    """Reorder the rows of `g` in place.

    >>> from credo.core.drawing.layers import layered
    >>> g = layered(4, [(0, 3), (1, 2)])
    >>> reduce_crossings(g); crossings(g, g.rows)
    0
    """
    rows = _first(g)
    best, least = [list(r) for r in rows], crossings(g, rows)
    vertices = len(g.up)
    sweeps = 24 if vertices < 400 else 12 if vertices < 4000 else 4
    idle = 0
    for i in range(sweeps):
        _sweep(rows, g.up if i % 2 == 0 else g.down, downwards=i % 2 == 0, right=i % 4 > 1)
        if vertices < 1500:
            _exchange(g, rows, 4 if vertices < 400 else 1)
        now = crossings(g, rows)
        if now < least:
            best, least, idle = [list(r) for r in rows], now, 0
        else:
            idle += 1
        if not least or idle > 7:
            break
    g.rows[:] = best


def _first(g: Layered) -> list[list[int]]:
    """Vertices in the order a walk from the top meets them, so that branches stay together."""
    row_of = g.row_of()
    rows: list[list[int]] = [[] for _ in g.rows]
    seen = bytearray(len(g.up))
    for start in (v for row in g.rows for v in row if not g.up[v]):
        stack = [start]
        while stack:
            v = stack.pop()
            if seen[v]:
                continue
            seen[v] = 1
            rows[row_of[v]].append(v)
            stack += reversed(g.down[v])
    return rows


def _sweep(rows: list[list[int]], near: list[list[int]], downwards: bool, right: bool) -> None:
    span = range(1, len(rows)) if downwards else range(len(rows) - 2, -1, -1)
    for r in span:
        fixed = rows[r - 1 if downwards else r + 1]
        place = {v: i for i, v in enumerate(fixed)}
        row = rows[r]
        means = {v: sum(place[w] for w in near[v]) / len(near[v]) if near[v] else -1.0 for v in row}
        movable = [v for v in (reversed(row) if right else row) if means[v] >= 0]
        movable.sort(key=means.__getitem__)
        feed = iter(movable)
        rows[r] = [next(feed) if means[v] >= 0 else v for v in row]


def _exchange(g: Layered, rows: list[list[int]], passes: int) -> None:
    places = [{v: i for i, v in enumerate(row)} for row in rows]
    for _ in range(passes):
        better = False
        for r, row in enumerate(rows):
            above = places[r - 1] if r else {}
            below = places[r + 1] if r + 1 < len(rows) else {}
            for i in range(len(row) - 1):
                a, b = row[i], row[i + 1]
                gain = _gain(g.up[a], g.up[b], above) + _gain(g.down[a], g.down[b], below)
                if gain > 0:
                    row[i], row[i + 1] = b, a
                    places[r][a], places[r][b] = i + 1, i
                    better = True
        if not better:
            break


def _gain(left: list[int], right: list[int], place: dict[int, int]) -> int:
    """Crossings saved when two neighbours change places."""
    out = 0
    for u in left:
        for v in right:
            a, b = place[u], place[v]
            out += (a > b) - (a < b)
    return out
