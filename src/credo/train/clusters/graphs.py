"""Clusters of a graph: nodes that are tied, or rows of a table of which only tied ones may merge.

Without a table, linkage takes the ties for distances (`graph_tree.py`). With one, distances come
from its columns and ties say what may merge (scikit-learn's structured linkage). Spectral
clustering takes the ties as the affinity.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.data import Table
from credo.train.clusters.candidates import Candidates
from credo.train.clusters.choosing import refuse_two_choices, sizes_to_try
from credo.train.clusters.graph_task import GraphTask
from credo.train.clusters.linkage import LINKS
from credo.train.clusters.result import Clusters
from credo.train.clusters.stability import stability_of
from credo.train.clusters.ties import Ties, ties_of
from credo.train.parameters.sources import Opened

__all__ = ["cluster_graph", "graph_candidates"]


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
    from credo.train.clusters.clustering import _aside, _finished

    whole, task = _opened(
        table, graph, method, seed, scale, distance, columns, aside, schema, weights, options
    )
    refuse_two_choices(k, by, height)
    found = None
    if height is not None:
        assert task.tree is not None
        part = task.cut(task.tree.cut(height=height), f"at the height {height:g}")
    elif k != "auto":
        part = task.partition(int(k))
    else:
        found, part = task.compared(by, sizes_to_try(task.most, None, k_max))
    again = None
    if stability:
        again = stability_of(
            len(part.labels),
            part.labels,
            lambda rows, _, s: task.on(rows, s).partition(part.k),
            stability,
            seed,
            "nodes" if whole is None else "rows",
        )
    names = () if task.table is None else task.table.schema.names
    how = f"{method} of a graph with k = {part.k}"
    told = _aside(whole, columns)
    done = _finished(whole, names, method, part, how, seed, found, again, begun, told)
    record = replace(done.record, seconds=time.perf_counter() - begun)
    nodes = task.plain.nodes if whole is None else ()
    return replace(done, nodes=nodes, record=record)


def graph_candidates(
    table: Any,
    graph: Any,
    method: str,
    k: Any,
    seed: int,
    by: str | None,
    scale: str,
    distance: str,
    columns: Any,
    aside: Any,
    schema: Any,
    weights: Any,
    options: Mapping[str, Any],
) -> Candidates:
    """The door of `cr.which_k` when a graph is given."""
    _, task = _opened(
        table, graph, method, seed, scale, distance, columns, aside, schema, weights, options
    )
    return task.compared(by, sizes_to_try(task.most, k, 10))[0]


def _opened(
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
    from credo.train.clusters.clustering import _columns

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
    used = None if whole is None else whole.select(_columns(whole, columns, aside))
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
