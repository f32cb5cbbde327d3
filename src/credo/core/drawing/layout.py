"""A layered picture of a graph, as places: boxes of nodes, ways of edges, boxes of plates.

Parts that no edge joins are laid out one by one and set in rows, like words on a page.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import sqrt

from credo.core.drawing.layers import Layered, components, layered
from credo.core.drawing.place import positions
from credo.core.drawing.plates import Plate, keep_apart, nested, regroup

HEIGHT = 36.0
_PART_GAP = 36.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle by its middle and its size; a plate has its label. A diamond has its corners at
    the middles of the sides."""

    x: float
    y: float
    width: float
    height: float
    label: str = ""
    round: float | None = None
    diamond: bool = False

    @property
    def corner(self) -> float:
        """The radius of its corners; half circles at its ends unless it is told."""
        return self.height / 2 if self.round is None else self.round

    def moved(self, dx: float, dy: float) -> Box:
        """The same rectangle elsewhere."""
        return replace(self, x=self.x + dx, y=self.y + dy)


@dataclass(slots=True)
class Layout:
    """Where everything is; `ways` holds the middle points of each edge from parent to child, and
    `bends` half the height of each row it crosses."""

    nodes: dict[int, Box] = field(default_factory=dict)
    ways: dict[tuple[int, int], list[tuple[float, float]]] = field(default_factory=dict)
    bends: dict[tuple[int, int], list[float]] = field(default_factory=dict)
    plates: list[Box] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0


def layout(
    widths: Sequence[float],
    edges: Sequence[tuple[int, int]],
    plates: Sequence[tuple[str, Sequence[int]]] = (),
    heights: Sequence[float] | None = None,
    corner: float | None = None,
    most: int | None = None,
) -> Layout:
    """Lay out nodes of these widths, and of these heights if they are given, at most about `most`
    in a row.

    >>> found = layout([40, 40], [(0, 1)])
    >>> found.nodes[0].y < found.nodes[1].y
    True
    """
    n = len(widths)
    parts = components(n, edges) if not plates else [list(range(n))]
    if not n:
        return Layout()
    part_of = {v: i for i, part in enumerate(parts) for v in part}
    inner: list[list[tuple[int, int]]] = [[] for _ in parts]
    for a, b in edges:
        inner[part_of[a]].append((a, b))
    around = plates if len(parts) == 1 else ()
    found = [
        _part(part, mine, widths, heights or [HEIGHT] * n, around, corner, most)
        for part, mine in zip(parts, inner, strict=True)
    ]
    return _packed(found)


def _packed(parts: Sequence[Layout]) -> Layout:
    area = sum((p.width + _PART_GAP) * (p.height + _PART_GAP) for p in parts)
    wide = max(sqrt(1.7 * area), *(p.width for p in parts), 0.0)
    out = Layout()
    left = top = tall = 0.0
    for part in parts:
        if left and left + part.width > wide:
            left, top, tall = 0.0, top + tall + _PART_GAP, 0.0
        for v, box in part.nodes.items():
            out.nodes[v] = box.moved(left, top)
        for edge, way in part.ways.items():
            out.ways[edge] = [(x + left, y + top) for x, y in way]
        out.bends |= part.bends
        out.plates += [p.moved(left, top) for p in part.plates]
        out.width = max(out.width, left + part.width)
        tall = max(tall, part.height)
        out.height = top + tall
        left += part.width + _PART_GAP
    return out


def _part(
    nodes: Sequence[int],
    edges: Sequence[tuple[int, int]],
    widths: Sequence[float],
    heights: Sequence[float],
    plates: Sequence[tuple[str, Sequence[int]]],
    corner: float | None,
    most: int | None,
) -> Layout:
    local = {v: i for i, v in enumerate(nodes)}
    g = layered(len(nodes), [(local[a], local[b]) for a, b in edges], most)
    reduce_crossings(g)
    half = [widths[v] / 2 for v in nodes] + [0.0] * (len(g.up) - len(nodes))
    x = positions(g, half)
    boxes: list[Plate] = []
    if plates:
        boxes = nested([(t, [local[v] for v in vs]) for t, vs in plates], g.row_of())
        regroup(g, x, boxes)
        x = keep_apart(g, positions(g, half), half, boxes)
    tall = [max((heights[nodes[v]] for v in row if v < g.n), default=HEIGHT) for row in g.rows]
    y = _heights(g, x, boxes, tall)
    row_of = g.row_of()
    left = min([x[v] - half[v] for v in range(len(x))] + [p.left for p in boxes])
    right = max([x[v] + half[v] for v in range(len(x))] + [p.right for p in boxes])
    out = Layout(width=right - left)
    for v, i in local.items():
        out.nodes[v] = Box(x[i] - left, y[row_of[i]], 2 * half[i], heights[v], "", corner)
    for edge, chain in zip(edges, g.chains, strict=True):
        out.ways[edge] = [(x[i] - left, y[row_of[i]]) for i in chain]
        out.bends[edge] = [tall[row_of[i]] / 2 for i in chain[1:-1]]
    low = y[-1] + tall[-1] / 2
    for p in boxes:
        above, below = y[p.first] - _above(p), y[p.last] + _below(p)
        low = max(low, below)
        middle = (p.left + p.right) / 2 - left
        out.plates.append(
            Box(middle, (above + below) / 2, p.right - p.left, below - above, p.label)
        )
    out.height = low
    return out


def _above(p: Plate) -> float:
    """From the middle of a plate's first row to its upper border."""
    return HEIGHT / 2 + 10 + 8 * p.inside


def _below(p: Plate) -> float:
    """From the middle of a plate's last row to its lower border, with room for the label."""
    return HEIGHT / 2 + 22 + 22 * p.inside


def _heights(
    g: Layered, x: Sequence[float], plates: Sequence[Plate], tall: Sequence[float]
) -> list[float]:
    """The middle of each row: further apart where edges run far to the side."""
    out = [max([_above(p) for p in plates if p.first == 0] + [tall[0] / 2])]
    for r in range(1, len(g.rows)):
        far = [abs(x[u] - x[v]) for v in g.rows[r] for u in g.up[v]]
        room = 44 + min(150.0, max(8.0, 0.05 * max(far, default=0.0) + 0.5 * len(far)))
        ends = max([_below(p) - HEIGHT / 2 for p in plates if p.last == r - 1] + [0.0])
        starts = max([_above(p) - HEIGHT / 2 for p in plates if p.first == r] + [0.0])
        out.append(out[-1] + (tall[r - 1] + tall[r]) / 2 + max(room, 24 + ends + starts))
    return out


# --- The order inside each layer: fewer crossings of edges ---
#
# Each vertex goes to the mean place of its neighbours in the layer above, then below, sweep by
# sweep (Sugiyama et al. 1981); then neighbours change places where that removes crossings
# (Gansner et al. 1993). The best order seen is kept.


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
