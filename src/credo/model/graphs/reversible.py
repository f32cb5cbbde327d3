"""Arrows of a learned graph that could as well point the other way, and what rests on them.

Equivalent graphs say the same of the rows, so a search cannot tell them apart: an arrow that is not
the same in all of them was chosen, not learned. P(y | do(x)) is the same for all of them unless a
path from x to y that may be causal begins with such an arrow at x (Perković, Textor, Kalisch and
Maathuis 2015).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from credo.model.graphs.equivalence import cpdag

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["hanging_on", "reversible"]

Edge = tuple[str, str]


def reversible(net: Network) -> tuple[Edge, ...]:
    """The arrows of a learned graph that neither rows nor rules decide; none if it was given.

    >>> import credo as cr
    >>> rows = {"a": ["x", "y"] * 20, "b": ["x", "y"] * 20}
    >>> free, told = cr.learn(rows, "bic"), cr.learn(rows, "bic", tiers=[["a"], ["b"]])
    >>> len(reversible(free)), reversible(told)
    (1, ())
    """
    record = net.record
    if record is None or not record.details.get("search"):
        return ()
    rules = record.details.get("recipe") or {}
    tier = {n: i for i, names in enumerate(rules.get("tiers") or ()) for n in names}
    required = {tuple(e) for e in rules.get("required") or ()}
    forbidden = {tuple(e) for e in rules.get("forbidden") or ()}
    sets = record.details.get("interventions") or ()
    loose = {frozenset(e) for e in cpdag(net.dag, sets).undirected}

    def decided(a: str, b: str) -> bool:
        ranked = a in tier and b in tier and tier[a] < tier[b]
        return ranked or (a, b) in required or (b, a) in forbidden

    return tuple((a, b) for a, b in net.dag.edges if {a, b} in loose and not decided(a, b))


def hanging_on(net: Network, do: Collection[str], asked: Collection[str]) -> tuple[Edge, ...]:
    """The arrows at variables that are set on whose direction an answer about others hangs."""
    loose = reversible(net)
    if not loose:
        return ()
    onwards: dict[str, set[str]] = {n: set() for n in net.names}
    for a, b in net.dag.edges:
        onwards[a].add(b)
        if (a, b) in loose:
            onwards[b].add(a)
    out = []
    for edge in loose:
        for at, other in (edge, edge[::-1]):
            if at in do and other not in do and _reaches(onwards, other, asked, do):
                out.append(edge)
    return tuple(dict.fromkeys(out))


def _reaches(
    onwards: dict[str, set[str]], start: str, goals: Collection[Any], without: Collection[str]
) -> bool:
    seen, ahead = {start}, [start]
    while ahead:
        at = ahead.pop()
        if at in goals:
            return True
        new = onwards[at] - seen - set(without)
        seen |= new
        ahead += new
    return False
