"""Rows of a network with softmax families: family by family, and what a state's blanket says.

    P(t | rest of the row) ∝ Π_{families with t} P(x | parents)

A row with more gaps is a question of its own, which has an answer here where it is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import ImpossibleError
from credo.data import Table
from credo.predict.exact.engine import engine_of
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.softmax import in_tables

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["one_row", "softmax_posteriors"]

Floats = NDArray[np.float64]


def one_row(net: Network, table: Table, row: int, target: str | None = None) -> Any:
    """ln P of the cells that a row has, or (of a target) P of its states given them."""
    hard, values = {}, {}
    for v, column in zip(table.schema.variables, table.block.arrays, strict=True):
        cell = column[row]
        if v.is_discrete:
            if int(cell) < v.arity:
                hard[v.name] = int(cell)
        elif not np.isnan(cell):
            values[v.name] = float(cell)
    wanted = [*hard, *values, *([target] if target is not None else [])]
    known = {n: _shown(net, n, x) for n, x in values.items()}
    part = in_tables(net, known, wanted)
    outcome = engine_of(part).ask(Evidence(hard, values=values), [target] if target else [])
    if target is None:
        return float(outcome.log_evidence[0])
    if outcome.log_evidence[0] == -np.inf:
        raise ImpossibleError(f"Row {row + 1:,} has probability 0.")
    return outcome.marginals[0][0]


def _shown(net: Network, name: str, value: float) -> float:
    """A number as the user has it."""
    scale = net.variable(name).scale
    return value if scale is None else float(scale.backward(value))  # type: ignore[union-attr]


def softmax_posteriors(net: Network, table: Table, target: str) -> Floats:
    """P(target | the other cells) of each row."""
    from credo.predict.rows.rows import family_log, gaps_of

    variable = net.variable(target)
    gone = gaps_of(net, table)
    gone[:, net.names.index(target)] = False
    whole = ~gone.any(axis=1)
    out = np.empty((len(table), variable.arity))
    for row in np.flatnonzero(~whole):
        out[row] = one_row(net, table, int(row), target)
    if not whole.any():
        return out
    part = table.take(whole)
    columns: dict[str, Any] = dict(zip(part.schema.names, part.block.arrays, strict=True))
    blanket = [net.distributions[n] for n in (target, *net.dag.children(target))]
    logs = np.zeros((len(part), variable.arity))
    for code in range(variable.arity):
        columns[target] = np.full(len(part), code, np.intp)
        for local in blanket:
            logs[:, code] += family_log(local, columns)
    top = logs.max(axis=1, keepdims=True)
    for row in np.flatnonzero(top[:, 0] == -np.inf)[:1]:
        raise ImpossibleError(f"Row {int(np.flatnonzero(whole)[row]) + 1:,} has probability 0.")
    p = np.exp(logs - top)
    out[whole] = p / p.sum(axis=1, keepdims=True)
    return out
