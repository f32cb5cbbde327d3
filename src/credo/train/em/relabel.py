"""States of hidden variables in the order in which given parameters explain the statistics best.

    order = argmax over permutations of E[ln P(completed rows with states exchanged | θ)]

For one variable that is an assignment problem: the gain of calling state a of the statistics state
b is a sum over its families, whatever the others are called. Several variables take turns. States
that a prior, a fixed or a tied table tells apart keep their names.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from credo.train.em.e_step import Layout, Parameters, Statistics
from credo.train.em.maximise import NetworkEM

__all__ = ["even", "near", "permute", "relabelled"]

Floats = NDArray[np.float64]
_TURNS = 5  # of all hidden variables, until nothing changes


def relabelled(
    em: NetworkEM, statistics: Statistics, x: Parameters, hidden: Sequence[str]
) -> tuple[Statistics, dict[str, NDArray[np.intp]]]:
    """The statistics in that order, and what each state of a variable is called then."""
    layout = em.layout
    families = {name: near(layout, name) for name in hidden}
    free = [n for n in hidden if all(even(em, j) for j in families[n])]
    counts, moments = statistics.counts.copy(), statistics.moments.copy()
    called: dict[str, NDArray[np.intp]] = {}
    for _ in range(_TURNS if free else 0):
        changed = False
        for name in free:
            gain = sum(_gain(layout, j, name, counts, moments, x) for j in families[name])
            order = _best(np.asarray(gain))
            if (order == np.arange(len(order))).all():
                continue
            changed = True
            for j in families[name]:
                permute(layout, j, name, order, counts, moments)
            to = np.argsort(order)
            called[name] = to[called[name]] if name in called else to
        if not changed:
            break
    same = [n for n, to in called.items() if (to == np.arange(len(to))).all()]
    return Statistics(counts, moments), {n: to for n, to in called.items() if n not in same}


def near(layout: Layout, name: str) -> list[int]:
    """The families that a variable takes part in."""
    return [
        j for j, (child, above) in enumerate(layout.families)
        if name == child.name or any(p.name == name for p in above)
    ]  # fmt: skip


def even(em: NetworkEM, j: int) -> bool:
    """Whether a family treats the states of its variables alike before any row is seen."""
    name = em.layout.names[j]
    if j in em.held or name in em.groups:
        return False
    prior = em.beliefs[j].prior
    return not isinstance(prior, np.ndarray) or bool((prior == prior.flat[0]).all())


def _axis(layout: Layout, j: int, name: str) -> int:
    """The axis of a variable among the discrete ones of a family."""
    child, parents = layout.families[j]
    return [v.name for v in (*parents, child) if v.is_discrete].index(name)


def permute(
    layout: Layout, j: int, name: str, order: NDArray[np.intp], counts: Floats, moments: Floats
) -> None:
    """Put the states of a variable in another order, in the statistics of one family."""
    child, parents = layout.families[j]
    if child.is_discrete:
        block = layout.table(counts, j)
    else:
        flat = layout.moment(moments, j)
        block = flat.reshape(*(p.arity for p in parents if p.is_discrete), *flat.shape[1:])
    block[...] = np.take(block, order, axis=_axis(layout, j, name))


def _gain(
    layout: Layout, j: int, name: str, counts: Floats, moments: Floats, x: Parameters
) -> Floats:
    """ln P(statistics of state a | parameters of state b): [a, b]."""
    child, parents = layout.families[j]
    axis = _axis(layout, j, name)
    if child.is_discrete:
        n, theta = (np.moveaxis(layout.table(t, j), axis, 0) for t in (counts, x.theta))
        logs = np.log(np.maximum(theta, 1e-300)).reshape(len(theta), -1)
        out: Floats = n.reshape(len(n), -1) @ logs.T
        return out
    shape = [p.arity for p in parents if p.is_discrete]
    flat = layout.moment(moments, j)
    side = flat.shape[-1]
    m = np.moveaxis(flat.reshape(*shape, side, side), axis, 0).reshape(shape[axis], -1, side, side)
    line = np.moveaxis(layout.line(x.lines, j), axis, 0).reshape(shape[axis], -1, side)
    away = np.concatenate([-line[..., :-1], np.ones((*line.shape[:-1], 1))], axis=-1)
    square = np.einsum("bui,auij,buj->abu", away, m, away) / line[..., -1]
    mass: Floats = m[:, None, :, 0, 0] * np.log(line[..., -1])
    gain: Floats = -0.5 * (square + mass).sum(axis=-1)
    return gain


def _best(gain: Floats) -> NDArray[np.intp]:
    """Which state becomes the first, the second, …"""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-gain)
    return np.asarray(rows[np.argsort(columns)], dtype=np.intp)
