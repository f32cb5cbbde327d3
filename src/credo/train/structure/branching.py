"""The maximum branching: at most one parent each, no cycle, the largest sum of gains above 0.

Edmonds (1967): every node takes its best parent; a cycle is shrunk into one node, whose gains are
what it would cost to leave the cycle there; solved, and opened again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["maximum_branching"]


def maximum_branching(gains: NDArray[np.float64]) -> list[int]:
    """The parent of each node, -1 for a root. gains[c, p]; -inf where there is no edge.

    >>> maximum_branching(np.array([[-np.inf, 5.0], [4.0, -np.inf]]))
    [1, -1]
    """
    n = len(gains)
    # a super-root that gives 0 to all, so that a branching is an arborescence
    weights = np.full((n + 1, n + 1), -np.inf)
    weights[:n, :n] = np.where(gains > 0, gains, -np.inf)
    np.fill_diagonal(weights, -np.inf)
    weights[:n, n] = 0.0
    found = _arborescence(weights, n)
    return [-1 if p == n else p for p in found[:n]]


def _arborescence(weights: NDArray[np.float64], root: int) -> list[int]:
    m = len(weights)
    best = [int(weights[c].argmax()) if c != root else -1 for c in range(m)]
    cycle = _cycle(best, root)
    if not cycle:
        return best
    inside = set(cycle)
    rest = [v for v in range(m) if v not in inside]
    new = len(rest)
    at = {v: k for k, v in enumerate(rest)}
    shrunk = np.full((new + 1, new + 1), -np.inf)
    shrunk[:new, :new] = weights[np.ix_(rest, rest)]
    enter: dict[int, int] = {}
    leave: dict[int, int] = {}
    own = np.array([weights[c, best[c]] for c in cycle])
    for v in rest:
        into = weights[cycle, v] - own  # v takes over one node of the cycle
        k = int(into.argmax())
        shrunk[new, at[v]], enter[v] = into[k], cycle[k]
        if v != root:
            out = weights[v, cycle]
            k = int(out.argmax())
            shrunk[at[v], new], leave[v] = out[k], cycle[k]
    found = _arborescence(shrunk, at[root])
    parents = list(best)
    for v in rest:
        if v != root:
            p = found[at[v]]
            parents[v] = leave[v] if p == new else rest[p]
    breaker = rest[found[new]]
    parents[enter[breaker]] = breaker
    return parents


def _cycle(parent: list[int], root: int) -> list[int]:
    seen = [0] * len(parent)
    for start in range(len(parent)):
        v, mark = start, start + 1
        while v not in (root, -1) and seen[v] == 0:
            seen[v] = mark
            v = parent[v]
        if v not in (root, -1) and seen[v] == mark:
            cycle = [v]
            while parent[cycle[-1]] != v:
                cycle.append(parent[cycle[-1]])
            return cycle
    return []
