"""The picture of the network, with what is believed in each node when that stays readable."""

from __future__ import annotations

import warnings

from credo.core.errors import CredoError, CredoWarning
from credo.core.render import number
from credo.plot.networks.scene import MOST_BARS, scene
from credo.plot.networks.svg import Svg, network_svg, scene_svg
from credo.reports.markup import Html, folded, join, note, picture, table, tag
from credo.reports.page import Section
from credo.reports.subject import Subject

__all__ = ["network_section"]

_PARTS = 6  # Markov blankets drawn of a large network
_SHORT = 12  # edges that are listed unfolded
_LARGEST = 2_500  # nodes that are drawn at all


def network_section(subject: Subject) -> Section:
    """The graph, drawn whole; of a large one also the parts around its best joined nodes."""
    n = len(subject.model.names)
    parts: list[object] = [tag("div", join(_cards(subject)), class_="cards")]
    if n > _LARGEST:
        parts.append(note(f"{n:,} nodes are too many for one picture; parts of it follow."))
    else:
        svg, words = _whole(subject)
        button = Html(
            '<button type="button" data-fit="picture">Full size</button>' if n > 12 else ""
        )
        parts.append(tag("div", button, class_="tools") if button else "")
        parts.append(tag("div", picture(Html(svg), words), id="picture"))
    if n > MOST_BARS:
        parts.append(tag("h3", "Around the nodes with the most neighbours"))
        for name in _hubs(subject)[:_PARTS]:
            part = _part(subject, name)
            if part is not None:
                parts.append(folded(name, picture(Html(part)), is_open=False))
    parts.append(_edges(subject))
    return Section("network", "Network", join(parts))


def _edges(subject: Subject) -> Html:
    """The edges, the strongest first where that is known."""
    edges, bits = subject.edges, subject.strengths
    head = ["from", "to"] if subject.directed else ["one end", "other end"]
    head += ["bits"] if bits else []
    ranked = sorted(edges, key=lambda e: -bits.get(e, -1.0))[:5000]
    rows = [[*e, *([f"{bits[e]:.3g}" if e in bits else "–"] if bits else [])] for e in ranked]
    words = "Edges; bits are the mutual information of their ends" if bits else "Edges"
    title = "The one edge" if len(edges) == 1 else f"All {number(len(edges))} edges"
    title += ", strongest first" if bits else ""
    return folded(title, table(head, rows, right=[2], caption=words), is_open=len(edges) <= _SHORT)


def _cards(subject: Subject) -> list[Html]:
    model = subject.model
    cards = [(number(len(model.names)), "variables"), (number(len(subject.edges)), "edges")]
    if subject.directed:
        most = max((len(model.dag.parents(n)) for n in model.names), default=0)
        cards += [(number(model.free_parameters), "parameters"), (number(most), "parents at most")]
    else:
        cards.append((number(len(model.potentials)), "potentials"))
    record = model.record
    if record is not None and record.score is not None:
        cards.append((f"{record.score:.6g}", "score (natural logarithm)"))
    return [
        tag("div", join([tag("strong", value), tag("span", words)]), class_="card")
        for value, words in cards
    ]


def _whole(subject: Subject) -> tuple[Svg, str]:
    model, n = subject.model, len(subject.model.names)
    bars = n <= MOST_BARS
    strengths = (subject.strengths or None) if bars else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CredoWarning)
        try:
            beliefs = subject.beliefs if bars else None
            svg = scene_svg(scene(model, bars=bars, strengths=strengths, beliefs=beliefs))
        except CredoError:  # beliefs that cannot be had: the graph alone
            return network_svg(model, bars=False), "The graph."
    words = "Bars show the probability of each state when nothing is observed." if bars else ""
    if strengths:
        words += " Edges are as wide as the mutual information of their ends is large."
    if not bars:
        words = (
            f"All {n:,} nodes by name; the parts below show what is believed. "
            "Scroll in the picture at full size."
        )
    return svg, words.strip()


def _hubs(subject: Subject) -> list[str]:
    degree = dict.fromkeys(subject.model.names, 0)
    for a, b in subject.edges:
        degree[a] += 1
        degree[b] += 1
    return sorted(degree, key=lambda name: -degree[name])


def _part(subject: Subject, name: str) -> Svg | None:
    """The Markov blanket of a node, with bars if it is small enough to read."""
    from credo.plot.networks.view import view

    size = len(view(subject.model, name).nodes)
    if size > 80:
        return None
    try:
        beliefs = subject.beliefs if size <= MOST_BARS else None
        bars = beliefs is not None
        return scene_svg(scene(subject.model, around=name, bars=bars, beliefs=beliefs))
    except CredoError:
        return network_svg(subject.model, around=name, bars=False)
