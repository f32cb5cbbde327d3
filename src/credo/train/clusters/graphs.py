"""Clusters of a graph: nodes that are tied, or rows of a table of which only tied ones may merge.

Without a table, linkage takes the ties for distances: strengths are made shares of the strongest,
two nodes are 1 − share apart, and 1 where there is no tie. With one, distances come from its
columns and ties say what may merge (scikit-learn's structured linkage; a graph in pieces is made
whole first). Spectral clustering takes the ties as the affinity.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.data import Table
from credo.train.clusters.candidates import Candidates, largest
from credo.train.clusters.distinct import by_content, different
from credo.train.clusters.geometry import geometry_of
from credo.train.clusters.linkage import LINKS, Linked, Tree, cut_reason, partition_of, told_of_ties
from credo.train.clusters.partition import Partition, told_of_weights
from credo.train.clusters.quality import Stability, stability_of
from credo.train.clusters.spectral import Nodes, Spectrum, bridges_of_least, spectrum_of_graph
from credo.train.clusters.task import columns_of
from credo.train.clusters.ties import Ties, modularity, ties_of
from credo.train.parameters.sources import Opened


def graph_task(
    table: Any,
    graph: Any,
    method: str,
    seed: int,
    scale: str,
    distance: str,
    columns: Any,
    aside: Any,
    schema: Any,
    weights: Any,
    options: Mapping[str, Any],
) -> tuple[Table | None, GraphTask]:
    """The table, if there is one, and the task; what makes no sense is refused."""
    if method not in (*LINKS, "spectral"):
        raise InputError(
            f"{method} takes no graph=.", hint="Use 'single', 'complete', 'average' or 'spectral'."
        )
    _needless(table, method, distance, scale)
    given = dict(options)
    kind = given.pop("ties", "given")
    if given:
        raise InputError(f"{method} of a graph has no option {next(iter(given))!r}, only 'ties'.")
    if kind not in ("given", "shared"):
        raise InputError(f"ties must be 'given' or 'shared', got {kind!r}.")
    whole = None if table is None else Opened(table, {}, weights, schema).source
    if whole is not None and not isinstance(whole, Table):
        raise InputError("Rows with ties must be in memory.", hint="Use stream.load().")
    used = None if whole is None else whole.select(columns_of(whole, columns, aside))
    return whole, GraphTask(_tied(graph, whole), kind == "shared", method, seed, used, scale)


def _needless(table: Any, method: str, distance: str, scale: str) -> None:
    """Refuse what the ties leave no use for."""
    if table is not None and method in LINKS:
        if distance == "gower":
            raise InputError(
                "Linkage with graph= has Euclid's distance only, got distance='gower'.",
                hint="Leave distance= or graph= out.",
            )
        return
    for name, given in (("distance", distance), ("scale", scale)):
        if given != "auto":
            raise InputError(
                f"The ties say how near rows are, so there is no use for {name}={given!r}.",
                hint=f"Leave {name}= out.",
            )


def _tied(graph: Any, whole: Table | None) -> Ties:
    """The ties, of rows that are there: a row of weight 0 is absent, with its ties."""
    if whole is None or whole.numbers is None:
        return ties_of(graph, None if whole is None else whole.rows)
    rows = whole.rows
    kept = np.array([whole.numbers.of(i) - 1 for i in range(rows)], dtype=np.int64)
    return ties_of(graph, rows + whole.numbers.left_out).among(kept)


_JOINED = (
    "the graph falls into {pieces:,} pieces, more than k = {k:,}: those with the least ties were "
    "joined; k={pieces} takes them as they are"
)


@dataclass(frozen=True)
class GraphTask:
    """Ties to cluster by, between nodes or between the rows of a table."""

    plain: Ties
    shared: bool
    method: str
    seed: int
    table: Table | None = None
    scale: str = "auto"

    def on(self, rows: NDArray[np.intp], seed: int) -> GraphTask:
        """The same task on some of the nodes, with the ties among them."""
        table = None if self.table is None else self.table.take(rows)
        return replace(self, plain=self.plain.among(rows), seed=seed, table=table)

    # --- what is made once, whatever k ----------------------------------------------------

    @cached_property
    def ties(self) -> Ties:
        """The ties that count."""
        return self.plain.shared() if self.shared else self.plain

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What is said of them."""
        return ("a tie is as strong as the two circles overlap",) if self.shared else ()

    @cached_property
    def linked(self) -> Linked | GraphTree:
        """The tree of an agglomerative method, and what it stands on."""
        if self.table is not None:
            return structured(self.table, self.ties, self.method, self.scale, self.notes)
        tree = tree_of_ties(self.ties, self.method)
        return GraphTree(tree, self.plain, (*self.notes, TOLD))

    @property
    def tree(self) -> Tree | None:
        """The tree, if the method makes one."""
        return self.linked.tree if self.method in LINKS else None

    @cached_property
    def tied(self) -> NDArray[np.intp]:
        """The nodes that have a tie, in an order that names or cells decide: ties fall by it."""
        if self.table is None:
            order = self.plain.by_name
        else:
            order = different(self.table.select(by_content(self.table))).order
        return order[np.isin(order, self.ties.edges)]

    @cached_property
    def spectrum(self) -> Spectrum:
        """The spectrum of the nodes that have a tie."""
        matrix = self.ties.matrix[self.tied][:, self.tied]
        n = len(self.tied)
        notes = [*self.notes, "the ties are the affinity", *told_of_weights(self.table, "spectral")]
        alone = len(self.plain.nodes) - n
        if alone:
            held = "1 node has" if alone == 1 else f"{alone:,} nodes have"
            notes.append(f"{held} no tie: to be in the largest cluster says nothing of it")
        return spectrum_of_graph(
            matrix,
            Nodes(np.ones(n), np.arange(n)),
            self.seed,
            tuple(notes),
            "the graph",
            partial(bridges_of_least, np.asarray(matrix.sum(axis=1)).ravel()),
            _JOINED,
        )

    # --- partitions -----------------------------------------------------------------------

    @property
    def most(self) -> int:
        """The most clusters that there can be."""
        return len(self.tied) if self.method == "spectral" else len(self.plain.nodes)

    def partition(self, k: int) -> Partition:
        """The partition into k clusters."""
        if k > self.most:
            with_ties = " that have a tie" if self.most < len(self.plain.nodes) else ""
            raise InputError(
                f"k must be at most the number of nodes{with_ties}, {self.most:,}, got {k:,}."
            )
        if self.tree is not None:
            return self.cut(self.tree.cut(k=k), f"at k = {k}")
        part = self.spectrum.partition(k)
        labels = np.full(len(self.plain.nodes), np.bincount(part.labels).argmax())
        labels[self.tied] = part.labels
        q = modularity(self.plain, labels, k)
        return replace(part, labels=labels, assign=no_new_nodes, quality={"modularity": q})

    def cut(self, labels: NDArray[np.intp], how: str) -> Partition:
        """The partition of a cut of the tree."""
        assert self.tree is not None
        reason = cut_reason(self.tree, int(labels.max()) + 1, how)
        if isinstance(self.linked, Linked):
            return partition_of(self.linked, labels, reason)
        return self.linked.partition(labels, reason)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that count, if there is a table."""
        return () if self.table is None else self.table.schema.names

    @property
    def nodes(self) -> tuple[Any, ...]:
        """The names of the nodes, if there is no table."""
        return self.plain.nodes if self.table is None else ()

    def at_height(self, height: float) -> Partition:
        """The partition that a cut of the tree at a height makes."""
        assert self.tree is not None
        return self.cut(self.tree.cut(height=height), f"at the height {height:g}")

    def resampled(self, part: Partition, samples: int, of: str) -> Stability:
        """How well the partition agrees with those of resamples of the nodes."""
        return stability_of(
            len(part.labels), part.labels,
            lambda rows, _, seed: self.on(rows, seed).partition(part.k),
            samples, self.seed, of,
        )  # fmt: skip

    def compared(self, by: str | None, ks: list[int]) -> tuple[Candidates, Partition]:
        """Every candidate with its modularity; the best of them by the criterion."""
        own = "eigengap" if self.method == "spectral" else "height"
        allowed = ("modularity", own)
        by = "modularity" if by in (None, "auto") else by
        if by not in allowed:
            raise InputError(f"A graph's k is chosen by {' or '.join(allowed)}, got by={by!r}.")
        if not ks:
            raise InputError("The graph is too small to choose a number of clusters.")
        parts = {k: self.partition(k) for k in ks}
        rows = {k: {"modularity": modularity(self.plain, parts[k].labels, k)} for k in ks}
        if self.tree is not None:
            gaps = self.tree.gaps(max(ks))
            for k in ks:
                rows[k]["gap in height"] = gaps.get(k, 0.0)
        else:
            for k, found in self.spectrum.candidates(ks).items():
                rows[k] |= found
        note = ""
        if by == "eigengap":
            best, note = self.spectrum.by_gap(rows)
        else:
            name = "gap in height" if by == "height" else by
            best = largest({k: row[name] for k, row in rows.items()})
        part = parts[best]
        if note:
            part = replace(part, notes=(*part.notes, note))
        return Candidates(self.method, by, best, rows, note), part


Floats = NDArray[np.float64]

TOLD = "two nodes are 1 − strength / greatest strength apart, and 1 where there is no tie"


@dataclass(frozen=True)
class GraphTree(Frozen):
    """The fitted value of a graph's linkage: its tree, and the ties it stands on."""

    tree: Tree
    ties: Ties
    notes: tuple[str, ...] = ()

    def partition(self, labels: NDArray[np.intp], reason: str) -> Partition:
        """The partition of a cut."""
        k = int(labels.max()) + 1
        return Partition(
            labels,
            k,
            no_new_nodes,
            quality={"modularity": modularity(self.ties, labels, k)},
            trace=tuple(self.tree.heights[-50:].tolist()),
            reason=reason,
            notes=(*self.notes, *told_of_ties(self.tree, k)),
            model=self,
        )


def no_new_nodes(_: Table) -> Any:
    """The refusal to place what was not there when the ties were made."""
    raise InputError("New nodes have no ties yet: cluster the whole graph again.")


def tree_of_ties(ties: Ties, method: str) -> Tree:
    """The tree of a graph alone; pieces that nothing ties are joined at height 1.

    Of equally strong ties those of the first names merge first, in whatever order they came.
    """
    if method == "ward":
        raise InputError("ward needs the columns of a table.", hint="Use 'average'.")
    n, order = len(ties.nodes), ties.by_name
    if (order != np.arange(n)).any():
        links = tree_of_ties(ties.among(order), method).links.copy()
        leaves = links[:, :2] < n
        links[:, :2][leaves] = order[links[:, :2][leaves].astype(np.intp)]
        links[:, :2].sort(axis=1)
        return Tree(links, method, "nodes")
    shares = ties.strengths / ties.strengths.max()
    if method == "single":
        return Tree(_single(ties, shares, n), method, "nodes")
    links = _core.links_of_ties(n, ties.edges, shares, method == "average", 1.0)
    # what is left joins at height 1, the oldest clusters first
    rows = [links] if len(links) else []
    sizes = np.concatenate([np.ones(n), links[:, 3]])
    gone = np.zeros(n + len(links), dtype=bool)
    gone[links[:, :2].astype(np.int64).ravel()] = True
    left = np.flatnonzero(~gone)
    top, size = int(left[0]), float(sizes[left[0]])
    fresh = n + len(links)
    for other in left[1:].tolist():
        size += float(sizes[other])
        rows.append(np.array([[min(top, other), max(top, other), 1.0, size]]))
        top, fresh = fresh, fresh + 1
    return Tree(np.concatenate(rows), method, "nodes")


def _single(ties: Ties, shares: Floats, n: int) -> Floats:
    """The strongest spanning forest, its pieces joined at height 1."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    a, b = ties.edges.T
    graph = csr_array((2.0 - shares, (a, b)), shape=(n, n))  # a 0 would be no tie to SciPy
    forest = minimum_spanning_tree(graph).tocoo()
    count, piece = connected_components(graph, directed=False)
    _, first = np.unique(piece, return_index=True)
    edges = np.concatenate(
        [
            np.stack([forest.row, forest.col], axis=1),
            np.stack([np.full(count - 1, first[0]), first[1:]], axis=1),
        ]
    ).astype(np.int64)
    lengths = np.concatenate([forest.data - 1.0, np.ones(count - 1)])
    order = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    return _core.links_of_tree(
        np.ascontiguousarray(edges[order]), np.ascontiguousarray(lengths[order])
    )


def structured(
    table: Table, ties: Ties, method: str, scale: str, notes: tuple[str, ...] = ()
) -> Linked:
    """The tree of a table's rows of which only tied clusters merge."""
    from scipy.sparse.csgraph import connected_components
    from sklearn.cluster import AgglomerativeClustering

    if any(table.block.gaps):
        gap = table.schema.names[table.block.gaps.index(True)]
        raise InputError(
            f"Linkage with graph= needs every cell, and {gap!r} has missing ones.",
            hint="Fill them or leave the column out, or leave graph= out.",
        )
    geometry = geometry_of(table, "euclidean", scale)
    assert geometry.points is not None
    peer = AgglomerativeClustering(
        1, connectivity=ties.matrix, linkage=method, compute_full_tree=True, compute_distances=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pieces: told below
        made = peer.fit(geometry.points)
    told = [*notes, *geometry.notes, "only clusters that are tied merge"]
    told += told_of_weights(table, method)
    if connected_components(ties.matrix, directed=False)[0] > 1:
        told.append("the graph falls into pieces, which were joined by their nearest rows")
    n = table.rows
    sizes = np.ones(2 * n - 1)
    for t, (a, b) in enumerate(made.children_):
        sizes[n + t] = sizes[a] + sizes[b]
    links = np.column_stack([np.sort(made.children_, axis=1), made.distances_, sizes[n:]])
    return Linked(Tree(links, method), geometry, tuple(told), tied=True)
