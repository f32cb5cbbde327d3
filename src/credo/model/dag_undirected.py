"""Undirected graphs: the skeleton of a DAG and its moral graph.

The skeleton forgets the arrows. The moral graph also joins ("marries") the parents of each
node; what separates two nodes there, among the ancestors of all that is asked about, is what
d-separates them in the DAG (Lauritzen & Spiegelhalter 1988).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from credo.errors import unknown_name
from credo.model.dag_check import checked_edge, checked_nodes

__all__ = ["UndirectedGraph"]

Edge = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class UndirectedGraph:
    """Nodes and the pairs that are joined; a pair has no direction.

    >>> g = UndirectedGraph([("A", "B"), ("B", "C")], nodes=["A", "B", "C", "D"])
    >>> print(g)
    A — B, B — C, D
    >>> g.neighbours("B"), g.components
    (('A', 'C'), (('A', 'B', 'C'), ('D',)))
    >>> g == UndirectedGraph([("C", "B"), ("B", "A")], nodes=["D"])
    True
    """

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    _near: dict[str, dict[str, None]]

    def __init__(self, edges: Iterable[Edge], nodes: Iterable[str] = ()) -> None:
        pairs = [checked_edge(e) for e in edges]
        names = dict.fromkeys([*checked_nodes(nodes), *(n for e in pairs for n in e)])
        near: dict[str, dict[str, None]] = {n: {} for n in names}
        kept = []
        for a, b in pairs:
            if b not in near[a]:
                near[a][b] = near[b][a] = None
                kept.append((a, b))
        object.__setattr__(self, "nodes", tuple(names))
        object.__setattr__(self, "edges", tuple(kept))
        object.__setattr__(self, "_near", near)

    def __reduce__(self) -> tuple[type[UndirectedGraph], tuple[object, ...]]:
        return type(self), (self.edges, self.nodes)

    def neighbours(self, node: str) -> tuple[str, ...]:
        """The nodes joined to `node`, in the order of the nodes."""
        if node not in self._near:
            raise unknown_name("Node", node, self.nodes, "in the graph")
        near = self._near[node]
        return tuple(n for n in self.nodes if n in near)

    @property
    def components(self) -> tuple[tuple[str, ...], ...]:
        """The parts that no edge joins, each in the order of the nodes."""
        part: dict[str, int] = {}
        for start in self.nodes:
            if start in part:
                continue
            number, line = len(part), [start]
            part[start] = number
            for v in line:
                for w in self._near[v]:
                    if w not in part:
                        part[w] = number
                        line.append(w)
        out: dict[int, list[str]] = {}
        for n in self.nodes:
            out.setdefault(part[n], []).append(n)
        return tuple(tuple(c) for c in out.values())

    def _key(self) -> tuple[frozenset[str], frozenset[frozenset[str]]]:
        return frozenset(self.nodes), frozenset(frozenset(e) for e in self.edges)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UndirectedGraph):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        alone = [n for n in self.nodes if not self._near[n]]
        return ", ".join([*(f"{a} — {b}" for a, b in self.edges), *alone])

    def __repr__(self) -> str:
        return f"UndirectedGraph({list(self.edges)!r}, nodes={list(self.nodes)!r})"
