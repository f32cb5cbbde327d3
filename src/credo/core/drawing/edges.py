"""The ways of edges as points: straight where that meets no node, else smooth curves.

A curve runs almost upright through each row it crosses, so that it meets no node, and bends
between rows. What comes out is geometry alone; `credo.core.drawing.svg` writes it as SVG.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot, sqrt

from credo.core.drawing.layout import Box, Layout

_LEAN = 0.5  # sideways for each step down inside a row: less than the gap to a neighbour

Point = tuple[float, float]
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Way:
    """An edge: where it starts, the points of each line (one) or curve (three), its head.

    The head is `hollow` where the edge might as well point the other way.
    """

    start: Point
    steps: tuple[tuple[Point, ...], ...]
    head: tuple[Point, Point, Point] | None = None
    hollow: bool = False


def ways(
    found: Layout, pairs: Sequence[Pair], strokes: Sequence[float], arrows: bool = True
) -> list[Way]:
    """The way of each pair. Those that end at one node are spread along its upper side, and those
    that leave one node along its lower side, in the order they come from or go to.

    >>> from credo.core.drawing.layout import layout
    >>> [way] = ways(layout([40, 40], [(0, 1)]), [(0, 1)], [1.2])
    >>> way.start[0] == way.head[0][0], len(way.steps)
    (True, 1)
    """
    leaving: dict[int, list[Pair]] = {}
    ending: dict[int, list[Pair]] = {}
    for e in pairs:
        leaving.setdefault(e[0], []).append(e)
        ending.setdefault(e[1], []).append(e)
    starts: dict[Pair, Point] = {}
    ends: dict[Pair, Point] = {}
    for v, mine in leaving.items():
        starts |= _ports(found.nodes[v], {e: found.ways[e] for e in mine}, 1)
    for v, mine in ending.items():
        ends |= _ports(found.nodes[v], {e: found.ways[e][::-1] for e in mine}, -1)
    bent = {v for v, mine in ending.items() if not all(_is_straight(found.ways[e]) for e in mine)}
    out = []
    for pair, stroke in zip(pairs, strokes, strict=True):
        way = found.ways[pair]  # among curves, which end upright, only a steep line stays straight
        straight = _is_straight(way, 0.35 if pair[1] in bent else 0.9)
        half = found.bends[pair]
        out.append(_way(way, half, starts[pair], ends[pair], stroke, straight, arrows))
    return out


def _is_straight(way: Sequence[Point], most: float = 0.9) -> bool:
    """Short and steep enough for a straight line that meets no other node."""
    (x0, y0), (x1, y1) = way[0], way[1]
    return len(way) == 2 and abs(x1 - x0) <= most * abs(y1 - y0)


def _ports(box: Box, mine: Mapping[Pair, Sequence[Point]], sign: int) -> dict[Pair, Point]:
    """Where on the lower (1) or upper (−1) side of a box each edge meets it.

    Straight lines alone point to the middle; else all are set from left to right.
    """
    if all(_is_straight(way) for way in mine.values()):
        return {
            e: border(box, way[1][0] - way[0][0], way[1][1] - way[0][1]) for e, way in mine.items()
        }
    k = len(mine)
    step = min(11.0, (box.width - 8) / k)
    ranked = sorted(mine, key=lambda e: (mine[e][1][0], e))
    places = [box.x + (i - (k - 1) / 2) * step for i in range(k)]
    return {e: (x, _side(box, x, sign)) for e, x in zip(ranked, places, strict=True)}


def _way(
    way: Sequence[Point],
    half: Sequence[float],
    start: Point,
    end: Point,
    stroke: float,
    straight: bool,
    arrow: bool,
) -> Way:
    if not arrow:
        return Way(start, ((end,),) if straight else _curve(way, half, start, end))
    size = 6.0 + 1.5 * min(stroke, 6.0)
    if straight:
        far = hypot(end[0] - start[0], end[1] - start[1]) or 1.0
        ux, uy = (end[0] - start[0]) / far, (end[1] - start[1]) / far
        base = (end[0] - ux * (size - 1), end[1] - uy * (size - 1))
        steps: tuple[tuple[Point, ...], ...] = ((base,),)
    else:
        ux, uy = 0.0, 1.0
        steps = _curve(way, half, start, (end[0], end[1] - size + 1))
    px, py = -uy * size * 0.42, ux * size * 0.42
    left = (end[0] - ux * size + px, end[1] - uy * size + py)
    right = (end[0] - ux * size - px, end[1] - uy * size - py)
    return Way(start, steps, (end, left, right))


def _curve(
    way: Sequence[Point], half: Sequence[float], start: Point, end: Point
) -> tuple[tuple[Point, ...], ...]:
    """Almost upright through each row it crosses, so that it meets no node, bent between rows."""
    out: list[tuple[Point, ...]] = []
    at, lean = start, 0.0
    inner = way[1:-1]
    for i, (x, y) in enumerate(inner):
        before = start if i == 0 else inner[i - 1]
        after = end if i == len(inner) - 1 else inner[i + 1]
        a, b = (x - before[0]) / (y - before[1]), (after[0] - x) / (after[1] - y)
        most = _LEAN * min(1.0, 18.0 / half[i])
        slope = 0.0 if a * b <= 0 else min(abs(a), abs(b), most) * (1 if a > 0 else -1)
        out.append(_bend(at, lean, (x - slope * half[i], y - half[i]), slope))
        at, lean = (x + slope * half[i], y + half[i]), slope
        out.append((at,))
    out.append(_bend(at, lean, end, 0.0))
    return tuple(out)


def _bend(a: Point, lean: float, b: Point, slope: float) -> tuple[Point, Point, Point]:
    """A curve that leaves `a` and reaches `b` leaning sideways as told."""
    k = (b[1] - a[1]) * 0.5
    return (a[0] + lean * k, a[1] + k), (b[0] - slope * k, b[1] - k), b


def _side(box: Box, x: float, sign: int) -> float:
    """The height of a box's lower (1) or upper (−1) side at `x`, its corners being round."""
    if box.diamond:
        return box.y + sign * box.height * max(0.0, 0.5 - abs(x - box.x) / box.width)
    r = box.corner
    over = max(0.0, abs(x - box.x) - (box.width / 2 - r))
    return box.y + sign * (box.height / 2 - r + sqrt(max(0.0, r * r - over * over)))


def border(box: Box, dx: float, dy: float) -> Point:
    """Where a ray from the middle of a box leaves it."""
    r, half, tall = box.corner, box.width / 2, box.height / 2
    if box.diamond:
        far = (abs(dx) / half + abs(dy) / tall) or 1.0
        return box.x + dx / far, box.y + dy / far
    if dy and abs(dx / dy) * tall <= half - r:
        return box.x + dx * tall / abs(dy), box.y + (tall if dy > 0 else -tall)
    if dx and abs(dy / dx) * half < tall - r:
        return box.x + (half if dx > 0 else -half), box.y + dy * half / abs(dx)
    far = hypot(dx, dy) or 1.0
    ux, uy = abs(dx) / far, abs(dy) / far
    along = (half - r) * ux + (tall - r) * uy
    across = (half - r) * uy - (tall - r) * ux
    along += sqrt(max(0.0, r * r - across * across))
    return box.x + (1 if dx > 0 else -1) * along * ux, box.y + (1 if dy > 0 else -1) * along * uy
