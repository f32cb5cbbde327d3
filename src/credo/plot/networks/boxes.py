"""The network as the page draws it: what each variable is, and where its box and its edges lie.

The layout is that of every picture of this package, made once and sent once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from credo.core.drawing.edges import Way, ways
from credo.core.drawing.layout import layout
from credo.core.drawing.svg import text_width
from credo.core.schema import Variable
from credo.core.state_values import readable
from credo.model.networks.network import Network

__all__ = ["MOST_STATES", "is_number", "picture", "sketch"]

MOST_STATES = 12
"""States that a box shows; the panel shows all."""

_HEAD, _ROW, _FOOT, _DENSITY = 26.0, 18.0, 6.0, 58.0
_NARROW, _WIDE = 170.0, 280.0
_BAR = 134.0  # the mark left of the state, the bar and its number right of it


def is_number(variable: Variable) -> bool:
    """Whether a variable is shown as a density: it is continuous, or in bins."""
    return not variable.is_discrete or variable.scale is not None


def picture(net: Network, *, names: bool = False) -> dict[str, Any]:
    """The variables with their boxes, and the edges with their ways, as JSON.

    With `names=True` a box holds a name and nothing else, so that more of them are seen.

    >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> drawn = picture(net)
    >>> [(n["name"], n["states"]) for n in drawn["nodes"]]
    [('rain', ['False', 'True']), ('wet', ['False', 'True'])]
    >>> drawn["edges"][0]["from"], drawn["edges"][0]["to"]
    ('rain', 'wet')
    """
    texts = [_states(v) for v in net.variables]
    widths = [
        text_width(v.name, 13) + 16 if names else _width(v.name, t)
        for v, t in zip(net.variables, texts, strict=True)
    ]
    heights = [
        _HEAD
        if names
        else _HEAD + (_DENSITY if is_number(v) else _ROW * min(len(t), MOST_STATES + 1)) + _FOOT
        for v, t in zip(net.variables, texts, strict=True)
    ]
    drawn = _drawn(net.names, net.dag.edges, widths, heights)
    for node, variable, states in zip(drawn["nodes"], net.variables, texts, strict=True):
        node["number"] = is_number(variable)
        node["states"] = states
        node["parents"] = list(net.dag.parents(variable.name))
        node["blanket"] = list(net.dag.markov_blanket(variable.name))
    return drawn


def sketch(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """A graph alone: names in small boxes, and the edges.

    >>> [n["name"] for n in sketch(["a", "b"], [("a", "b")])["nodes"]]
    ['a', 'b']
    """
    widths = [min(_WIDE, max(56.0, text_width(n, 13) + 20)) for n in names]
    return _drawn(names, edges, widths, [_HEAD] * len(names))


def _drawn(
    names: Sequence[str],
    edges: Sequence[tuple[str, str]],
    widths: list[float],
    heights: list[float],
) -> dict[str, Any]:
    at = {name: i for i, name in enumerate(names)}
    pairs = [(at[a], at[b]) for a, b in edges]
    found = layout(widths, pairs, heights=heights, corner=6.0)
    boxes = [found.nodes[i] for i in range(len(names))]
    return {
        "nodes": [
            {
                "name": name,
                "x": round(box.x - box.width / 2, 1),
                "y": round(box.y - box.height / 2, 1),
                "width": round(box.width, 1),
                "height": round(box.height, 1),
            }
            for name, box in zip(names, boxes, strict=True)
        ],
        "edges": [
            {"from": a, "to": b, "path": _path(way), "head": _points(way)}
            for (a, b), way in zip(edges, ways(found, pairs, [1.4] * len(pairs)), strict=True)
        ],
        "width": found.width,
        "height": found.height,
    }


def _states(variable: Variable) -> list[str]:
    return [] if is_number(variable) else [readable(s) for s in variable.states]


def _width(name: str, states: list[str]) -> float:
    inner = max([text_width(t, 12) + _BAR for t in states[:MOST_STATES]] or [_NARROW])
    return min(_WIDE, max(_NARROW, inner + 20, text_width(name, 13) + 30))


def _pair(point: tuple[float, float]) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"


def _path(way: Way) -> str:
    steps = (("L" if len(s) == 1 else "C") + " ".join(map(_pair, s)) for s in way.steps)
    return f"M{_pair(way.start)}{''.join(steps)}"


def _points(way: Way) -> str:
    return " ".join(map(_pair, way.head or ()))
