"""A picture of a graph whose edges have a mark at both ends: a head, a circle, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

from credo.core.drawing.edges import Point, Way, border
from credo.core.drawing.layout import HEIGHT, Box, layout
from credo.core.drawing.svg import graph_svg, text_width, way_svg

_SIZE = 8.0
_INK = "#444444"


def marked_svg(
    nodes: Sequence[str], edges: Sequence[tuple[str, str, str, str]], title: str = ""
) -> str:
    """The picture of edges (a, b, mark at a, mark at b), a mark "o", ">" or "-".

    >>> marked_svg(["A", "B"], [("A", "B", "o", ">")]).count("<polygon")
    1
    """
    at = {n: i for i, n in enumerate(nodes)}
    pairs = [tuple(sorted((a, b), key=at.__getitem__)) for a, b, _, _ in edges]
    plain = graph_svg(nodes, [(a, b) for a, b in pairs], title=title, arrows=False)
    wide = [max(HEIGHT, text_width(n) + 22) for n in nodes]
    boxes = layout(wide, [(at[a], at[b]) for a, b in pairs]).nodes
    drawn = "\n".join(_edge(boxes[at[a]], boxes[at[b]], (x, y)) for a, b, x, y in edges)
    head, _, rest = plain.partition('<g class="edge">')
    body = rest[rest.index('<g class="node">') :] if rest else ""
    return f"{head}{drawn}\n{body}" if rest else plain


def _edge(a: Box, b: Box, marks: tuple[str, str]) -> str:
    """A straight line with its marks."""
    start = border(a, b.x - a.x, b.y - a.y)
    end = border(b, a.x - b.x, a.y - b.y)
    both = [_mark(end, start, marks[0]), _mark(start, end, marks[1])]
    line = way_svg(Way(both[0][1], ((both[1][1],),)), 1.2, _INK)
    return line.removesuffix("</g>") + "".join(shape for shape, _ in both) + "</g>"


def _mark(start: Point, end: Point, mark: str) -> tuple[str, Point]:
    """The mark at the end of a line, and where the line meets it."""
    far = hypot(end[0] - start[0], end[1] - start[1]) or 1.0
    ux, uy = (end[0] - start[0]) / far, (end[1] - start[1]) / far
    back = (end[0] - ux * _SIZE, end[1] - uy * _SIZE)
    if mark == "-":
        return "", end
    if mark == "o":
        x, y = (end[0] + back[0]) / 2, (end[1] + back[1]) / 2
        circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_SIZE / 2:.1f}" fill="#ffffff"'
        return f'{circle} stroke="{_INK}" stroke-width="1.2"/>', back
    px, py = -uy * _SIZE * 0.42, ux * _SIZE * 0.42
    points = f"{end[0]:.1f},{end[1]:.1f} {back[0] + px:.1f},{back[1] + py:.1f}"
    return f'<polygon points="{points} {back[0] - px:.1f},{back[1] - py:.1f}" fill="{_INK}"/>', back
