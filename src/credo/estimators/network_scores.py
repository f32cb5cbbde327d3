"""Rows through the model of a network classifier: new states, and one row explained.

A new state of x_j has, as in naive Bayes, the probability of one more state that no row had

    P(x_j = new | u) = l / (N[u] + l·(J + 1))

and a parent row with a new state was never seen, so what hangs from it is uniform, whatever the
class. Rows that are new in the same columns are answered by one network that says just that.

A prediction is explained by what each cell adds to the cells before it, in bits

    log₂ P(a | x) / P(b | x) = log₂ P(a) / P(b) + Σ_j log₂ P(x_j | x_1 … x_{j−1}, a) / P(… | b)

which holds for every network and with gaps. All it needs is the answers to as many rows as there
are cells, each with one cell more than the row before.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import ImpossibleError, InputError, unknown_name
from credo.core.schema import Schema, Variable, is_missing
from credo.data import Column, Columns, Table
from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network
from credo.model.structures.structure_posterior import StructurePosterior
from credo.predict.rows.naive_row import (
    Contributions,
    compared_classes,
    contributions,
    ruled_out,
)
from credo.predict.rows.rows import log_posteriors
from credo.stats.block import Block
from credo.train.naive_bayes.aode import Aode

Floats = NDArray[np.float64]


def model_scores(
    model: Network | Aode | StructurePosterior,
    target: str,
    columns: Columns,
    form: str,
    threads: int,
    smoothing: float,
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
    if isinstance(model, StructurePosterior):
        return _of_graphs(model, target, columns, form)
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


def _of_graphs(post: StructurePosterior, target: str, columns: Columns, form: str) -> Floats:
    """The same averaged over graphs; equal rows are asked once."""
    variables = [v for v in post.variables if v.name != target and v.name in columns.by_name]
    arrays = [columns.by_name[v.name].values for v in variables]
    codes = np.stack([np.asarray(a, dtype=np.int64) for a in arrays], axis=1)
    rows, inverse = np.unique(codes, axis=0, return_inverse=True)
    block = Block(
        Schema(tuple(variables)), tuple(np.ascontiguousarray(c, np.uint16) for c in rows.T)
    )
    p: Floats = post.predict_proba(Table(block), target)[np.asarray(inverse).ravel()]
    return p if form == "posterior" else np.log(p)


# --- one row explained ---------------------------------------------------------------------


def cells_of_row(
    row: Any, names: Sequence[str], features: Sequence[str], target: str
) -> dict[str, Any]:
    """The cells that are there, by name: of a mapping, or of the values in the order of training.

    >>> cells_of_row(["u", None], ["a", "b"], ["a", "b"], "y")
    {'a': 'u'}
    """
    if not isinstance(row, Mapping):
        values = list(np.asarray(row, dtype=object).ravel())
        if len(values) != len(names):
            raise InputError(f"The row has {len(values)} values for {len(names)} features.")
        row = {n: v for n, v in zip(names, values, strict=True) if n in features}
    for name, value in row.items():
        if name == target and not is_missing(value):
            raise InputError(
                f"{name!r} is the class, which is what is asked for.", hint="Leave it out."
            )
        if name not in features and name != target:
            raise unknown_name("Feature", name, features, "in the model")
    found = {n: row[n] for n in features if n in row and not is_missing(row[n])}
    if not found:
        raise InputError("The row has no cell, so there is nothing to explain.")
    return found


def one_by_one(columns: Columns, names: Sequence[str]) -> Columns:
    """One row as many: none of its cells, the first, the first two, … all."""
    many = len(names) + 1
    found = {}
    for j, name in enumerate(names):
        column = columns.by_name[name]
        cell = column.values[0]
        gap = np.nan if column.variable is None else column.variable.arity
        values = np.where(np.arange(many) > j, cell, gap).astype(column.values.dtype)
        found[name] = Column(values, column.variable)
    return Columns(many, found)


def explained(
    target: Variable, cells: Mapping[str, Any], log_p: Floats, of: Any, against: Any
) -> Contributions:
    """The account of ln P(class | no cell, the first, …, all)."""
    last = log_p[-1]
    first, second = compared_classes(target, last, of, against)
    if last[first] == last[second] == -math.inf:
        raise ruled_out(
            "The row", target.states[first], target.states[second], "another class is certain"
        )
    with np.errstate(invalid="ignore"):
        odds = (log_p[:, first] - log_p[:, second]) / math.log(2)
    bits = [float(b - a) if math.isfinite(a) else 0.0 for a, b in pairwise(odds)]
    rows = [(n, v, b) for (n, v), b in zip(cells.items(), bits, strict=True)]
    return contributions(target, last, first, second, float(odds[0]), rows)
