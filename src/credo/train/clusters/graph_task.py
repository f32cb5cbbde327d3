"""A task of ties: nodes, or rows of a table, a method, and how it makes a partition of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.data import Table
from credo.train.clusters.candidates import Candidates, largest
from credo.train.clusters.distinct import by_content, different
from credo.train.clusters.graph_tree import TOLD, GraphTree, no_new_nodes, tree_of_ties
from credo.train.clusters.linkage import LINKS, Linked, cut_reason, partition_of
from credo.train.clusters.notes import told_of_weights
from credo.train.clusters.partition import Partition
from credo.train.clusters.pieces import bridges_of_least
from credo.train.clusters.spectral import Nodes, Spectrum, spectrum_of_graph
from credo.train.clusters.structured import structured
from credo.train.clusters.ties import Ties, modularity
from credo.train.clusters.tree import Tree

__all__ = ["GraphTask"]

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
