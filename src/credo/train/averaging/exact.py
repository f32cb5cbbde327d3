"""Sums over all graphs: shares of families and paths by the core, every graph where there are few.

Up to 5 variables the graphs themselves are listed, 29,281 at most, so that any question about them
is a sum. Beyond, `cpp/average/dag_sums.hpp` gives the probability of every family and of every
directed path without listing a graph. With the prior `order` a graph counts once for each order of
the variables that it fits; graphs are then drawn by drawing an order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.train.averaging.lists import Weighed

__all__ = ["LISTED", "Sums", "drawn_orders", "guard", "listed", "sums"]

Floats = NDArray[np.float64]

LISTED = 5
"""Variables up to which all graphs are listed."""
MOST = 22
"""Variables beyond which the sums need more memory than is taken."""
_EACH = 40e-9  # seconds for a pair of a set and a set of sinks on it
_RIGHT = 1e-6  # how far the shares of a child may add up to anything but 1


@dataclass(frozen=True)
class Sums:
    """The probability of each family in the order of the lists, of each edge and each path."""

    families: tuple[Floats, ...]
    edges: Floats
    paths: Floats | None
    log_total: float
    error: float


def guard(n: int, orders: bool) -> tuple[float, float]:
    """Bytes and seconds that the sums over n variables take; too many are refused."""
    memory = n * 2 ** (n - 1) * 44 + 2**n * 44
    seconds = (n * 2.0**n if orders else 3.0**n) * _EACH
    if n > MOST:
        raise LimitError(
            f"Sums over all graphs of {n} variables would take {memory / 2**30:,.0f} GB and about "
            f"{seconds / 3600:,.1f} hours; at most {MOST} variables are summed.",
            hint='Use method="sampled".',
        )
    return memory, seconds


def sums(weighed: Weighed, threads: int) -> Sums:
    """All shares by inclusion and exclusion."""
    orders = weighed.prior == "order"
    names = weighed.rules.names
    log_total, error, paths, families = weighed.lists.sums(orders, threads)
    if not math.isfinite(log_total):
        raise InputError(
            "No graph within the rules has a finite score.",
            hint="Look for collinear columns, or for parents required of a column with few rows.",
        )
    if error > _RIGHT:
        raise LimitError(
            f"The sums cancel so far that a share is only right to {error:.1g}.",
            hint='Use method="sampled".',
        )
    edges = np.zeros((len(names), len(names)))
    for c, p in enumerate(families):
        found, _ = weighed.lists.sets(c)
        sizes = np.array([len(s) for s in found])
        parents = np.array([v for s in found for v in s], dtype=np.intp)
        np.add.at(edges[:, c], parents, np.repeat(p, sizes))
    np.clip(edges, 0.0, 1.0, out=edges)
    return Sums(tuple(families), edges, None if orders else paths, log_total, error)


def listed(weighed: Weighed) -> tuple[NDArray[np.int32], Floats]:
    """Every graph by the places of its families in their lists, and ln w of each."""
    n = len(weighed.rules.names)
    parents = _every_graph(n)
    places, logs = np.empty(parents.shape, dtype=np.int32), np.zeros(len(parents))
    for c in range(n):
        sets, scores = weighed.lists.sets(c)
        place = np.full(1 << n, -1, dtype=np.int32)
        place[[sum(1 << p for p in s) for s in sets]] = np.arange(len(sets))
        places[:, c] = place[parents[:, c]]
        logs += np.append(scores, -np.inf)[places[:, c]]
    kept = (places >= 0).all(axis=1)
    if not kept.any():
        raise InputError("No graph within the rules has a finite score.")
    if weighed.prior == "order":
        logs = logs + np.log(_orders_of(parents, n))
    return places[kept], logs[kept]


@cache
def _every_graph(n: int) -> NDArray[np.int64]:
    """All DAGs of n variables: the sets of parents as bits, [graphs, n]."""
    own = [[s for s in range(1 << n) if not s >> c & 1] for c in range(n)]
    grid = np.meshgrid(*(np.array(s, dtype=np.int64) for s in own), indexing="ij")
    parents = np.stack([g.ravel() for g in grid], axis=1)
    alive = np.full(len(parents), (1 << n) - 1, dtype=np.int64)
    for _ in range(n):  # variables without a parent among the rest go, round by round
        free = np.zeros_like(alive)
        for c in range(n):
            free |= ((parents[:, c] & alive) == 0).astype(np.int64) << c
        alive &= ~free
    return np.ascontiguousarray(parents[alive == 0])


def _orders_of(parents: NDArray[np.int64], n: int) -> Floats:
    """In how many orders of the variables parents come first, for each graph."""
    ways = np.zeros((1 << n, len(parents)))
    ways[0] = 1
    for s in range(1, 1 << n):
        for v in range(n):
            if s >> v & 1:
                before = s & ~(1 << v)
                ways[s] += np.where((parents[:, v] & ~before) == 0, ways[before], 0.0)
    found: Floats = ways[-1]
    return found


def drawn_orders(weighed: Weighed, count: int, chance: np.random.Generator) -> NDArray[np.int32]:
    """Graphs drawn with the prior `order`: an order from behind, then parents from before."""
    n = len(weighed.rules.names)
    masks, scores, sums_ = [], [], []
    for c in range(n):
        sets, found = weighed.lists.sets(c)
        masks.append(np.array([sum(1 << p for p in s) for s in sets], dtype=np.int64))
        scores.append(found)
        within = np.full(1 << n, -np.inf)
        within[masks[c]] = found
        for bit in range(n):  # subsets
            part = within.reshape(-1, 2, 1 << bit)
            part[:, 1] = np.logaddexp(part[:, 1], part[:, 0])
        sums_.append(within)
    every = np.arange(1 << n)
    sizes = sum(every >> b & 1 for b in range(n))
    total = np.full(1 << n, -np.inf)
    total[0] = 0.0
    for k in range(1, n + 1):
        for v in range(n):
            s = every[(sizes == k) & (every >> v & 1 == 1)]
            total[s] = np.logaddexp(total[s], total[s ^ (1 << v)] + sums_[v][s ^ (1 << v)])
    out = np.empty((count, n), dtype=np.int32)
    for row in out:
        left = (1 << n) - 1
        while left:
            inside = [v for v in range(n) if left >> v & 1]
            logs = np.array([total[left ^ (1 << v)] + sums_[v][left ^ (1 << v)] for v in inside])
            v = inside[_one(logs, chance)]
            left ^= 1 << v
            fit = np.flatnonzero((masks[v] & ~left) == 0)
            row[v] = fit[_one(scores[v][fit], chance)]
    return out


def _one(logs: Floats, chance: np.random.Generator) -> int:
    p = np.exp(logs - logs.max())
    return int(min(np.searchsorted(np.cumsum(p), chance.random() * p.sum()), len(p) - 1))
