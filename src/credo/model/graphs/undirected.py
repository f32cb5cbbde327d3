"""Undirected graphs: the shape of a Markov network, the skeleton of a DAG and its moral graph.

The skeleton forgets the arrows. The moral graph also joins ("marries") the parents of each
node; what separates two nodes there, among the ancestors of all that is asked about, is what
d-separates them in the DAG (Lauritzen & Spiegelhalter 1988).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from credo.core.drawing.dot import graph_dot
from credo.core.drawing.undirected import undirected_svg
from credo.core.errors import InputError
from credo.model.graphs.cliques import is_chordal, maximal_cliques
from credo.model.graphs.nodes import Edge, Names, Nodes
from credo.model.graphs.paths import Reason, reason
from credo.model.graphs.refusals import checked_nodes
from credo.model.graphs.separation import open_path

__all__ = ["UndirectedGraph"]


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class UndirectedGraph(Nodes):
    """Nodes and the pairs that are joined; a pair has no direction.

    >>> g = UndirectedGraph([("A", "B"), ("B", "C")], nodes=["A", "B", "C", "D"])
    >>> print(g)
    A — B, B — C, D
    >>> g.neighbours("B"), g.components
    (('A', 'C'), (('A', 'B', 'C'), ('D',)))
    >>> g == UndirectedGraph([("C", "B"), ("B", "A")], nodes=["D"])
    True
    """

    _near: tuple[tuple[int, ...], ...]

    def __init__(self, edges: Iterable[Edge], nodes: Iterable[str] = ()) -> None:
        pairs = [_pair(e) for e in edges]
        names = tuple(dict.fromkeys([*checked_nodes(nodes), *(n for e in pairs for n in e)]))
        index = {n: i for i, n in enumerate(names)}
        near: list[set[int]] = [set() for _ in names]
        kept = []
        for a, b in pairs:
            if index[b] not in near[index[a]]:
                near[index[a]].add(index[b])
                near[index[b]].add(index[a])
                kept.append((a, b))
        object.__setattr__(self, "nodes", names)
        object.__setattr__(self, "edges", tuple(kept))
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "_near", tuple(tuple(sorted(w)) for w in near))

    def _key(self) -> tuple[Any, ...]:
        return frozenset(self.nodes), frozenset(map(frozenset, self.edges))

    def neighbours(self, node: str) -> tuple[str, ...]:
        """The nodes joined to `node`, in the order of the nodes."""
        return self._named(self._near[self._at(node)])

    @property
    def components(self) -> tuple[tuple[str, ...], ...]:
        """The parts that no edge joins, each in the order of the nodes."""
        out, placed = [], set()
        for start in range(len(self)):
            if start in placed:
                continue
            part, line = {start}, [start]
            for v in line:
                line += [w for w in self._near[v] if w not in part]
                part.update(self._near[v])
            placed |= part
            out.append(self._named(sorted(part)))
        return tuple(out)

    # --- independence ---------------------------------------------------------------------

    @property
    def adjacency(self) -> list[list[int]]:
        """For each node, by position, the positions of its neighbours."""
        return [list(row) for row in self._near]

    def separated(self, x: Names, y: Names, given: Names = ()) -> bool:
        """Whether every path from `x` to `y` passes through what is observed.

        >>> square = UndirectedGraph([("A", "B"), ("B", "C"), ("C", "D"), ("D", "A")])
        >>> square.separated("A", "C", given="B"), square.separated("A", "C", given=["B", "D"])
        (False, True)
        """
        return not open_path(self._near, *self._three(x, y, given))

    def why(self, x: Names, y: Names, given: Names = (), *, paths: int = 10) -> Reason:
        """Why `x` and `y` are separated by `given` or not: an open path, or what blocks each.

        >>> square = UndirectedGraph([("A", "B"), ("B", "C"), ("C", "D"), ("D", "A")])
        >>> print(square.why("A", "C", given=["B", "D"]))
        A ⊥ C | B, D: every path between them is blocked.
          A — B — C
            blocked at B: observed
          A — D — C
            blocked at D: observed
        >>> print(square.why("A", "C", given="B"))
        A and C may depend on each other given B, by this path:
          A — D — C
            open at D: not observed
        """
        a, b, z = self._three(x, y, given)
        return reason(self, a, b, z, paths)

    @property
    def cliques(self) -> tuple[tuple[str, ...], ...]:
        """The maximal cliques: sets of nodes of which each is joined to each.

        >>> UndirectedGraph([("A", "B"), ("B", "C"), ("A", "C"), ("C", "D")]).cliques
        (('A', 'B', 'C'), ('C', 'D'))
        """
        found = maximal_cliques([set(row) for row in self._near])
        return tuple(self._named(c) for c in found)

    @property
    def is_chordal(self) -> bool:
        """Whether every cycle of four or more nodes has a chord.

        >>> UndirectedGraph([("A", "B"), ("B", "C"), ("C", "D"), ("D", "A")]).is_chordal
        False
        """
        return is_chordal([set(row) for row in self._near])

    # --- pictures -------------------------------------------------------------------------

    def svg(self, *, observed: Names = (), widths: Mapping[Edge, float] | None = None) -> str:
        """The graph as SVG text; `observed` nodes are shaded.

        >>> UndirectedGraph([("A", "B")]).svg(observed="B").count("<polygon")
        0
        """
        shaded = self._named(self._all_at(observed))
        return undirected_svg(self.nodes, self.edges, observed=shaded, widths=widths)

    def dot(self, *, observed: Names = ()) -> str:
        """The graph in the DOT language.

        >>> print(UndirectedGraph([("A", "B")]).dot())
        graph {
          "A";
          "B";
          "A" -- "B";
        }
        """
        shaded = self._named(self._all_at(observed))
        return graph_dot(self.nodes, self.edges, observed=shaded, directed=False)

    def _repr_html_(self) -> str:
        return self.svg()

    def to_networkx(self) -> Any:
        """The same nodes and edges as a networkx `Graph`.

        >>> UndirectedGraph([("A", "B")]).to_networkx().number_of_edges()
        1
        """
        from credo.model.graphs.networkx_graph import networkx_graph

        return networkx_graph(self.nodes, self.edges, directed=False)

    def __str__(self) -> str:
        alone = [n for n, near in zip(self.nodes, self._near, strict=True) if not near]
        return ", ".join([*(f"{a} — {b}" for a, b in self.edges), *alone])

    def __repr__(self) -> str:
        return f"UndirectedGraph({list(self.edges)!r}, nodes={list(self.nodes)!r})"


def _pair(edge: object) -> Edge:
    """One edge as two different names."""
    if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 2:
        raise InputError(f"An edge must be a pair of names, got {edge!r}.")
    a, b = checked_nodes([edge[0]])[0], checked_nodes([edge[1]])[0]
    if a == b:
        raise InputError(f"The edge {a} — {b} is a loop: an edge joins two different nodes.")
    return a, b
