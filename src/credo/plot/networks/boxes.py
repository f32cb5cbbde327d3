"""The network as the page draws it: what each variable is, and where its box and its edges lie.

The layout is that of every picture of this package, made once and sent once.
"""

from __future__ import annotations

from typing import Any

from credo.core.drawing.edges import Way, ways
from credo.core.drawing.layout import layout
from credo.core.drawing.svg import text_width
from credo.core.schema import Variable
from credo.core.state_values import readable
from credo.model.networks.network import Network

__all__ = ["MOST_STATES", "is_number", "picture"]

MOST_STATES = 12
"""States that a box shows; the panel shows all."""

_HEAD, _ROW, _FOOT, _DENSITY = 26.0, 18.0, 6.0, 58.0
_NARROW, _WIDE = 170.0, 280.0
_BAR = 134.0  # the mark left of the state, the bar and its number right of it


def is_number(variable: Variable) -> bool:
    """Whether a variable is shown as a density: it is continuous, or in bins."""
    return not variable.is_discrete or variable.scale is not None


def picture(net: Network) -> dict[str, Any]:
    """The variables with their boxes, and the edges with their ways, as JSON.

    >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> drawn = picture(net)
    >>> [(n["name"], n["states"]) for n in drawn["nodes"]]
    [('rain', ['False', 'True']), ('wet', ['False', 'True'])]
    >>> drawn["edges"][0]["from"], drawn["edges"][0]["to"]
    ('rain', 'wet')
    """
    at = {name: i for i, name in enumerate(net.names)}
    pairs = [(at[a], at[b]) for a, b in net.dag.edges]
    texts = [_states(v) for v in net.variables]
    widths = [_width(v.name, t) for v, t in zip(net.variables, texts, strict=True)]
    heights = [
        _HEAD + (_DENSITY if is_number(v) else _ROW * min(len(t), MOST_STATES + 1)) + _FOOT
        for v, t in zip(net.variables, texts, strict=True)
    ]
    found = layout(widths, pairs, heights=heights, corner=6.0)
    nodes = []
    for i, (variable, states) in enumerate(zip(net.variables, texts, strict=True)):
        box = found.nodes[i]
        nodes.append(
            {
                "name": variable.name,
                "number": is_number(variable),
                "states": states,
                "x": round(box.x - box.width / 2, 1),
                "y": round(box.y - box.height / 2, 1),
                "width": round(box.width, 1),
                "height": round(box.height, 1),
                "parents": list(net.dag.parents(variable.name)),
                "blanket": list(net.dag.markov_blanket(variable.name)),
            }
        )
    drawn = ways(found, pairs, [1.4] * len(pairs))
    edges = [
        {"from": a, "to": b, "path": _path(way), "head": _points(way)}
        for (a, b), way in zip(net.dag.edges, drawn, strict=True)
    ]
    return {"nodes": nodes, "edges": edges, "width": found.width, "height": found.height}


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
