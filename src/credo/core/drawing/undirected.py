"""A picture of an undirected graph: the layers of a directed one, drawn without arrows.

Each part starts from its first node, and nodes further away come lower: a chain is a line, a grid
a diamond.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from credo.core.drawing.svg import graph_svg
from credo.core.errors import InputError

Edge = tuple[str, str]


def undirected_svg(
    nodes: Sequence[str],
    edges: Sequence[Edge],
    *,
    observed: Sequence[str] = (),
    widths: Mapping[Edge, float] | None = None,
    squares: Sequence[str] = (),
    title: str = "",
) -> str:
    """The picture of nodes and pairs that have no direction.

    >>> undirected_svg(["A", "B"], [("B", "A")]).count("<path")
    1
    """
    pairs = downwards(nodes, edges)
    turned = dict(zip(map(frozenset, pairs), pairs, strict=True))
    wide = {}
    for edge, width in (widths or {}).items():
        if frozenset(edge) not in turned:
            raise InputError(f"The edge {' — '.join(edge)} is not in the graph.")
        wide[turned[frozenset(edge)]] = width
    return graph_svg(
        nodes, pairs, observed=observed, widths=wide, title=title, arrows=False, squares=squares
    )


def downwards(nodes: Sequence[str], edges: Sequence[Edge]) -> list[Edge]:
    """The pairs turned so that each points away from the first node of its part.

    >>> downwards(["A", "B", "C"], [("B", "A"), ("C", "B")])
    [('A', 'B'), ('B', 'C')]
    """
    near: dict[str, list[str]] = {n: [] for n in nodes}
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    rank: dict[str, int] = {}
    for node in nodes:
        if node not in rank:
            for n in _walk(near, node):
                rank[n] = len(rank)
    return [(a, b) if rank[a] < rank[b] else (b, a) for a, b in edges]


def _walk(near: Mapping[str, Sequence[str]], start: str) -> list[str]:
    """The nodes that can be reached, nearest first."""
    line, seen = [start], {start}
    for v in line:
        for w in near[v]:
            if w not in seen:
                seen.add(w)
                line.append(w)
    return line
