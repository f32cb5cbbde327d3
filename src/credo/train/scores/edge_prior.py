"""A prior over structures: the probability of each edge before the rows are seen.

    ln P(G) = const + Σ_{edges of G} ln p / (1 − p)

It is given as one number, a mapping from edges to numbers, or a matrix with parents in the rows and
children in the columns: an array or nested list in the order of the table's columns, or a data
frame with their names. The diagonal of a matrix says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.schema import Schema
from credo.model.values.reals import shown

__all__ = ["EdgePrior", "log_odds"]

EdgePrior = float | Mapping[tuple[str, str], float] | Any


def log_odds(
    prior: EdgePrior | None, names: Sequence[str], schema: Schema
) -> NDArray[np.float64] | None:
    """ln p/(1 − p) for each edge, [child, parent] in the order of `names`; None for no prior.

    `schema` is that of the table, whose columns are in its order.

    >>> from credo.core.schema import Variable
    >>> schema = Schema((Variable("a", "continuous"), Variable("b", "continuous")))
    >>> log_odds([[0, 0.9], [0.5, 0]], ["b", "a"], schema).round(4).tolist()  # a → b
    [[0.0, 2.1972], [0.0, 0.0]]
    """
    if prior is None:
        return None
    n = len(names)
    if isinstance(prior, (int, float, np.number)):
        out = np.full((n, n), _log_odds(prior, "every edge"))
        np.fill_diagonal(out, 0.0)
        return out
    at = {name: i for i, name in enumerate(names)}
    out = np.zeros((n, n))
    by_edge = prior if isinstance(prior, Mapping) else _from_matrix(prior, schema.names)
    for edge, p in by_edge.items():
        if not isinstance(edge, tuple) or len(edge) != 2:
            raise InputError(
                f"edge_prior maps edges (parent, child) to numbers, got {shown(edge)}."
            )
        for name in edge:
            schema.index(name)  # refuses one that is not there
        if edge[0] == edge[1]:
            raise InputError(f"edge_prior has an edge from {edge[0]!r} to itself.")
        odds = _log_odds(p, f"{edge[0]} → {edge[1]}")
        if edge[0] in at and edge[1] in at:
            out[at[edge[1]], at[edge[0]]] = odds
    return out


def _from_matrix(prior: Any, columns: Sequence[str]) -> dict[tuple[str, str], Any]:
    """The edges of a matrix, without its diagonal."""
    children = [*getattr(prior, "columns", columns)]
    parents = [*getattr(prior, "index", children)] if hasattr(prior, "columns") else children
    try:
        matrix = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "edge_prior must be a number, a mapping from edges (parent, child) to numbers, or a "
            f"matrix of numbers, got {shown(prior)}."
        ) from None
    if matrix.shape != (len(parents), len(children)):
        raise InputError(
            f"The matrix of edge_prior must have a row and a column for each of the "
            f"{len(columns)} columns of the table, got {' × '.join(map(str, matrix.shape))}."
        )
    return {
        (a, b): float(matrix[i, j])
        for i, a in enumerate(parents)
        for j, b in enumerate(children)
        if a != b
    }


def _log_odds(p: Any, what: str) -> float:
    if isinstance(p, bool) or not isinstance(p, (int, float, np.number)) or not 0 < p < 1:
        raise InputError(
            f"The prior probability of {what} must be between 0 and 1, got {shown(p)}.",
            hint="For certainties use required= and forbidden=.",
        )
    return math.log(p) - math.log1p(-p)
