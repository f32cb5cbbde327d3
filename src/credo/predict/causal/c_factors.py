"""The ID algorithm: an effect as a formula of observed probabilities, or a hedge.

    P(y | do(x)) = Σ_{D∖y} Π_i Q[D_i],   D = ancestors of y without x,   D_i its c-components

Q[C] is the distribution of C when all else is set. Q of a whole c-component is a product of
P(v | what comes before it); from Q[T] that of a part C follows by summing out what is no ancestor
of C, and by splitting what is left into its c-components. Where every node of T is an ancestor of
C and T has no parts, nothing further can be known: T and C are a hedge (Tian & Pearl 2002; Shpitser
& Pearl 2006, 2008; complete by Huang & Valtorta 2006). Sets of nodes are bits of a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from credo.model.causal.formula import Formula, Prob, Ratio, product, summed

if TYPE_CHECKING:
    from credo.model.causal.causal_graph import CausalGraph

__all__ = ["Hedge", "NotIdentified", "identified", "markov_families"]


@dataclass(frozen=True, slots=True)
class Hedge:
    """Two nested sets tied by hidden causes, every node of the larger an ancestor of the smaller;
    the larger holds a variable that is set, the smaller none."""

    larger: tuple[str, ...]
    smaller: tuple[str, ...]


class NotIdentified(Exception):
    """Carries the hedge up from the depth of the recursion."""

    def __init__(self, larger: int, smaller: int) -> None:
        super().__init__()
        self.larger, self.smaller = larger, smaller


def bits(mask: int) -> Iterator[int]:
    """The positions of the bits of a number.

    >>> list(bits(5))
    [0, 2]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Admg:
    """A graph as bits: parents and siblings of each node, and the topological order."""

    def __init__(self, graph: CausalGraph) -> None:
        self.names = graph.nodes
        self.parents = [sum(1 << p for p in ps) for ps in graph._parents]
        self.arcs = [sum(1 << s for s in near) for near in graph._arcs]
        self.order = graph._order

    def ancestors(self, of: int, within: int) -> int:
        """`of` and its ancestors in the subgraph of `within`."""
        found, line = of & within, of & within
        while line:
            line = self.above(line) & within & ~found
            found |= line
        return found

    def above(self, of: int) -> int:
        """The parents of a set."""
        out = 0
        for v in bits(of):
            out |= self.parents[v]
        return out

    def component(self, of: int, within: int) -> int:
        """The nodes of `within` that arcs join to `of`."""
        found, line = of, of
        while line:
            near = 0
            for v in bits(line):
                near |= self.arcs[v]
            line = near & within & ~found
            found |= line
        return found

    def components(self, within: int) -> list[int]:
        """The c-components of a subgraph, in the topological order of their first nodes."""
        out, left = [], within
        for v in self.order:
            if left >> v & 1:
                out.append(self.component(1 << v, within))
                left &= ~out[-1]
        return out

    def named(self, mask: int) -> tuple[str, ...]:
        """Names in topological order."""
        return tuple(self.names[v] for v in self.order if mask >> v & 1)

    def blanket(self, v: int, within: int) -> int:
        """What P(v | what of `within` comes before v) depends on."""
        before = 0
        for w in self.order:
            before |= 1 << w & within
            if w == v:
                break
        tied = self.component(1 << v, before)
        return (tied | self.above(tied)) & ~(1 << v)


@dataclass(frozen=True, slots=True)
class Q:
    """Q[nodes] = Σ_hidden Π factors, the factor of v adding up to 1 over v."""

    nodes: int
    hidden: int
    factors: Mapping[int, Formula]


def markov_families(graph: CausalGraph, of: int | None = None) -> dict[str, tuple[str, ...]]:
    """A family for each node, such that P(all) is the product of P(node | its parents).

    Without arcs these are the graph's own.

    >>> from credo import CausalGraph
    >>> markov_families(CausalGraph("[X][M|X][Y|M] X<->Y"))
    {'X': (), 'M': ('X',), 'Y': ('X', 'M')}
    """
    admg = Admg(graph)
    whole = (1 << len(graph)) - 1 if of is None else of
    return {admg.names[v]: admg.named(admg.blanket(v, whole)) for v in admg.order if whole >> v & 1}


def identified(graph: CausalGraph, y: int, x: int) -> Formula:
    """P(y | do(x)) as a formula, or `NotIdentified` with the hedge."""
    admg = Admg(graph)
    whole = admg.ancestors(y, (1 << len(graph)) - 1)
    x &= whole
    aim = admg.ancestors(y, whole & ~x)
    parts: list[Formula] = []
    for part in admg.components(aim):
        tied = admg.component(part, whole)
        factors: dict[int, Formula] = {
            v: Prob((admg.names[v],), admg.named(admg.blanket(v, whole))) for v in bits(tied)
        }
        found = _identify(admg, part, Q(tied, 0, factors))
        parts.append(_formula(admg, found))
    return summed(admg.named(aim & ~y), product(parts))


def _identify(admg: Admg, part: int, q: Q) -> Q:
    """Q[part] from Q[its c-component]."""
    while q.nodes != part:
        kept = admg.ancestors(part, q.nodes)
        if kept == q.nodes:
            raise NotIdentified(q.nodes, part)
        q = _reduced(admg, Q(kept, q.hidden | (q.nodes & ~kept), q.factors))
        tied = admg.component(part, kept)
        if tied != kept:
            factors = {v: _conditional(admg, q, v) for v in bits(tied)}
            q = Q(tied, 0, factors)
    return q


def _reduced(admg: Admg, q: Q) -> Q:
    """Without the hidden variables that appear in nothing but a factor that adds up to 1."""
    hidden, factors = q.hidden, dict(q.factors)
    for v in reversed(admg.order):
        if hidden >> v & 1 and v in factors:
            others = (f for w, f in factors.items() if w != v)
            if not any(admg.names[v] in f.free for f in others):
                del factors[v]
                hidden &= ~(1 << v)
    return Q(q.nodes, hidden, factors)


def _conditional(admg: Admg, q: Q, v: int) -> Formula:
    """The factor of v: Q[what comes to v] / Q[what comes before v]."""
    upto = 0
    for w in admg.order:
        upto |= 1 << w & q.nodes
        if w == v:
            break
    both = []
    for kept in (upto, upto & ~(1 << v)):
        both.append(_reduced(admg, Q(kept, q.hidden | (q.nodes & ~kept), q.factors)))
    top, below = both
    if not top.hidden and not below.hidden:
        return q.factors[v]
    loose = set(admg.named(top.hidden | below.hidden))
    shared = [w for w in below.factors if w in top.factors and loose.isdisjoint(q.factors[w].free)]
    top, below = (
        Q(p.nodes, p.hidden, {w: f for w, f in p.factors.items() if w not in shared}) for p in both
    )
    if not below.factors:
        return _formula(admg, top)
    return Ratio(_formula(admg, top), _formula(admg, below))


def _formula(admg: Admg, q: Q) -> Formula:
    ranked = [q.factors[v] for v in admg.order if v in q.factors]
    return summed(admg.named(q.hidden), product(ranked))
