"""Rows through the model of a network classifier, with states that training did not see.

A new state of x_j has, as in naive Bayes, the probability of one more state that no row had

    P(x_j = new | u) = l / (N[u] + l·(J + 1))

and a parent row with a new state was never seen, so what hangs from it is uniform, whatever the
class. Rows that are new in the same columns are answered by one network that says just that.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import ImpossibleError
from credo.core.schema import Schema, Variable
from credo.data import Table
from credo.data.columns.columns import Column, Columns
from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network
from credo.predict.rows.rows import log_posteriors
from credo.stats.block import Block
from credo.train.naive_bayes.aode import Aode

__all__ = ["model_scores", "with_new_states"]

Floats = NDArray[np.float64]


def model_scores(
    model: Network | Aode, target: str, columns: Columns, form: str, threads: int, smoothing: float
) -> Floats:
    """P(class | row), or its logarithm ('log'), for codes of which `arity + 1` is a new state."""
    new = {
        n: c.values > c.variable.arity for n, c in columns.by_name.items() if c.variable is not None
    }
    new = {n: mask for n, mask in new.items() if mask.any()}
    if new and smoothing == 0:
        raise _impossible(new)
    if isinstance(model, Aode):
        return _of_aode(model, columns, form, threads, bool(new))
    if not new:
        return _of_network(model, target, columns, form, threads)
    out = np.empty((columns.rows, model.variable(target).arity))
    patterns, where = np.unique(np.stack(list(new.values()), axis=1), axis=0, return_inverse=True)
    for i, pattern in enumerate(patterns):
        rows = np.flatnonzero(where.ravel() == i)
        names = [n for n, odd in zip(new, pattern, strict=True) if odd]
        found = {n: Column(c.values[rows], c.variable) for n, c in columns.by_name.items()}
        net = with_new_states(model, names, smoothing) if names else model
        for n in names:
            found[n] = Column(np.ones(len(rows), dtype=np.uint8), net.variable(n))
        out[rows] = _of_network(net, target, Columns(len(rows), found), form, threads)
    return out


def _impossible(new: dict[str, NDArray[np.bool_]]) -> ImpossibleError:
    row, name = min((int(mask.argmax()), name) for name, mask in new.items())
    return ImpossibleError(
        f"Row {row + 1:,} has probability zero in every class: its state of {name!r} was never "
        "seen.",
        hint="Use smoothing above 0.",
    )


def with_new_states(net: Network, names: Collection[str], smoothing: float) -> Network:
    """The network of rows in which some variables have a state that no row of training had.

    Each of them is told apart as seen or new; its tables must hold their pseudo-counts, n + l.

    >>> import credo as cr
    >>> net = cr.estimators.NetworkClassifier().fit(cr.examples.play_tennis(), "PlayTennis").model_
    >>> net = with_new_states(net, ["Outlook"], 1.0)
    >>> net.cpt("Outlook").values[:, 1].tolist() == [1 / (5 + 4), 1 / (9 + 4)]
    True
    """
    tables: dict[str, Any] = {}
    edges: list[tuple[str, str]] = []
    for v in net.variables:
        table = net.cpt(v.name)
        cut_off = any(p in names for p in net.dag.parents(v.name))
        if v.name in names:
            assert isinstance(table, Cpt) and table.counts is not None
            told = Variable(v.name, "discrete", ("seen", "new"))
            p = smoothing / (table.counts.sum(axis=-1) + smoothing)
            if cut_off:
                p = np.array(1 / (v.arity + 1))
            table = Cpt(told, () if cut_off else table.parents, np.stack([1 - p, p], axis=-1))
        elif cut_off:
            table = Cpt(v, (), np.full(v.arity, 1 / v.arity))
        tables[v.name] = table
        edges += [(p, v.name) for p in net.dag.parents(v.name) if not cut_off]
    return Network(Dag(edges, nodes=net.names), tables)


def _of_aode(model: Aode, columns: Columns, form: str, threads: int, smooth: bool) -> Floats:
    joint = model.joint(columns, threads, smooth=smooth)
    _, bad = _core.naive_finish(joint, form, threads)
    if bad >= 0:
        raise ImpossibleError(
            f"Row {bad + 1:,} has probability zero in every class: "
            f"{model.zero_cells(columns, bad)}.",
            hint="Use smoothing above 0.",
        )
    return np.asarray(joint)


def _of_network(net: Network, target: str, columns: Columns, form: str, threads: int) -> Floats:
    variables = [net.variable(n) for n in net.names if n != target and n in columns.by_name]
    if not variables:  # a network of the class alone
        p = np.tile(list(net.p(target).values()), (columns.rows, 1))
        return p if form == "posterior" else np.log(p)
    arrays = [
        columns.by_name[v.name].values.astype(None if v.is_discrete else np.float64)
        for v in variables
    ]
    table = Table(Block(Schema(tuple(variables)), tuple(arrays)))
    if form == "log":
        return log_posteriors(net, table, target, threads=threads)
    return np.asarray(net.predict_proba(table, target, threads=threads))
