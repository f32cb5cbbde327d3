"""Ties: a graph of who is tied to whom, and how strongly; a social network, for one.

It comes as pairs (or triples with a strength), a symmetric matrix, dense, sparse or in nested
lists, or a networkx graph. A pair given twice adds up; a tie of a node to itself is left out.

    modularity   Q = Σ_c ( inside_c / m − (degree_c / 2m)² )

compares the share of ties within groups with what nodes tied at random would have (Newman &
Girvan 2004).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.model.values.reals import shown

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Ties(Frozen):
    """Nodes by name, and their ties: pairs of positions, the lower first, with strengths."""

    nodes: tuple[Any, ...]
    edges: NDArray[np.int64]
    strengths: Floats

    @property
    def matrix(self) -> Any:
        """The symmetric sparse matrix of strengths."""
        from scipy.sparse import csr_array

        a, b = self.edges.T
        n = len(self.nodes)
        rows, columns = np.concatenate([a, b]), np.concatenate([b, a])
        both = np.concatenate([self.strengths, self.strengths])
        return csr_array((both, (rows, columns)), shape=(n, n))

    @property
    def by_name(self) -> NDArray[np.intp]:
        """The positions of the nodes in the order of their names: numbers, then all else."""

        def key(at: int) -> tuple[int, float, str, str]:
            node = self.nodes[at]
            if isinstance(node, (int, float, np.number)):
                return 0, float(node), "", ""
            return 1, 0.0, str(node), type(node).__name__

        return np.array(sorted(range(len(self.nodes)), key=key), dtype=np.intp)

    def among(self, kept: NDArray[np.int64]) -> Ties:
        """The ties among some of the nodes, which are numbered anew."""
        place = np.full(len(self.nodes), -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        edges = place[self.edges]
        both = (edges >= 0).all(axis=1)
        return _tidy(tuple(range(len(kept))), edges[both], self.strengths[both])

    def shared(self) -> Ties:
        """The same ties, as strong as the two circles overlap.

        The strength is the number of nodes in both circles over the number in either (Jaccard); a
        node is in its own circle.
        """
        from scipy.sparse import eye_array

        near = (self.matrix > 0).astype(np.float64) + eye_array(len(self.nodes))
        size = np.asarray(near.sum(axis=1)).ravel()
        a, b = self.edges.T
        both = np.asarray((near[a].multiply(near[b])).sum(axis=1)).ravel()
        return Ties(self.nodes, self.edges, both / (size[a] + size[b] - both))


def modularity(ties: Ties, labels: NDArray[np.intp], k: int) -> float:
    """How many more ties lie within groups than by chance, as a share of all.

    >>> import numpy as np
    >>> graph = ties_of([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)])
    >>> round(modularity(graph, np.array([0, 0, 0, 1, 1, 1]), 2), 4)
    0.3571
    """
    total = float(ties.strengths.sum())
    if total == 0:
        return 0.0
    a, b = ties.edges.T
    same = labels[a] == labels[b]
    inside = np.bincount(labels[a][same], ties.strengths[same], minlength=k)
    ends = np.bincount(labels[a], ties.strengths, minlength=k)
    ends = ends + np.bincount(labels[b], ties.strengths, minlength=k)
    return float((inside / total - (ends / (2 * total)) ** 2).sum())


def ties_of(graph: Any, rows: int | None = None) -> Ties:
    """Ties from any form; `rows` says that the nodes are that many rows of a table."""
    if isinstance(graph, Ties):
        return graph
    if hasattr(graph, "tocoo") or isinstance(graph, np.ndarray):
        return _from_matrix(graph, rows)
    nodes: list[Any] = list(range(rows)) if rows is not None else []
    if hasattr(graph, "nodes") and hasattr(graph, "edges"):
        found = graph.edges
        listed = list(found(data=True)) if callable(found) else list(found)
        if rows is None:
            nodes = list(graph.nodes)
        return _from_pairs([_plain(e) for e in listed], nodes, rows)
    frame = hasattr(graph, "columns") or hasattr(graph, "column_names")  # some walk by columns
    if isinstance(graph, (str, bytes, Mapping)) or frame or not isinstance(graph, Iterable):
        raise InputError(
            f"graph= must be pairs, a square matrix or a graph, got {type(graph).__name__}.",
            hint="Give its rows as a list of pairs, or its matrix as an array." if frame else "",
        )
    listed = list(graph)
    if _is_matrix(listed):
        return _from_matrix(np.array(listed), rows)
    return _from_pairs(listed, nodes, rows)


def _is_matrix(rows: list[Any]) -> bool:
    """Whether rows in a list are those of a square matrix, and no ties.

    Ties are not so long; three of them could be, but no ties would mirror each other like this.

    >>> _is_matrix([[0, 1, 2], [1, 0, 0], [2, 0, 0]]), _is_matrix([[0, 1, 2], [1, 2, 5], [2, 0, 1]])
    (True, False)
    """
    n = len(rows)
    if n < 3 or not all(isinstance(r, (list, tuple, np.ndarray)) and len(r) == n for r in rows):
        return False
    if n > 3:
        return True
    mirrored = all(rows[i][j] == rows[j][i] for i in range(n) for j in range(i))
    return mirrored and all(rows[i][i] == 0 for i in range(n))


def _plain(edge: Any) -> tuple[Any, ...]:
    """An edge of networkx: its data may hold a weight."""
    if len(edge) == 3 and isinstance(edge[2], Mapping):
        return (edge[0], edge[1], edge[2].get("weight", 1.0))
    return tuple(edge)


def _from_pairs(pairs: list[Any], nodes: list[Any], rows: int | None) -> Ties:
    at = {n: i for i, n in enumerate(nodes)}
    edges, strengths = [], []
    for i, pair in enumerate(pairs):
        if (
            isinstance(pair, (str, bytes))
            or not hasattr(pair, "__len__")
            or len(pair) not in (2, 3)
        ):
            raise InputError(
                f"Tie {i + 1} must be two nodes, or two and a strength, got {shown(pair)}.",
                hint="A matrix must be square.",
            )
        ends = []
        for node in pair[:2]:
            key = int(node) if isinstance(node, np.integer) else node
            if node is None or (isinstance(node, (float, np.floating)) and node != node):
                raise InputError(
                    f"Tie {i + 1} lacks a node, got {pair!r}.", hint="Leave such ties out."
                )
            if rows is not None and key not in at:
                raise InputError(f"Tie {i + 1} names {node!r}; rows are 0 to {rows - 1:,}.")
            try:
                ends.append(at.setdefault(key, len(at)))
            except TypeError:
                raise InputError(f"A node must be hashable, got {node!r}.") from None
        strength = pair[2] if len(pair) == 3 else 1.0
        _checked(strength, f"Tie {i + 1}")
        edges.append(ends)
        strengths.append(float(strength))
    names = tuple(at)
    return _tidy(
        names, np.array(edges, dtype=np.int64).reshape(-1, 2), np.array(strengths, dtype=float)
    )


def _checked(strength: Any, what: str) -> None:
    ok = isinstance(strength, (int, float, np.number)) and not isinstance(strength, bool)
    if not ok or not np.isfinite(strength) or strength < 0:
        raise InputError(f"{what} must have a strength of 0 or more, got {strength!r}.")


def _from_matrix(matrix: Any, rows: int | None) -> Ties:
    from scipy.sparse import coo_array

    if matrix.dtype.kind not in "biuf":
        raise InputError(f"The matrix of ties must hold numbers, got {matrix.dtype}.")
    found = coo_array(matrix)
    n, m = found.shape if found.ndim == 2 else (0, -1)
    if n != m or (rows is not None and n != rows):
        wanted = "" if rows is None else f" of {rows:,} rows, as the table has"
        raise InputError(
            f"The matrix of ties must be square{wanted}, got {found.shape}.",
            hint="Give pairs as a list: edges.tolist()." if m in (2, 3) else "",
        )
    data = found.data.astype(np.float64)
    if not np.isfinite(data).all() or (data < 0).any():
        raise InputError("The strengths of ties must be 0 or more, and finite.")
    if n and abs(found - found.T).max() > 1e-9 * max(float(data.max(initial=0.0)), 1e-300):
        raise InputError(
            "The matrix of ties must be symmetric.", hint="Add its transpose, (m + m.T) / 2."
        )
    upper = found.row < found.col
    edges = np.stack([found.row[upper], found.col[upper]], axis=1).astype(np.int64)
    return _tidy(tuple(range(n)), edges, data[upper])


def _tidy(nodes: tuple[Any, ...], edges: NDArray[np.int64], strengths: Floats) -> Ties:
    """Each pair once, lower position first; no ties of a node to itself, none of strength 0."""
    if len(nodes) < 2:
        raise InputError(f"A graph to cluster needs at least two nodes, got {len(nodes)}.")
    low, high = edges.min(axis=1), edges.max(axis=1)
    keep = (low != high) & (strengths > 0)
    key = low[keep] * len(nodes) + high[keep]
    unique, inverse = np.unique(key, return_inverse=True)
    total = np.bincount(inverse, strengths[keep], minlength=len(unique))
    if not len(unique):
        raise InputError("The graph has no ties.")
    pairs = np.stack([unique // len(nodes), unique % len(nodes)], axis=1)
    return Ties(nodes, np.ascontiguousarray(pairs, dtype=np.int64), total.astype(np.float64))
