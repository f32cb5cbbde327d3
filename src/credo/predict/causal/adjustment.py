"""Adjustment sets: variables that make a comparison fair when they are held fixed.

    P(y | do(x)) = Σ_z P(y | x, z) P(z)

holds for every distribution of the graph exactly when z has no node on a causal path from x to y,
nor a descendant of one, and blocks every other path: z separates x from y once the first edges of
the causal paths are taken away (Shpitser, VanderWeele & Robins 2010; Perković et al. 2018). Pearl's
back-door criterion asks more: no descendant of x at all. Without hidden causes the parents of the
nodes on causal paths estimate with the least variance (Henckel, Perković & Maathuis 2022).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, overload

from credo.core.errors import InputError, LimitError
from credo.core.render import View
from credo.model.values.value import Told, Value, choice
from credo.predict.causal.separators import MAX_SETS, minimal_separators

if TYPE_CHECKING:
    from credo.model.causal.causal_graph import CausalGraph
    from credo.model.graphs.relations import Names

__all__ = ["ENOUGH", "AdjustmentSet", "AdjustmentSets", "Causal", "adjustment_sets", "best_set"]

ENOUGH = 1000  # minimal sets among which the smallest is looked for
KINDS = ("minimal", "all", "optimal", "parent", "back-door")


@dataclass(frozen=True, slots=True)
class AdjustmentSet(Told):
    """Variables to adjust for, and why they do; behaves like a set of names."""

    names: tuple[str, ...]
    reason: str

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __str__(self) -> str:
        return f"{{{', '.join(self.names)}}}: {self.reason}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AdjustmentSets(Value, Sequence[AdjustmentSet]):
    """Adjustment sets, the smallest first, then in the order of the graph's nodes.

    >>> import credo as cr
    >>> graph = cr.CausalGraph("[Z][W|Z][X|W][Y|X:Z]")
    >>> print(graph.adjustment_sets("X", "Y"))
    sets for the effect of X on Y
    set  why
    {Z}  blocks X ← W ← Z → Y at Z
    {W}  blocks X ← W ← Z → Y at W
    >>> [list(s) for s in graph.adjustment_sets("X", "Y", kind="optimal")]
    [['Z']]
    """

    x: tuple[str, ...]
    y: tuple[str, ...]
    sets: tuple[AdjustmentSet, ...]
    note: str = ""

    def __len__(self) -> int:
        return len(self.sets)

    def __iter__(self) -> Iterator[AdjustmentSet]:
        return iter(self.sets)

    @overload
    def __getitem__(self, at: int) -> AdjustmentSet: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[AdjustmentSet]: ...
    def __getitem__(self, at: int | slice) -> AdjustmentSet | Sequence[AdjustmentSet]:
        return self.sets[at]

    def _view(self) -> View:
        rows = [[f"{{{', '.join(s)}}}", s.reason] for s in self.sets]
        title = f"sets for the effect of {', '.join(self.x)} on {', '.join(self.y)}"
        return View(title, ["set", "why"], rows or [["none", self.note]])


class Causal:
    """What lies on the causal paths from x to y, and the graph without their first edges."""

    def __init__(self, graph: CausalGraph, x: Names, y: Names) -> None:
        a, b, _ = graph._three(x, y, ())
        self.graph, self.x, self.y = graph, graph._named(a), graph._named(b)
        around = [[p for p in ps if p not in a] for ps in graph._parents]
        above = set(graph._closure(b, around)) | set(b)  # ancestors of y on ways that avoid x
        down = [[c for c in cs if c not in a] for cs in graph._children]
        below = set(graph._closure(a, down))
        self.path = graph._named(sorted(above & below))
        on = set(self.path)
        self.forbidden = {*self.x, *self.y, *on, *graph.descendants(self.path)}
        first = {e for e in graph.edges if e[0] in self.x and e[1] in on}
        self.rest = type(graph)(
            [e for e in graph.edges if e not in first], graph.nodes, hidden=graph.hidden
        )

    @property
    def candidates(self) -> list[str]:
        """What may be adjusted for."""
        return [n for n in self.graph.nodes if n not in self.forbidden]

    def valid(self, z: Sequence[str]) -> bool:
        """Whether z is an adjustment set."""
        return self.forbidden.isdisjoint(z) and self.rest.m_separated(self.x, self.y, given=z)

    def told(self, z: Sequence[str]) -> AdjustmentSet:
        """The set with its reason."""
        ranked = tuple(n for n in self.graph.nodes if n in set(z))
        found = self.rest.why(self.x, self.y, given=ranked, paths=3)
        held = [
            f"{p.text} at {p.blockers[0].node}"
            for p in found.paths
            if any(s.node in ranked for s in p.blockers)
        ]
        if not held:
            path = next(iter(found.paths), None)
            told = "no path but the causal ones joins them" if path is None else (
                f"every other path is blocked already, as {path.text} at {path.blockers[0].node}"
            )  # fmt: skip
        else:
            more = "" if found.complete and len(held) == len(found.paths) else ", …"
            told = "blocks " + "; ".join(held) + more
        return AdjustmentSet(ranked, told)


def best_set(graph: CausalGraph, x: Names, y: Names) -> AdjustmentSet | None:
    """The set an effect is estimated with: the optimal one, with hidden causes the smallest."""
    causal = Causal(graph, x, y)
    if not graph.hidden:
        best = _optimal(causal)
        return causal.told(best) if causal.valid(best) else None
    whole = causal.rest.canonical()
    found = minimal_separators(
        whole, causal.x, causal.y, causal.candidates, ENOUGH, enough=True
    )  # fmt: skip
    return causal.told(sorted(found[0])) if found else None


def adjustment_sets(graph: CausalGraph, x: Names, y: Names, kind: str) -> AdjustmentSets:
    """The sets of one kind; see `CausalGraph.adjustment_sets`."""
    choice(kind, KINDS, "kind")
    causal = Causal(graph, x, y)
    none = "no set of observed variables blocks every path that is no effect"
    if kind == "all":
        sets = [causal.told(z) for z in _all(causal)]
    elif kind == "optimal":
        if graph.hidden:
            raise InputError(
                "The optimal set is defined where no common cause is hidden.",
                hint="Ask for kind='minimal'.",
            )
        best = _optimal(causal)
        sets = [causal.told(best)] if causal.valid(best) else []
    elif kind == "parent":
        above = {p for n in causal.x for p in graph.parents(n)} - set(causal.x)
        sets = [causal.told(sorted(above))] if causal.valid(sorted(above)) else []
        none = "the parents of what is set leave a path open"
    else:
        rest, allowed = causal.rest, causal.candidates
        if kind == "back-door":
            edges = [e for e in graph.edges if e[0] not in causal.x]
            rest = type(graph)(edges, graph.nodes, hidden=graph.hidden)
            below = set(graph.descendants(causal.x))
            allowed = [n for n in allowed if n not in below]
        found = minimal_separators(rest.canonical(), causal.x, causal.y, allowed)
        sets = [causal.told(sorted(z)) for z in found]
    return AdjustmentSets(causal.x, causal.y, tuple(sets), "" if sets else none)


def _optimal(causal: Causal) -> list[str]:
    above = {p for n in causal.path for p in causal.graph.parents(n)}
    return sorted(above - causal.forbidden)


def _all(causal: Causal) -> Iterator[tuple[str, ...]]:
    free = causal.candidates
    if 2 ** len(free) > MAX_SETS:
        raise LimitError(
            f"There are 2^{len(free)} sets of the {len(free)} variables that may be adjusted for; "
            f"at most {MAX_SETS:,} are looked at.",
            hint="Ask for kind='minimal', or for a subgraph.",
        )
    for k in range(len(free) + 1):
        for z in combinations(free, k):
            if causal.valid(z):
                yield z
