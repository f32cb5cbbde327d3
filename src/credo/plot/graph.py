"""A graph as SVG text: nodes as rounded boxes, edges as smooth curves, plates as frames.

Needs nothing but Python: the layout is `credo.plot.graph_layout`'s, and the width of a label
is estimated from its characters. Every name is escaped, so any text can be a name.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from html import escape
from math import hypot, sqrt

from credo.plot.graph_layout import HEIGHT, Box, Layout, layout

__all__ = ["graph_svg", "text_width"]

_FONT = 14.0
_MARGIN = 12.0
_LEAN = 0.5  # sideways for each step down inside a row: less than the gap to a neighbour
_MOST = 40  # characters of a label that are shown
_NARROW = frozenset("iljtfrI.,:;'`|![](){}/\\ -\"")
_BROAD = frozenset("mwMW@%—…")

Point = tuple[float, float]


def text_width(text: str, size: float = _FONT) -> float:
    """About how wide a text is in a sans-serif font, rather too wide than too narrow.

    >>> text_width("ill") < text_width("abc") < text_width("MWM") < text_width("日本語語")
    True
    """
    total = 0.0
    for c in text:
        if unicodedata.combining(c):
            continue
        if unicodedata.east_asian_width(c) in "WF":
            total += 1.05
        elif c in _NARROW:
            total += 0.42
        elif c in _BROAD:
            total += 0.98
        else:
            total += 0.7 if c.isupper() or not c.isascii() else 0.62
    return total * size


def _clean(text: str) -> str:
    """A text on one line, without the characters XML forbids."""
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return "".join("�" if ord(c) & 0xFFFE == 0xFFFE else c for c in line)


def _shown(text: str) -> str:
    """A label, cut when it is long."""
    line = _clean(text)
    return line if len(line) <= _MOST else line[: _MOST - 1] + "…"


def graph_svg(
    nodes: Sequence[str],
    edges: Sequence[tuple[str, str]],
    *,
    observed: Sequence[str] = (),
    plates: Sequence[tuple[str, Sequence[str]]] = (),
    widths: Mapping[tuple[str, str], float] | None = None,
    title: str = "",
    arrows: bool = True,
    squares: Sequence[str] = (),
) -> str:
    """The picture of nodes and (parent, child) pairs that make no cycle.

    Without `arrows` the edges are lines; `squares` are the factors of a factor graph.

    >>> graph_svg(["A", "B"], [("A", "B")], observed=["B"]).count('class="observed"')
    1
    """
    index = {name: i for i, name in enumerate(nodes)}
    labels = [_shown(name) for name in nodes]
    found = layout(
        [max(HEIGHT, text_width(t) + 22) for t in labels],
        [(index[a], index[b]) for a, b in edges],
        [(label, [index[v] for v in inside]) for label, inside in plates],
    )
    head = 26.0 if title else 0.0
    width = max(found.width, text_width(_shown(title), 16)) + 2 * _MARGIN
    height = found.height + 2 * _MARGIN + head
    inner = (width - found.width) / 2
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(height)}" '
        f'viewBox="0 0 {_n(width)} {_n(height)}" font-family="Helvetica, Arial, sans-serif" '
        f'font-size="14" style="max-width:100%;height:auto">',
        f"<title>{escape(_shown(title) or f'{len(nodes)} nodes, {len(edges)} edges')}</title>",
        f'<rect width="{_n(width)}" height="{_n(height)}" fill="#ffffff"/>',
    ]
    if title:
        out.append(
            f'<text x="{_n(width / 2)}" y="{_n(_MARGIN + 12)}" font-size="16" fill="#222222" '
            f'text-anchor="middle">{escape(_shown(title))}</text>'
        )
    out.append(f'<g transform="translate({_n(inner)} {_n(_MARGIN + head)})">')
    out += [_plate(box) for box in found.plates]
    out += _edges(found, edges, index, widths or {}, arrows)
    shaded, square = set(observed), set(squares)
    for i, name in enumerate(nodes):
        kind = "factor" if name in square else "observed" if name in shaded else "node"
        out.append(_node(found.nodes[i], labels[i], name, kind))
    return "\n".join([*out, "</g>", "</svg>"])


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


_FILL = {"observed": "#d9d9d9", "node": "#ffffff", "factor": "#444444"}


def _node(box: Box, label: str, name: str, kind: str) -> str:
    fill, ink = _FILL[kind], "#ffffff" if kind == "factor" else "#111111"
    round_ = 0.0 if kind == "factor" else box.height / 2
    hover = f"<title>{escape(_clean(name))}</title>" if label != name else ""
    return (
        f'<g class="{kind}">{hover}<rect x="{_n(box.x - box.width / 2)}" '
        f'y="{_n(box.y - box.height / 2)}" width="{_n(box.width)}" height="{_n(box.height)}" '
        f'rx="{_n(round_)}" fill="{fill}" stroke="#333333" stroke-width="1.2"/>'
        f'<text x="{_n(box.x)}" y="{_n(box.y + 5)}" fill="{ink}" text-anchor="middle">'
        f"{escape(label)}</text></g>"
    )


def _plate(box: Box) -> str:
    right, low = box.x + box.width / 2, box.y + box.height / 2
    return (
        f'<g class="plate"><rect x="{_n(box.x - box.width / 2)}" y="{_n(box.y - box.height / 2)}" '
        f'width="{_n(box.width)}" height="{_n(box.height)}" rx="8" fill="none" '
        f'stroke="#777777" stroke-width="1.2"/><text x="{_n(right - 8)}" y="{_n(low - 6)}" '
        f'font-size="13" fill="#444444" text-anchor="end">{escape(_shown(box.label))}</text></g>'
    )


# --- edges ----------------------------------------------------------------------------------


def _edges(
    found: Layout,
    edges: Sequence[tuple[str, str]],
    index: Mapping[str, int],
    widths: Mapping[tuple[str, str], float],
    arrows: bool,
) -> list[str]:
    """The curves. Those that end at one node are spread along its upper side, and those that
    leave one node along its lower side, in the order they come from or go to."""
    pairs = [(index[a], index[b]) for a, b in edges]
    leaving: dict[int, list[tuple[int, int]]] = {}
    ending: dict[int, list[tuple[int, int]]] = {}
    for e in pairs:
        leaving.setdefault(e[0], []).append(e)
        ending.setdefault(e[1], []).append(e)
    starts: dict[tuple[int, int], Point] = {}
    ends: dict[tuple[int, int], Point] = {}
    for v, mine in leaving.items():
        starts |= _ports(found.nodes[v], {e: found.ways[e] for e in mine}, 1)
    for v, mine in ending.items():
        ends |= _ports(found.nodes[v], {e: found.ways[e][::-1] for e in mine}, -1)
    bent = {v for v, mine in ending.items() if not all(_is_straight(found.ways[e]) for e in mine)}
    out = []
    for pair, edge in zip(pairs, edges, strict=True):
        way = found.ways[pair]  # among curves, which end upright, only a steep line stays straight
        straight = _is_straight(way, 0.35 if pair[1] in bent else 0.9)
        out.append(_edge(way, starts[pair], ends[pair], widths.get(edge, 1.2), straight, arrows))
    return out


def _is_straight(way: Sequence[Point], most: float = 0.9) -> bool:
    """Short and steep enough for a straight line that meets no other node."""
    (x0, y0), (x1, y1) = way[0], way[1]
    return len(way) == 2 and abs(x1 - x0) <= most * abs(y1 - y0)


def _ports(
    box: Box, ways: Mapping[tuple[int, int], Sequence[Point]], sign: int
) -> dict[tuple[int, int], Point]:
    """Where on the lower (1) or upper (−1) side of a box each edge meets it.

    Straight lines alone point to the middle; else all are set from left to right.
    """
    if all(_is_straight(way) for way in ways.values()):
        return {
            e: _border(box, way[1][0] - way[0][0], way[1][1] - way[0][1]) for e, way in ways.items()
        }
    k = len(ways)
    step = min(11.0, (box.width - 8) / k)
    ranked = sorted(ways, key=lambda e: (ways[e][1][0], e))
    places = [box.x + (i - (k - 1) / 2) * step for i in range(k)]
    return {e: (x, _side(box, x, sign)) for e, x in zip(ranked, places, strict=True)}


def _edge(
    way: Sequence[Point], start: Point, end: Point, stroke: float, straight: bool, arrow: bool
) -> str:
    if not arrow:
        path = f"M{_p(start)}L{_p(end)}" if straight else _curve(way, start, end)
        return (
            f'<g class="edge"><path d="{path}" fill="none" stroke="#444444" '
            f'stroke-width="{_n(stroke)}"/></g>'
        )
    size = 6.0 + 1.5 * min(stroke, 6.0)
    if straight:
        far = hypot(end[0] - start[0], end[1] - start[1]) or 1.0
        ux, uy = (end[0] - start[0]) / far, (end[1] - start[1]) / far
        base = (end[0] - ux * (size - 1), end[1] - uy * (size - 1))
        path = f"M{_p(start)}L{_p(base)}"
    else:
        ux, uy = 0.0, 1.0
        path = _curve(way, start, (end[0], end[1] - size + 1))
    px, py = -uy * size * 0.42, ux * size * 0.42
    left = (end[0] - ux * size + px, end[1] - uy * size + py)
    right = (end[0] - ux * size - px, end[1] - uy * size - py)
    return (
        f'<g class="edge"><path d="{path}" fill="none" stroke="#444444" '
        f'stroke-width="{_n(stroke)}"/><polygon points="{_p(end)} {_p(left)} {_p(right)}" '
        'fill="#444444"/></g>'
    )


def _p(point: Point) -> str:
    return f"{_n(point[0])},{_n(point[1])}"


def _curve(way: Sequence[Point], start: Point, end: Point) -> str:
    """Almost upright through each row it crosses, so that it meets no node, bent between rows."""
    path, at, lean = f"M{_p(start)}", start, 0.0
    inner = way[1:-1]
    for i, (x, y) in enumerate(inner):
        before = start if i == 0 else inner[i - 1]
        after = end if i == len(inner) - 1 else inner[i + 1]
        a, b = (x - before[0]) / (y - before[1]), (after[0] - x) / (after[1] - y)
        slope = 0.0 if a * b <= 0 else min(abs(a), abs(b), _LEAN) * (1 if a > 0 else -1)
        path += _bend(at, lean, (x - slope * HEIGHT / 2, y - HEIGHT / 2), slope)
        at, lean = (x + slope * HEIGHT / 2, y + HEIGHT / 2), slope
        path += f"L{_p(at)}"
    return path + _bend(at, lean, end, 0.0)


def _bend(a: Point, lean: float, b: Point, slope: float) -> str:
    """A curve that leaves `a` and reaches `b` leaning sideways as told."""
    k = (b[1] - a[1]) * 0.5
    first, second = (a[0] + lean * k, a[1] + k), (b[0] - slope * k, b[1] - k)
    return f"C{_p(first)} {_p(second)} {_p(b)}"


def _side(box: Box, x: float, sign: int) -> float:
    """The height of a box's lower (1) or upper (−1) side at `x`, its ends being half circles."""
    r = box.height / 2
    over = max(0.0, abs(x - box.x) - (box.width / 2 - r))
    return box.y + sign * sqrt(max(0.0, r * r - over * over))


def _border(box: Box, dx: float, dy: float) -> Point:
    """Where a ray from the middle of a box leaves it."""
    r, flat = box.height / 2, box.width / 2 - box.height / 2
    if dy and abs(dx / dy) * r <= flat:
        return box.x + dx * r / abs(dy), box.y + (r if dy > 0 else -r)
    far = hypot(dx, dy) or 1.0
    ux, uy = abs(dx) / far, dy / far
    along = flat * ux + sqrt(max(0.0, r * r - (flat * uy) ** 2))
    return box.x + (1 if dx > 0 else -1) * along * ux, box.y + along * uy
