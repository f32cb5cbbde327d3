"""Continuous variables that are not observed but that observed ones rest on.

Given the discrete variables u, the lines of a network are one Gaussian. What is observed of it, y,
tells of u by its density, and of the hidden ones, h, by conditioning:

    λ(u) = p(y | u)        h | y, u ~ N( m_u, S_u S_uᵀ )

Hidden lines that meet in an observed one form a group, so λ is a table over the group's discrete
parents alone (`line_groups`, `line_algebra`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import LimitError
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.predict.mixed.line_algebra import conditioned
from credo.predict.mixed.line_groups import LineGroup, line_groups, refuse_large

if TYPE_CHECKING:
    from credo.model.networks.network import Network
    from credo.predict.questions.evidence import Evidence

__all__ = ["HiddenLines", "density_factors", "hidden_lines"]

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
    groups = line_groups(net, evidence.values.keys())
    return tuple(_conditioned(group, evidence) for group in groups if group.hidden)


def density_factors(
    net: Network, evidence: Evidence, hidden: tuple[HiddenLines, ...]
) -> list[tuple[tuple[str, ...], Floats]]:
    """Factors over discrete variables, in logarithms, that the continuous evidence gives."""
    out = [(group.parents, group.log) for group in hidden]
    covered = {n for group in hidden for n in group.names}
    for name in evidence.values:
        line = net.distributions[name]
        assert isinstance(line, LinearGaussian)
        if covered.intersection(p.name for p in line.continuous):
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            given = [evidence.values[p.name] for p in line.continuous]
            log = line.log_density(evidence.values[name], given)[0]
        out.append((tuple(p.name for p in line.discrete), _told(log, [name])))
    return out


def _told(log: Floats, names: Sequence[str]) -> Floats:
    """Densities that are not numbers are too small to be told; not all may be."""
    out = np.where(np.isnan(log), -np.inf, log)
    if out.max() == -np.inf:
        raise LimitError(
            f"The density of {', '.join(map(repr, names))} is too small to be told.",
            hint="The value is far from every line of the model; check its unit.",
        )
    return out


def _conditioned(group: LineGroup, evidence: Evidence) -> HiddenLines:
    """One group, for each configuration of its discrete parents, given what is observed of it."""
    hard = {p.name: evidence.hard[p.name] for p in group.parents if p.name in evidence.hard}
    refuse_large(group, hard, group.hidden)
    values = {n: np.array([v]) for n, v in evidence.values.items()}
    found = conditioned(group, hard, values, group.hidden)
    return HiddenLines(
        group.hidden,
        tuple(p.name for p in group.free(hard)),
        found.mean[0],
        np.ascontiguousarray(found.spread[0]),
        _told(found.log[0], group.observed),
    )
