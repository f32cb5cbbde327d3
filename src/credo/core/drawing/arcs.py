"""Arcs of hidden common causes: bows beside the line between two nodes, with a head at each end."""

from __future__ import annotations

from collections.abc import Iterable
from math import hypot

from credo.core.drawing.edges import Point, Way, border
from credo.core.drawing.layout import Box

_SIZE = 8.0  # of a head


def arc(a: Box, b: Box) -> tuple[Way, Way]:
    """The bow from one node to another, and the same back: each has the head at its end.

    >>> there, back = arc(Box(0, 0, 40, 36), Box(0, 100, 40, 36))
    >>> there.start[0] > 0, there.head[0] == back.start
    (True, True)
    """
    dx, dy = b.x - a.x, b.y - a.y
    far = hypot(dx, dy) or 1.0
    side = 1.0 if dy >= 0 else -1.0  # the right of what is read from top to bottom
    out = 0.22 * far + max(a.width, b.width) / 2
    bend = ((a.x + b.x) / 2 + side * dy / far * out, (a.y + b.y) / 2 - side * dx / far * out)
    start = border(a, bend[0] - a.x, bend[1] - a.y)
    end = border(b, bend[0] - b.x, bend[1] - b.y)
    return _bow(start, bend, end), _bow(end, bend, start)


def _bow(start: Point, bend: Point, end: Point) -> Way:
    """One curve as a Way: its control points lie two thirds of the way to the bend."""
    first, second = (
        (p[0] + 2 / 3 * (bend[0] - p[0]), p[1] + 2 / 3 * (bend[1] - p[1])) for p in (start, end)
    )
    far = hypot(end[0] - bend[0], end[1] - bend[1]) or 1.0
    ux, uy = (end[0] - bend[0]) / far, (end[1] - bend[1]) / far
    px, py = -uy * _SIZE * 0.42, ux * _SIZE * 0.42
    back = (end[0] - ux * _SIZE, end[1] - uy * _SIZE)
    head = (end, (back[0] + px, back[1] + py), (back[0] - px, back[1] - py))
    return Way(start, ((first, second, end),), head)


def reach(
    bows: Iterable[tuple[Way, Way]], width: float, height: float
) -> tuple[float, float, float, float]:
    """Left, top, right and low of a picture that holds the bows as well.

    >>> reach([], 10, 20)
    (0.0, 0.0, 10, 20)
    """
    points = [p for there, _ in bows for p in there.steps[0]]
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    return min([0.0, *xs]), min([0.0, *ys]), max([width, *xs]), max([height, *ys])
