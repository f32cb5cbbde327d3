"""Spectral clustering: rows as a graph, cut where its ties are few.

    W_ij = affinity of two rows,  d_i = Σ_j W_ij,  D^−½ W D^−½ v = μ v

Each row becomes the point (v_1, …, v_k) / √d of the first k eigenvectors, and k-means groups the
points (Shi & Malik 2000; Ng, Jordan & Weiss 2001; von Luxburg 2007). The number of eigenvalues near
1 is the number of groups: the largest gap after μ_k suggests k.

Rows that are the same are one node, which counts as so many, and nodes stand in the order of their
cells: equal rows are together, and the order of a table's rows and columns changes nothing.

Neighbours give a sparse W, exact at any size. The affinity exp(−γ d²) to other rows is dense: up to
5,000 rows it is exact, above it stands on landmarks (`nystrom.py`) and says its error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.core.frozen import Frozen
from credo.data import Table
from credo.stats.configurations import frozen
from credo.train.clusters.candidates import largest
from credo.train.clusters.distinct import by_content, different
from credo.train.clusters.eigen import eigen
from credo.train.clusters.geometry import Geometry, geometry_of
from credo.train.clusters.k_means import best_of_starts, whole_number
from credo.train.clusters.known import with_known
from credo.train.clusters.lloyd import means_of, nearest
from credo.train.clusters.neighbours import spectrum_of_neighbours
from credo.train.clusters.notes import told_of_bare, told_of_weights
from credo.train.clusters.partition import Partition
from credo.train.clusters.space import free_memory

__all__ = ["DENSE", "Nodes", "Spectrum", "spectrum_of", "spectrum_of_graph"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

DENSE = 5_000
"""Rows up to which a dense affinity is decomposed as it is."""

NEIGHBOURS = 10
"""Rows that each row is tied to, unless the table is small."""

_STARTS = 20
_ALONE = 1e-20  # an affinity to all others below which coordinates would be rounding


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


def _nodes_of(table: Table, distance: str, scale: str) -> tuple[Nodes, Geometry]:
    """The different rows of a table; and all of them, in the order of their cells.

    Means and ranges are taken in that order too, and columns stand in an order of their own, so
    that rounding cannot tell two orders apart.
    """
    table = table.select(by_content(table))
    found = different(table)
    ordered = geometry_of(table.take(found.order), distance, scale, copies=4)
    back = np.argsort(found.order)
    known = ordered.take(found.first)
    return Nodes(found.copies, found.each, ordered.take(back), known), ordered


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
        spectrum_of_graph, nodes=nodes, seed=seed, notes=notes, called=called, bridges=bridges,
        said=said, flat=flat, extend=extend,
    )  # fmt: skip
    joined = partial(_joined, affinity, piece, bridges, again, notes, said)
    return Spectrum(nodes, solve, extend, seed, told, piece.astype(np.intp), joined)


def _joined(
    affinity: Any,
    piece: Labels,
    bridges: Callable[[Labels, int], Labels],
    again: Callable[[Any], Spectrum],
    notes: tuple[str, ...],
    said: str,
    k: int,
) -> Spectrum:
    """The spectrum once pieces are joined, so that k are left."""
    from scipy import sparse

    a, b = bridges(piece, k).T
    ties = sparse.csr_array((np.full(len(a), 0.5), (a, b)), shape=affinity.shape)
    made = again(affinity + ties + ties.T)
    return replace(made, notes=(*notes, said.format(pieces=int(piece.max()) + 1, k=k)))


def spectrum_of(
    table: Table,
    *,
    seed: int = 0,
    distance: str = "auto",
    scale: str = "auto",
    memory: int | str | None = None,
    affinity: str = "neighbours",
    neighbours: int | None = None,
    gamma: float | None = None,
    landmarks: int | None = None,
) -> Spectrum:
    """The spectrum of a table's rows.

    `affinity` is 'neighbours' (a tie to each of the `neighbours` nearest rows, itself among them:
    10, but in a table of fewer than 20 rows half of them, and at least 2) or 'rbf', exp(−γ d²),
    with `gamma` 2 over the median squared distance unless it is given. `landmarks` asks for that
    many rows to stand for all; above 5,000 rows an rbf has 500 of them.
    """
    if affinity not in ("neighbours", "rbf"):
        raise InputError(
            f"affinity must be 'neighbours' or 'rbf', got {affinity!r}.", hint="Or give graph=."
        )
    if affinity == "rbf" and neighbours is not None:
        raise InputError(
            "neighbours= belongs to affinity='neighbours'.",
            hint="An rbf ties all rows: gamma= says how far its ties reach.",
        )
    nodes, ordered = _nodes_of(table, distance, scale)
    notes = [*ordered.notes, *told_of_bare(table), *told_of_weights(table, "spectral")]
    n = len(nodes.copies)
    if affinity == "neighbours":
        if gamma is not None or landmarks is not None:
            raise InputError("gamma= and landmarks= belong to affinity='rbf'.")
        usual = max(min(NEIGHBOURS, table.rows // 2), 2)
        wanted = usual if neighbours is None else neighbours
        k = min(whole_number(wanted, "neighbours"), table.rows)
        notes.append(f"each row is tied to its {k} nearest rows, itself among them")
        return spectrum_of_neighbours(nodes, k, seed, tuple(notes))
    g = _gamma(ordered, gamma)
    notes.append(f"affinity exp(−{g:.4g} d²)")
    if landmarks is None and n <= DENSE:
        return _dense(nodes, g, seed, memory, tuple(notes))
    from credo.train.clusters.nystrom import on_landmarks

    m = min(whole_number(500 if landmarks is None else landmarks, "landmarks", 2), n)
    return on_landmarks(nodes, g, m, seed, memory, tuple(notes))


def _gamma(geometry: Geometry, given: float | None) -> float:
    if given is not None:
        real = isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
        if not real or not 0 < given < np.inf:
            raise InputError(f"gamma must be a finite number above 0, got {given!r}.")
        return float(given)
    chance = np.random.default_rng(0)
    rows = chance.choice(geometry.rows, min(geometry.rows, 500), replace=False)
    part = geometry.take(np.sort(rows))
    d = part.to(part)
    away = d[np.triu_indices(len(d), 1)] ** 2
    typical = float(np.median(away[away > 0])) if (away > 0).any() else 1.0
    return 2.0 / typical


def _dense(nodes: Nodes, gamma: float, seed: int, memory: Any, notes: tuple[str, ...]) -> Spectrum:
    size = 24.0 * len(nodes.copies) ** 2
    if size > free_memory(memory):
        raise LimitError(
            f"An affinity of all pairs would take {size / 1e9:.3g} GB.",
            hint="Use landmarks=500, or affinity='neighbours'.",
        )

    solve = partial(_dense_eigen, nodes, gamma, seed)
    return Spectrum(nodes, solve, partial(_through_affinity, gamma), seed, notes)


def _near(rows: Geometry, known: Geometry, gamma: float) -> Floats:
    d = rows.to(known)
    return np.exp(-gamma * d * d, out=d)


def _dense_eigen(nodes: Nodes, gamma: float, seed: int, r: int) -> tuple[Floats, Floats]:
    """A row has no affinity to itself, only to its copies, or every outlier would be a piece.

    One that is near no other at all is a piece: it keeps its own.
    """
    assert nodes.known is not None
    near = _near(nodes.known, nodes.known, gamma)
    itself = np.diag_indices(len(near))
    near[itself] = 1.0 - 1.0 / nodes.copies
    near[itself] = np.where(near @ nodes.copies < _ALONE, 1.0, near[itself])
    return eigen(near, r, seed, copies=nodes.copies)


def _through_affinity(gamma: float, spectrum: Spectrum, table: Table, r: int) -> Floats:
    """The coordinates of new rows: the mean of all rows', by their affinity."""
    nodes = spectrum.nodes
    assert nodes.geometry is not None and nodes.known is not None
    w = _near(nodes.geometry.of(table), nodes.known, gamma) * nodes.copies
    values, vectors = spectrum.vectors(r)
    total = np.maximum(w.sum(axis=1, keepdims=True), 1e-300)
    away = np.where(np.abs(values[:r]) > 1e-12, values[:r], 1.0)
    found: Floats = (w @ vectors[:, :r]) / total / away
    return found
