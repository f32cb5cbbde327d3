"""Two ways round a hidden common cause: front doors and instruments.

front door m of x → y:   every causal path goes through m; nothing open leads from x to m but its
                         effect; x blocks every other path from m to y (Pearl 1995)
    P(y | do(x)) = Σ_m P(m | x) Σ_x' P(y | x', m) P(x')

instrument z given w:    z tells of x, and of y in no way but through x: w separates them once the
                         causal paths from x are cut (Brito & Pearl 2002; van der Zander 2015)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from credo.core.errors import LimitError
from credo.model.values.value import Told
from credo.predict.causal.adjustment import AdjustmentSet, AdjustmentSets, Causal
from credo.predict.causal.separators import MAX_SETS, minimal_separators

if TYPE_CHECKING:
    from credo.model.causal.causal_graph import CausalGraph

__all__ = ["Instrument", "front_door", "instruments"]


def front_door(graph: CausalGraph, x: str, y: str) -> AdjustmentSets:
    """The minimal front-door sets of the effect of x on y, the smallest first."""
    causal = Causal(graph, x, y)
    behind = _without_out(graph, causal.x)
    free = [n for n in causal.path if n not in causal.y and behind.m_separated(causal.x, n)]
    if 2 ** len(free) > MAX_SETS:
        raise LimitError(
            f"There are 2^{len(free)} sets of the {len(free)} variables on causal paths; at most "
            f"{MAX_SETS:,} are looked at.",
            hint="Ask about a subgraph.",
        )
    found: list[AdjustmentSet] = []
    for k in range(1, len(free) + 1):
        for m in combinations(free, k):
            if any(set(s) <= set(m) for s in found) or not _intercepts(causal, set(m)):
                continue
            if _without_out(graph, m).m_separated(m, causal.y, given=causal.x):
                inside = ", ".join(m)
                found.append(
                    AdjustmentSet(
                        m,
                        f"every effect of {x} on {y} goes through {inside}; nothing hidden joins "
                        f"{x} to {inside}, and {x} blocks every other path from {inside} to {y}",
                    )
                )
    note = "" if found else "no set of variables is a front door"
    return AdjustmentSets(causal.x, causal.y, tuple(found), note)


def _intercepts(causal: Causal, m: set[str]) -> bool:
    """Whether every causal path goes through m."""
    graph = causal.graph
    line, seen = list(causal.x), set(causal.x)
    while line:
        for c in graph.children(line.pop()):
            if c in causal.y:
                return False
            if c not in m and c not in seen:
                seen.add(c)
                line.append(c)
    return True


def _without_out(graph: CausalGraph, nodes: tuple[str, ...]) -> CausalGraph:
    edges = [e for e in graph.edges if e[0] not in nodes]
    return type(graph)(edges, graph.nodes, hidden=graph.hidden)


@dataclass(frozen=True, slots=True)
class Instrument(Told):
    """A variable that moves x and touches y in no other way, given some others."""

    name: str
    given: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        given = f" given {', '.join(self.given)}" if self.given else ""
        return f"{self.name}{given}: {self.reason}"


def instruments(graph: CausalGraph, x: str, y: str) -> tuple[Instrument, ...]:
    """Each instrument for the effect of x on y with the smallest set it needs, in node order."""
    causal = Causal(graph, x, y)
    whole = causal.rest.canonical()
    below = {*graph.descendants(causal.x), *causal.forbidden}
    out = []
    for z in graph.nodes:
        if z in below:
            continue
        allowed = [n for n in graph.nodes if n not in below and n != z]
        for w in minimal_separators(whole, [z], causal.y, allowed):
            given = tuple(n for n in graph.nodes if n in w)
            if not graph.m_separated(z, causal.x, given=given):
                held = f" once {', '.join(given)} is known" if given else ""
                told = f"{z} and {x} depend on each other, and {z} reaches {y} through {x} alone"
                out.append(Instrument(z, given, told + held))
                break
    return tuple(out)
