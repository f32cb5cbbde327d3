"""Continuous variables that are not observed but that observed ones rest on.

Given the discrete variables u, the lines of a network are one Gaussian. What is observed of it, y,
tells of u by its density, and of the hidden ones, h, by conditioning:

    λ(u) = p(y | u)        h | y, u ~ N( m_u, S_u S_uᵀ )

Hidden lines that meet in an observed one form a group, so λ is a table over the group's discrete
parents alone. With the noise written x = m + L ε, observing x_k turns it: L_kᵀ = Q R, the part of ε
along the first columns of Q is R⁻ᵀ (y − m_k) and the part along the rest stays free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import InputError, LimitError
from credo.model.linear_gaussian import LinearGaussian
from credo.schema import Variable

if TYPE_CHECKING:
    from credo.model.network import Network
    from credo.predict.evidence import Evidence

__all__ = ["MAX_NUMBERS", "HiddenLines", "density_factors", "hidden_lines"]

MAX_NUMBERS = 50_000_000
"""The configurations of a group's discrete parents, times its lines squared, are at most this."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HiddenLines:
    """A group of hidden continuous variables given what is observed of it.

    `parents` are the discrete variables (not observed) that it depends on; `mean` [u…, h] and
    `spread` [u…, h, h] say what is left of the hidden ones, `log` [u…] is ln λ(u).
    """

    names: tuple[str, ...]
    parents: tuple[str, ...]
    mean: Floats
    spread: Floats
    log: Floats

    def draw(self, columns: dict[str, NDArray[Any]], noise: Callable[[str], Floats]) -> None:
        """Fill in the hidden variables of each row of `columns`."""
        at = tuple(columns[p] for p in self.parents)
        free = [noise(name) for name in self.names]
        for i, name in enumerate(self.names):
            mean: Floats = self.mean[..., i][at]
            x = mean + self.spread[..., i, 0][at] * free[0]
            for j in range(1, len(free)):
                x += self.spread[..., i, j][at] * free[j]
            columns[name][:] = x


def hidden_lines(net: Network, evidence: Evidence) -> tuple[HiddenLines, ...]:
    """The groups of hidden continuous variables that the observed ones rest on."""
    hidden: set[str] = set()
    ahead = list(evidence.values)
    while ahead:
        for parent in _line(net, ahead.pop()).continuous:
            if parent.name not in evidence.values and parent.name not in hidden:
                hidden.add(parent.name)
                ahead.append(parent.name)
    members = [n for n in net.dag.order if n in hidden or n in evidence.values]
    group_of = {n: {n} for n in hidden}
    touched = {}
    for name in members:
        touched[name] = [p.name for p in _line(net, name).continuous if p.name in hidden]
        together = set().union(*(group_of[p] for p in touched[name]))
        if name in hidden:
            together |= {name}
        for n in together:
            group_of[n] = together
    groups = {id(g): g for g in group_of.values()}
    found = []
    for group in groups.values():
        lines = [n for n in members if n in group or group.intersection(touched[n])]
        found.append(_conditioned(net, lines, evidence))
    return tuple(found)


def density_factors(
    net: Network, evidence: Evidence, hidden: tuple[HiddenLines, ...]
) -> list[tuple[tuple[str, ...], Floats]]:
    """Factors over discrete variables, in logarithms, that the continuous evidence gives."""
    out = [(group.parents, group.log) for group in hidden]
    covered = {n for group in hidden for n in group.names}
    for name in evidence.values:
        line = _line(net, name)
        if covered.intersection(p.name for p in line.continuous):
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            given = [evidence.values[p.name] for p in line.continuous]
            log = line.log_density(evidence.values[name], given)[0]
        out.append((tuple(p.name for p in line.discrete), _told(log, [name])))
    return out


def _line(net: Network, name: str) -> LinearGaussian:
    line = net.distributions[name]
    assert isinstance(line, LinearGaussian)
    return line


def _told(log: Floats, names: list[str]) -> Floats:
    """Densities that are not numbers are too small to be told; not all may be."""
    out = np.where(np.isnan(log), -np.inf, log)
    if out.max() == -np.inf:
        raise LimitError(
            f"The density of {', '.join(map(repr, names))} is too small to be told.",
            hint="The value is far from every line of the model; check its unit.",
        )
    return out


def _conditioned(net: Network, names: list[str], evidence: Evidence) -> HiddenLines:
    """The lines of one group as a Gaussian for each configuration, and what is observed of it."""
    lines = [_line(net, n) for n in names]
    every = {p.name: p for line in lines for p in line.discrete}
    parents = [p for n, p in every.items() if n not in evidence.hard]
    shape = tuple(p.arity for p in parents)
    size = prod(shape) * len(names) ** 2
    if size > MAX_NUMBERS:
        raise LimitError(
            f"The hidden variables {', '.join(map(repr, names[:3]))}… given the evidence are a "
            f"mixture of {prod(shape):,} Gaussians over {len(names)} variables; at most "
            f"{MAX_NUMBERS:,} numbers are kept.",
            hint="Observe some of their discrete parents, or more continuous variables.",
        )
    mean, image = _image(lines, parents, shape, evidence)
    seen = [i for i, n in enumerate(names) if n in evidence.values]
    rest = [i for i, n in enumerate(names) if n not in evidence.values]
    away = np.array([evidence.values[names[i]] for i in seen]) - mean[..., seen]
    q, r = np.linalg.qr(np.swapaxes(image[..., seen, :], -1, -2), mode="complete")
    r = r[..., : len(seen), :]
    diagonal = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    if not (diagonal > 1e-14 * np.sqrt((r**2).sum(axis=-2))).all():
        raise InputError(
            f"The observed variables {', '.join(repr(names[i]) for i in seen)} determine each "
            "other to the last digit, so they cannot be observed together.",
            hint="Leave one of them out, or give the lines more variance.",
        )
    white = np.linalg.solve(np.swapaxes(r, -1, -2), away[..., None])[..., 0]
    with np.errstate(over="ignore"):
        square = (white**2).sum(axis=-1)
    log = -0.5 * (len(seen) * np.log(2 * np.pi) + square) - np.log(diagonal).sum(axis=-1)
    turned = image[..., rest, :] @ q
    centre = mean[..., rest] + (turned[..., : len(seen)] @ white[..., None])[..., 0]
    return HiddenLines(
        tuple(names[i] for i in rest),
        tuple(p.name for p in parents),
        centre,
        np.ascontiguousarray(turned[..., len(seen) :]),
        _told(log, [names[i] for i in seen]),
    )


def _image(
    lines: list[LinearGaussian],
    parents: list[Variable],
    shape: tuple[int, ...],
    evidence: Evidence,
) -> tuple[Floats, Floats]:
    """x = m + L ε for every configuration; an observed parent enters as its value."""
    axes = {p.name: k for k, p in enumerate(parents)}
    grid = np.indices(shape) if shape else np.zeros((0,), dtype=np.intp)
    at = {line.name: i for i, line in enumerate(lines)}
    mean = np.zeros((*shape, len(lines)))
    image = np.zeros((*shape, len(lines), len(lines)))
    for i, line in enumerate(lines):
        row = tuple(
            evidence.hard[p.name] if p.name in evidence.hard else grid[axes[p.name]]
            for p in line.discrete
        )
        slope = line.coefficients[row]
        m = np.broadcast_to(line.intercept[row], shape).copy()
        for k, parent in enumerate(line.continuous):
            if parent.name in evidence.values:
                m += slope[..., k] * evidence.values[parent.name]
            else:
                j = at[parent.name]
                m += slope[..., k] * mean[..., j]
                image[..., i, :] += slope[..., k, None] * image[..., j, :]
        mean[..., i] = m
        image[..., i, i] = np.sqrt(line.variance[row])
    return mean, image
