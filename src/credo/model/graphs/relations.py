"""Who is whose parent: the nodes of a directed acyclic graph and the relations between them.

ancestors = parents, their parents, …;   descendants = children, their children, …
Markov blanket = parents, children, and the children's other parents
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from credo.model.graphs.nodes import Edge, Names, Nodes
from credo.model.graphs.refusals import checked_edges, checked_nodes, ordered
from credo.model.graphs.undirected import UndirectedGraph

__all__ = ["Edge", "Names", "Relations"]


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Relations(Nodes):
    """The nodes, the edges, and what follows from them; `Dag` adds the rest."""

    _parents: tuple[tuple[int, ...], ...]
    _children: tuple[tuple[int, ...], ...]
    _order: tuple[int, ...]

    def __init__(self, edges: Iterable[Edge], nodes: Iterable[str] | None = None) -> None:
        pairs = checked_edges(edges)
        first = checked_nodes(nodes) if nodes is not None else ()
        names = tuple(dict.fromkeys([*first, *(n for e in pairs for n in e)]))
        index = {n: i for i, n in enumerate(names)}
        parents: list[list[int]] = [[] for _ in names]
        children: list[list[int]] = [[] for _ in names]
        for a, b in pairs:
            parents[index[b]].append(index[a])
            children[index[a]].append(index[b])
        object.__setattr__(self, "nodes", names)
        object.__setattr__(self, "edges", pairs)
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "_parents", tuple(tuple(p) for p in parents))
        object.__setattr__(self, "_children", tuple(tuple(c) for c in children))
        object.__setattr__(self, "_order", ordered(names, parents, children))

    def _closure(self, start: Iterable[int], step: Sequence[Sequence[int]]) -> list[int]:
        """Every node that steps lead to, the start not counted unless it is led to."""
        seen: set[int] = set()
        line = list(start)
        while line:
            for v in step[line.pop()]:
                if v not in seen:
                    seen.add(v)
                    line.append(v)
        return sorted(seen)

    # --- relations ----------------------------------------------------------------------

    def parents(self, node: str) -> tuple[str, ...]:
        """The nodes with an edge to `node`, in the order the edges were given.

        >>> from credo.model.graphs.dag import Dag
        >>> Dag([("Burglary", "Alarm"), ("Earthquake", "Alarm")]).parents("Alarm")
        ('Burglary', 'Earthquake')
        """
        return self._named(self._parents[self._at(node)])

    def children(self, node: str) -> tuple[str, ...]:
        """The nodes that `node` has an edge to, in the order the edges were given.

        >>> from credo.model.graphs.dag import Dag
        >>> Dag.parse("[A][B|A][C|A]").children("A")
        ('B', 'C')
        """
        return self._named(self._children[self._at(node)])

    def neighbours(self, node: str) -> tuple[str, ...]:
        """Parents and children.

        >>> from credo.model.graphs.dag import Dag
        >>> Dag.parse("[A][B|A][C|B]").neighbours("B")
        ('A', 'C')
        """
        v = self._at(node)
        return self._named([*self._parents[v], *self._children[v]])

    def ancestors(self, nodes: Names) -> tuple[str, ...]:
        """Parents, their parents, and so on, of one node or several; in the order of the nodes.

        >>> from credo.model.graphs.dag import Dag
        >>> Dag.parse("[A][B|A][C|B]").ancestors("C")
        ('A', 'B')
        """
        return self._named(self._closure(self._all_at(nodes), self._parents))

    def descendants(self, nodes: Names) -> tuple[str, ...]:
        """Children, their children, and so on, of one node or several; in the order of the nodes.

        >>> from credo.model.graphs.dag import Dag
        >>> Dag.parse("[A][B|A][C|B]").descendants("A")
        ('B', 'C')
        """
        return self._named(self._closure(self._all_at(nodes), self._children))

    def markov_blanket(self, node: str) -> tuple[str, ...]:
        """Parents, children and the children's other parents; in the order of the nodes.

        Given its blanket, a node is independent of every other node.

        >>> from credo.model.graphs.dag import Dag
        >>> Dag.parse("[A][B][C|A:B][D|C]").markov_blanket("A")
        ('B', 'C')
        """
        v = self._at(node)
        found = {*self._parents[v], *self._children[v]}
        found.update(p for c in self._children[v] for p in self._parents[c])
        return self._named(sorted(found - {v}))

    @property
    def roots(self) -> tuple[str, ...]:
        """The nodes without parents."""
        return tuple(n for n, p in zip(self.nodes, self._parents, strict=True) if not p)

    @property
    def leaves(self) -> tuple[str, ...]:
        """The nodes without children."""
        return tuple(n for n, c in zip(self.nodes, self._children, strict=True) if not c)

    @property
    def order(self) -> tuple[str, ...]:
        """The nodes with every parent before its children; where free, in the order given.

        >>> from credo.model.graphs.dag import Dag
        >>> Dag([("B", "A"), ("B", "C")], nodes=["A", "B", "C"]).order
        ('B', 'A', 'C')
        """
        return self._named(self._order)

    # --- without arrows -----------------------------------------------------------------

    def skeleton(self) -> UndirectedGraph:
        """The graph without its arrows.

        >>> from credo.model.graphs.dag import Dag
        >>> print(Dag.parse("[A][B][C|A:B]").skeleton())
        A — C, B — C
        """
        return UndirectedGraph(self.edges, self.nodes)

    def moral(self) -> UndirectedGraph:
        """The graph without its arrows, the parents of each node joined to each other.

        >>> from credo.model.graphs.dag import Dag
        >>> print(Dag.parse("[A][B][C|A:B]").moral())
        A — C, B — C, A — B
        """
        married = (
            (self.nodes[a], self.nodes[b])
            for ps in self._parents
            for i, a in enumerate(ps)
            for b in ps[i + 1 :]
        )
        return UndirectedGraph([*self.edges, *married], self.nodes)
