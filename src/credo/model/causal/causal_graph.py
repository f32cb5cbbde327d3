"""CausalGraph: a directed acyclic graph in which some pairs have hidden common causes.

    A → B   A is a direct cause of B          A ↔ B   something that is not in the table causes both

The graph of arrows and arcs says what the observed variables say of each other when the hidden
ones are forgotten (latent projection, Verma 1993). m-separation in it is d-separation in the graph
in which a hidden node of its own stands for each arc (Richardson 2003).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from credo.core.drawing.layers import components
from credo.core.errors import InputError
from credo.model.causal import texts
from credo.model.graphs import notation
from credo.model.graphs.drawing import Drawing
from credo.model.graphs.paths import Path, Reason, reason
from credo.model.graphs.refusals import checked_edge, checked_edges
from credo.model.graphs.relations import Edge, Names, Relations
from credo.model.graphs.separation import reachable
from credo.model.methods.causal import CausalMethods

if TYPE_CHECKING:
    from credo.model.graphs.dag import Dag

__all__ = ["CausalGraph", "projected"]


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class CausalGraph(Drawing, CausalMethods):
    """A graph of causes with hidden common causes; a frozen value.

    `graph` is text (the notation `"[A][B|A] A<->B"`, DAGitty's or DOT), a `Dag`, or edges
    (parent, child). `hidden` lists pairs that have a hidden common cause, or the names of nodes
    that were not observed, which are projected away.

    >>> graph = CausalGraph("[smoke][tar|smoke][cancer|tar]", hidden=[("smoke", "cancer")])
    >>> print(graph)
    [smoke][tar|smoke][cancer|tar] smoke<->cancer
    >>> print(CausalGraph("[U][A|U][B|U:A]", hidden=["U"]))
    [A][B|A] A<->B
    >>> graph.m_separated("smoke", "cancer", given="tar")
    False
    >>> print(graph.identify("P(cancer | do(smoke))").formula)
    Σ_tar P(tar | smoke) Σ_smoke' P(smoke') P(cancer | smoke', tar)
    """

    hidden: tuple[Edge, ...]
    _arcs: tuple[tuple[int, ...], ...]

    def __init__(
        self,
        graph: CausalGraph | Dag | str | Iterable[Edge] = (),
        nodes: Iterable[str] | None = None,
        *,
        hidden: Iterable[Any] = (),
    ) -> None:
        arcs: Sequence[Edge] = ()
        latent: Sequence[str] = ()
        edges: Any = graph
        if isinstance(graph, str):
            nodes, edges, arcs, latent = texts.read(graph)
        elif isinstance(graph, Relations):
            nodes, edges, arcs = graph.nodes, graph.edges, getattr(graph, "hidden", ())
        if isinstance(hidden, str) or not isinstance(hidden, Iterable):
            raise InputError(
                f"hidden= is a list of pairs or of names, got {hidden!r}.",
                hint='Write hidden=[("A", "B")] for a hidden common cause of A and B.',
            )
        given = list(hidden)
        latent = [*latent, *(h for h in given if isinstance(h, str))]
        arcs = [_pair(h) for h in (*arcs, *given) if not isinstance(h, str)]
        Relations.__init__(self, edges, nodes)
        for name in (*latent, *(n for pair in arcs for n in pair)):
            self._at(name)
        if latent:
            edges, arcs = projected(self.nodes, self.edges, arcs, latent)
            Relations.__init__(self, edges, [n for n in self.nodes if n not in set(latent)])
        joined = sorted({tuple(sorted(self._all_at(pair))) for pair in arcs})
        near: list[list[int]] = [[] for _ in self.nodes]
        for a, b in joined:
            near[a].append(b)
            near[b].append(a)
        object.__setattr__(self, "hidden", tuple((self.nodes[a], self.nodes[b]) for a, b in joined))
        object.__setattr__(self, "_arcs", tuple(map(tuple, near)))

    def __reduce__(self) -> Any:
        return _again, (self.edges, self.nodes, self.hidden)

    def _key(self) -> tuple[Any, ...]:
        arcs = frozenset(map(frozenset, self.hidden))
        return frozenset(self.nodes), frozenset(self.edges), arcs

    @classmethod
    def parse(cls, text: str) -> CausalGraph:
        """Read the notation `"[A][B|A] A<->B"`, DAGitty's text or DOT.

        >>> print(CausalGraph.parse("dag { X -> M -> Y; X <-> Y }"))
        [X][M|X][Y|M] X<->Y
        >>> print(CausalGraph.parse('digraph { u [latent]; u -> x; u -> y; x -> y }'))
        [x][y|x] x<->y
        """
        if not isinstance(text, str):
            raise InputError(f"The notation of a graph must be a text, got {text!r}.")
        return cls(text)

    # --- making another -----------------------------------------------------------------

    def _like(self, edges: Iterable[Edge], nodes: Iterable[str], hidden: Iterable[Edge]) -> Any:
        return type(self)(edges, nodes, hidden=list(hidden))

    def do(self, nodes: Names) -> CausalGraph:
        """The graph after setting these nodes: no arrow and no hidden cause reaches them.

        >>> print(CausalGraph("[A][B|A][C|B] A<->B").do("B"))
        [A][B][C|B]
        """
        cut = set(self._named(self._all_at(nodes)))
        edges = [e for e in self.edges if e[1] not in cut]
        return self._like(edges, self.nodes, [h for h in self.hidden if cut.isdisjoint(h)])  # type: ignore[no-any-return]

    def subgraph(self, nodes: Names) -> CausalGraph:
        """These nodes and what joins them, in the order of this graph.

        >>> print(CausalGraph("[A][B|A][C|B] A<->C").subgraph(["A", "C"]))
        [A][C] A<->C
        """
        kept = set(self._named(self._all_at(nodes)))
        inside = [[e for e in joined if kept.issuperset(e)] for joined in (self.edges, self.hidden)]
        return self._like(inside[0], [n for n in self.nodes if n in kept], inside[1])  # type: ignore[no-any-return]

    def project(self, away: Names) -> CausalGraph:
        """The graph of the other nodes, when these are not observed (latent projection).

        >>> print(CausalGraph("[A][U|A][B|U][C|U]").project("U"))
        [A][B|A][C|A] B<->C
        """
        gone = set(self._named(self._all_at(away)))
        edges, arcs = projected(self.nodes, self.edges, self.hidden, sorted(gone))
        return self._like(edges, [n for n in self.nodes if n not in gone], arcs)  # type: ignore[no-any-return]

    def canonical(self) -> Dag:
        """The DAG in which a hidden node of its own stands for each arc.

        >>> print(CausalGraph("[A][B|A] A<->B").canonical())
        [A|A↔B][B|A:A↔B][A↔B]
        """
        from credo.model.graphs.dag import Dag

        causes = _hidden_names(self)
        edges = [(u, n) for u, pair in zip(causes, self.hidden, strict=True) for n in pair]
        return Dag([*self.edges, *edges], [*self.nodes, *causes])

    # --- what it says -------------------------------------------------------------------

    def siblings(self, node: str) -> tuple[str, ...]:
        """The nodes that have a hidden common cause with `node`.

        >>> CausalGraph("[A][B|A] A<->B").siblings("A")
        ('B',)
        """
        return self._named(self._arcs[self._at(node)])

    def c_components(self) -> tuple[tuple[str, ...], ...]:
        """The groups of nodes that arcs hold together (Tian & Pearl 2002), in the order of nodes.

        >>> CausalGraph("[X][M|X][Y|M] X<->Y").c_components()
        (('X', 'Y'), ('M',))
        """
        at = [(self._index[a], self._index[b]) for a, b in self.hidden]
        return tuple(self._named(part) for part in sorted(map(sorted, components(len(self), at))))

    def m_separated(self, x: Names, y: Names, given: Names = ()) -> bool:
        """Whether the graph makes `x` and `y` independent given what is observed.

        >>> graph = CausalGraph("[X][M|X][Y|M] X<->Y")
        >>> graph.m_separated("X", "Y", given="M"), graph.do("X").m_separated("X", "Y", given="M")
        (False, True)
        """
        a, b, z = self._three(x, y, given)
        whole = self.canonical()
        return reachable(whole._parents, whole._children, a, z).isdisjoint(b)

    def why(self, x: Names, y: Names, given: Names = (), *, paths: int = 10) -> Reason:
        """Why `x` and `y` are m-separated by `given` or not: an active path, or what blocks each.

        >>> print(CausalGraph("[X][M|X][Y|M] X<->Y").why("X", "Y", given="M"))
        X and Y may depend on each other given M, by this path:
          X ↔ Y
            a hidden common cause joins them, and nothing that is observed can block it
        """
        a, b, z = self._three(x, y, given)
        whole = self.canonical()
        found = reason(whole, a, b, z, paths)
        shown = tuple(_without_causes(p, set(self.nodes)) for p in found.paths)
        return Reason(found.x, found.y, found.given, found.separated, shown, found.complete)

    # --- how it looks -------------------------------------------------------------------

    def _drawn(self, draw: Any, *args: Any) -> str:
        def with_arcs(*parts: Any, **options: Any) -> str:
            return str(draw(*parts, **options, arcs=self.hidden))

        return Drawing._drawn(self, with_arcs, *args)

    def ascii(self) -> str:
        """The graph as lines for a terminal; hidden common causes follow.

        >>> print(CausalGraph("[X][M|X][Y|M] X<->Y").ascii())
        X
          M ← X
            Y ← M
        X ↔ Y
        """
        return "\n".join([Drawing.ascii(self), *(f"{a} ↔ {b}" for a, b in self.hidden)])

    def dagitty(self) -> str:
        """The graph in DAGitty's text.

        >>> print(CausalGraph("[X][Y|X] X<->Y").dagitty())
        dag {
          X
          Y
          X -> Y
          X <-> Y
        }
        """
        return texts.dagitty(self.nodes, self.edges, self.hidden)

    def __str__(self) -> str:
        text = notation.written(self.nodes, [self._named(p) for p in self._parents])
        arcs = ", ".join(f"{notation.quoted(a)}<->{notation.quoted(b)}" for a, b in self.hidden)
        return f"{text} {arcs}".strip()

    def __repr__(self) -> str:
        return f"CausalGraph({str(self)!r})"


def _again(edges: Any, nodes: Any, hidden: Any) -> CausalGraph:
    return CausalGraph(edges, nodes, hidden=hidden)


def _pair(given: Any) -> Edge:
    if isinstance(given, Sequence) and len(given) == 2 and given[0] == given[1]:
        raise InputError(f"A hidden cause joins two nodes, got {given[0]!r} twice.")
    return checked_edge(given)


def _hidden_names(graph: CausalGraph) -> list[str]:
    """A name for the hidden cause behind each arc that no node has."""
    out = []
    for a, b in graph.hidden:
        name = f"{a}↔{b}"
        while name in graph:
            name += "'"
        out.append(name)
    return out


def projected(
    nodes: Sequence[str], edges: Iterable[Edge], arcs: Iterable[Edge], away: Iterable[str]
) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
    """Edges and arcs of the nodes that stay: a node that goes hands its causes to its effects.

    >>> projected("ABU", [("A", "U"), ("U", "B")], [], "U")
    ((('A', 'B'),), ())
    """
    directed = dict.fromkeys(checked_edges(edges))
    joined = {frozenset(a) for a in arcs}
    for gone in away:
        above = [a for a, b in directed if b == gone]
        below = [b for a, b in directed if a == gone]
        beside = [n for pair in joined if gone in pair for n in pair if n != gone]
        directed = dict.fromkeys(e for e in directed if gone not in e)
        directed |= dict.fromkeys((a, b) for a in above for b in below)
        joined = {pair for pair in joined if gone not in pair}
        joined |= {frozenset(pair) for pair in combinations(below, 2)}
        joined |= {frozenset((a, b)) for a in beside for b in below if a != b}
    rank = {n: i for i, n in enumerate(nodes)}
    pairs = sorted(tuple(sorted(pair, key=rank.__getitem__)) for pair in joined)
    return tuple(directed), tuple((a, b) for a, b in pairs)


def _without_causes(path: Path, observed: set[str]) -> Path:
    """A path of the canonical graph with an arc in place of each hidden node."""
    nodes = tuple(n for n in path.nodes if n in observed)
    forward: list[Any] = []
    for i, n in enumerate(path.nodes[:-1]):
        if path.nodes[i + 1] not in observed:
            forward.append("both")
        elif n in observed:
            forward.append(path.forward[i])
    return Path(nodes, tuple(forward), tuple(s for s in path.steps if s.node in observed))
