"""The M-step, and EM of a network: the parameters that expected statistics make most likely.

    tables  θ ∝ E[n] + a        lines  least squares on expected moments

`a` is 0 for maximum likelihood, α for the posterior mean, α − 1 for the mode. Each is the maximum
of ln P(rows | θ) + Σ a ln θ, so that sum (for a line: with the prior's terms) is what never falls.
The mean is the mode in the softmax parameters (MacKay 1998), which is why EM may raise it too.
Of numbers that count it is the law with all its parameters, a negative binomial with extra zeros,
and the prior is some rows like all in each configuration; which law they need is seen at the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.model.networks.count_posterior import CountStatistic, count_masses
from credo.model.networks.count_table import counts
from credo.model.networks.cpt import Cpt
from credo.model.networks.line_prior import LinePrior
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Local
from credo.stats.counts import Counts
from credo.stats.moments import Moments
from credo.train.em.e_step import EStep
from credo.train.em.layout import Parameters, Statistics
from credo.train.em.run import EMProblem
from credo.train.parameters.count_families import ALONE, SIZES, most_likely
from credo.train.parameters.lines import Lines, fit_lines
from credo.train.parameters.pooled_lines import FLOOR
from credo.train.parameters.tied import renamed

__all__ = ["Belief", "NetworkEM"]

Floats = NDArray[np.float64]

_LEAST = 1e-9  # of a mean, and of the rows that are no extra zeros

NOTHING = 1e-14
"""A configuration with less than this share of all rows has none: its expected count only fades."""


@dataclass(frozen=True)
class Belief:
    """The prior of one family, and the point of its posterior that is taken.

    By maximum likelihood (`mle`) EM has no prior; its posterior may be kept `beside` all the same.
    """

    prior: NDArray[np.float64] | LinePrior | None
    estimate: str
    beside: NDArray[np.float64] | LinePrior | None = None

    @classmethod
    def of(cls, prior: Any, estimate: str) -> Belief:
        """What a prior and an estimate ask of EM, and of what is kept at its end: by maximum
        likelihood no prior whose imagined rows would move the lines."""
        if estimate != "mle":
            return cls(prior, estimate, prior)
        imagined = isinstance(prior, LinePrior) and not prior.like_all and prior != LinePrior()
        return cls(None, estimate, None if imagined else prior)


class NetworkEM(EMProblem[Parameters, Statistics]):
    """EM of one network: its rows, its priors, families held fixed, families tied."""

    spare = 3

    def __init__(
        self,
        rows: EStep,
        beliefs: Sequence[Belief],
        held: Mapping[str, Local],
        groups: Mapping[str, tuple[str, ...]],
    ) -> None:
        self.rows, self.layout, self.weight = rows, rows.layout, rows.weight
        layout = self.layout
        self.beliefs, self.groups = tuple(beliefs), groups
        self.held = {layout.at[n]: local for n, local in held.items()}
        self.tables = [i for i, (c, _) in enumerate(layout.families) if c.is_discrete]
        self.lines = [i for i, (c, _) in enumerate(layout.families) if not c.is_discrete]
        self.counted = [i for i in self.tables if counts(layout.families[i][0])]
        self.add = self._pseudocounts()
        arity = [layout.states(layout.families[i][0]) for i in self.tables]
        sizes = [layout.table(self.add, i).size for i in self.tables]
        self.width = np.repeat(arity, np.array(sizes, dtype=np.intp) // (arity or 1)).astype(
            np.intp
        )
        self.starts = self.width.cumsum() - self.width
        self.fixed = {i: self.values_of(i, local) for i, local in self.held.items()}
        self.floor = self._floors()
        self.nothing = NOTHING * rows.weight
        copies = {layout.at[n] for g in set(groups.values()) for n in g[1:]}
        self.bound = copies | set(self.fixed)  # families that are not free
        counted = self.add.copy()
        for i in self.bound.intersection(self.tables):
            layout.table(counted, i)[...] = 0.0
        self._penalised = np.flatnonzero(counted > 0)
        least = np.zeros(layout.line_numbers)
        for i in self.lines:
            scale = rows.scales[layout.names[i]][1]
            layout.line(least, i)[..., -1] = self.floor[i] / scale**2
        self.variances = np.flatnonzero(least)  # where they lie among all lines
        self.least = least[self.variances]

    def _pseudocounts(self) -> Floats:
        """What the priors add to the counts of all tables."""
        add = np.zeros(self.layout.cells)
        for i in self.tables:
            child, _ = self.layout.families[i]
            cells, belief = self.layout.table(add, i), self.beliefs[i]
            if isinstance(belief.prior, LinePrior):  # of counts
                own = self.rows.marginals[child.name]
                like = belief.prior.like_all if cells.ndim > 1 else ALONE
                cells[..., :-1] = like * own / own.sum()
            if not isinstance(belief.prior, np.ndarray) or belief.estimate == "mle":
                continue
            cells[...] = belief.prior
            if belief.estimate == "map":
                cells -= 1.0
                if (cells < 0).any() and child.arity > 1:
                    raise InputError(
                        f"With estimate='map' the pseudo-counts of {child.name!r} must be 1 or "
                        f"more; the smallest is {float(cells.min()) + 1:.4g}.",
                        hint="Use estimate='mean', or a prior such as cr.Laplace(1).",
                    )
        return add

    def _floors(self) -> dict[int, float]:
        """The least variance of each line: a class of one row would otherwise have none, and the
        likelihood no bound."""
        scales, families = self.rows.scales, self.layout.families
        return {i: FLOOR * scales[families[i][0].name][1] ** 2 for i in self.lines}

    # --- distributions as parameters ------------------------------------------------------

    def values_of(self, i: int, local: Local) -> Floats:
        """The table or the lines of one family, as parameters."""
        child, parents = self.layout.families[i]
        if isinstance(local, Cpt):
            table = local.on(child, parents).values
            return self.with_gap(table) if counts(child) else table
        assert isinstance(local, LinearGaussian)
        names, axes = ([p.name for p in ps] for ps in (local.continuous, local.discrete))
        order = [names.index(p.name) for p in parents if not p.is_discrete]
        turn = [axes.index(p.name) for p in parents if p.is_discrete]
        slopes = local.coefficients.transpose([*turn, len(turn)])[..., order]
        return self.scaled(
            i, local.intercept.transpose(turn), slopes, local.variance.transpose(turn)
        )

    def parameters_of(
        self, locals_: Mapping[str, Local], beside: Parameters | None = None
    ) -> Parameters:
        """The parameters of some distributions; fixed families keep theirs, tied ones are equal.

        `beside` has those of families that have no distribution, and is written over.
        """
        x = beside
        if x is None:
            x = Parameters(np.empty(self.layout.cells), np.empty(self.layout.line_numbers))
        for i, name in enumerate(self.layout.names):
            if beside is None or name in locals_:
                self.layout.part(x, i)[...] = self.values_of(i, locals_[name])
        return self.constrained(x)

    def constrained(self, x: Parameters) -> Parameters:
        """The same, with the families that are fixed as they are, and tied ones equal."""
        x = Parameters(x.theta.copy(), x.lines.copy(), x.laws)
        for i, values in self.fixed.items():
            self.layout.part(x, i)[...] = values
        for group in dict.fromkeys(self.groups.values()):
            first, *rest = (self.layout.at[n] for n in group)
            for i in rest:
                self.layout.part(x, i)[...] = self.layout.part(x, first)
        return x

    def scaled(self, i: int, intercept: Floats, slopes: Floats, variance: Floats) -> Floats:
        """Lines in centred and scaled units, as the kernels take them."""
        child, parents = self.layout.families[i]
        scales = self.rows.scales
        centre, scale = scales[child.name]
        above = [scales[p.name] for p in parents if not p.is_discrete]
        middle, spread = (np.array([s[j] for s in above]) for j in (0, 1))
        shift = slopes @ middle if above else 0.0
        out = np.empty((*np.shape(intercept), len(above) + 2))
        out[..., 0] = (intercept + shift - centre) / scale
        out[..., 1:-1] = slopes * spread / scale
        out[..., -1] = variance / scale**2
        return out

    # --- numbers that count ---------------------------------------------------------------

    def with_laws(self, x: Parameters, weights: Floats) -> Parameters:
        """The same with the most likely laws of the weights of all cells."""
        laws = [np.zeros(0)]
        for i in self.counted:
            if i not in self.fixed:
                of = CountStatistic.of(self.layout.table(weights, i)[..., :-1])
                mean, size, share = most_likely(of)
                laws += [np.log(np.maximum(mean, _LEAST)), share, np.log([size])]
        return self._in_tables(Parameters(x.theta, x.lines, np.concatenate(laws)))

    def _in_tables(self, x: Parameters) -> Parameters:
        """The same with tables that are those of its laws, within their bounds."""
        laws, first = x.laws.copy(), 0
        for i in self.counted:
            if i in self.fixed:
                continue
            table = self.layout.table(x.theta, i)
            many = table.size // table.shape[-1]
            mean, share, size = np.split(laws[first : first + 2 * many + 1], [many, 2 * many])
            mean[...] = np.maximum(mean, math.log(_LEAST))
            share[...] = np.clip(share, 0.0, 1 - _LEAST)
            size[...] = np.clip(size, *SIZES)
            masses = count_masses(np.exp(mean), np.exp(size[0]), share, table.shape[-1] - 1)
            table[...] = self.with_gap(masses.reshape(*table.shape[:-1], -1))
            first += 2 * many + 1
        return Parameters(x.theta, x.lines, laws)

    @staticmethod
    def with_gap(table: Floats) -> Floats:
        """The table of a number that counts with its state of a gap."""
        least = np.maximum(table, 1e-300)  # a row that is far off is no impossible one
        return np.concatenate([least, np.ones((*table.shape[:-1], 1))], axis=-1)

    # --- the steps ------------------------------------------------------------------------

    def expect(self, parameters: Parameters) -> tuple[Statistics, float]:
        """The E-step."""
        return self.rows.expect(parameters)

    def maximise(self, statistics: Statistics) -> Parameters:
        """The best parameters for some expected statistics."""
        weights = self.weights(statistics)
        x = Parameters(
            self._normalised(weights, self.nothing),
            np.empty(self.layout.line_numbers),
        )
        x = self.with_laws(x, weights)
        for i in self.tables:
            if i in self.fixed:
                self.layout.table(x.theta, i)[...] = self.fixed[i]
        for i in self.lines:
            known = self.fixed.get(i)
            self.layout.line(x.lines, i)[...] = (
                self._line(i, statistics) if known is None else known
            )
        return x

    def change(self, old: Parameters, new: Parameters, gain: float) -> float:
        """The largest change of a probability, or of a number of a line in its own scale."""
        tables = np.abs(new.theta - old.theta).max(initial=0.0)
        return float(max(tables, np.abs(new.lines - old.lines).max(initial=0.0)))

    def vector(self, parameters: Parameters) -> Floats:
        """All parameters in one vector; variances by their logarithm."""
        lines = parameters.lines.copy()
        lines[self.variances] = np.log(lines[self.variances])
        return np.concatenate([parameters.theta, lines, parameters.laws])

    def parameters(self, vector: Floats, near: Parameters) -> Parameters:
        """Parameters from a vector that may have left their range."""
        cells, at = self.layout.cells, self.variances
        theta = self.projected(vector[:cells], 0.01 * near.theta)
        lines = vector[cells : cells + len(near.lines)].copy()
        old = near.lines[at]
        with np.errstate(over="ignore"):
            wide = np.clip(np.exp(lines[at]), 0.01 * old, 100.0 * old)
        lines[at] = np.maximum(wide, self.least)
        laws = vector[cells + len(lines) :]
        return self._in_tables(Parameters(theta, lines, laws))

    def weights(self, statistics: Statistics) -> Floats:
        """Expected counts and the prior's, of every cell; those of tied families together."""
        layout = self.layout
        weights = statistics.counts + self.add
        for group in dict.fromkeys(self.groups.values()):
            first = layout.at[group[0]]
            if layout.families[first][0].is_discrete:
                parts = [layout.table(statistics.counts, layout.at[n]) for n in group]
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

    def _line(self, i: int, statistics: Statistics) -> Floats:
        lines = self.fitted(i, statistics)
        return self.scaled(
            i, lines.intercept, lines.coefficients, np.maximum(lines.variance, self.floor[i])
        )

    def fitted(self, i: int, statistics: Statistics) -> Lines:
        """The lines of one family from expected moments, in the user's units."""
        name = self.layout.names[i]
        own = self.moments(i, statistics)
        for other in self.groups.get(name, ()):
            if other != name:
                own = own + renamed(self.moments(self.layout.at[other], statistics), own)
        belief = self.beliefs[i]
        prior = belief.prior
        assert prior is None or isinstance(prior, LinePrior)
        return fit_lines(own, prior, belief.estimate)

    # --- statistics with names ------------------------------------------------------------

    def statistic(self, i: int, statistics: Statistics) -> Counts | Moments:
        """The expected statistic of one family, as a fit would take it."""
        child, parents = self.layout.families[i]
        if not child.is_discrete:
            return self.moments(i, statistics)
        expected = self.layout.table(statistics.counts, i)[..., : child.arity].copy()
        expected[expected.sum(axis=-1) <= self.nothing] = 0.0
        return Counts((*parents, child), expected)

    def moments(self, i: int, statistics: Statistics) -> Moments:
        """The expected moments of one line in the user's units."""
        child, parents = self.layout.families[i]
        discrete = tuple(p for p in parents if p.is_discrete)
        continuous = (*(p for p in parents if not p.is_discrete), child)
        m = self.layout.moment(statistics.moments, i)
        n = m[:, 0, 0]
        seen = np.flatnonzero(n > 1e-12 * max(float(n.sum()), 1e-300))
        shape = tuple(p.arity for p in discrete)
        where = (
            np.stack(np.unravel_index(seen, shape), axis=1) if shape else np.zeros((len(seen), 0))
        )
        n, m = n[seen], m[seen]
        mean = m[:, 0, 1:] / n[:, None]
        scatter = _differences(m[:, 1:, 1:], n, mean)
        scales = [self.rows.scales[v.name] for v in continuous]
        middle, spread = (np.array([s[j] for s in scales]) for j in (0, 1))
        scatter = scatter * spread[:, None] * spread
        scatter[np.abs(scatter) < 1e-290] = 0.0
        arrays = (where.astype(np.uint32), n, middle + spread * mean, scatter)
        return Moments.trusted(discrete, continuous, arrays, 0)

    # --- the prior ------------------------------------------------------------------------

    def log_prior(self, parameters: Parameters, statistics: Statistics) -> float:
        """What the priors add to the log-likelihood."""
        total = 0.0
        if len(self._penalised):
            with np.errstate(divide="ignore"):
                logs = np.log(parameters.theta[self._penalised])
            total += float(self.add[self._penalised] @ logs)
        for i in self.lines:
            belief = self.beliefs[i]
            if i not in self.bound and isinstance(belief.prior, LinePrior):
                terms = self.prior_terms(i, self.layout.line(parameters.lines, i))
                fall = terms.c * np.log(terms.variance) + terms.square / terms.variance
                total -= float(fall.sum())
        return total

    def prior_terms(self, i: int, line: Floats) -> PriorTerms:
        """What the prior of a line is made of, in the user's units."""
        belief = self.beliefs[i]
        prior = belief.prior
        assert isinstance(prior, LinePrior)
        child, parents = self.layout.families[i]
        above = [self.rows.scales[p.name] for p in parents if not p.is_discrete]
        centre, scale = self.rows.scales[child.name]
        middle, spread = (np.array([s[j] for s in above]) for j in (0, 1))
        k = len(above)
        slope, ridge, at = prior.vectors(k)
        b = line[..., 1:-1] * scale / spread if k else line[..., 1:-1]
        value = centre + scale * line[..., 0] + (b @ (at - middle) if k else 0.0)
        flat = float((ridge == 0).sum()) + (prior.kappa == 0)
        c = prior.alpha - flat / 2 + (-1.0 if belief.estimate == "mean" else 1.0 + (k + 1) / 2)
        square = prior.beta + prior.kappa * (value - prior.mean) ** 2 / 2
        square = square + (ridge * (b - slope) ** 2).sum(axis=-1) / 2
        pull = prior.kappa * (value - prior.mean)
        each = pull[..., None] * (at - middle) + ridge * (b - slope) if k else b
        return PriorTerms(c, square, line[..., -1] * scale**2, pull * scale, each * scale / spread)


@dataclass(frozen=True)
class PriorTerms:
    """ln p(line) = −c ln σ² − S/σ² with S = β + κ(x̂ − μ)²/2 + Σ λ(b − b₀)²/2, and how S grows
    with the intercept and the slopes in centred and scaled units."""

    c: float
    square: Floats
    variance: Floats
    by_intercept: Floats
    by_slopes: Floats


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
