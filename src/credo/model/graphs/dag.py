"""Dag: a directed acyclic graph, the shape of a Bayesian network.

    P(x₁, …, x_n) = Π_i P(x_i | parents(x_i))

Each node is a variable, each edge goes from a parent to a child, and no path of edges comes
back to its start. The graph alone says which variables are independent given which others
(Pearl 1988; lecture notes 004).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from credo.core.errors import InputError, UnknownNameError
from credo.model.graphs import notation as dag_notation
from credo.model.graphs.compare import Comparison, compared, same_nodes, shd
from credo.model.graphs.drawing import Drawing
from credo.model.graphs.equivalence import Cpdag, cpdag, v_structures
from credo.model.graphs.networkx_graph import networkx_graph
from credo.model.graphs.paths import Reason, reason
from credo.model.graphs.refusals import arrow, checked_edge, checked_nodes
from credo.model.graphs.relations import Edge, Names
from credo.model.graphs.separation import reachable, separated
from credo.model.graphs.statements import Factorisation, Independences, independences

__all__ = ["Dag"]


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Dag(Drawing):
    """A directed acyclic graph from (parent, child) pairs; a frozen value.

    `nodes` adds nodes without edges and fixes the order; nodes that only the edges name
    follow in the order they appear. Two graphs are equal when their nodes and edges are,
    whatever the order.

    >>> dag = Dag([("Burglary", "Alarm"), ("Earthquake", "Alarm"), ("Alarm", "JohnCalls")])
    >>> dag.nodes
    ('Burglary', 'Alarm', 'Earthquake', 'JohnCalls')
    >>> dag.parents("Alarm"), dag.ancestors("JohnCalls")
    (('Burglary', 'Earthquake'), ('Burglary', 'Alarm', 'Earthquake'))
    >>> dag.d_separated("Burglary", "Earthquake")
    True
    >>> dag.d_separated("Burglary", "Earthquake", given="Alarm")
    False
    >>> print(dag)
    [Burglary][Alarm|Burglary:Earthquake][Earthquake][JohnCalls|Alarm]
    >>> dag.add(("JohnCalls", "Burglary"))
    Traceback (most recent call last):
    credo.errors.InputError: The edges make a cycle: Burglary → Alarm → JohnCalls → Burglary. \
Remove or reverse one of them.
    """

    # --- making one ---------------------------------------------------------------------

    def __new__(
        cls, edges: Iterable[Edge] = (), nodes: Iterable[str] | None = None, **hidden: Any
    ) -> Self:
        """With `hidden=`, pairs that have a hidden common cause: a `CausalGraph`.

        >>> print(Dag([("A", "B")], hidden=[("A", "B")]))
        [A][B|A] A<->B
        """
        if not hidden:
            return object.__new__(cls)
        from credo.model.causal.causal_graph import CausalGraph

        return CausalGraph(edges, nodes, **hidden)  # type: ignore[return-value]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the notation of bnlearn; a refusal points at the character.

        A name that holds one of `[ ] | : " \\` stands in double quotes. `str(dag)` gives the
        notation back.

        >>> Dag.parse("[A][B|A][C|A:B]").edges
        (('A', 'B'), ('A', 'C'), ('B', 'C'))
        >>> Dag.parse("[A][B|A,C]")
        Traceback (most recent call last):
        credo.errors.InputError: The graph cannot be read at character 7: the parent 'A,C' has \
no brackets of its own.
          [A][B|A,C]
                ^
        """
        nodes, edges = dag_notation.read(text)
        return cls(edges, nodes)

    @classmethod
    def empty(cls, nodes: Iterable[str]) -> Self:
        """Nodes without edges.

        >>> print(Dag.empty(["A", "B"]))
        [A][B]
        """
        return cls((), nodes)

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """The same nodes and edges as a networkx `DiGraph`, whose nodes must be texts.

        >>> from networkx import DiGraph
        >>> print(Dag.from_networkx(DiGraph([("A", "B")])))
        [A][B|A]
        """
        if not (hasattr(graph, "is_directed") and graph.is_directed()):
            raise InputError(
                f"A networkx DiGraph is needed, got {type(graph).__name__}.",
                hint="An undirected graph has no parents and children.",
            )
        if not all(isinstance(n, str) for n in graph.nodes):
            raise InputError(
                "The nodes of the networkx graph must be texts.",
                hint="Rename them: networkx.relabel_nodes(graph, str).",
            )
        return cls([(a, b) for a, b in graph.edges()], graph.nodes)

    def to_networkx(self) -> Any:
        """The same nodes and edges as a networkx `DiGraph`.

        >>> Dag.parse("[A][B|A]").to_networkx().number_of_edges()
        1
        """
        return networkx_graph(self.nodes, self.edges, directed=True)

    # --- making another -----------------------------------------------------------------

    def _edge(self, edge: Edge) -> Edge:
        a, b = checked_edge(edge)
        self._at(a), self._at(b)
        return a, b

    def _own(self, edge: Edge) -> Edge:
        """An edge of this graph, or the refusal that says what there is instead."""
        a, b = self._edge(edge)
        if (a, b) in self.edges:
            return a, b
        other = (b, a) in self.edges
        raise UnknownNameError(
            f"The edge {arrow((a, b))} is not in the graph.",
            hint=f"There is {arrow((b, a))}." if other else f"{a} and {b} are not joined.",
        )

    def add(self, edge: Edge) -> Self:
        """With one more edge between nodes of the graph.

        >>> print(Dag.empty(["A", "B"]).add(("A", "B")))
        [A][B|A]
        """
        return type(self)([*self.edges, self._edge(edge)], self.nodes)

    def remove(self, edge: Edge) -> Self:
        """Without one edge; its nodes stay.

        >>> print(Dag.parse("[A][B|A]").remove(("A", "B")))
        [A][B]
        """
        gone = self._own(edge)
        return type(self)([e for e in self.edges if e != gone], self.nodes)

    def reverse(self, edge: Edge) -> Self:
        """With one edge turned round.

        >>> print(Dag.parse("[A][B|A]").reverse(("A", "B")))
        [A|B][B]
        """
        turned = self._own(edge)
        return type(self)([e[::-1] if e == turned else e for e in self.edges], self.nodes)

    def rename(self, names: Mapping[str, str]) -> Self:
        """With other names for some nodes.

        >>> print(Dag.parse("[A][B|A]").rename({"A": "Rain"}))
        [Rain][B|Rain]
        """
        for old in names:
            self._at(old)
        new = checked_nodes(names.get(n, n) for n in self.nodes)
        to = dict(zip(self.nodes, new, strict=True))
        return type(self)([(to[a], to[b]) for a, b in self.edges], new)

    def subgraph(self, nodes: Names) -> Self:
        """These nodes and the edges between them, in the order of this graph.

        >>> print(Dag.parse("[A][B|A][C|A:B]").subgraph(["C", "A"]))
        [A][C|A]
        """
        kept = set(self._named(self._all_at(nodes)))
        edges = [e for e in self.edges if e[0] in kept and e[1] in kept]
        return type(self)(edges, [n for n in self.nodes if n in kept])

    def do(self, nodes: Names) -> Self:
        """The graph after setting these nodes from outside: the edges into them are cut.

        >>> print(Dag.parse("[A][B|A][C|A:B]").do("B"))
        [A][B][C|A:B]
        """
        cut = set(self._named(self._all_at(nodes)))
        return type(self)([e for e in self.edges if e[1] not in cut], self.nodes)

    # --- independence -------------------------------------------------------------------

    def d_separated(self, x: Names, y: Names, given: Names = ()) -> bool:
        """Whether the graph makes `x` and `y` independent given what is observed.

        Each is a name or a list of names. Takes time linear in the size of the graph.

        >>> Dag.parse("[A][B|A][C|B]").d_separated("A", "C", given=["B"])
        True
        """
        a, b, z = self._three(x, y, given)
        return separated(self._parents, self._children, a, b, z)

    def d_connected(self, x: Names, given: Names = ()) -> tuple[str, ...]:
        """Every other node that may depend on `x` given what is observed.

        >>> Dag.parse("[A][B|A][C|B][D|C]").d_connected("A", given=["C"])
        ('B',)
        """
        a, z = self._all_at(x), self._all_at(given)
        if both := set(a) & set(z):
            raise InputError(f"{self.nodes[min(both)]!r} is in the first set and in given.")
        return self._named(sorted(reachable(self._parents, self._children, a, z) - set(a)))

    def why(self, x: Names, y: Names, given: Names = (), *, paths: int = 10) -> Reason:
        """Why `x` and `y` are d-separated by `given` or not: an active path, or what blocks each.

        At most `paths` blocked paths are listed, the shortest first; the reason says when there
        are more.

        >>> print(Dag.parse("[A][B|A][C|B]").why("A", "C", given="B"))
        A ⊥ C | B: every path between them is blocked.
          A → B → C
            blocked at B: a chain, observed
        """
        a, b, z = self._three(x, y, given)
        return reason(self, a, b, z, paths)

    def independences(self, kind: Literal["local", "pairwise", "all"] = "local") -> Independences:
        """The independences the graph states.

        `local`: each node and its non-descendants, given its parents; all others follow from
        these. `pairwise`: each pair that no edge joins, given the parents of the later one.
        `all`: each pair given each set that separates it, for small graphs.

        >>> print(Dag.parse("[A][B|A][C|B][D|A]").independences())
        B ⊥ D | A
        C ⊥ A, D | B
        D ⊥ B, C | A
        """
        return independences(self, kind)

    def factorisation(self) -> Factorisation:
        """The joint probability as a product of each node given its parents; has `.latex`.

        >>> print(Dag.parse("[A][B][C|A:B]").factorisation())
        P(A, B, C) = P(A) P(B) P(C | A, B)
        """
        return Factorisation(tuple((n, self.parents(n)) for n in self.order))

    # --- equivalence --------------------------------------------------------------------

    def v_structures(self) -> tuple[tuple[str, str, str], ...]:
        """Every (a, c, b) with a → c ← b where no edge joins a and b.

        >>> Dag.parse("[A][B][C|A:B]").v_structures()
        (('A', 'C', 'B'),)
        """
        return v_structures(self)

    def cpdag(self, interventions: Iterable[Names] = ()) -> Cpdag:
        """The class of graphs that state the same independences, as one graph.

        `interventions` lists the sets of nodes that were set in experiments, besides rows in which
        nothing was: edges between what was set and what was not have their arrow then.

        >>> print(Dag.parse("[A][B|A][C|B]").cpdag())
        A — B, B — C
        >>> print(Dag.parse("[A][B|A][C|B]").cpdag(interventions=["A"]))
        A → B, B → C
        """
        return cpdag(self, interventions)

    def equivalent(self, other: Dag, *, interventions: Iterable[Names] = ()) -> bool:
        """Whether both graphs, over the same nodes, state the same independences.

        With `interventions`, whether experiments that set these could not tell them apart either.

        >>> Dag.parse("[A][B|A]").equivalent(Dag.parse("[A|B][B]"))
        True
        """
        sets = list(interventions)
        return cpdag(self, sets) == cpdag(same_nodes(self, other), sets)

    def shd(
        self,
        other: Dag,
        *,
        of: Literal["cpdag", "dag"] = "cpdag",
        interventions: Iterable[Names] = (),
    ) -> int:
        """The structural Hamming distance: the number of pairs of nodes joined differently.

        A missing edge, an extra edge, and an edge with another arrow or none count 1 each.
        Between the CPDAGs, as Tsamardinos et al. (2006) and bnlearn's `shd` do, so that
        equivalent graphs are at distance 0; `of="dag"` counts between the graphs themselves.
        `interventions` are those of `cpdag`.

        >>> a, b = Dag.parse("[A][B|A][C|B]"), Dag.parse("[A|B][B][C|B]")
        >>> a.shd(b), a.shd(b, of="dag")
        (0, 1)
        """
        return shd(self, same_nodes(self, other), of, list(interventions))

    def compare(self, other: Dag, *, interventions: Iterable[Names] = ()) -> Comparison:
        """The edges that `other` shares with this graph, has reversed, misses, or has besides.

        Its SHD is that of `shd`; `interventions` are those of `cpdag`.

        >>> Dag.parse("[A][B|A][C|B]").compare(Dag.parse("[A|B][B][C]")).missing
        (('B', 'C'),)
        """
        return compared(self, same_nodes(self, other), list(interventions))

    # --- text ---------------------------------------------------------------------------

    def _families(self) -> Sequence[tuple[str, ...]]:
        return [self._named(p) for p in self._parents]

    def __str__(self) -> str:
        return dag_notation.written(self.nodes, self._families())

    def __repr__(self) -> str:
        if len(self) > 40:
            return f"<Dag: {len(self):,} nodes, {len(self.edges):,} edges>"
        return f"Dag.parse({str(self)!r})"
