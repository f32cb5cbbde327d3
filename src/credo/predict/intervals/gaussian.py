"""Draws of lines: densities of observed continuous variables, and posteriors of continuous ones.

    θ⁽ᵈ⁾ ~ p(θ | rows),   w⁽ᵈ⁾_u = P(u | e, θ⁽ᵈ⁾),   p⁽ᵈ⁾(t | e) = Σ_u w⁽ᵈ⁾_u N(t; m⁽ᵈ⁾_u, S⁽ᵈ⁾_u)

The same algebra as for one set of parameters (`line_algebra`), with the draws as its batch. Of the
mixture of each draw its mean, standard deviations and correlations are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import LimitError
from credo.core.progress import track
from credo.predict.mixed.line_groups import width

if TYPE_CHECKING:
    from credo.predict.exact.engine import Engine
    from credo.predict.intervals.draws import Draws
    from credo.predict.mixed.posterior import Cases
    from credo.predict.questions.evidence import Evidence

__all__ = ["MAX_NUMBERS", "MomentDraws", "density_draws", "moment_draws"]

MAX_NUMBERS = 4_000_000_000
"""Draws times the numbers of all Gaussians may be this many, worked through in blocks."""
_BLOCK = 2_000_000
_LEAST = 1e-290  # of a variance

Floats = NDArray[np.float64]


def density_draws(
    engine: Engine, tables: list[Floats], evidence: Evidence, drawn: Mapping[str, Any], n: int
) -> tuple[list[Floats], Any]:
    """The tables with the densities of the observed values under each draw, and their log scale."""
    lines = {name: values for name, values in drawn.items() if isinstance(values, tuple)}
    values = {name: np.array([v]) for name, v in evidence.values.items()}
    scale = np.zeros(n)
    for density in engine.densities(values, evidence.hard, lines):
        flat = density.log.reshape(len(density.log), -1)
        flat = np.where(np.isnan(flat), -np.inf, flat)
        most = flat.max(axis=1, keepdims=True)
        if not np.isfinite(most).all():
            raise LimitError(
                f"The density of {', '.join(map(repr, density.observed))} is too small to be "
                "told under some draws of the parameters.",
                hint="The value is far from every line of the model; check its unit.",
            )
        table = np.ascontiguousarray(np.exp(flat - most))
        tables[engine.at[density.owner]] = table if len(table) > 1 else table[0]
        for other in density.others:
            tables[engine.at[other]] = np.ones(flat.shape[1])
        scale = scale + most[:, 0]
    return tables, scale


@dataclass(frozen=True)
class MomentDraws:
    """Under each draw, for each state of the discrete targets: p, mean and covariance."""

    p: Floats
    """[draws, states]"""
    mean: Floats
    """[draws, states, t]"""
    covariance: Floats
    """[draws, states, t, t]"""

    @property
    def sd(self) -> Floats:
        """[draws, states, t]"""
        variance = np.diagonal(self.covariance, axis1=-2, axis2=-1)
        out: Floats = np.sqrt(np.maximum(variance, _LEAST))
        return out

    @property
    def correlation(self) -> Floats:
        """[draws, states, t, t]"""
        sd = self.sd
        out: Floats = self.covariance / (sd[..., :, None] * sd[..., None, :])
        return np.clip(out, -1.0, 1.0)


def moment_draws(
    cases: Cases,
    weights: Floats,
    good: NDArray[np.bool_],
    states: int,
    evidence: Evidence,
    source: Draws,
) -> MomentDraws:
    """The moments under each draw that is `good`; `weights` [good draws, u…] are its mixtures'.

    The first variables of the cases, with `states` states together, are targets themselves.
    """
    draws, t = len(good), len(cases.targets)
    shape = cases.shape
    wide = width(cases.group, cases.targets) + 1
    each = prod(p.arity for p in cases.parents) * 2 * wide**2 + prod(shape) * t * t
    if each * draws > MAX_NUMBERS:
        raise LimitError(
            f"{draws:,} draws of {prod(shape):,} Gaussians over {len(cases.group.lines)} "
            f"variables are {each * draws:,} numbers; at most {MAX_NUMBERS:,} are worked through.",
            hint="Use fewer draws, or observe more variables.",
        )
    step = max(_BLOCK // each, 1)
    names = cases.group.names
    p, means, covariances = [], [], []
    done = 0
    starts = range(0, draws, step)
    for start in track(starts, "drawing lines", total=len(starts)):
        n = min(step, draws - start)
        drawn = source.next(names, n)
        kept = good[start : start + n]
        part = {k: tuple(x[kept] for x in v) for k, v in drawn.items()}
        count = int(kept.sum())
        if not count:
            continue
        w = weights[done : done + count].reshape(count, states, -1)
        done += count
        m, c = cases.conditioned(evidence, part)
        m = np.broadcast_to(m, (count, *shape, t)).reshape(count, states, -1, t)
        c = np.broadcast_to(c, (count, *shape, t, t)).reshape(count, states, -1, t, t)
        total = w.sum(axis=-1)
        w = w / np.where(total > 0, total, 1.0)[..., None]
        middle = np.einsum("dsk,dskt->dst", w, m)
        away = m - middle[:, :, None]
        spread = np.einsum("dsk,dskij->dsij", w, c)
        spread += np.einsum("dsk,dski,dskj->dsij", w, away, away)
        p.append(total)
        means.append(middle)
        covariances.append(spread)
    return MomentDraws(np.concatenate(p), np.concatenate(means), np.concatenate(covariances))
