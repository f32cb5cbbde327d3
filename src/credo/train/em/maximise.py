"""The maximisation step: the parameters that expected statistics make most likely.

    tables  θ ∝ E[n] + a        lines  least squares on expected moments

`a` is 0 for maximum likelihood, α for the posterior mean, α − 1 for the mode. Each is the maximum
of ln P(rows | θ) + Σ a ln θ, so that sum (for a line: with the prior's terms) is what never falls.
The mean is the mode in the softmax parameters (MacKay 1998), which is why it may be climbed too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.model.networks.line_prior import LinePrior
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Local
from credo.stats.counts import Counts
from credo.stats.moments import Moments
from credo.train.em.problem import Expected, Numbers, Problem
from credo.train.parameters.lines import Lines, fit_lines
from credo.train.parameters.pooled_lines import FLOOR
from credo.train.parameters.tied import renamed

__all__ = ["Belief", "Maximiser"]

Floats = NDArray[np.float64]

NOTHING = 1e-14
"""A configuration with less than this share of all rows has none: its expected count only fades."""


@dataclass(frozen=True)
class Belief:
    """The prior of one family, and the point of its posterior that is taken.

    By maximum likelihood (`mle`) no prior is climbed; its posterior may be kept `beside` all the
    same.
    """

    prior: NDArray[np.float64] | LinePrior | None
    estimate: str
    beside: NDArray[np.float64] | LinePrior | None = None

    @classmethod
    def of(cls, prior: Any, estimate: str) -> Belief:
        """What a prior and an estimate ask of the climb, and of what is kept at its top: by maximum
        likelihood no prior whose imagined rows would move the lines."""
        if estimate != "mle":
            return cls(prior, estimate, prior)
        imagined = isinstance(prior, LinePrior) and not prior.like_all and prior != LinePrior()
        return cls(None, estimate, None if imagined else prior)


class Maximiser:
    """The maximisation step of one network: priors, families held fixed, families tied."""

    def __init__(
        self,
        problem: Problem,
        beliefs: Sequence[Belief],
        held: Mapping[str, Local],
        groups: Mapping[str, tuple[str, ...]],
    ) -> None:
        self.problem, self.layout = problem, problem.layout
        layout = self.layout
        self.beliefs, self.groups = tuple(beliefs), groups
        self.held = {layout.at[n]: local for n, local in held.items()}
        self.tables = [i for i, (c, _) in enumerate(layout.families) if c.is_discrete]
        self.lines = [i for i, (c, _) in enumerate(layout.families) if not c.is_discrete]
        add = np.zeros(layout.cells)
        width = [np.zeros(0, dtype=np.int64)]
        for i in self.tables:
            child, _ = layout.families[i]
            cells = layout.table(add, i)
            belief = self.beliefs[i]
            if isinstance(belief.prior, np.ndarray) and belief.estimate != "mle":
                cells[...] = belief.prior
                if belief.estimate == "map":
                    cells -= 1.0
                    if (cells < 0).any() and child.arity > 1:
                        raise InputError(
                            f"With estimate='map' the pseudo-counts of {child.name!r} must be 1 or "
                            f"more; the smallest is {float(cells.min()) + 1:.4g}.",
                            hint="Use estimate='mean', or a prior such as cr.Laplace(1).",
                        )
            width.append(np.full(cells.size // child.arity, child.arity))
        self.add = add
        self.width = np.concatenate(width)
        self.starts = (self.width.cumsum() - self.width).astype(np.intp)
        self._held_numbers()
        self.floor = self._floors()
        self.nothing = NOTHING * problem.weight
        self._skipped = {layout.at[n] for g in set(groups.values()) for n in g[1:]}
        self._skipped |= set(self.fixed_numbers)
        counted = np.zeros(layout.cells)
        for i in self.tables:
            if i not in self._skipped:
                layout.table(counted, i)[...] = layout.table(add, i)
        self._penalised = np.flatnonzero(counted > 0)

    def _held_numbers(self) -> None:
        self.fixed_numbers: dict[int, Floats] = {}
        for i, local in self.held.items():
            child, parents = self.layout.families[i]
            if child.is_discrete:
                self.fixed_numbers[i] = local.on(child, parents).values  # type: ignore[union-attr]
            else:
                assert isinstance(local, LinearGaussian)
                self.fixed_numbers[i] = self.line_numbers(
                    i, local.intercept, local.coefficients, local.variance
                )

    def _floors(self) -> dict[int, float]:
        """The least variance of each line: a class of one row would otherwise have none, and the
        likelihood no bound."""
        scales, families = self.problem.scales, self.layout.families
        return {i: FLOOR * scales[families[i][0].name][1] ** 2 for i in self.lines}

    # --- the step -------------------------------------------------------------------------

    def maximise(self, expected: Expected) -> Numbers:
        """The best parameters for some expected statistics."""
        layout = self.layout
        theta = self._normalised(self.weights(expected), self.nothing)
        lines = np.empty(layout.line_numbers)
        for i in self.tables:
            if i in self.fixed_numbers:
                layout.table(theta, i)[...] = self.fixed_numbers[i]
        for i in self.lines:
            known = self.fixed_numbers.get(i)
            layout.line(lines, i)[...] = self._line(i, expected) if known is None else known
        return Numbers(theta, lines)

    def weights(self, expected: Expected) -> Floats:
        """Expected counts and the prior's, of every cell; those of tied families together."""
        layout = self.layout
        weights = expected.counts + self.add
        for group in dict.fromkeys(self.groups.values()):
            first = layout.at[group[0]]
            if layout.families[first][0].is_discrete:
                parts = [layout.table(expected.counts, layout.at[n]) for n in group]
                total = sum(parts[1:], parts[0]) + layout.table(self.add, first)
                for n in group:
                    layout.table(weights, layout.at[n])[...] = total
        return weights

    def _normalised(self, weights: Floats, least: float = 0.0) -> Floats:
        """Each row divided by its sum; a row of no more than `least` is uniform."""
        if not len(self.starts):
            return weights
        total = np.add.reduceat(weights, self.starts)
        flat = total <= least
        if flat.any():
            total = np.where(flat, self.width, total)
            weights = np.where(np.repeat(flat, self.width), 1.0, weights)
        out: Floats = weights / np.repeat(total, self.width)
        return out

    def projected(self, theta: Floats, least: Floats) -> Floats:
        """A guess that may have left the simplex, brought back: cells are at least `least`."""
        return self._normalised(np.maximum(theta, least))

    def _line(self, i: int, expected: Expected) -> Floats:
        lines = self.fitted(i, expected)
        return self.line_numbers(
            i, lines.intercept, lines.coefficients, np.maximum(lines.variance, self.floor[i])
        )

    def fitted(self, i: int, expected: Expected) -> Lines:
        """The lines of one family from expected moments, in the user's units."""
        name = self.layout.names[i]
        own = self.moments(i, expected)
        for other in self.groups.get(name, ()):
            if other != name:
                own = own + renamed(self.moments(self.layout.at[other], expected), own)
        belief = self.beliefs[i]
        prior = belief.prior
        assert prior is None or isinstance(prior, LinePrior)
        return fit_lines(own, prior, belief.estimate)

    def line_numbers(self, i: int, intercept: Floats, slopes: Floats, variance: Floats) -> Floats:
        """Lines in centred and scaled units, as the kernels take them."""
        child, parents = self.layout.families[i]
        scales = self.problem.scales
        centre, scale = scales[child.name]
        above = [scales[p.name] for p in parents if not p.is_discrete]
        middle, spread = (np.array([s[j] for s in above]) for j in (0, 1))
        out = np.empty((*np.shape(intercept), len(above) + 2))
        out[..., 0] = (
            (intercept + slopes @ middle - centre) / scale
            if above
            else ((intercept - centre) / scale)
        )
        out[..., 1:-1] = slopes * spread / scale
        out[..., -1] = variance / scale**2
        return out

    # --- statistics with names ------------------------------------------------------------

    def statistic(self, i: int, expected: Expected) -> Counts | Moments:
        """The expected statistic of one family, as a fit would take it."""
        child, parents = self.layout.families[i]
        if not child.is_discrete:
            return self.moments(i, expected)
        counts = self.layout.table(expected.counts, i).copy()
        counts[counts.sum(axis=-1) <= self.nothing] = 0.0
        return Counts((*parents, child), counts)

    def moments(self, i: int, expected: Expected) -> Moments:
        """The expected moments of one line in the user's units."""
        child, parents = self.layout.families[i]
        discrete = tuple(p for p in parents if p.is_discrete)
        continuous = (*(p for p in parents if not p.is_discrete), child)
        m = self.layout.moment(expected.moments, i)
        n = m[:, 0, 0]
        seen = np.flatnonzero(n > 1e-12 * max(float(n.sum()), 1e-300))
        shape = tuple(p.arity for p in discrete)
        where = (
            np.stack(np.unravel_index(seen, shape), axis=1) if shape else np.zeros((len(seen), 0))
        )
        n, m = n[seen], m[seen]
        mean = m[:, 0, 1:] / n[:, None]
        scatter = _differences(m[:, 1:, 1:], n, mean)
        scales = [self.problem.scales[v.name] for v in continuous]
        middle, spread = (np.array([s[j] for s in scales]) for j in (0, 1))
        scatter = scatter * spread[:, None] * spread
        scatter[np.abs(scatter) < 1e-290] = 0.0
        return Moments(
            discrete, continuous, where.astype(np.uint32), n, middle + spread * mean, scatter
        )

    # --- what never falls -----------------------------------------------------------------

    def penalty(self, numbers: Numbers) -> float:
        """What the priors add to the log-likelihood."""
        total = 0.0
        skipped = self._skipped
        if len(self._penalised):
            with np.errstate(divide="ignore"):
                logs = np.log(numbers.theta[self._penalised])
            total += float(self.add[self._penalised] @ logs)
        for i in self.lines:
            belief = self.beliefs[i]
            if i not in skipped and isinstance(belief.prior, LinePrior):
                total += self._line_penalty(i, belief.prior, belief.estimate, numbers)
        return total

    def _line_penalty(self, i: int, prior: LinePrior, estimate: str, numbers: Numbers) -> float:
        """−c ln σ² − (β + κ(x̂ − μ)²/2 + Σ λ(b − b₀)²/2)/σ² of each line, in the user's units."""
        child, parents = self.layout.families[i]
        line = self.layout.line(numbers.lines, i)
        above = [self.problem.scales[p.name] for p in parents if not p.is_discrete]
        centre, scale = self.problem.scales[child.name]
        middle, spread = (np.array([s[j] for s in above]) for j in (0, 1))
        k = len(above)
        slope, ridge, at = prior.vectors(k)
        b = line[..., 1:-1] * scale / spread if k else line[..., 1:-1]
        value = centre + scale * line[..., 0] + (b @ (at - middle) if k else 0.0)
        variance = line[..., -1] * scale**2
        flat = float((ridge == 0).sum()) + (prior.kappa == 0)
        c = prior.alpha - flat / 2 + (-1.0 if estimate == "mean" else 1.0 + (k + 1) / 2)
        square = prior.beta + prior.kappa * (value - prior.mean) ** 2 / 2
        square = square + (ridge * (b - slope) ** 2).sum(axis=-1) / 2
        return float(-(c * np.log(variance) + square / variance).sum())


def _differences(squares: Floats, n: Floats, mean: Floats) -> Floats:
    """Σ (x − x̄)(x − x̄)' from Σ xx': what is left of equal rows is rounding, and none."""
    scatter = squares - n[:, None, None] * mean[:, :, None] * mean[:, None, :]
    scatter = (scatter + scatter.transpose(0, 2, 1)) / 2
    own = np.diagonal(scatter, axis1=1, axis2=2)
    varies = own > 1e-13 * np.diagonal(squares, axis1=1, axis2=2)
    size = np.sqrt(np.where(varies, own, 0.0))
    most = size[:, :, None] * size[:, None, :]
    out: Floats = np.clip(scatter, -most, most)
    return out
