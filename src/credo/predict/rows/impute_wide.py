"""Rows whose missing discrete cells have too many states together to go through: asked one by one.

    mode        the most probable explanation by max-product, then the lines' means given its states
    posterior   P(gap | rest of the row), a question for each gap

Both go through the compiled plan, which needs no table over all gaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.predict.exact.explanation import mpe
from credo.predict.questions.request import request

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["cells_of", "explained", "wide_posteriors"]


def cells_of(
    net: Network, gone: NDArray[np.bool_], columns: dict[str, Any], i: int
) -> dict[str, Any]:
    """What is seen of one row, by name."""
    out: dict[str, Any] = {}
    for v, g in zip(net.variables, gone, strict=True):
        if not g:
            cell = columns[v.name][i]
            out[v.name] = v.states[int(cell)] if v.is_discrete else float(cell)
    return out


def explained(
    net: Network, gone: NDArray[np.bool_], columns: dict[str, Any]
) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    """The gaps that are left, and the rows with their missing states the most probable ones."""
    discrete = [v for v, g in zip(net.variables, gone, strict=True) if g and v.is_discrete]
    many = len(next(iter(columns.values())))
    filled = {n: np.array(c) for n, c in columns.items()}
    filled |= {v.name: np.zeros(many, dtype=np.intp) for v in discrete}
    for i in range(many):
        best = mpe(request(net, cells_of(net, gone, columns, i)))
        for v in discrete:
            filled[v.name][i] = v.states.index(best[v.name])
    left = gone & np.array([not v.is_discrete for v in net.variables])
    return left, filled


def wide_posteriors(
    net: Network, gone: NDArray[np.bool_], columns: dict[str, Any]
) -> dict[str, NDArray[np.float64]]:
    """The posterior of each gap of the table's columns by itself, as `MixedRows` has them."""
    holes = [v for v, g in zip(net.variables, gone, strict=True) if g and v.name in columns]
    found: dict[str, list[Any]] = {v.name: [] for v in holes}
    for i in range(len(next(iter(columns.values())))):
        cells = cells_of(net, gone, columns, i)
        for v in holes:
            answer: Any = net.p(v.name, cells)
            found[v.name].append(
                [answer[s] for s in v.states]
                if v.is_discrete
                else [float(answer.mean), float(answer.variance)]
            )
    return {n: np.array(x, dtype=np.float64) for n, x in found.items()}
