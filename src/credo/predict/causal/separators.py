"""Every smallest set that separates two sets of nodes: minimal separators, in a fixed order.

    Z separates X from Y in a DAG, given that Z lies among the ancestors of X and Y, exactly when it
    separates them in the moral graph of those ancestors (Lauritzen et al. 1990)

There minimal separators are listed one from another, each at the cost of a search (Shen & Liang
1997; van der Zander, Liśkiewicz & Textor 2019). Nodes that may not be in a set are made
transparent first: their neighbours are joined to each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from credo.core.errors import LimitError

if TYPE_CHECKING:
    from credo.model.graphs.dag import Dag

__all__ = ["MAX_SETS", "minimal_separators"]

MAX_SETS = 10_000
"""More minimal sets than this are refused."""

Near = dict[str, set[str]]


def minimal_separators(
    dag: Dag, x: Iterable[str], y: Iterable[str], allowed: Iterable[str], most: int = MAX_SETS,
    *, enough: bool = False,
) -> list[frozenset[str]]:  # fmt: skip
    """Every minimal set of `allowed` nodes that d-separates x from y; the smallest first.

    More than `most` are refused; with `enough` so many will do.

    >>> from credo import Dag
    >>> dag = Dag.parse("[Z][W|Z][X|W][Y|Z]")
    >>> [sorted(s) for s in minimal_separators(dag, ["X"], ["Y"], ["Z", "W"])]
    [['Z'], ['W']]
    """
    near = _moral(dag, list(x), list(y), set(allowed))
    if "y" in near["x"]:
        return []
    first = _border(near, _part(near, {"x"} | near["x"], "y"))
    found = {first: None}
    line = [first]
    for separator in line:
        mine = _part(near, separator, "x")
        if enough and len(found) >= most:
            break
        for v in sorted(separator):
            if "y" in near[v]:
                continue
            cut = set(separator) | near[v]
            cut -= mine
            other = _part(near, cut | mine | {v}, "y")
            new = _border(near, other)
            if new not in found:
                found[new] = None
                line.append(new)
                if len(found) > most and not enough:
                    raise LimitError(
                        f"There are more than {most:,} minimal sets.",
                        hint="Ask for kind='optimal' or kind='parent', which are one set each.",
                    )
    rank = {n: i for i, n in enumerate(dag.nodes)}
    named = [frozenset(v[1:] for v in s) for s in found]
    return sorted(named, key=lambda s: (len(s), sorted(rank[n] for n in s)))


def _moral(dag: Dag, x: list[str], y: list[str], allowed: set[str]) -> Near:
    """The moral graph of the ancestors, x and y one node each ("x", "y"), others with a dot."""
    inside = {*x, *y, *dag.ancestors([*x, *y])}
    label = {n: "x" if n in x else "y" if n in y else f".{n}" for n in inside}
    near: Near = {v: set() for v in label.values()}
    for n in inside:
        family = [label[p] for p in (n, *dag.parents(n))]
        for a in family:
            near[a] |= {b for b in family if b != a}
    for n in inside:
        if n not in allowed and label[n].startswith("."):
            around = near.pop(label[n])
            for a in around:
                near[a] = (near[a] | around) - {a, label[n]}
    return near


def _part(near: Near, without: Iterable[str], start: str) -> set[str]:
    """What can be reached from `start` without passing through some nodes."""
    closed = set(without) - {start}
    found, line = {start}, [start]
    while line:
        new = near[line.pop()] - closed - found
        found |= new
        line += new
    return found


def _border(near: Near, part: set[str]) -> frozenset[str]:
    return frozenset(set().union(*(near[v] for v in part)) - part)
