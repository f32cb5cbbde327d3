"""Spectral clustering: rows as a graph, cut where its ties are few.

    W_ij = affinity of two rows,  d_i = Σ_j W_ij,  D^−½ W D^−½ v = μ v

Each row becomes the point (v_1, …, v_k) / √d of the first k eigenvectors, and k-means groups the
points (Shi & Malik 2000; Ng, Jordan & Weiss 2001; von Luxburg 2007). The number of eigenvalues near
1 is the number of groups: the largest gap after μ_k suggests k.

Rows that are the same are one node, which counts as so many, and nodes stand in the order of their
cells: equal rows are together, and the order of a table's rows and columns changes nothing.

Neighbours give a sparse W, exact at any size. The affinity exp(−γ d²) to other rows is dense: up to
5,000 rows it is exact, above it stands on landmarks (`affinity.py`) and says its error.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.data import Table
from credo.stats.configurations import frozen
from credo.train.clusters.candidates import largest
from credo.train.clusters.distinct import with_known
from credo.train.clusters.geometry import Geometry
from credo.train.clusters.k_means import best_of_starts
from credo.train.clusters.lloyd import means_of, nearest
from credo.train.clusters.partition import Partition

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

_STARTS = 20


@dataclass(frozen=True, eq=False)
class Nodes(Frozen):
    """The nodes of the graph: the different rows of a table, or those of a graph alone.

    `copies` says how many rows each stands for, `each` which node each row is; `geometry` holds
    the rows of a table in their order, `known` the nodes.
    """

    copies: Floats
    each: Labels
    geometry: Geometry | None = None
    known: Geometry | None = None


@dataclass(frozen=True, eq=False)
class Spectrum(Frozen):
    """The first eigenvectors of an affinity; made as far as they are asked for.

    `solve(r)` gives the r largest eigenvalues and the nodes' coordinates; `extend(self, table, r)`
    gives the coordinates of new rows. A graph in pieces says in which one each node is, and
    `joined(k)` is its spectrum once the pieces are joined to k.
    """

    nodes: Nodes
    solve: Callable[[int], tuple[Floats, Floats]]
    extend: Callable[[Spectrum, Table, int], Floats] | None
    seed: int
    notes: tuple[str, ...] = ()
    piece: Labels | None = None
    joined: Callable[[int], Spectrum] | None = None
    _kept: dict[str, tuple[Floats, Floats]] = field(default_factory=dict, repr=False)

    @property
    def geometry(self) -> Geometry | None:
        """The rows and the distance between them, if there is a table."""
        return self.nodes.geometry

    @property
    def pieces(self) -> int:
        """How many pieces the graph has."""
        return 1 if self.piece is None else int(self.piece.max()) + 1

    def vectors(self, r: int) -> tuple[Floats, Floats]:
        """At least r eigenvalues, largest first, and the coordinates that go with them."""
        kept = self._kept.get("it")
        if kept is None or len(kept[0]) < r:
            values, vectors = self.solve(min(r, len(self.nodes.copies)))
            values = np.where(np.arange(len(values)) < self.pieces, 1.0, values)  # but for rounding
            kept = self._kept["it"] = (values, vectors)
        return frozen(kept[0]), frozen(kept[1])

    def within_reach(self, ks: Sequence[int]) -> list[int]:
        """The numbers of clusters that there are eigenvectors for."""
        found = [k for k in ks if k <= len(self.vectors(max(ks))[0])] if ks else []
        if ks and not found:
            raise self._too_few(ks[0])
        return found

    def candidates(self, ks: Sequence[int]) -> dict[int, dict[str, float]]:
        """The eigenvalue of each k, and the gap to the next; landmarks do not know their last."""
        values, _ = self.vectors(max(ks) + 1)
        out = {}
        for k in ks:
            if k > len(values):
                raise self._too_few(k)
            out[k] = {"eigenvalue": float(values[k - 1])}
            if k < len(values):
                out[k]["gap to next"] = float(values[k - 1] - values[k])
            elif k == len(self.nodes.copies):
                out[k]["gap to next"] = float(values[k - 1])
        return out

    def by_gap(self, rows: dict[int, dict[str, float]]) -> tuple[int, str]:
        """The k of the largest gap; a graph in pieces is its own answer. A note if there is none.

        Every mixture of pieces has the eigenvalue 1, so gaps below their number say nothing.
        """
        gaps = {k: row["gap to next"] for k, row in rows.items() if "gap to next" in row}
        if not gaps:
            raise InputError(
                f"The affinity has {max(rows):,} directions, too few for a gap to choose k by.",
                hint="Use more landmarks=, or give k=.",
            )
        most = max(rows)
        if self.pieces in rows:
            return self.pieces, ""
        if self.pieces > most:
            return most, (
                f"the graph falls into {self.pieces:,} pieces, and no gap tells fewer apart: "
                f"k = {most:,} is only the last that was tried; k={self.pieces} takes the pieces "
                "as they are, and k_max= allows more"
            )
        return largest(gaps), ""

    def assigned(self, labels: Labels, centres: Floats, table: Table) -> tuple[Labels, None]:
        """Where a row goes: with one that is the same, else to the centre nearest to it."""
        assert self.extend is not None and self.geometry is not None
        k = len(centres)
        found = nearest(self.extend(self, table, k)[:, :k], centres)[0].astype(np.intp)
        return with_known(found, self.geometry.of(table), self.geometry, labels), None

    def partition(self, k: int) -> Partition:
        """k-means of the nodes in the first k coordinates; k pieces are the clusters."""
        if self.joined is not None and self.pieces > k:
            return self.joined(k).partition(k)
        values, vectors = self.vectors(k)
        if len(values) < k:
            raise self._too_few(k)
        points = np.ascontiguousarray(vectors[:, :k])
        if self.pieces == k and self.piece is not None:
            found, reason = self.piece, f"the {k:,} pieces of the graph"
            centres = means_of(points, found, k, self.nodes.copies)
        else:
            by = np.argsort((points * points).sum(axis=1), kind="stable")  # whatever their signs
            found, copies = np.empty(len(points), dtype=np.intp), self.nodes.copies[by]
            run = best_of_starts(points[by], k, copies, _STARTS, self.seed)
            found[by], centres = run.labels, run.centres
            reason = f"k-means of {k} eigenvectors, the best of {_STARTS} starts"
        if len(np.unique(found)) < k:
            raise InputError(
                f"The eigenvectors tell fewer than {k:,} groups apart.",
                hint="Ask for fewer clusters.",
            )
        labels = found[self.nodes.each]
        return Partition(
            labels,
            k,
            partial(self.assigned, labels, centres),
            trace=tuple(values.tolist()),
            reason=reason,
            notes=self.notes,
            model=self,
        )

    def _too_few(self, k: int) -> InputError:
        there = len(self.vectors(k)[0])
        return InputError(
            f"The affinity has {there:,} direction{'s' * (there != 1)}, too few for k = {k:,}.",
            hint=f"Ask for k={there}, or use more landmarks= or a larger gamma=.",
        )


def spectrum_of_graph(
    affinity: Any,
    nodes: Nodes,
    seed: int,
    notes: tuple[str, ...],
    called: str,
    bridges: Callable[[Labels, int], Labels],
    said: str,
    *,
    flat: bool = False,
    extend: Callable[[Spectrum, Table, int], Floats] | None = None,
) -> Spectrum:
    """The spectrum of a sparse graph, which may be in pieces.

    `bridges(piece, k)` are the pairs of nodes that are tied so that k pieces are left, and `said`
    the note of it.
    """
    from scipy.sparse.csgraph import connected_components

    pieces, piece = connected_components(affinity, directed=False)
    told = (*notes, f"{called} falls into {pieces:,} pieces") if pieces > 1 else notes
    solve = partial(eigen, affinity, seed=seed, flat=flat, copies=nodes.copies)
    again = partial(
        spectrum_of_graph, nodes=nodes, seed=seed, called=called, bridges=bridges, said=said,
        flat=flat, extend=extend,
    )  # fmt: skip
    joined = partial(_joined, affinity, piece, partial(bridges, piece), again, notes, said)
    return Spectrum(nodes, solve, extend, seed, told, piece.astype(np.intp), joined)


def _joined(
    affinity: Any,
    piece: Labels,
    bridges: Callable[[int], Labels],
    again: Callable[..., Spectrum],
    notes: tuple[str, ...],
    said: str,
    k: int,
) -> Spectrum:
    """The spectrum once pieces are joined, so that k are left."""
    from scipy import sparse

    a, b = bridges(k).T
    ties = sparse.csr_array((np.full(len(a), 0.5), (a, b)), shape=affinity.shape)
    told = (*notes, said.format(pieces=int(piece.max()) + 1, k=k))
    return replace(again(affinity + ties + ties.T, notes=notes), notes=told)


_SMALL = 1_000  # rows up to which a sparse affinity is decomposed as a dense one
_SETTLED = 1e-5  # how far eigenvalues of larger ones may still be off, relatively


def eigen(
    affinity: Any, r: int, seed: int, flat: bool = False, copies: Floats | None = None
) -> tuple[Floats, Floats]:
    """The r largest eigenvalues of D^−½ W D^−½, and the vectors over √d; W sparse or dense.

    Every node has a tie, if only to itself. `flat` says that the graph lies in at most three
    dimensions, where a factorisation of it stays sparse. Each vector's largest entry is positive.
    """
    from scipy import sparse

    n = affinity.shape[0]
    many = np.ones(n) if copies is None else copies
    root = np.sqrt(many * np.asarray(affinity @ many).ravel())
    half = sparse.diags_array(many / root)
    matrix = half @ affinity @ half
    if not sparse.issparse(matrix) or n <= _SMALL or r >= n - 1:
        values, vectors = largest_eigen(matrix, r, seed)
    elif flat:
        laplacian = (sparse.eye_array(n) - matrix).tocsc()
        values, vectors = largest_eigen(laplacian, r, seed, sigma=-1e-5)
        values = 1.0 - values
    else:
        values, vectors = _beside_known(matrix.tocsr(), root, r, seed)
    order = np.argsort(-values, kind="stable")
    vectors = vectors[:, order] / root[:, None]
    sign = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return values[order], vectors * np.where(sign == 0, 1.0, sign)


def largest_eigen(
    matrix: Any, r: int, seed: int, tol: float = 0.0, sigma: float | None = None
) -> tuple[Floats, Floats]:
    """The r largest eigenvalues of a symmetric matrix or operator, or those nearest to sigma."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n = matrix.shape[0]
    if isinstance(matrix, np.ndarray) or n <= _SMALL or r >= n - 1:
        values, vectors = eigh(matrix @ np.eye(n), subset_by_index=[max(n - r, 0), n - 1])
        return values[::-1], vectors[:, ::-1]
    start, many = np.random.default_rng(seed).uniform(-1, 1, n), min(n, max(4 * r, 40))
    try:
        found: tuple[Floats, Floats] = eigsh(
            matrix, r, sigma=sigma, which="LA" if sigma is None else "LM", v0=start, ncv=many,
            tol=tol,
        )  # fmt: skip
    except ArpackNoConvergence:
        raise InputError(
            "The eigenvectors of the affinity did not settle.",
            hint="Use more neighbours= or landmarks=, or another affinity=.",
        ) from None
    order = np.argsort(-found[0], kind="stable")
    return found[0][order], found[1][:, order]


def _beside_known(matrix: Any, root: Floats, r: int, seed: int) -> tuple[Floats, Floats]:
    """The first vectors are known, √d on each piece of the graph, with the eigenvalue 1.

    The others are found beside them.
    """
    from scipy.sparse.csgraph import connected_components
    from scipy.sparse.linalg import LinearOperator

    n = len(root)
    count, piece = connected_components(matrix, directed=False)
    known = np.zeros((n, count))
    known[np.arange(n), piece] = root
    known /= np.sqrt((known**2).sum(axis=0))
    known = known[:, np.argsort(-np.bincount(piece), kind="stable")[:r]]
    ones = np.ones(known.shape[1])
    left = r - len(ones)
    if left == 0:
        return ones, known

    def product(x: Floats) -> Floats:
        out: Floats = matrix @ x - known @ (known.T @ x)
        return out

    rest = LinearOperator((n, n), matvec=product, dtype=np.float64)
    values, vectors = largest_eigen(rest, left, seed, _SETTLED)
    return np.concatenate([ones, values]), np.concatenate([known, vectors], axis=1)


Rows = NDArray[np.intp]

_CHUNK = 1 << 23


def bridges(geometry: Geometry, piece: Rows, k: int) -> Rows:
    """The pairs of rows to tie, so that k pieces are left."""
    edges, lengths = _between(geometry, piece)
    into = np.arange(int(piece.max()) + 1)
    left = len(into)
    out = []
    for at in np.argsort(lengths, kind="stable").tolist():
        if left <= k:
            break
        a, b = into[piece[edges[at]]]
        if a != b:
            into[into == b] = a
            left -= 1
            out.append(edges[at])
    return np.array(out, dtype=np.intp)


def bridges_of_least(degree: NDArray[np.float64], piece: Rows, k: int) -> Rows:
    """The pairs of nodes to tie, so that k pieces are left: those of the least degrees join.

    >>> bridges_of_least(np.array([1.0, 1, 4, 4, 2, 2]), np.array([0, 0, 1, 1, 2, 2]), 2).tolist()
    [[0, 4]]
    """
    _, first = np.unique(piece, return_index=True)
    total = np.bincount(piece, degree)
    heap = list(zip(total.tolist(), first.tolist(), strict=True))
    heapq.heapify(heap)
    out = []
    while len(heap) > k:
        (least, a), (more, b) = heapq.heappop(heap), heapq.heappop(heap)
        out.append((a, b))
        heapq.heappush(heap, (least + more, min(a, b)))
    return np.array(out, dtype=np.intp)


def _between(geometry: Geometry, piece: Rows) -> tuple[Rows, NDArray[np.float64]]:
    """Pairs of rows of different pieces, the nearest of each two pieces that matter among them."""
    if geometry.points is not None:  # the spanning tree of all rows holds that of the pieces
        edges, lengths = _core.spanning_tree(geometry.points)
        across = piece[edges[:, 0]] != piece[edges[:, 1]]
        return edges[across].astype(np.intp), lengths[across]
    n, count = len(piece), int(piece.max()) + 1
    order = np.argsort(piece, kind="stable")
    known = geometry.take(order)
    starts = np.searchsorted(piece[order], np.arange(count))
    ends = np.append(starts[1:], n)
    least = np.full((count, count), np.inf)
    pair = np.zeros((count, count, 2), dtype=np.intp)
    step = max(_CHUNK // n, 1)
    for own in range(count):
        for i in range(starts[own], ends[own], step):
            rows = order[i : min(i + step, ends[own])]
            d = geometry.take(rows).to(known)
            for other in range(own + 1, count):
                part = d[:, starts[other] : ends[other]]
                at = int(part.argmin())
                a, b = divmod(at, part.shape[1])
                if part[a, b] < least[own, other]:
                    least[own, other] = part[a, b]
                    pair[own, other] = rows[a], order[starts[other] + b]
    there = np.isfinite(least)
    return pair[there], least[there]
