"""A group of lines as Gaussians, one for each configuration of its discrete parents, conditioned.

    x = m + L ε,   ε ~ N(0, I)        next line: m' = a + bᵀ m,   r = (bᵀ L, σ)

    it is hidden:    L gets the row r
    it is observed:  r H = −|r| e_last,   w = (y − m') / |r|,   L H = (K, l)
                     m ← m − w l,   L ← K
                     ln p(y | before) = −½ (ln 2π + w²) − ln |r|

The lines make x the image of independent noise, and are taken one by one, parents first. An
observed one turns the noise (a Householder reflection H) so that all it tells is the last part,
which is then known. No variance is found by subtraction. Variables that no later line needs are
dropped, so that a chain of any length stays narrow. (The square-root form of Kalman's filter.)

Every array has a batch axis in front (rows of a table, draws of the parameters, samples of the
discrete variables), then an axis for each discrete parent that is not known. A batch of length 1
stands for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.predict.mixed.gaussian_groups import GaussianGroup

__all__ = ["Conditioned", "conditioned"]

Floats = NDArray[np.float64]
Line = tuple[Floats, Floats, Floats]


@dataclass(frozen=True)
class Conditioned:
    """`log` [B, u…] is ln p(y | u); `mean` [B, u…, t] and `spread` [B', u…, t, noise] are the
    hidden ones'."""

    log: Floats
    mean: Floats
    spread: Floats

    @property
    def covariance(self) -> Floats:
        """Of the hidden ones; the spread times itself turned."""
        out: Floats = self.spread @ np.swapaxes(self.spread, -1, -2)
        return out


def conditioned(
    group: GaussianGroup,
    hard: Mapping[str, Any],
    values: Mapping[str, Floats],
    wanted: Sequence[str] = (),
    drawn: Mapping[str, Line] | None = None,
) -> Conditioned:
    """The group given its observed values; `wanted` are the hidden variables asked about.

    `hard` has codes of discrete parents (numbers, or arrays as long as the batch, then of all of
    them), `values` an array for each observed variable, `drawn` the parameters of lines that have
    a batch of their own.
    """
    free = group.free(hard)
    shape = tuple(p.arity for p in free)
    axes = {p.name: k for k, p in enumerate(free)}
    column = (-1, *(1,) * len(shape))
    last = {p.name: i for i, line in enumerate(group.lines) for p in line.continuous}
    keep = set(wanted)
    state = _State(len(shape))
    for i, line in enumerate(group.lines):
        intercept, slope, variance = _parts(line, hard, axes, (drawn or {}).get(line.name))
        known = [k for k, p in enumerate(line.continuous) if p.name in values]
        mean: Any = intercept
        with np.errstate(over="ignore", invalid="ignore"):
            for k in known:
                value = np.reshape(values[line.continuous[k].name], column)
                mean = mean + slope[..., k] * value
        others = [(p.name, k) for k, p in enumerate(line.continuous) if p.name not in values]
        state.combine(mean, slope, others, np.sqrt(variance))
        if line.name in group.observed:
            state.observe(line.name, np.reshape(values[line.name], column), group)
        else:
            state.append(line.name)
        state.drop([n for n in state.names if n not in keep and last.get(n, -1) <= i])
    return state.result(wanted, shape)


class _State:
    """The hidden variables that still matter: mean [B, u…, a], image [B', u…, a, noise].

    `size` [B', u…, a] bounds what their spread was before anything was observed.
    """

    def __init__(self, axes: int) -> None:
        lead = (1,) * (1 + axes)
        self.names: list[str] = []
        self.mean = np.zeros((*lead, 0))
        self.image = np.zeros((*lead, 0, 0))
        self.size = np.zeros((*lead, 0))
        self.log: Floats = np.zeros(lead)

    def combine(
        self, mean: Any, slope: Floats, parents: Sequence[tuple[str, int]], sd: Floats
    ) -> None:
        """The next line's mean, its row of the image, and the size of it."""
        row: Any = np.zeros((*sd.shape, self.image.shape[-1]))
        size: Any = sd
        for name, k in parents:
            j = self.names.index(name)
            mean = mean + slope[..., k] * self.mean[..., j]
            row = row + slope[..., k, None] * self.image[..., j, :]
            size = size + np.abs(slope[..., k]) * self.size[..., j]
        sd = np.broadcast_to(sd, row.shape[:-1])
        self.next = (mean, np.concatenate([row, sd[..., None]], axis=-1), size)

    def append(self, name: str) -> None:
        """The next line is hidden."""
        mean, row, size = self.next
        self.names.append(name)
        self.mean = _beside(self.mean, mean[..., None])
        self.size = _beside(self.size, size[..., None])
        wider = _padded(self.image)
        self.image = _below(wider, row[..., None, :])

    def observe(self, name: str, value: Floats, group: GaussianGroup) -> None:
        """The next line is observed: the last part of the turned noise is known."""
        mean, row, size = self.next
        norm = np.sqrt((row**2).sum(axis=-1))
        if not (norm > 1e-14 * size).all():
            raise InputError(
                f"The observed variables {', '.join(map(repr, group.observed))} determine each "
                "other to the last digit, so they cannot be observed together.",
                hint="Leave one of them out, or give the lines more variance.",
            )
        with np.errstate(over="ignore", invalid="ignore"):
            w = (value - mean) / norm
            self.log = self.log - 0.5 * (np.log(2 * np.pi) + w**2) - np.log(norm)
            if not self.names:
                self.image = self.image[..., :0]
                return
            turn = row.copy()
            turn[..., -1] += norm
            scale = 2 / (turn**2).sum(axis=-1)
            image = _padded(self.image)
            along = (image * turn[..., None, :]).sum(axis=-1) * scale[..., None]
            image = image - along[..., None] * turn[..., None, :]
            self.mean = self.mean - w[..., None] * image[..., -1]
            self.image = image[..., :-1]

    def drop(self, names: Sequence[str]) -> None:
        """Variables that no later line needs are integrated out."""
        if names:
            kept = [i for i, n in enumerate(self.names) if n not in names]
            self.names = [self.names[i] for i in kept]
            self.mean, self.size = self.mean[..., kept], self.size[..., kept]
            self.image = self.image[..., kept, :]
        rows, columns = self.image.shape[-2:]
        if rows == 0:
            self.image = self.image[..., :0]
        elif columns > 2 * rows + 2:
            self.image = _square(self.image)

    def result(self, wanted: Sequence[str], shape: tuple[int, ...]) -> Conditioned:
        """What is left, in the order asked for, on all axes."""
        t = [self.names.index(n) for n in wanted]
        log = np.broadcast_to(self.log, (len(self.log), *shape))
        mean = self.mean[..., t]
        spread = self.image[..., t, :]
        if spread.shape[-1] != len(t) and t:
            spread = _square(spread)
        mean = np.broadcast_to(mean, (len(mean), *shape, len(t)))
        spread = np.broadcast_to(spread, (len(spread), *shape, len(t), spread.shape[-1]))
        return Conditioned(log, mean, spread)


def _square(image: Floats) -> Floats:
    """An image of as much noise as there are rows, with the same covariance."""
    rows, columns = image.shape[-2:]
    if columns < rows:
        wide = [(0, 0)] * (image.ndim - 1)
        return np.pad(image, [*wide, (0, rows - columns)])
    r: Any = np.linalg.qr(np.swapaxes(image, -1, -2), mode="r")
    out: Floats = np.swapaxes(r, -1, -2)
    return out


def _padded(image: Floats) -> Floats:
    """One more column of noise, of which nothing depends yet."""
    zeros = np.zeros((*image.shape[:-1], 1))
    return np.concatenate([image, zeros], axis=-1)


def _beside(a: Floats, b: Floats) -> Floats:
    lead = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    parts = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in (a, b)]
    return np.concatenate(parts, axis=-1)


def _below(a: Floats, b: Floats) -> Floats:
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    parts = [np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (a, b)]
    return np.concatenate(parts, axis=-2)


def _parts(
    line: LinearGaussian, hard: Mapping[str, Any], axes: Mapping[str, int], drawn: Line | None
) -> Line:
    """Intercept [B, u…], slopes [B, u…, k] and variance [B, u…] on the axes of the group."""
    if drawn is None:
        own = (line.intercept, line.coefficients, line.variance)
        drawn = (own[0][None], own[1][None], own[2][None])
    a, b, v = drawn
    at = [hard.get(p.name, slice(None)) for p in line.discrete]
    if any(isinstance(i, np.ndarray) for i in at):
        return a[(0, *at)], b[(0, *at)], v[(0, *at)]
    free = [p for p in line.discrete if p.name not in hard]
    order = sorted(range(len(free)), key=lambda i: axes[free[i].name])
    sizes = [1] * len(axes)
    for p in free:
        sizes[axes[p.name]] = p.arity
    turn = [0, *(1 + i for i in order)]

    def placed(part: Floats, tail: int) -> Floats:
        cut = part[(slice(None), *at)]
        cut = cut.transpose([*turn, *range(len(turn), cut.ndim)])
        return cut.reshape(len(cut), *sizes, *cut.shape[cut.ndim - tail :])

    return placed(a, 0), placed(b, 1), placed(v, 0)
