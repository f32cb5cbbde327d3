"""The picture of a network before it is drawn: boxes with their lines of text and bars.

Small networks show in each node what is believed of it; large ones only its name. A node that is
observed is shaded. Sizes are in pixels; `credo.plot.networks.svg` draws.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from credo.core.drawing.edges import Way, ways
from credo.core.drawing.layout import HEIGHT, Box, layout
from credo.core.drawing.svg import clean, text_width
from credo.core.errors import CredoError, CredoWarning, InputError
from credo.plot.networks.view import View, strokes, view

MOST_BARS = 64
"""Networks of at most this many nodes show beliefs inside their nodes unless told otherwise."""

REVERSIBLE = "open heads: arrows that could as well point the other way"
"""The legend of a learned graph with arrows that rows could not decide."""

_SMALL = 150  # above this many nodes, they are drawn small
_STATES = 6  # states of a variable that are shown
HEAD, ROW, PAD = 24.0, 17.0, 9.0
BAR, SHARE = 54.0, 42.0
_STATE_WIDE, _NAME_WIDE = 96.0, 210.0


@dataclass(frozen=True, slots=True)
class Line:
    """One line in a node: a text; for a state also its probability, and whether it is seen."""

    text: str
    share: float | None = None
    seen: bool = False
    full: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """A node with its box, its label, its lines; `kind` is node, observed or factor."""

    name: str
    label: str
    box: Box
    kind: str
    lines: tuple[Line, ...] = ()
    hidden: int = 0
    centre: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that is drawn, with the size of the whole."""

    width: float
    height: float
    nodes: tuple[Node, ...]
    edges: tuple[tuple[Way, float, str], ...]
    font: float
    title: str
    note: str = ""


def cut(text: str, wide: float, size: float) -> str:
    """A text that is at most so wide, with … where something was left out.

    >>> cut("a very long name", 60, 12)
    'a very…'
    """
    line = clean(text)
    if text_width(line, size) <= wide:
        return line
    while line and text_width(line + "…", size) > wide:
        line = line[:-1]
    return line.rstrip() + "…"


def scene(
    model: Any,
    *,
    given: Mapping[str, Any] | None = None,
    around: str | None = None,
    radius: int = 1,
    bars: bool | None = None,
    strengths: Any = None,
    title: str = "",
    beliefs: Mapping[str, Any] | None = None,
) -> Scene:
    """Lay out a model, or a part of it; `beliefs` are its marginals if they are known already.

    >>> from credo.model.networks.network import Network
    >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> [line.share for line in scene(net).nodes[0].lines]
    [0.8, 0.2]
    """
    seen = view(model, around, radius)
    known = dict(given) if isinstance(given, Mapping) else _named(given)
    can = hasattr(model, "marginals")
    if bars and not can:
        raise InputError("Bars need a network with its tables, not a graph alone.")
    drawn = can and (len(seen.nodes) - len(seen.squares) <= MOST_BARS if bars is None else bars)
    note = ""
    lines: dict[str, tuple[Line, ...]] = {}
    if drawn:
        lines, note = _beliefs(model, seen, known, beliefs)
    if seen.reversible:
        note = "; ".join([*([note] if note else []), REVERSIBLE])
    widths, said = strokes(model, seen, strengths)
    return _laid_out(seen, around, set(known), lines, widths, said, title, note)


def _named(given: Any) -> dict[str, Any]:
    """A graph alone has no states: the names of the observed nodes are enough."""
    if given is None:
        return {}
    names = (given,) if isinstance(given, str) else given
    return dict.fromkeys(names)


# --- what each node says -------------------------------------------------------------------


def _beliefs(
    model: Any, seen: View, known: Mapping[str, Any], beliefs: Mapping[str, Any] | None
) -> tuple[dict[str, tuple[Line, ...]], str]:
    note = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CredoWarning)
        found = model.marginals(given=known) if beliefs is None else beliefs
        if any(getattr(d, "approximation", None) is not None for d in found.values()):
            note = "probabilities are approximate"
        out = {}
        for name in seen.nodes:
            if name in seen.squares:
                continue
            if name in known and name not in found:
                out[name] = _evidence(model.variable(name), known[name])
            else:
                out[name] = _belief(model, name, found.get(name), known)
    return out, note


def _evidence(variable: Any, value: Any) -> tuple[Line, ...]:
    if not variable.is_discrete or (variable.scale and isinstance(value, (int, float))):
        text = f"= {value:.5g}" if isinstance(value, (int, float, np.number)) else f"= {value}"
        return (Line(clean(text), None, True),)
    shares = [0.0] * variable.arity
    try:
        shares[variable.code(value)] = 1.0
    except CredoError:  # soft evidence has no one state
        return (Line(clean(f"evidence {value}"), None, True),)
    return _state_lines(variable.states, shares, True)


def _belief(model: Any, name: str, found: Any, known: Mapping[str, Any]) -> tuple[Line, ...]:
    if found is None:
        try:
            found = model.p(name, given=known)
        except CredoError:
            return (Line("continuous"),)
    p = getattr(found, "p", None)
    if isinstance(p, np.ndarray) and p.ndim == 1 and model.variable(name).is_discrete:
        return _state_lines(model.variable(name).states, p.tolist(), False)
    mean, sd = _number(found, "mean"), _number(found, "sd")
    if sd is None:
        variance = _number(found, "variance")
        sd = None if variance is None else variance**0.5
    if mean is None or sd is None:
        return (Line("continuous"),)
    return Line(f"mean {mean:.4g}"), Line(f"sd {sd:.4g}")


def _number(found: Any, what: str) -> float | None:
    value = getattr(found, what, None)
    value = value() if callable(value) else value
    return float(value) if isinstance(value, (int, float, np.number)) else None


def _state_lines(states: Sequence[Any], p: Sequence[float], seen: bool) -> tuple[Line, ...]:
    """A line for each state; of many the most probable ones, in their order, and the rest."""
    shown = range(len(states))
    if len(states) > _STATES:
        top = sorted(shown, key=lambda i: (-p[i], i))[: _STATES - 1]
        kept = sorted(top)
        rest = 1.0 - sum(p[i] for i in kept)
        lines = [_state(states[i], p[i], seen) for i in kept]
        more = Line(f"… {len(states) - len(kept)} more", min(max(rest, 0.0), 1.0), False)
        return (*lines, more)
    return tuple(_state(states[i], p[i], seen) for i in shown)


def _state(state: Any, p: float, seen: bool) -> Line:
    full = clean(str(state))
    text = cut(full, _STATE_WIDE, 11.5)
    return Line(text, float(p), seen and p == 1.0, full if full != text else "")


# --- where everything is ---------------------------------------------------------------------


def _laid_out(
    seen: View,
    centre: str | None,
    known: set[str],
    lines: Mapping[str, tuple[Line, ...]],
    widths: Sequence[float],
    said: Mapping[tuple[str, str], str],
    title: str,
    note: str,
) -> Scene:
    small = not lines and len(seen.nodes) > _SMALL
    font = 9.0 if small else 13.0
    labels = [cut(n, 90.0 if small else _NAME_WIDE, font) for n in seen.nodes]
    if lines:
        sizes = [_size(t, lines.get(n, ()), font) for n, t in zip(seen.nodes, labels, strict=True)]
    elif small:
        sizes = [(text_width(t, font) + 8, 16.0) for t in labels]
    else:
        sizes = [(max(HEIGHT, text_width(t, font) + 22), HEIGHT) for t in labels]
    index = {name: i for i, name in enumerate(seen.nodes)}
    pairs = [(index[a], index[b]) for a, b in seen.edges]
    corner, most = (6.0, 9) if lines else (5.0, None) if small else (None, None)
    found = layout([w for w, _ in sizes], pairs, (), [h for _, h in sizes], corner, most)
    top = (26.0 if title else 0.0) + (18.0 if note else 0.0)
    margin = 12.0
    heading = max(text_width(title, 16), text_width(note, 12), 0.0)
    width = max(found.width, heading) + 2 * margin
    dx, dy = (width - found.width) / 2, margin + top
    found.nodes = {v: box.moved(dx, dy) for v, box in found.nodes.items()}
    found.ways = {e: [(x + dx, y + dy) for x, y in way] for e, way in found.ways.items()}
    square = set(seen.squares)
    nodes = tuple(
        Node(
            name,
            labels[i],
            found.nodes[i],
            "factor" if name in square else "observed" if name in known else "node",
            tuple(lines.get(name, ())),
            seen.hidden.get(name, 0),
            name == centre,
        )
        for i, name in enumerate(seen.nodes)
    )
    made = ways(found, pairs, widths, seen.arrows)
    edges = tuple(
        (replace(way, hollow=edge in seen.reversible), stroke, said.get(edge, ""))
        for way, stroke, edge in zip(made, widths, seen.edges, strict=True)
    )
    return Scene(width, found.height + 2 * margin + top, nodes, edges, font, clean(title), note)


def _size(label: str, lines: Sequence[Line], font: float) -> tuple[float, float]:
    wide = text_width(label, font) * 1.08 + 2 * PAD  # names are bold
    for line in lines:
        need = text_width(line.text, 11.5)
        if line.share is not None:
            need += 6 + BAR + SHARE
        wide = max(wide, need + 2 * PAD)
    return max(wide, 48.0), HEAD + ROW * len(lines) + (6.0 if lines else 4.0)
