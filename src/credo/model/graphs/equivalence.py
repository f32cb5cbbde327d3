"""Equivalent graphs: DAGs that say the same independences, and the one graph that stands for all.

Two DAGs are equivalent exactly when they have the same skeleton and the same v-structures
a → c ← b with a and b not joined (Verma & Pearl 1990). Their class is drawn as a CPDAG: an
edge has an arrow when every member has that arrow ("compelled"), else it has none. Compelled
edges are found in one pass along the topological order (Chickering 1995), and a member is
built back from the CPDAG by taking sinks away one by one (Dor & Tarsi 1992).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import InputError
from credo.model.graphs.meek import meek
from credo.model.graphs.refusals import arrow, checked_edges, checked_nodes

if TYPE_CHECKING:
    from credo.model.graphs.dag import Dag
    from credo.model.graphs.relations import Relations
from credo.model.values.value import Told

__all__ = ["Cpdag", "compelled", "cpdag", "target_sets", "v_structures"]

Edge = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Cpdag(Told):
    """A class of equivalent DAGs: edges with an arrow, and edges that may point either way.

    >>> from credo.model.graphs.dag import Dag
    >>> c = Dag.parse("[A][B][C|A:B][D|C][E][F|E]").cpdag()
    >>> print(c)
    A → C, B → C, C → D, E — F
    >>> c.directed, c.undirected
    ((('A', 'C'), ('B', 'C'), ('C', 'D')), (('E', 'F'),))
    """

    nodes: tuple[str, ...]
    directed: tuple[Edge, ...]
    undirected: tuple[Edge, ...]

    def __init__(
        self, directed: Iterable[Edge], undirected: Iterable[Edge], nodes: Iterable[str] = ()
    ) -> None:
        arrows, lines = checked_edges(directed), checked_edges(undirected)
        pairs = [frozenset(e) for e in (*arrows, *lines)]
        if len(set(pairs)) < len(pairs):
            twice = next(e for e in (*arrows, *lines) if pairs.count(frozenset(e)) > 1)
            raise InputError(f"Two edges are given between {twice[0]!r} and {twice[1]!r}.")
        names = dict.fromkeys([*checked_nodes(nodes), *(n for e in (*arrows, *lines) for n in e)])
        object.__setattr__(self, "nodes", tuple(names))
        object.__setattr__(self, "directed", arrows)
        object.__setattr__(self, "undirected", lines)

    def __reduce__(self) -> tuple[type[Cpdag], tuple[object, ...]]:
        return type(self), (self.directed, self.undirected, self.nodes)

    def extension(self) -> Dag:
        """A DAG of the class: every undirected edge gets an arrow, no new v-structure, no cycle.

        >>> print(Cpdag([], [("A", "B"), ("B", "C")]).extension())
        [A][B|A][C|B]
        >>> Cpdag([], [("A", "B"), ("B", "C"), ("C", "D"), ("D", "A")]).extension()
        Traceback (most recent call last):
        credo.errors.InputError: No DAG extends this graph: whatever the arrows of \
A — B, B — C, C — D, D — A, there is a cycle or a new v-structure.
        """
        from credo.model.graphs.dag import Dag

        index = {n: i for i, n in enumerate(self.nodes)}
        found = _extension(
            len(self.nodes),
            [(index[a], index[b]) for a, b in self.directed],
            [(index[a], index[b]) for a, b in self.undirected],
        )
        if found is None:
            left = ", ".join(f"{a} — {b}" for a, b in self.undirected[:8])
            left += f" and {len(self.undirected) - 8} more" if len(self.undirected) > 8 else ""
            raise InputError(
                f"No DAG extends this graph: whatever the arrows of {left or 'no edge'}, there is "
                "a cycle or a new v-structure."
            )
        return Dag([(self.nodes[a], self.nodes[b]) for a, b in found], self.nodes)

    def _marks(self) -> dict[frozenset[str], str]:
        """What stands between each pair: the child's name, or nothing for an edge without arrow."""
        marks = {frozenset(e): e[1] for e in self.directed}
        return marks | {frozenset(e): "" for e in self.undirected}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cpdag):
            return NotImplemented
        return set(self.nodes) == set(other.nodes) and self._marks() == other._marks()

    def __hash__(self) -> int:
        return hash((frozenset(self.nodes), frozenset(self._marks().items())))

    def __str__(self) -> str:
        joined = {n for e in (*self.directed, *self.undirected) for n in e}
        lines = [arrow(e) for e in self.directed] + [f"{a} — {b}" for a, b in self.undirected]
        return ", ".join([*lines, *(n for n in self.nodes if n not in joined)])

    def __repr__(self) -> str:
        return f"Cpdag({list(self.directed)!r}, {list(self.undirected)!r}, {list(self.nodes)!r})"


def v_structures(dag: Relations) -> tuple[tuple[str, str, str], ...]:
    """Every (a, c, b) with a → c ← b and no edge between a and b."""
    near = [{*p, *c} for p, c in zip(dag._parents, dag._children, strict=True)]
    return tuple(
        (dag.nodes[a], dag.nodes[c], dag.nodes[b])
        for c, ps in enumerate(dag._parents)
        for a, b in combinations(sorted(ps), 2)
        if b not in near[a]
    )


def compelled(parents: Sequence[Sequence[int]], order: Sequence[int]) -> list[int]:
    """For each node, the parents whose edge is compelled, as a bit set (Chickering 1995).

    >>> compelled([[], [], [0, 1]], [0, 1, 2])
    [0, 0, 3]
    """
    rank = {v: i for i, v in enumerate(order)}
    bits = [sum(1 << p for p in ps) for ps in parents]
    out = [0] * len(bits)
    for y in order:
        if not parents[y]:
            continue
        x = max(parents[y], key=rank.__getitem__)
        forced = out[x] & ~bits[y]  # w → x is compelled, w not joined to y: y → x would collide
        collides = bits[y] & ~bits[x] & ~(1 << x)  # x → y ← z, x and z not joined
        out[y] = bits[y] if forced or collides else out[x]  # w → x → y with w → y: else a cycle
    return out


def _interventional(dag: Relations, targets: Iterable[Iterable[str]]) -> Cpdag:
    """The class of a DAG when rows from experiments are seen as well (Hauser & Bühlmann 2012).

    An edge has its arrow if in some experiment one of its ends was set and the other was not; the
    rest follows by Meek's rules.
    """
    index = dag._index
    near = np.zeros((len(dag), len(dag)), dtype=bool)
    arrow = np.zeros_like(near)
    fixed = compelled(dag._parents, dag._order)
    sets = [set(dag._named(dag._all_at(names))) for names in target_sets(targets)]
    for a, b in dag.edges:
        i, j = index[a], index[b]
        near[i, j] = near[j, i] = True
        arrow[i, j] = fixed[j] >> i & 1 or any((a in s) != (b in s) for s in sets)
    meek(near, arrow)
    directed = [(a, b) for a, b in dag.edges if arrow[index[a], index[b]]]
    return Cpdag(directed, [e for e in dag.edges if e not in set(directed)], dag.nodes)


def target_sets(targets: Any) -> list[Any]:
    """The sets that experiments set, one name standing for a set of its own."""
    if isinstance(targets, str) or not isinstance(targets, Iterable):
        raise InputError(
            f"interventions= is a list of the sets of nodes that were set, got {targets!r}.",
            hint='Write interventions=[["A"], ["B", "C"]].',
        )
    return [[t] if isinstance(t, str) else t for t in targets]


def cpdag(dag: Relations, targets: Iterable[Iterable[str]] = ()) -> Cpdag:
    """The class of a DAG; with the sets of nodes that experiments set, a smaller one."""
    if targets:
        return _interventional(dag, targets)
    fixed = compelled(dag._parents, dag._order)
    directed: list[Edge] = []
    undirected: list[Edge] = []
    for a, b in dag.edges:
        is_fixed = fixed[dag._index[b]] >> dag._index[a] & 1
        (directed if is_fixed else undirected).append((a, b))
    return Cpdag(directed, undirected, dag.nodes)


def _extension(
    n: int, directed: Sequence[tuple[int, int]], undirected: Sequence[tuple[int, int]]
) -> list[tuple[int, int]] | None:
    """Arrows for every edge, or None. A sink is taken when its undirected neighbours are
    joined to all its neighbours; those edges then point to it."""
    near, loose, out = [0] * n, [0] * n, [0] * n
    for a, b in directed:
        near[a] |= 1 << b
        near[b] |= 1 << a
        out[a] |= 1 << b
    for a, b in undirected:
        near[a] |= 1 << b
        near[b] |= 1 << a
        loose[a] |= 1 << b
        loose[b] |= 1 << a

    def is_sink(x: int) -> bool:
        return not out[x] and all(not near[x] & ~near[y] & ~(1 << y) for y in _bits(loose[x]))

    rank = [-1] * n
    todo = [-v for v in range(n)]  # the last node first, so that early nodes become parents
    heapify(todo)
    waiting = set(range(n))
    left = n
    while todo:
        x = -heappop(todo)
        waiting.discard(x)
        if rank[x] >= 0 or not is_sink(x):
            continue
        left -= 1
        rank[x] = left
        for y in _bits(near[x]):
            near[y] &= ~(1 << x)
            loose[y] &= ~(1 << x)
            out[y] &= ~(1 << x)
            if y not in waiting:
                waiting.add(y)
                heappush(todo, -y)
    if left:
        return None
    turned = [(a, b) if rank[a] < rank[b] else (b, a) for a, b in undirected]
    return [*directed, *turned]


def _bits(mask: int) -> list[int]:
    out = []
    while mask:
        low = mask & -mask
        out.append(low.bit_length() - 1)
        mask ^= low
    return out
