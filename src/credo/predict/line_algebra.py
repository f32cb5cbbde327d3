"""A group of lines as Gaussians, one for each configuration of its discrete parents, conditioned.

    x = m + L ε,   ε ~ N(0, I)        L_yᵀ = Q R,   w = R⁻ᵀ (y − m_y)

    ln p(y | u) = −½ (k ln 2π + |w|²) − Σ ln |R_ii|

    h | y, u ~ N( m_h + L_h Q₁ w,  S Sᵀ ),   S = L_h Q₂

The lines make x the image of independent noise. Observing y turns the noise: its part along the
first columns Q₁ of Q is w, its part along the rest stays free. No variance is found by subtraction.

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

from credo.errors import InputError
from credo.model.linear_gaussian import LinearGaussian
from credo.predict.line_groups import LineGroup

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
        """S Sᵀ."""
        out: Floats = self.spread @ np.swapaxes(self.spread, -1, -2)
        return out


def conditioned(
    group: LineGroup,
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
    mean, image = _image(group, hard, values, drawn or {}, axes, shape)
    at = {n: i for i, n in enumerate(group.names)}
    t = [at[n] for n in wanted]
    k = [at[n] for n in group.observed]
    if not k:
        return Conditioned(np.zeros(mean.shape[:-1]), mean[..., t], image[..., t, :])
    turned_image = np.swapaxes(image[..., k, :], -1, -2)
    q: Any = None
    r: Any
    if t:
        q, r = np.linalg.qr(turned_image, mode="complete")
    else:
        r = np.linalg.qr(turned_image, mode="r")
    r = r[..., : len(k), :]
    diagonal = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    if not (diagonal > 1e-14 * np.sqrt((r**2).sum(axis=-2))).all():
        raise InputError(
            f"The observed variables {', '.join(map(repr, group.observed))} determine each "
            "other to the last digit, so they cannot be observed together.",
            hint="Leave one of them out, or give the lines more variance.",
        )
    y = np.stack([np.atleast_1d(values[n]) for n in group.observed], axis=-1)
    with np.errstate(over="ignore", invalid="ignore"):
        away = y.reshape(len(y), *(1,) * len(shape), len(k)) - mean[..., k]
        white = _whitened(r, away)
        square = (white**2).sum(axis=-1)
        log = -0.5 * (len(k) * np.log(2 * np.pi) + square) - np.log(diagonal).sum(axis=-1)
        if q is None:
            return Conditioned(log, mean[..., :0], image[..., :0, :])
        turned = image[..., t, :] @ q
        shift = (turned[..., : len(k)] * white[..., None, :]).sum(axis=-1)
        return Conditioned(log, mean[..., t] + shift, turned[..., len(k) :])


def _whitened(r: Floats, away: Floats) -> Floats:
    """R⁻ᵀ times the distances from the mean, by substitution from the first on."""
    out = np.empty(np.broadcast_shapes(away.shape, (*r.shape[:-2], away.shape[-1])))
    for i in range(away.shape[-1]):
        left = away[..., i]
        for j in range(i):
            left = left - r[..., j, i] * out[..., j]
        out[..., i] = left / r[..., i, i]
    return out


def _image(
    group: LineGroup,
    hard: Mapping[str, Any],
    values: Mapping[str, Floats],
    drawn: Mapping[str, Line],
    axes: Mapping[str, int],
    shape: tuple[int, ...],
) -> tuple[Floats, Floats]:
    """m and L; an observed parent enters as its value."""
    lines = [_parts(line, hard, axes, drawn.get(line.name)) for line in group.lines]
    batch = max(part[0].shape[0] for part in lines)
    rows = max([batch, *(np.size(v) for v in values.values())])
    at = {n: i for i, n in enumerate(group.names)}
    mean = np.zeros((rows, *shape, len(lines)))
    image = np.zeros((batch, *shape, len(lines), len(lines)))
    column = (-1, *(1,) * len(shape))
    for i, (line, (intercept, slope, variance)) in enumerate(zip(group.lines, lines, strict=True)):
        m: Any = intercept
        for k, parent in enumerate(line.continuous):
            if parent.name in values:
                m = m + slope[..., k] * np.reshape(values[parent.name], column)
            else:
                j = at[parent.name]
                m = m + slope[..., k] * mean[..., j]
                image[..., i, :] += slope[..., k, None] * image[..., j, :]
        mean[..., i] = m
        image[..., i, i] = np.sqrt(variance)
    return mean, image


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
