"""Rows under all graphs at once, and the averaged joint of few variables.

    ln P(x) = ln Σ_G P(G | rows) Π_i P(x_i | parents_i(G))

ln P(x_i | parents) is looked up once for every family; a graph is a sum of some of them. Where
every graph is here, there are few variables: the joint of all answers any question about states.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.kept import Kept
from credo.data import Table
from credo.model.answers.distribution import Distribution
from credo.model.structures.structure_posterior import StructurePosterior
from credo.predict.questions.request import Request
from credo.predict.rows.rows import family_log
from credo.stats.block import Block

__all__ = ["by_joint", "columns_of", "log_mean", "log_rows"]

Floats = NDArray[np.float64]

NUMBERS = 4_000_000
"""Of graphs (or draws) times rows at once."""
_CELLS = 4096  # of a joint that is written out


def columns_of(table: Table) -> dict[str, Any]:
    """The columns of a table by name."""
    return dict(zip(table.schema.names, table.block.arrays, strict=True))


def log_rows(post: StructurePosterior, table: Table) -> Floats:
    """ln P of rows without gaps."""
    out = np.empty(len(table))
    used = np.unique(post.members)
    place = np.zeros(len(post.families), dtype=np.intp)
    place[used] = np.arange(len(used))
    step = max(NUMBERS // len(post.members), 1)
    for start in range(0, len(table), step):
        part = table.take(slice(start, start + step))
        columns = columns_of(part)
        logs = np.stack([family_log(post.families[f], columns) for f in used.tolist()])
        total = np.zeros((len(post.members), len(part)))
        for k in range(post.members.shape[1]):
            total += logs[place[post.members[:, k]]]
        out[start : start + step] = log_mean(total, post.weights)
    return out


def log_mean(logs: Floats, weights: Floats) -> Floats:
    """ln of the weighted mean of exp(logs), along the first axis."""
    most = logs.max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = most + np.log(weights @ np.exp(logs - most))
    return np.where(np.isneginf(most), -np.inf, out)


def _joint(post: StructurePosterior) -> Floats:
    shape = [v.arity for v in post.variables]
    codes = np.indices(shape).reshape(len(shape), -1)
    arrays = tuple(np.ascontiguousarray(c, dtype=np.uint16) for c in codes)
    return np.exp(log_rows(post, Table(Block(post.schema, arrays)))).reshape(shape)


_JOINTS: Kept[Floats] = Kept(_joint)


def by_joint(post: StructurePosterior, asked: Request, given: Mapping[str, Any]) -> Any:
    """The answer from the joint of all variables; None where that is not the way."""
    small = all(v.is_discrete for v in post.variables) and (
        prod(v.arity for v in post.variables) <= _CELLS
    )
    hard = asked.evidence.hard
    if not post.complete or not small or set(hard) != set(given):
        return None
    if any(n not in post.names for n in asked.targets):  # a range of a number
        return None
    joint = _JOINTS[post]
    at = tuple(hard.get(n, slice(None)) for n in post.names)
    left = [n for n in post.names if n not in hard]
    part = joint[at]
    axes = tuple(i for i, n in enumerate(left) if n not in asked.targets)
    part = part.sum(axis=axes)
    order = [n for n in left if n in asked.targets]
    part = part.transpose([order.index(n) for n in asked.targets])
    total = float(part.sum())
    if total <= 0:
        return None
    part = part / total
    if asked.event is None:
        return Distribution(tuple(post.schema[n] for n in asked.targets), part)
    return float(part[np.ix_(*(asked.event[n] for n in asked.targets))].sum())
