"""A network with matplotlib: its SVG, shape by shape, on axes of any size.

Texts are drawn as outlines in the picture's own units, so that they keep their places and sizes
whatever the axes' size.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from credo.core.drawing.svg import text_width
from credo.plot.axes import axes, entry
from credo.plot.networks.svg import network_svg

_LARGEST = 40.0  # inches of a new figure
_ROOM = {"normal": 0.9, "bold": 1.0}  # of the estimated width of a text: what it may take


def network(model: Any, ax: Any = None, **options: Any) -> Any:
    """A network: bars of what is believed in each node, observed nodes shaded.

    The options are those of `cr.plot.network_svg`: `given`, `around`, `radius`, `bars`,
    `strengths`, `title`. New axes are as large as the picture needs.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> ax = network(net, given={"wet": True})
    >>> len([p for p in ax.patches if p.get_gid() == "observed"])
    1
    """
    root = ElementTree.fromstring(network_svg(model, **options))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    new, ax = ax is None, axes(ax)
    if new:
        inches = min(1 / 72, _LARGEST / max(width, height))
        ax.figure.set_size_inches(max(width * inches, 1.0), max(height * inches, 1.0))
        ax.figure.set_layout_engine("none")
        ax.set_position((0.0, 0.0, 1.0, 1.0))
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.set_aspect("equal")
    ax.set_axis_off()
    box = ax.get_window_extent()
    points = min(box.width / width, box.height / height) * 72 / ax.figure.dpi  # of a pixel
    texts: dict[str, list[Any]] = {}
    for group in root:
        for element in (group, *group):
            if element.tag.endswith("text"):
                texts.setdefault(element.attrib["fill"], []).append(_outline(element))
            elif (patch := _patch(element, group)) is not None:
                patch.set_linewidth(float(element.get("stroke-width", 1.0)) * points)
                ax.add_artist(patch)
    _write(ax, texts)
    return ax


def _patch(element: Any, group: Any) -> Any:
    """A box, a line or the head of an arrow; None for what is none."""
    from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon
    from matplotlib.path import Path

    known, tag = element.attrib, element.tag.rpartition("}")[2]
    if tag not in ("rect", "path", "polygon") or known.get("class") == "paper":
        return None
    colours = {"facecolor": known["fill"], "edgecolor": known.get("stroke", "none")}
    if tag == "rect":
        corner, kind = float(known.get("rx", 0)), known["class"]
        return FancyBboxPatch(
            (float(known["x"]), float(known["y"])),
            float(known["width"]),
            float(known["height"]),
            boxstyle=f"round,pad=0,rounding_size={corner}" if corner else "square,pad=0",
            linestyle="--" if "stroke-dasharray" in known else "-",
            gid=group.get("class") if kind == "box" else kind,
            **colours,
        )
    if tag == "polygon":
        return Polygon(_points(known["points"]), closed=True, **colours)
    code = {"M": Path.MOVETO, "L": Path.LINETO, "C": Path.CURVE4}
    steps = [(code[s], _points(rest)) for s, rest in re.findall("([MLC])([^MLC]*)", known["d"])]
    ends = [p for _, step in steps for p in step]
    way = Path(ends, [s for s, step in steps for _ in step])
    return PathPatch(way, gid="edge", **colours)


def _points(text: str) -> list[tuple[float, ...]]:
    return [tuple(map(float, point.split(","))) for point in text.split()]


def _outline(element: Any) -> Any:
    """A text as an outline on its base line, made narrower if it would not fit."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    known, text = element.attrib, (element[0].tail if len(element) else element.text) or ""
    size = float(known["font-size"])
    weight = known.get("font-weight", "normal")
    font = FontProperties(family="sans-serif", weight=weight)
    outline = TextPath((0, 0), entry(text), size=size, prop=font, usetex=False)
    need = float(outline.vertices[:, 0].max()) if len(outline.vertices) else 0.0
    squeeze = min(1.0, _ROOM[weight] * text_width(text, size) / need) if need > 0 else 1.0
    start = {"start": 0.0, "middle": 0.5, "end": 1.0}[known.get("text-anchor", "start")]
    move = Affine2D().scale(squeeze, -1.0)
    move.translate(float(known["x"]) - start * need * squeeze, float(known["y"]))
    return move.transform_path(outline)


def _write(ax: Any, texts: dict[str, list[Any]]) -> None:
    """All outlines of one colour at once: thousands of texts stay quick."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    for ink, outlines in texts.items():
        whole = Path.make_compound_path(*(found for found in outlines if len(found.vertices)))
        ax.add_artist(PathPatch(whole, facecolor=ink, linewidth=0, gid="text"))
