"""States of hidden variables in the order in which given parameters explain the statistics best.

    order = argmax over permutations of E[ln P(completed rows with states exchanged | θ)]

For one variable that is an assignment problem: the gain of calling state a of the statistics state
b is a sum over its families, whatever the others are called. Several variables take turns. States
that a prior, a fixed or a tied table tells apart keep their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.train.em.layout import Layout, Parameters, Statistics
from credo.train.em.maximise import NetworkEM

__all__ = ["Relabel", "even", "near", "permute"]

Floats = NDArray[np.float64]
_TURNS = 5  # of all hidden variables, until nothing changes


class Relabel:
    """The hidden variables that can be relabelled, and what parameters say of each state."""

    def __init__(self, em: NetworkEM, x: Parameters, hidden: Sequence[str]) -> None:
        self.layout = em.layout
        free = [n for n in hidden if all(even(em, j) for j in near(em.layout, n))]
        self.families = {
            n: [(j, _Said.of(em.layout, j, n, x)) for j in near(em.layout, n)] for n in free
        }

    def __call__(self, statistics: Statistics) -> tuple[Statistics, dict[str, NDArray[np.intp]]]:
        """The statistics in the best order, and what each state of a variable is called then."""
        if not self.families:
            return statistics, {}
        counts, moments = statistics.counts.copy(), statistics.moments.copy()
        called: dict[str, NDArray[np.intp]] = {}
        for _ in range(_TURNS):
            changed = False
            for name, families in self.families.items():
                gain = sum(said.gain(self.layout, j, counts, moments) for j, said in families)
                order = _best(np.asarray(gain))
                if (order == np.arange(len(order))).all():
                    continue
                changed = True
                for j, _ in families:
                    permute(self.layout, j, name, order, counts, moments)
                to = np.argsort(order)
                called[name] = to[called[name]] if name in called else to
            if not changed:
                break
        same = [n for n, to in called.items() if (to == np.arange(len(to))).all()]
        return Statistics(counts, moments), {n: to for n, to in called.items() if n not in same}


@dataclass(frozen=True)
class _Said:
    """What parameters say of a family for each state of one of its variables, that axis first:
    ln θ [b, rest]; or the direction (−a, −b, 1) of a line [b, rest, z] and its variance."""

    axis: int
    shape: tuple[int, ...]
    discrete: bool
    values: Floats
    variance: Floats

    @classmethod
    def of(cls, layout: Layout, j: int, name: str, x: Parameters) -> _Said:
        child, parents = layout.families[j]
        axis = _axis(layout, j, name)
        if child.is_discrete:
            theta = layout.table(x.theta, j)
            logs = np.log(np.maximum(np.moveaxis(theta, axis, 0), 1e-300))
            return cls(axis, theta.shape, True, logs.reshape(len(logs), -1), np.zeros(0))
        shape = tuple(p.arity for p in parents if p.is_discrete)
        line = np.moveaxis(layout.line(x.lines, j), axis, 0)
        line = line.reshape(shape[axis], -1, line.shape[-1])
        away = np.concatenate([-line[..., :-1], np.ones((*line.shape[:-1], 1))], axis=-1)
        return cls(axis, shape, False, away, line[..., -1])

    def gain(self, layout: Layout, j: int, counts: Floats, moments: Floats) -> Floats:
        """ln P(statistics of state a | parameters of state b): [a, b]."""
        arity = self.shape[self.axis]
        if self.discrete:
            n = layout.table(counts, j)
            n = n if self.axis == 0 else np.moveaxis(n, self.axis, 0)
            out: Floats = n.reshape(arity, -1) @ self.values.T
            return out
        flat = layout.moment(moments, j)
        side = flat.shape[-1]
        m = np.moveaxis(flat.reshape(*self.shape, side, side), self.axis, 0)
        m = m.reshape(arity, -1, side, side)
        square = np.einsum("bui,auij,buj->abu", self.values, m, self.values) / self.variance
        mass = m[:, None, :, 0, 0] * np.log(self.variance)
        gain: Floats = -0.5 * (square + mass).sum(axis=-1)
        return gain


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


def _best(gain: Floats) -> NDArray[np.intp]:
    """Which state becomes the first, the second, …"""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-gain)
    return np.asarray(rows[np.argsort(columns)], dtype=np.intp)
