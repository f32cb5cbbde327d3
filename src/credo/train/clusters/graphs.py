"""Clusters of a graph: nodes that are tied, or rows of a table of which only tied ones may merge.

Without a table, strengths are made shares of the strongest, two nodes are 1 − share apart, and 1
where there is no tie; single, complete and average link are then what they are for any distances,
without a matrix of all pairs. With a table, distances come from its columns and ties say what may
merge (scikit-learn's structured linkage). Spectral clustering takes the ties as the affinity.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.data import Table
from credo.errors import InputError
from credo.train.clusters.candidates import Candidates
from credo.train.clusters.choosing import CHOSEN_ONCE, CUT_ONCE, sizes_to_try
from credo.train.clusters.frozen import Frozen
from credo.train.clusters.linkage import LINKS, cut_reason, partition_of, told_of_ties
from credo.train.clusters.partition import Partition
from credo.train.clusters.result import Clusters
from credo.train.clusters.spectral import Spectrum, eigen
from credo.train.clusters.structured import structured
from credo.train.clusters.ties import Ties, modularity, ties_of
from credo.train.clusters.tree import Tree
from credo.train.sources import Opened

__all__ = ["GraphTree", "cluster_graph", "tree_of_ties"]

Floats = NDArray[np.float64]


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
            _no_new_nodes,
            quality={"modularity": modularity(self.ties, labels, k)},
            trace=tuple(self.tree.heights[-50:].tolist()),
            reason=reason,
            notes=(*self.notes, *told_of_ties(self.tree, k)),
            model=self,
        )


def _no_new_nodes(_: Table) -> Any:
    raise InputError("New nodes have no ties yet: cluster the whole graph again.")


def cluster_graph(
    table: Any,
    graph: Any,
    method: str,
    k: Any,
    seed: int,
    by: str | None,
    k_max: int,
    height: float | None,
    scale: str,
    distance: str,
    stability: int,
    columns: Any,
    aside: Any,
    schema: Any,
    weights: Any,
    options: Mapping[str, Any],
    begun: float,
) -> Clusters:
    """The door of `cr.cluster` when a graph is given."""
    from credo.train.clusters.clustering import _aside, _columns, _finished

    if method not in (*LINKS, "spectral"):
        raise InputError(
            f"{method} takes no graph=.", hint="Use 'single', 'complete', 'average' or 'spectral'."
        )
    _needless(table, method, distance, scale, stability)
    given = dict(options)
    kind = given.pop("ties", "given")
    if given:
        raise InputError(f"{method} of a graph has no option {next(iter(given))!r}, only 'ties'.")
    if kind not in ("given", "shared"):
        raise InputError(f"ties must be 'given' or 'shared', got {kind!r}.")
    whole = None if table is None else Opened(table, {}, weights, schema).source
    if whole is not None and not isinstance(whole, Table):
        raise InputError("Rows with ties must be in memory.", hint="Use stream.load().")
    plain = ties = _tied(graph, whole)
    notes: tuple[str, ...] = ()
    if kind == "shared":
        ties = ties.shared()
        notes = ("a tie is as strong as the two circles overlap",)
    n = len(ties.nodes)
    if isinstance(k, int) and k > n:
        raise InputError(f"k must be at most the number of nodes, {n:,}, got {k:,}.")
    names = () if whole is None else _columns(whole, columns, aside)
    tree: Tree | None = None
    if method == "spectral":
        at, values = _spectral(ties, plain, seed, notes)
    elif whole is None:
        made = GraphTree(tree_of_ties(ties, method), plain, (*notes, _TOLD))
        tree = made.tree
        at = _cuts(tree, made.partition)
    else:
        linked = structured(whole.select(names), ties, method, scale, notes)
        tree = linked.tree
        at = _cuts(tree, lambda labels, reason: partition_of(linked, labels, reason))
    found = None
    if k != "auto" and height is not None:
        raise InputError(CUT_ONCE)
    if k != "auto" and by is not None:
        raise InputError(CHOSEN_ONCE)
    if height is not None:
        assert tree is not None
        labels = tree.cut(height=height)
        part = at(int(labels.max()) + 1)
    elif k != "auto":
        part = at(int(k))
    else:
        criteria = by or "modularity"
        allowed = ("modularity", "eigengap" if method == "spectral" else "height")
        if criteria not in allowed:
            raise InputError(f"A graph's k is chosen by {' or '.join(allowed)}, got by={by!r}.")
        ks = sizes_to_try(n, None, k_max)
        if not ks:
            raise InputError("The graph is too small to choose a number of clusters.")
        rows: dict[int, dict[str, float]] = {}
        for one in ks:
            rows[one] = {"modularity": modularity(plain, at(one).labels, one)}
        if tree is not None:
            for one, gap in tree.gaps(max(ks)).items():
                rows[one]["gap in height"] = gap
        else:
            mu = values(min(max(ks) + 1, n))
            for one in ks:
                rows[one]["gap to next"] = float(mu[one - 1] - mu[one]) if one < len(mu) else 0.0
        name = {"height": "gap in height", "eigengap": "gap to next"}.get(criteria, criteria)
        best = max(rows, key=lambda c: (rows[c].get(name, -1.0), -c))
        found = Candidates(method, criteria, best, rows)
        part = at(best)
    how = f"{method} of a graph with k = {part.k}"
    told = _aside(whole, columns)
    done = _finished(whole, names, method, part, how, seed, found, None, begun, told)
    record = replace(done.record, seconds=time.perf_counter() - begun)
    nodes = ties.nodes if whole is None else ()
    return replace(done, nodes=nodes, record=record)


def _needless(table: Any, method: str, distance: str, scale: str, stability: int) -> None:
    """Refuse what the ties leave no use for."""
    if stability:
        raise InputError(
            "stability= draws rows, and ties between rows are lost when some are left out.",
            hint="Leave stability= or graph= out.",
        )
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


_TOLD = "two nodes are 1 − strength / greatest strength apart, and 1 where there is no tie"


def _cuts(
    tree: Tree, make: Callable[[NDArray[np.intp], str], Partition]
) -> Callable[[int], Partition]:
    return lambda k: make(tree.cut(k=k), cut_reason(tree, k, f"at k = {k}"))


def tree_of_ties(ties: Ties, method: str) -> Tree:
    """The tree of a graph alone; pieces that nothing ties are joined at height 1."""
    if method == "ward":
        raise InputError("ward needs the columns of a table.", hint="Use 'average'.")
    n = len(ties.nodes)
    shares = ties.strengths / ties.strengths.max()
    if method == "single":
        return Tree(_single(ties, shares, n), method)
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
    return Tree(np.concatenate(rows), method)


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


def _spectral(
    ties: Ties, plain: Ties, seed: int, notes: tuple[str, ...]
) -> tuple[Callable[[int], Partition], Callable[[int], Floats]]:
    matrix = ties.matrix
    told = (*notes, "the ties are the affinity")
    spectrum = Spectrum(len(ties.nodes), partial(eigen, matrix, seed=seed), None, None, seed, told)

    def at(k: int) -> Partition:
        part = spectrum.partition(k)
        q = modularity(plain, part.labels, k)
        return replace(part, assign=_no_new_nodes, quality={"modularity": q})

    return at, lambda r: spectrum.vectors(r)[0]
