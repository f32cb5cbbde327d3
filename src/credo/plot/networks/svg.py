"""A network as SVG text, with what is believed inside its nodes; needs nothing but Python.

Classes (`node`, `observed`, `bar`, …) let a page set its own colours, dark ones for example.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from credo.core.drawing.svg import clean, way_svg
from credo.data.out.atomic import replace_file
from credo.plot.networks.scene import BAR, HEAD, PAD, ROW, SHARE, Line, Node, Scene, scene


class Svg(str):
    """SVG text that shows itself in a notebook.

    >>> Svg("<svg/>")._repr_html_()
    '<svg/>'
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file, whole or not at all."""
        replace_file(Path(path), self.encode("utf-8"))


def network_svg(
    model: Any,
    *,
    given: Mapping[str, Any] | None = None,
    around: str | None = None,
    radius: int = 1,
    bars: bool | None = None,
    strengths: Any = None,
    title: str = "",
) -> Svg:
    """A network as SVG: bars of what is believed in each node, observed nodes shaded.

    `given` is evidence. `around="x"` draws the Markov blanket of a node only, `radius=2` the
    blankets of those too; nodes with neighbours that are left out have a dashed border. `bars`
    says whether beliefs are shown (None: for up to 64 nodes). `strengths` sets the width of edges:
    "information" (mutual information of the two ends, in bits), a mapping from edge to number, or
    what `cr.edge_strengths` found.

    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> picture = network_svg(net, given={"wet": True}, strengths="information")
    >>> picture.count('class="observed"'), picture.count('class="bar"')
    (1, 4)
    """
    return scene_svg(
        scene(
            model,
            given=given,
            around=around,
            radius=radius,
            bars=bars,
            strengths=strengths,
            title=title,
        )
    )


def percent(p: float) -> str:
    """A probability as a short percentage that never says 0 or 100 of what is not.

    >>> [percent(p) for p in (0, 0.00003, 0.1234, 0.9999, 1)]
    ['0 %', '<0.1 %', '12.3 %', '>99.9 %', '100 %']
    """
    if p in (0.0, 1.0):
        return f"{p:.0%}".replace("%", " %")
    if p < 0.0005:
        return "<0.1 %"
    if p >= 0.9995:
        return ">99.9 %"
    return f"{100 * p:.1f} %"


def scene_svg(found: Scene) -> Svg:
    """A scene as SVG text."""
    w, h = _n(found.width), _n(found.height)
    name = found.title or f"{len(found.nodes)} nodes, {len(found.edges)} edges"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="network" width="{w}" height="{h}" '
        f'viewBox="0 0 {w} {h}" font-family="Helvetica, Arial, sans-serif" '
        f'font-size="{_n(found.font)}" style="max-width:100%;height:auto">',
        f"<title>{escape(name)}</title>",
        f'<rect class="paper" width="{w}" height="{h}" fill="#ffffff"/>',
    ]
    top = 24.0
    if found.title:
        out.append(_text(found.width / 2, top, found.title, 16, anchor="middle", kind="heading"))
        top += 20.0
    if found.note:
        out.append(_text(found.width / 2, top, found.note, 12, anchor="middle", kind="heading"))
    out += [way_svg(way, stroke, "#444444", said) for way, stroke, said in found.edges]
    out += [_node(node, found.font) for node in found.nodes]
    return Svg("\n".join([*out, "</svg>"]))


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


_FILL = {"observed": "#d9d9d9", "node": "#ffffff", "factor": "#444444"}


def _node(node: Node, font: float) -> str:
    box, ink = node.box, "#ffffff" if node.kind == "factor" else "#111111"
    left, top = box.x - box.width / 2, box.y - box.height / 2
    corner = 0.0 if node.kind == "factor" else box.corner
    dash = ' stroke-dasharray="5 3"' if node.hidden else ""
    border = 2.6 if node.centre else 1.2
    hover = clean(node.name) if node.label != node.name else ""
    if node.hidden:
        s = "s" if node.hidden > 1 else ""
        hover = f"{clean(node.name)}: {node.hidden} neighbour{s} not drawn"
    title = f"<title>{escape(hover)}</title>" if hover else ""
    out = (
        f'<g class="{node.kind}" data-name="{escape(clean(node.name))}">{title}'
        f'<rect class="box" x="{_n(left)}" y="{_n(top)}" '
        f'width="{_n(box.width)}" height="{_n(box.height)}" rx="{_n(corner)}" '
        f'fill="{_FILL[node.kind]}" stroke="#333333" stroke-width="{border}"{dash}/>'
    )
    if not node.lines:
        y = box.y + font * 0.36
        return out + _text(box.x, y, node.label, font, ink=ink, anchor="middle") + "</g>"
    out += _text(box.x, top + 17, node.label, font, ink=ink, anchor="middle", bold=True)
    for i, line in enumerate(node.lines):
        out += _line(line, left, top + HEAD + ROW * i, box.width)
    return out + "</g>"


def _line(line: Line, left: float, top: float, wide: float) -> str:
    base = top + 12
    if line.share is None:
        return _text(left + PAD, base, line.text, 11.5, bold=line.seen, full=line.full)
    at = left + wide - PAD - SHARE - BAR
    bar = "#555555" if line.seen else "#3b78b5"
    return (
        _text(left + PAD, base, line.text, 11.5, bold=line.seen, full=line.full)
        + f'<rect class="track" x="{_n(at)}" y="{_n(top + 3)}" width="{_n(BAR)}" height="10" '
        f'fill="#e8edf2"/><rect class="bar" x="{_n(at)}" y="{_n(top + 3)}" '
        f'width="{_n(BAR * line.share)}" height="10" fill="{bar}"/>'
        + _text(left + wide - PAD, base, percent(line.share), 10.5, anchor="end")
    )


def _text(
    x: float,
    y: float,
    text: str,
    size: float,
    *,
    ink: str = "#111111",
    anchor: str = "start",
    bold: bool = False,
    kind: str = "ink",
    full: str = "",
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    title = f"<title>{escape(full)}</title>" if full else ""
    if ink == "#ffffff":
        kind = "reverse"
    return (
        f'<text class="{kind}" x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}" fill="{ink}"'
        f"{where}{weight}>{title}{escape(text)}</text>"
    )
