"""A graph as SVG text: nodes as rounded boxes, edges as smooth curves, plates as frames.

Needs nothing but Python: the layout is `credo.core.drawing.layout`'s, and the width of a label
is estimated from its characters. Every name is escaped, so any text can be a name.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape

from credo.core.drawing.arcs import arc, reach
from credo.core.drawing.edges import Point, Way, ways
from credo.core.drawing.layout import HEIGHT, Box, Layout, layout
from credo.core.render import one_line

_FONT = 14.0
_MARGIN = 12.0
_MOST = 40  # characters of a label that are shown
_NARROW = frozenset("iljtfrI.,:;'`|![](){}/\\ -\"")
_BROAD = frozenset("mwMW@%—…")


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


def clean(text: str) -> str:
    """A text on one line, without the characters XML forbids."""
    return "".join("�" if ord(c) & 0xFFFE == 0xFFFE else c for c in one_line(text))


def _shown(text: str) -> str:
    """A label, cut when it is long."""
    line = clean(text)
    return line if len(line) <= _MOST else line[: _MOST - 1] + "…"


def graph_svg(
    nodes: Sequence[str],
    edges: Sequence[tuple[str, str]],
    *,
    observed: Sequence[str] = (),
    plates: Sequence[tuple[str, Sequence[str]]] = (),
    widths: Mapping[tuple[str, str], float] | None = None,
    colours: Mapping[tuple[str, str], str] | None = None,
    title: str = "",
    arrows: bool = True,
    squares: Sequence[str] = (),
    decisions: Sequence[str] = (),
    utilities: Sequence[str] = (),
    arcs: Sequence[tuple[str, str]] = (),
) -> str:
    """The picture of nodes and (parent, child) pairs that make no cycle.

    Without `arrows` the edges are lines; `squares` are the factors of a factor graph. Decisions
    are rectangles, utilities diamonds; `arcs` are hidden common causes, dashed with a head at both
    ends.

    >>> graph_svg(["A", "B"], [("A", "B")], observed=["B"]).count('class="observed"')
    1
    """
    index = {name: i for i, name in enumerate(nodes)}
    labels = [_shown(name) for name in nodes]
    kinds = _kinds(nodes, observed, squares, decisions, utilities)
    diamonds = {i for i, kind in enumerate(kinds) if kind == "utility"}
    found = layout(
        [max(HEIGHT, text_width(t) + 22) * (1.6 if i in diamonds else 1)
         for i, t in enumerate(labels)],
        [(index[a], index[b]) for a, b in edges],
        [(label, [index[v] for v in inside]) for label, inside in plates],
        [1.6 * HEIGHT if i in diamonds else HEIGHT for i in range(len(nodes))],
    )  # fmt: skip
    for i, kind in enumerate(kinds):
        if kind in ("decision", "utility"):
            found.nodes[i] = replace(found.nodes[i], round=0.0, diamond=kind == "utility")
    bows = [arc(found.nodes[index[a]], found.nodes[index[b]]) for a, b in arcs]
    left, top, right, low = reach(bows, found.width, found.height)
    head = 26.0 if title else 0.0
    width = max(right - left, text_width(_shown(title), 16)) + 2 * _MARGIN
    height = low - top + 2 * _MARGIN + head
    inner = (width - (right - left)) / 2 - left
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
    out.append(f'<g transform="translate({_n(inner)} {_n(_MARGIN + head - top)})">')
    out += [_plate(box) for box in found.plates]
    out += _edges(found, edges, index, widths or {}, colours or {}, arrows)
    for bow, (a, b) in zip(bows, arcs, strict=True):
        out.append(_arc(bow, f"{a} ↔ {b}: a hidden common cause"))
    for i, name in enumerate(nodes):
        out.append(_node(found.nodes[i], labels[i], name, kinds[i]))
    return "\n".join([*out, "</g>", "</svg>"])


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


_FILL = {
    "observed": "#d9d9d9", "node": "#ffffff", "factor": "#444444", "decision": "#e3eefb",
    "utility": "#fdf1d8",
}  # fmt: skip


def _kinds(
    nodes: Sequence[str],
    observed: Sequence[str],
    squares: Sequence[str],
    decisions: Sequence[str],
    utilities: Sequence[str],
) -> list[str]:
    """What each node is drawn as."""
    known = dict.fromkeys(observed, "observed") | dict.fromkeys(squares, "factor")
    known |= dict.fromkeys(decisions, "decision") | dict.fromkeys(utilities, "utility")
    return [known.get(name, "node") for name in nodes]


def _node(box: Box, label: str, name: str, kind: str) -> str:
    fill, ink = _FILL[kind], "#ffffff" if kind == "factor" else "#111111"
    round_ = 0.0 if kind in ("factor", "decision") else box.height / 2
    hover = f"<title>{escape(clean(name))}</title>" if label != name else ""
    half, tall = box.width / 2, box.height / 2
    if box.diamond:
        ends = [(0.0, -tall), (half, 0.0), (0.0, tall), (-half, 0.0)]
        points = " ".join(_p((box.x + dx, box.y + dy)) for dx, dy in ends)
        shape = f'<polygon points="{points}"'
    else:
        shape = (
            f'<rect x="{_n(box.x - half)}" y="{_n(box.y - tall)}" width="{_n(box.width)}" '
            f'height="{_n(box.height)}" rx="{_n(round_)}"'
        )
    return (
        f'<g class="{kind}">{hover}{shape} fill="{fill}" stroke="#333333" stroke-width="1.2"/>'
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
    colours: Mapping[tuple[str, str], str],
    arrows: bool,
) -> list[str]:
    strokes = [widths.get(edge, 1.2) for edge in edges]
    found_ways = ways(found, [(index[a], index[b]) for a, b in edges], strokes, arrows)
    return [
        way_svg(way, stroke, colours.get(edge, "#444444"))
        for way, stroke, edge in zip(found_ways, strokes, edges, strict=True)
    ]


def way_svg(way: Way, stroke: float, colour: str = "#444444", hover: str = "") -> str:
    """An edge as SVG: its line, its head if it has one, and what to say when it is pointed at."""
    path = f"M{_p(way.start)}"
    for step in way.steps:
        path += ("L" if len(step) == 1 else "C") + " ".join(map(_p, step))
    out = f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{_n(stroke)}"/>'
    if way.head is not None:
        fill = f'"#ffffff" stroke="{colour}"' if way.hollow else f'"{colour}"'
        out += f'<polygon points="{" ".join(map(_p, way.head))}" fill={fill}/>'
    title = f"<title>{escape(clean(hover))}</title>" if hover else ""
    return f'<g class="edge{" reversible" * way.hollow}">{title}{out}</g>'


def _arc(bow: Sequence[Way], hover: str) -> str:
    line = way_svg(bow[0], 1.2, "#777777", hover).replace("<path ", '<path stroke-dasharray="5 4" ')
    back = bow[1].head
    assert back is not None
    points = " ".join(map(_p, back))
    head = f'<polygon points="{points}" fill="#777777"/></g>'
    return line.replace('class="edge"', 'class="arc"').removesuffix("</g>") + head


def _p(point: Point) -> str:
    return f"{_n(point[0])},{_n(point[1])}"
