"""What a question needs of many graphs: the different graphs of the ancestors of what it names.

A question about some variables needs their families and those of their ancestors. Graphs that agree
there answer alike, so they are one part, weighed by the sum of their weights.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.kept import Kept
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.structures.structure_posterior import StructurePosterior

__all__ = ["Parts", "parts_of"]


@dataclass(frozen=True)
class Parts:
    """Networks over ancestors, their weights, and the part of each graph."""

    networks: list[Network]
    weights: NDArray[np.float64]
    of_graph: NDArray[np.intp]


_NETWORKS: Kept[dict[tuple[int, ...], Network]] = Kept(lambda _: {})


def parts_of(post: StructurePosterior, names: Iterable[str]) -> Parts:
    """The parts of a question about some variables."""
    at = [post._at(n) for n in names]
    inside: NDArray[np.bool_] = np.asarray(post._reach[:, :, at].any(axis=2))
    inside[:, at] = True
    keys = np.where(inside, post.members, -1)
    rows, of_graph = np.unique(keys, axis=0, return_inverse=True)
    of_graph = np.asarray(of_graph).ravel()
    weights = np.bincount(of_graph, post.weights, len(rows)).astype(np.float64)
    known = _NETWORKS[post]
    networks = []
    for row in rows.tolist():
        key = tuple(f for f in row if f >= 0)
        if key not in known:
            known[key] = _network(post, key)
        networks.append(known[key])
    return Parts(networks, weights, of_graph)


def _network(post: StructurePosterior, families: tuple[int, ...]) -> Network:
    locals_: dict[str, Any] = {}
    for f in families:
        locals_[post.families[f].child.name] = post.families[f]
    edges = [(p.name, child) for child, local in locals_.items() for p in local.parents]
    return Network.trusted(Dag(edges, list(locals_)), locals_, None)
