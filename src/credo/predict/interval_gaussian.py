"""Draws of lines: densities of observed continuous variables, and posteriors of continuous ones.

The same algebra as in `densities` and `gaussian_network`, with an axis of draws in front.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import InputError
from credo.model.linear_gaussian import LinearGaussian
from credo.predict.densities import MIXED

if TYPE_CHECKING:
    from credo.model.network import Network
    from credo.predict.draws import Draws
    from credo.predict.engine import Engine
    from credo.predict.evidence import Evidence

__all__ = ["density_draws", "gaussian_draws"]

Floats = NDArray[np.float64]


def _line(net: Network, name: str, drawn: Mapping[str, Any], n: int) -> Any:
    """Intercept [n, u], slopes [n, u, k], variance [n, u]: drawn, or known."""
    local = net.distributions[name]
    assert isinstance(local, LinearGaussian)
    if name in drawn:
        return drawn[name]
    parts = (local.intercept, local.coefficients, local.variance)
    return tuple(np.broadcast_to(p, (n, *p.shape)) for p in parts)


def density_draws(
    engine: Engine, tables: list[Floats], evidence: Evidence, drawn: Mapping[str, Any], n: int
) -> tuple[list[Floats], Any]:
    """The tables with the densities of the observed values under each draw, and their log scale."""
    net = engine.net
    groups: dict[tuple[str, ...], tuple[list[str], Floats]] = {}
    for name, value in evidence.values.items():
        local = net.distributions[name]
        assert isinstance(local, LinearGaussian)
        intercept, slope, variance = _line(net, name, drawn, n)
        y = np.array([_value(evidence, name, p.name) for p in local.continuous])
        away = value - intercept - slope @ y
        log = -0.5 * (np.log(2 * np.pi * variance) + away**2 / variance)
        scope = tuple(p.name for p in local.discrete)
        if scope in groups:
            names, total = groups[scope]
            groups[scope] = ([*names, name], total + log)
        else:
            groups[scope] = ([name], log)
    scale = np.zeros(n)
    for names, log in groups.values():
        flat = log.reshape(n, -1)
        most = flat.max(axis=1, keepdims=True)
        tables[engine.at[names[0]]] = np.ascontiguousarray(np.exp(flat - most))
        for other in names[1:]:
            tables[engine.at[other]] = np.ones(flat.shape[1])
        scale = scale + most[:, 0]
    return tables, scale


def _value(evidence: Evidence, child: str, parent: str) -> float:
    if parent not in evidence.values:
        raise InputError(
            f"The parent {parent!r} of {child!r} is continuous and not observed.", hint=MIXED
        )
    return evidence.values[parent]


def gaussian_draws(
    net: Network, target: str, evidence: Evidence, source: Draws, n: int
) -> tuple[Floats, Floats]:
    """Mean and variance of one continuous variable given evidence, under each draw."""
    known = list(evidence.values)
    wanted = {target, *known, *net.dag.ancestors([target, *known])}
    order = [m for m in net.dag.order if m in wanted and not net.variable(m).is_discrete]
    drawn = source.next(order, n)
    at = {m: i for i, m in enumerate(order)}
    mean = np.zeros((n, len(order)))
    image = np.zeros((n, len(order), len(order)))
    for i, name in enumerate(order):
        local = net.distributions[name]
        assert isinstance(local, LinearGaussian)
        row = (slice(None), *(evidence.hard[p.name] for p in local.discrete))
        intercept, slope, variance = (part[row] for part in _line(net, name, drawn, n))
        parents = [at[p.name] for p in local.continuous]
        mean[:, i] = intercept + (slope * mean[:, parents]).sum(axis=1)
        image[:, i] = np.einsum("nk,nkj->nj", slope, image[:, parents])
        image[:, i, i] = np.sqrt(variance)
    t, k = at[target], [at[m] for m in known]
    m, spread = mean[:, t], image[:, t]
    if k:
        q, r = np.linalg.qr(image[:, k].transpose(0, 2, 1), mode="complete")
        away = np.array([evidence.values[name] for name in known]) - mean[:, k]
        upper = r[:, : len(k)].transpose(0, 2, 1)
        white = np.linalg.solve(upper, away[..., None])[..., 0]
        turned = np.einsum("nj,njk->nk", spread, q)
        m = m + (turned[:, : len(k)] * white).sum(axis=1)
        spread = turned[:, len(k) :]
    return m, np.maximum((spread**2).sum(axis=1), 1e-290)
