"""Effects that every graph of a class agrees on: adjustment in a partial ancestral graph.

An effect is an adjustment in all graphs of the class, with one set z, exactly when (Perković,
Textor, Kalisch & Maathuis 2018)

1. every path that may be causal from x to y begins with an edge x → v that is visible: no hidden
   common cause of x and v can be behind it in any graph of the class;
2. z has no node that may lie on such a path, nor what may descend from one;
3. z blocks every other path: it separates x from y in one member of the class (and so in all) once
   the first edges of the causal paths are taken away.

A member has the edges o→ as →, and those of o–o as a DAG without new colliders (Zhang 2008).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from credo.core.errors import InputError
from credo.model.causal.causal_graph import CausalGraph
from credo.model.causal.formula import Prob, product, summed
from credo.model.causal.pag import Pag
from credo.predict.causal.adjustment import ENOUGH, AdjustmentSet, AdjustmentSets
from credo.predict.causal.identify import Identification
from credo.predict.causal.questions import CausalQuestion
from credo.predict.causal.separators import MAX_SETS, minimal_separators

__all__ = ["class_adjustment_sets", "class_effect"]

_OPEN = "not identifiable from the class: "
_TOLD = "the class of graphs by adjustment"


class Possible:
    """What may lie between x and y in some graph of a class."""

    def __init__(self, pag: Pag, x: str, y: str) -> None:
        self.pag, self.x, self.y = pag, x, y
        self.marks = pag._marks()
        if any(self.marks[b, a] == "-" and mark != ">" for (a, b), mark in self.marks.items()):
            raise InputError(
                "The class has edges without a head, so rows were selected by what they have.",
                hint="Effects are for rows that were not selected.",
            )
        self.near: dict[str, list[str]] = {n: [] for n in pag.nodes}
        for a, b in self.marks:
            self.near[a].append(b)

    def onwards(self, a: str) -> list[str]:
        """What a may cause directly."""
        return [b for b in self.near[a] if self.marks[a, b] != "-" and self.marks[b, a] != ">"]

    def reached(self, start: Iterable[str], without: str | None = None) -> set[str]:
        """What some nodes may cause, themselves too, on ways that avoid a node."""
        found = set(start)
        line = list(found)
        while line:
            for b in self.onwards(line.pop()):
                if b not in found and b != without:
                    found.add(b)
                    line.append(b)
        return found

    @cached_property
    def first(self) -> list[str]:
        """The nodes after x on paths that may be causal."""
        return [v for v in self.onwards(self.x) if self.y in self.reached([v], without=self.x)]

    @cached_property
    def forbidden(self) -> set[str]:
        """What may lie on a causal path, and what may descend from that."""
        below = self.reached(self.first, without=self.x)
        on = [v for v in below if self.y in self.reached([v], without=self.x)]
        return {self.x, self.y, *self.reached(on)}

    def invisible(self) -> list[str]:
        """The nodes after x to which its edge may hide a common cause."""
        return [v for v in self.first if not self._visible(v)]

    def _visible(self, v: str) -> bool:
        """Whether x → v is caused by nothing hidden: c *→ x, or over colliders that cause v."""
        marks, x = self.marks, self.x
        if marks[x, v] != ">" or marks[v, x] != "-":
            return False
        line, seen = [x], {x}
        while line:
            u = line.pop()
            for c in self.near[u]:
                if marks[c, u] != ">" or c == v or c in seen:
                    continue
                if c not in self.near[v]:
                    return True
                if marks[c, v] == ">" and marks[v, c] == "-" and marks[u, c] == ">":
                    seen.add(c)
                    line.append(c)
        return False

    def rest(self) -> CausalGraph:
        """A member of the class without the first edges of causal paths."""
        first = {(self.x, v) for v in self.first}
        edges, arcs = member(self.pag)
        try:
            return CausalGraph([e for e in edges if e not in first], self.pag.nodes, hidden=arcs)
        except InputError:
            raise _no_class() from None


def member(pag: Pag) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The edges and arcs of one maximal ancestral graph of a class."""
    edges, arcs, circles = [], [], []
    for a, b, at_a, at_b in pag.edges:
        if at_a == at_b == "o":
            circles.append((a, b))
        elif at_a == at_b == ">":
            arcs.append((a, b))
        else:
            edges.append((a, b) if at_b == ">" else (b, a))
    return [*edges, *_without_colliders(pag, circles)], arcs


def _without_colliders(pag: Pag, circles: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Undirected edges as a DAG: nodes with the most neighbours before them first."""
    near: dict[str, set[str]] = {}
    for a, b in circles:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    left = [n for n in pag.nodes if n in near]
    order: list[str] = []
    while left:
        v = max(left, key=lambda n: len(near[n] & set(order)))
        before = near[v] & set(order)
        if any(b not in near[a] for a in before for b in before if a != b):
            raise _no_class()
        left.remove(v)
        order.append(v)
    place = {n: i for i, n in enumerate(order)}
    return [(a, b) if place[a] < place[b] else (b, a) for a, b in circles]


def _no_class() -> InputError:
    return InputError(
        "The marks of this graph are those of no class: its tests contradict each other.",
        hint="Learn it with another alpha=, or from more rows.",
    )


def class_adjustment_sets(pag: Pag, x: str, y: str, enough: bool = False) -> AdjustmentSets:
    """The smallest sets that adjust the effect in every graph of the class; see `Pag`."""
    pag._known(x, y)
    may = Possible(pag, x, y)
    hidden = may.invisible()
    if hidden:
        return AdjustmentSets((x,), (y,), (), _OPEN + _behind(x, hidden))
    rest = may.rest()
    free = [n for n in pag.nodes if n not in may.forbidden]
    most = ENOUGH if enough else MAX_SETS
    found = minimal_separators(rest.canonical(), [x], [y], free, most, enough=enough)
    if not found:
        told = f"no set blocks every path from {x} to {y} that is no effect"
        return AdjustmentSets((x,), (y,), (), _OPEN + told)
    reason = "every other path is blocked, in every graph of the class"
    ranked = [tuple(n for n in pag.nodes if n in z) for z in found]
    return AdjustmentSets((x,), (y,), tuple(AdjustmentSet(z, reason) for z in ranked))


def class_effect(pag: Pag, x: str, y: str) -> Identification:
    """P(y | do(x)) by a formula that every graph of the class agrees on, or why there is none."""
    asked = CausalQuestion((y,), (x,))
    pag._known(x, y)
    if not Possible(pag, x, y).first:
        told = f"no graph of the class has a path from {x} to {y}, so setting it changes nothing"
        return Identification(asked, Prob((y,)), told, ())
    sets = class_adjustment_sets(pag, x, y, enough=True)
    if not sets:
        return Identification(asked, None, f"{sets.note}.", told=_TOLD)
    z = sets[0].names
    inner = Prob((y,), (x, *z))
    formula = summed(z, product([inner, Prob(z)])) if z else inner
    return Identification(asked, formula, sets[0].reason, z)


def _behind(x: str, nodes: list[str]) -> str:
    return (
        f"between {x} and {', '.join(nodes)} some graphs of the class have a hidden common cause, "
        "or point the other way"
    )
