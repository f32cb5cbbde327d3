"""Sums over all graphs: shares of families and paths by the core, every graph where there are few.

Up to 5 variables the graphs themselves are listed, 29,281 at most, so that any question about them
is a sum. Beyond, `cpp/average/dag_sums.hpp` gives the probability of every family and of every
directed path without listing a graph. With the prior `order` a graph counts once for each order of
the variables that it fits (`cpp/average/order_sums.hpp`); graphs are drawn by drawing an order.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.train.averaging.lists import Weighed

__all__ = ["LISTED", "Sums", "graphs_of_orders", "guard", "listed", "sums"]

Floats = NDArray[np.float64]

LISTED = 5
"""Variables up to which all graphs are listed."""
_RIGHT = 1e-6  # how far the shares of a child may add up to anything but 1


@dataclass(frozen=True)
class Sums:
    """The probability of each family in the order of the lists, of each edge and each path."""

    families: tuple[Floats, ...]
    edges: Floats
    paths: Floats | None
    log_total: float
    error: float
    before: NDArray[np.uint32] | None
    """[draws, n]: what comes before each variable in orders that were drawn."""


def guard(n: int, orders: bool) -> tuple[float, float]:
    """Bytes and seconds that the sums over n variables take; too many are refused."""
    if orders:
        memory, seconds, most = 8.0 * (n * 2 ** (n - 1) + 2 ** (n + 1)), n * n * 2.0**n * 5e-9, 25
    else:
        memory, seconds, most = n * 2 ** (n - 1) * 44.0 + 2**n * 44.0, 3.0**n * 40e-9, 22
    what = "orders" if orders else "graphs"
    if n > most:
        raise LimitError(
            f"Sums over all {what} of {n} variables would take {memory / 2**30:,.0f} GB and about "
            f"{seconds / 3600:,.1f} hours; at most {most} variables are summed.",
            hint='Use prior="uniform" with method="sampled".',
        )
    if memory > _memory_here():
        raise LimitError(
            f"Sums over all {what} of {n} variables take {memory / 2**30:,.1f} GB, and this "
            f"machine has {_memory_here() / 2**30:,.1f} GB.",
            hint='Use prior="uniform" with method="sampled".',
        )
    return memory, seconds


def _memory_here() -> float:
    """Bytes of the machine; endless where it does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return math.inf


def sums(weighed: Weighed, threads: int, draws: int = 0, seed: int = 0) -> Sums:
    """All shares: by inclusion and exclusion, or over orders, of which some are drawn."""
    names = weighed.rules.names
    before = paths = None
    if weighed.prior == "order":
        log_total, error, families, before = weighed.lists.order_sums(draws, seed, threads)
    else:
        log_total, error, paths, families = weighed.lists.sums(threads)
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
    return Sums(tuple(families), edges, paths, log_total, error, before)


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


def graphs_of_orders(
    weighed: Weighed, before: NDArray[np.uint32], chance: np.random.Generator
) -> NDArray[np.int32]:
    """A graph for each order: the parents of each variable from what comes before it."""
    out = np.empty(before.shape, dtype=np.int32)
    for v in range(before.shape[1]):
        sets, scores = weighed.lists.sets(v)
        masks = np.array([sum(1 << p for p in s) for s in sets], dtype=np.int64)
        earlier, inverse = np.unique(before[:, v].astype(np.int64), return_inverse=True)
        inverse = np.asarray(inverse).ravel()
        for k, one in enumerate(earlier):
            fit = np.flatnonzero((masks & ~one) == 0)
            p = np.exp(scores[fit] - scores[fit].max())
            rows = np.flatnonzero(inverse == k)
            out[rows, v] = chance.choice(fit, len(rows), p=p / p.sum())
    return out
