"""Influence of single rows, exactly: what a row does to the parameters, with it and without it.

A table's row of pseudo-counts α loses (or gains) the row's weight w,

    without: (α_x − w) / (α − w)        so P(x | u) moves by  w (1 − θ_x) / (α − w)

and a line loses it by its leverage h and residual e (Cook 1977): its fit at the row moves by
h e / (1 − h), its residual sum of squares by e² / (1 − h). Nothing is learned again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.checking.again.row_scores import weights_of
from credo.checking.findings import SHOWN, Finding, Section
from credo.core.errors import CredoError
from credo.data import Table
from credo.model.networks.count_table import CountTable
from credo.model.networks.cpt import Cpt
from credo.model.networks.line_prior import LinePrior
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.softmax import Softmax
from credo.model.values.value import View
from credo.predict.rows.rows import gaps_of
from credo.stats.moments import Moments
from credo.train.parameters.lines import fit_lines

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["Influence", "Influential", "influence"]

Floats = NDArray[np.float64]

_KEPT = 100


@dataclass(frozen=True, slots=True)
class Influential:
    """A row (from 1), what it adds to its own ln P, and the parameter that it moves most.

    `moved` is a change of a probability, or of a line's fit in standard deviations. `alone` says
    that without the row the model would call it impossible.
    """

    row: int
    nats: float
    moved: float
    parameter: str
    alone: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Influence(Section):
    """Rows by how far they move some parameter; `nats` has what each adds to its own ln P.

    The nats of all rows add up to about the number of parameters that the rows really decide.
    """

    rows: tuple[Influential, ...]
    total: float
    alone: int
    how: str
    notes: tuple[str, ...] = ()
    nats: Floats = field(default_factory=lambda: np.zeros(0), metadata={"json": False})
    moved: Floats = field(default_factory=lambda: np.zeros(0), metadata={"json": False})

    def _view(self) -> View:
        rows = [
            [f"{r.row:,}", f"{r.moved:.4f}", r.parameter, "alone" if r.alone else f"{r.nats:.3f}"]
            for r in self.rows[:SHOWN]
        ]
        said = [f"all rows together add {self.total:.4g} nats to their own likelihood"]
        if self.alone:
            said.append(f"{_only(self.alone)} of {'its' if self.alone == 1 else 'their'} kind")
        head = ["row", "moves", "parameter", "own nats"]
        return View(f"influence of single rows, each {self.how}", head, rows, (0, 1, 3),
                    "; ".join([*said, *self.notes]))  # fmt: skip

    def findings(self) -> list[Finding]:
        """Rows on which a parameter hangs."""
        out = []
        if self.alone:
            out.append(
                Finding(
                    "influence",
                    f"{_only(self.alone)} of {'its' if self.alone == 1 else 'their'} kind: without "
                    "such a row the model would call it impossible.",
                    float(self.alone),
                    "warning",
                    "Learn the parameters with a prior, such as prior=cr.BDeu(1).",
                    "",
                    float(self.alone),
                )
            )
        if self.rows and self.rows[0].moved > 0.1:
            top = self.rows[0]
            many = int((self.moved > 0.1).sum())
            verb = "moves" if self.how == "left out" else "would move"
            out.append(
                Finding(
                    "influence",
                    f"Row {top.row:,} alone {verb} {top.parameter} by {top.moved:.2g}; "
                    f"{many:,} row{'s move' if many != 1 else ' moves'} some parameter by more "
                    "than 0.1.",
                    top.moved,
                    "note",
                    "Check these rows first: answers that use the parameter hang on them.",
                    f"row {top.row}",
                    top.moved,
                )
            )
        return out


def _only(n: int) -> str:
    return "1 row is the only one" if n == 1 else f"{n:,} rows are the only ones"


def influence(net: Network, table: Table, learned_from: bool) -> Influence | str:
    """The section, or why there is none.

    `learned_from` says that the rows are those of the model: they are left out one at a time;
    else each is added.
    """
    weights = weights_of(table)
    # a row of whole weight stands for so many: one of them is left out or added
    each = np.minimum(weights, 1.0) if (weights == np.round(weights)).all() else weights
    gone = gaps_of(net, table)
    at = {n: k for k, n in enumerate(net.names)}
    n = len(table)
    nats, moved = np.zeros(n), np.zeros(n)
    alone = np.zeros(n, dtype=bool)
    which = np.full(n, -1)
    judged = 0
    for k, name in enumerate(net.names):
        local = net.distributions[name]
        here = np.flatnonzero(~gone[:, [at[v.name] for v in local.variables]].any(axis=1))
        if isinstance(local, Softmax):
            continue
        if not len(here) or (local.learned is not None and local.learned.estimate == "fixed"):
            continue
        columns = {m: a[here] for m, a in zip(table.schema.names, table.block.arrays, strict=True)}
        found = (_table if isinstance(local, Cpt) else _line)(
            local, columns, each[here], learned_from
        )
        if found is None:
            continue
        judged += 1
        own, shift, only = found
        nats[here] += np.where(only, 0.0, own)
        alone[here] |= only
        more = shift > moved[here]
        which[here[more]] = k
        moved[here[more]] = shift[more]
    if not judged:
        return "the network keeps no counts of what it was learned from"
    order = np.argsort(-moved, kind="stable")[:_KEPT]
    rows = tuple(
        Influential(int(i) + 1, float(nats[i]), float(moved[i]), _name(net, table, which[i], i),
                    bool(alone[i]))
        for i in order if moved[i] > 0
    )  # fmt: skip
    notes = []
    if gone[:, [at[m] for m in table.schema.names]].any():
        notes.append("families with a gap in the row are left out of its influence")
    if judged < len(net.names):
        counted = sum(isinstance(d, CountTable) for d in net.distributions.values())
        if counted:
            notes.append(
                f"{counted:,} {'family' if counted == 1 else 'families'} of counts left out"
            )
        softmaxes = sum(isinstance(d, Softmax) for d in net.distributions.values())
        if softmaxes:
            notes.append(f"{softmaxes:,} softmax{'es' * (softmaxes > 1)} left out")
            counted += softmaxes
        if judged + counted < len(net.names):
            notes.append(f"{len(net.names) - judged - counted:,} families keep no counts")
    how = "left out" if learned_from else "added"
    return Influence(rows, float(weights @ nats), int(alone.sum()), how, tuple(notes), nats, moved)


def _table(
    local: Any, columns: dict[str, Any], w: Floats, learned_from: bool
) -> tuple[Floats, Floats, NDArray[np.bool_]] | None:
    """What each row adds to ln P(x | u), how far it moves θ_x, and whether it is alone."""
    counts = local.counts
    if isinstance(local, CountTable):
        return None
    if counts is None or (local.learned is not None and local.learned.estimate in ("mle", "map")):
        if local.learned is None:
            return None
        counts = np.asarray(local.learned.observed.dense(), dtype=np.float64)
        if local.learned.estimate == "map" and local.counts is not None:
            counts = np.maximum(local.counts - 1.0, 0.0)
    where = tuple(columns[v.name] for v in local.variables)
    cell = counts[where]
    row = counts.sum(axis=-1)[where[:-1]]
    if learned_from:
        cell_without, row_without = np.maximum(cell - w, 0.0), np.maximum(row - w, 0.0)
        cell_with, row_with = cell, row
    else:
        cell_without, row_without = cell, row
        cell_with, row_with = cell + w, row + w
    small = 1e-9 * np.maximum(w, 1e-12)
    only = cell_without <= small
    k = local.child.arity
    with np.errstate(divide="ignore", invalid="ignore"):
        p_with = np.where(row_with > small, cell_with / np.maximum(row_with, 1e-300), 1 / k)
        p_without = np.where(row_without > small, cell_without / np.maximum(row_without, 1e-300),
                             1 / k)  # fmt: skip
        own = np.log(np.maximum(p_with, 1e-300)) - np.log(np.maximum(p_without, 1e-300))
    only &= (row_without > small) & (cell_with > small)
    return own, np.abs(p_with - p_without), only


def _line(
    local: Any, columns: dict[str, Any], w: Floats, learned_from: bool
) -> tuple[Floats, Floats, NDArray[np.bool_]] | None:
    """The same for a line: what each row adds, and how far it moves its own fit, in sds."""
    assert isinstance(local, LinearGaussian)
    how = "mean" if local.learned is None else local.learned.estimate
    posterior = local.posterior
    if posterior is None:
        if local.learned is None or not isinstance(local.learned.observed, Moments):
            return None
        order = [p.name for p in local.discrete] + [p.name for p in local.continuous]
        moments = local.learned.observed.marginal([*order, local.name])
        try:
            posterior = fit_lines(moments, LinePrior(), "mle").posterior
        except CredoError:
            return None
        assert posterior is not None
    at = tuple(columns[p.name] for p in local.discrete)
    k = len(local.continuous)
    n, rss, alpha = posterior.weight[at], 2 * posterior.beta[at], posterior.alpha[at]
    away = np.stack([columns[p.name] for p in local.continuous], axis=-1) if k else np.zeros(
        (len(w), 0)
    )  # fmt: skip
    away = away - posterior.centre[at]
    residual = columns[local.name] - posterior.mean[at] - (posterior.slope[at] * away).sum(axis=-1)
    lever = 1.0 / n
    if k:
        inverse = np.linalg.pinv(posterior.spread, hermitian=True)[at]
        lever = lever + np.einsum("...i,...ij,...j->...", away, inverse, away)
    room = {"mean": 2 * (alpha - 1), "map": 2 * (alpha + 1 + (k + 1) / 2), "sample": n - k - 1}.get(
        how, n
    )
    sign = -1.0 if learned_from else 1.0
    factor = 1 + sign * w * lever
    safe = factor > 1e-9
    factor = np.where(safe, factor, 1.0)
    rss_other = np.maximum(rss + sign * w * residual**2 / factor, 1e-300)
    room_other = np.maximum(room + sign * w, 1e-9)
    residual_other = residual / factor
    v, v_other = rss / np.maximum(room, 1e-9), rss_other / room_other
    mine = -0.5 * (np.log(v) + residual**2 / v)
    other = -0.5 * (np.log(v_other) + residual_other**2 / v_other)
    own = np.where(safe, (mine - other) * -sign, 0.0)
    shift = np.where(safe, np.abs(residual_other - residual) / np.sqrt(v), 0.0)
    return own, shift, ~safe


def _name(net: Network, table: Table, k: int, i: int) -> str:
    if k < 0:
        return ""
    local = net.distributions[net.names[k]]
    if isinstance(local, LinearGaussian):
        return f"the line of {local.name}"

    def state(v: Any) -> str:
        code = int(table.block.arrays[table.schema.index(v.name)][i])
        return f"{v.name}={v.states[code]}"

    given = f" | {', '.join(map(state, local.parents))}" if local.parents else ""
    return f"P({state(local.child)}{given})"
