"""A network with matplotlib: the same picture as the SVG, on axes of any size.

Texts are drawn as outlines in the picture's own units, so that they keep their places and sizes
whatever the axes' size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from credo.plot.axes import axes, entry
from credo.plot.networks.scene import BAR, HEAD, PAD, ROW, SHARE, Line, Node, Scene, scene
from credo.plot.networks.svg import percent

__all__ = ["network"]

_INK = "#111111"
_Texts = dict[str, list[Any]]  # outlines by colour
_LARGEST = 40.0  # inches of a new figure


def network(
    model: Any,
    ax: Any = None,
    *,
    given: Mapping[str, Any] | None = None,
    around: str | None = None,
    radius: int = 1,
    bars: bool | None = None,
    strengths: Any = None,
    title: str = "",
) -> Any:
    """A network: bars of what is believed in each node, observed nodes shaded.

    The options are those of `cr.plot.network_svg`. New axes are as large as the picture needs.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> ax = network(net, given={"wet": True})
    >>> len([p for p in ax.patches if p.get_gid() == "observed"])
    1
    """
    found = scene(
        model,
        given=given,
        around=around,
        radius=radius,
        bars=bars,
        strengths=strengths,
        title=title,
    )
    if ax is None:
        ax = _new(found)
    ax = axes(ax)
    ax.set_xlim(0, found.width)
    ax.set_ylim(found.height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    texts: _Texts = {}
    top = 24.0
    for text, size in ((found.title, 16.0), (found.note, 12.0)):
        if text:
            _text(texts, found.width / 2, top, text, size, "middle", wide=found.width)
            top += 20.0
    _edges(ax, found)
    for node in found.nodes:
        _node(ax, texts, node, found.font)
    _write(ax, texts)
    return ax


def _new(found: Scene) -> Any:
    axes_of = axes(None)  # says what is lacking if matplotlib is
    figure = axes_of.figure
    scale = min(1 / 72, _LARGEST / max(found.width, found.height))
    figure.set_size_inches(max(found.width * scale, 1.0), max(found.height * scale, 1.0))
    figure.set_layout_engine("none")
    axes_of.set_position((0.0, 0.0, 1.0, 1.0))
    return axes_of


def _edges(ax: Any, found: Scene) -> None:
    from matplotlib.patches import PathPatch, Polygon
    from matplotlib.path import Path

    scale = _points(ax, found)
    for way, stroke, _ in found.edges:
        points, codes = [way.start], [Path.MOVETO]
        for step in way.steps:
            points += step
            codes += [Path.LINETO if len(step) == 1 else Path.CURVE4] * len(step)
        line = PathPatch(Path(points, codes), fill=False, edgecolor="#444444", gid="edge")
        line.set_linewidth(stroke * scale)
        ax.add_artist(line)
        if way.head is not None:
            fill, edge = ("#ffffff", 0.8) if way.hollow else ("#444444", 0.0)
            head = Polygon(way.head, closed=True, facecolor=fill, edgecolor="#444444")
            head.set_linewidth(edge * scale)
            ax.add_artist(head)


def _points(ax: Any, found: Scene) -> float:
    """How many points a pixel of the picture is, on axes of this size."""
    box = ax.get_window_extent()
    wide, tall = box.width / found.width, box.height / found.height
    return float(min(wide, tall) * 72 / ax.figure.dpi)


def _node(ax: Any, texts: _Texts, node: Node, font: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    box = node.box
    left, top = box.x - box.width / 2, box.y - box.height / 2
    fill = {"observed": "#d9d9d9", "node": "#ffffff", "factor": "#444444"}[node.kind]
    corner = 0.0 if node.kind == "factor" else box.corner
    style = f"round,pad=0,rounding_size={corner}" if corner else "square,pad=0"
    ax.add_artist(
        FancyBboxPatch(
            (left, top), box.width, box.height, boxstyle=style, facecolor=fill,
            edgecolor="#333333", linewidth=2.0 if node.centre else 0.8,
            linestyle="--" if node.hidden else "-", gid=node.kind,
        )
    )  # fmt: skip
    room = box.width - 2 * PAD
    if not node.lines:
        ink = "#ffffff" if node.kind == "factor" else _INK
        _text(
            texts, box.x, box.y + font * 0.36, node.label, font, "middle", wide=room + 10, ink=ink
        )
        return
    _text(texts, box.x, top + 17, node.label, font, "middle", wide=room, bold=True)
    for i, line in enumerate(node.lines):
        _line(ax, texts, line, left, top + HEAD + ROW * i, box.width)


def _line(ax: Any, texts: _Texts, line: Line, left: float, top: float, wide: float) -> None:
    from matplotlib.patches import Rectangle

    base = top + 12
    room = wide - 2 * PAD - (BAR + SHARE + 6 if line.share is not None else 0)
    _text(texts, left + PAD, base, line.text, 11.5, "start", wide=room, bold=line.seen)
    if line.share is None:
        return
    at = left + wide - PAD - SHARE - BAR
    colour = "#555555" if line.seen else "#3b78b5"
    ax.add_artist(Rectangle((at, top + 3), BAR, 10, facecolor="#e8edf2", linewidth=0))
    ax.add_artist(
        Rectangle((at, top + 3), BAR * line.share, 10, facecolor=colour, linewidth=0, gid="bar")
    )
    _text(texts, left + wide - PAD, base, percent(line.share), 10.5, "end", wide=SHARE - 4)


def _write(ax: Any, texts: _Texts) -> None:
    """All outlines of one colour at once: thousands of texts stay quick."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    for ink, outlines in texts.items():
        whole = Path.make_compound_path(*outlines)
        ax.add_artist(PathPatch(whole, facecolor=ink, linewidth=0, gid="text"))


def _text(
    texts: _Texts,
    x: float,
    y: float,
    text: str,
    size: float,
    anchor: str,
    *,
    wide: float,
    bold: bool = False,
    ink: str = _INK,
) -> None:
    """A text as an outline whose base line is at `y`, made narrower if it would not fit."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    font = FontProperties(family="sans-serif", weight="bold" if bold else "normal")
    outline = TextPath((0, 0), entry(text), size=size, prop=font, usetex=False)
    if not len(outline.vertices):
        return
    need = float(outline.vertices[:, 0].max())
    squeeze = min(1.0, wide / need) if need > 0 else 1.0
    start = {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * need * squeeze
    move = Affine2D().scale(squeeze, -1.0).translate(x - start, y)
    texts.setdefault(ink, []).append(move.transform_path(outline))
