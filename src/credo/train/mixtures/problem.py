"""What is to be learned: the cells of a table, scaled, laid out once for all EM runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.model.mixtures.mixture import Mixture
from credo.model.mixtures.parts import Gaussians, Part, Rates, Tables
from credo.predict.rows.mixture import Scales, Taken, lay, log_density_left, parameters_of
from credo.predict.rows.mixture_rows import Laid, Parameters
from credo.stats.squares import refuse_underflow
from credo.train.mixtures.gathered import Gathered, gathered
from credo.train.mixtures.maximise import MixtureEM

Floats = NDArray[np.float64]

_FEW = 4_000  # rows that decide an order of the columns, at most


@dataclass(frozen=True)
class Problem:
    """Cells, their scales, and the form of the covariances."""

    cells: Taken
    scales: Scales
    form: str
    threads: int
    most: int = 1  # classes, for the guard of the memory

    @cached_property
    def rows(self) -> Laid:
        """The rows as the kernel reads them."""
        return lay(self.cells, self.scales, self.form in ("full", "tied"), self.most)

    @cached_property
    def left(self) -> float:
        """What scaling leaves out of ln P(rows)."""
        left = log_density_left(self.cells, self.scales)
        w = self.cells.weights
        return float(left.sum() if w is None else w @ left)

    @cached_property
    def rate_means(self) -> Floats:
        """The mean of each column of counts."""
        counts, w = self.cells.counts, self.cells.weights
        w = np.ones(self.cells.rows) if w is None else w
        there = ~np.isnan(counts)
        mass = there @ w
        sums = np.where(there, counts, 0.0) @ w
        means: Floats = np.where(mass > 0, sums / np.where(mass > 0, mass, 1.0), 1.0)
        return np.maximum(means, 1e-6)

    @cached_property
    def different(self) -> Gathered:
        """The different ones of all rows."""
        return self.gathered(np.arange(self.cells.rows))

    @cached_property
    def order(self) -> NDArray[np.intp] | None:
        """The real columns of one Gaussian in an order that their cells decide; None if as is."""
        d, n = self.cells.reals.shape
        if self.form not in ("full", "tied") or d < 2:
            return None
        few = self.different if n <= _FEW else self.gathered(np.arange(0, n, -(-n // _FEW)))
        order = few.columns[few.columns < d]
        return None if (order == np.arange(d)).all() else order

    def gathered(self, rows: NDArray[np.intp]) -> Gathered:
        """The different ones of some rows, without those of weight 0."""
        weights = self.cells.weights
        w = np.ones(len(rows)) if weights is None else weights[rows]
        return gathered(self.cells, rows[w > 0], w[w > 0])

    def some(self, rows: NDArray[np.intp]) -> Problem:
        """The same problem on some of the rows, in the same scales."""
        return replace(self, cells=self.cells.some(rows))

    def floor(self, share: float, least: float) -> float | Floats:
        """The least variance in the scales of the rows: a share, or `least` in the columns' own."""
        return np.maximum(share, least / self.scales.scale**2) if least > 0 else share

    def em(self, k: int, prior: float, floor: float | Floats) -> MixtureEM:
        """EM of k classes."""
        return MixtureEM(
            self.rows, self.form, k, len(self.cells.reals), prior, floor, self.rate_means,
            self.threads, self.order,
        )  # fmt: skip

    def mixture(self, x: Parameters, name: str) -> Mixture:
        """Parameters as a mixture in the user's units."""
        parts: list[Part] = []
        plan, scale = self.cells.plan, self.scales.scale
        if plan.reals:
            means = x.means * scale + self.scales.centre
            spread = x.spread
            if self.form in ("full", "tied"):
                spread = spread * np.multiply.outer(scale, scale)
                spread = spread[0] if self.form == "tied" else spread
            else:
                spread = spread * scale**2
                spread = spread[:, 0] if self.form == "spherical" else spread
            parts.append(Gaussians(plan.reals, means, spread, self.form))
        parts += [Rates(n, x.rates[:, i]) for i, n in enumerate(plan.counts)]
        parts += [Tables(v, t) for v, t in zip(plan.states, x.tables, strict=True)]
        return Mixture(x.weights, tuple(parts), name)

    def parameters(self, mixture: Mixture) -> Parameters:
        """A mixture in the scales of the rows."""
        part = mixture.gaussians
        plan = self.cells.plan
        same = (part.names if part else ()) == plan.reals and (
            part is None or part.form == self.form
        )
        states = tuple(p.variable for p in mixture.parts if isinstance(p, Tables))
        counts = tuple(p.name for p in mixture.parts if isinstance(p, Rates))
        if not same or states != plan.states or counts != plan.counts:
            raise InputError("The start must be a mixture over the same columns, of the same form.")
        return parameters_of(mixture, self.scales)


def problem_of(cells: Taken, form: str, threads: int, most: int) -> Problem:
    """Scale the columns: by their own spread, or by one for all where a class is a ball."""
    n = cells.rows
    if n == 0 or not cells.weight > 0:
        raise InputError("There are no rows to learn from.")
    w = np.ones(n) if cells.weights is None else cells.weights
    there = ~np.isnan(cells.reals)
    mass = there @ w
    for j in np.flatnonzero(mass == 0):
        raise InputError(
            f"The column {cells.plan.reals[j]!r} has no observed cell.",
            hint="Leave it out.",
        )
    z = np.where(there, cells.reals, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):  # what passes a float is refused below
        centre = (z @ w) / np.where(mass > 0, mass, 1.0)
        away = np.where(there, cells.reals - centre[:, None], 0.0)
        centre = centre + (away @ w) / mass  # once more: nothing is lost far from 0
        away = np.where(there, cells.reals - centre[:, None], 0.0)
        variance = (away**2 @ w) / mass
    for j in np.flatnonzero(~np.isfinite(variance) | (np.abs(centre) > 1e150)):
        raise InputError(
            f"The values of {cells.plan.reals[j]!r} are too large: their squares pass what a float "
            "can hold.",
            hint="Use another unit: divide by a power of ten.",
        )
    for j in np.flatnonzero(variance < 1e-280):
        refuse_underflow(cells.plan.reals[j], cells.reals[j])
    if form == "spherical" and len(variance):
        variance = np.full(len(variance), variance.mean())
    # a column without spread, or with only that of rounding, keeps its own unit
    still = variance <= (1e-14 * np.abs(centre)) ** 2
    scale = np.sqrt(np.where(still, 1.0, variance))
    return Problem(cells, Scales(centre, scale), form, threads, most)
