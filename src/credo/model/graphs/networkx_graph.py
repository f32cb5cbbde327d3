"""Graphs for networkx, which is needed only when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from credo.core.errors import MissingPackageError

__all__ = ["networkx_graph"]


def networkx_graph(
    nodes: Sequence[str], edges: Sequence[tuple[str, str]], *, directed: bool
) -> Any:
    """A networkx `DiGraph` or `Graph`.

    >>> networkx_graph(["A", "B"], [("A", "B")], directed=False).is_directed()
    False
    """
    try:
        networkx = import_module("networkx")
    except ImportError:
        raise MissingPackageError(
            "A networkx graph needs networkx, which is not installed.",
            hint="pip install networkx",
        ) from None
    graph = networkx.DiGraph() if directed else networkx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    return graph
