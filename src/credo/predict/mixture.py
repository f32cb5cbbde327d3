"""Rows through a mixture: ln P(row) = ln Σ_c w_c Π P(part | c), missing cells integrated out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from credo.data.unnamed import is_plain, rows_in
from credo.model.mixture import Mixture
from credo.model.mixture_parts import Gaussians, Rates, Tables
from credo.predict.far_rows import AFAR, brought_near
from credo.predict.mixture_columns import Taken, plan_of_parts, taken
from credo.predict.mixture_rows import Laid, Numbers, laid
from credo.threads import checked_threads

__all__ = ["Scales", "lay", "log_density_left", "numbers_of", "scales_of", "scored", "scored_rows"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scales:
    """What the real columns are centred at and divided by."""

    centre: Floats
    scale: Floats


def scales_of(mixture: Mixture) -> Scales:
    """Scales in which a mixture's numbers are near 1."""
    part = mixture.gaussians
    if part is None:
        return Scales(np.zeros(0), np.ones(0))
    centre = mixture.weights @ part.means
    spread = mixture.weights @ (part.variances + (part.means - centre) ** 2)
    return Scales(centre, np.sqrt(spread))


def numbers_of(mixture: Mixture, scales: Scales) -> Numbers:
    """The parameters of a mixture in scaled units."""
    k, part = mixture.k, mixture.gaussians
    means, spread = np.zeros((k, 0)), np.zeros((k, 0))
    if part is not None:
        means = (part.means - scales.centre) / scales.scale
        if part.form in ("full", "tied"):
            spread = part.matrices / np.multiply.outer(scales.scale, scales.scale)
        else:
            spread = part.variances / scales.scale**2
    rates = [p.rates for p in mixture.parts if isinstance(p, Rates)]
    return Numbers(
        mixture.weights,
        tuple(p.values for p in mixture.parts if isinstance(p, Tables)),
        means,
        spread,
        np.stack(rates, axis=1) if rates else np.zeros((k, 0)),
    )


def lay(cells: Taken, scales: Scales, joint: bool, k: int, reals: Floats | None = None) -> Laid:
    """The rows, scaled, as the kernel reads them; `reals` are their real columns, if at hand."""
    reals = _scaled(cells, scales) if reals is None else reals
    arities = [v.arity for v in cells.plan.states]
    return laid(reals, cells.counts, cells.codes, arities, cells.weights, joint, k)


def _scaled(cells: Taken, scales: Scales) -> Floats:
    """The real columns, centred and scaled."""
    return (cells.reals - scales.centre[:, None]) / scales.scale[:, None]


def log_density_left(cells: Taken, scales: Scales) -> Floats:
    """What scaling and the factorials of counts leave out of ln P(row), the same in each class."""
    left = np.zeros(cells.rows)
    logs, gone = np.log(scales.scale), np.isnan(cells.reals)
    left -= logs @ ~gone if gone.any() else logs.sum()
    for x in cells.counts:
        left -= np.where(np.isnan(x), 0.0, gammaln(np.where(np.isnan(x), 0.0, x) + 1))
    return left


def scored(mixture: Mixture, cells: Taken, threads: int | None = None) -> tuple[Floats, Floats]:
    """P(class | row) [rows, k] and ln P(row).

    Where rows are so far out that no density tells classes apart, shares are those nearer by.
    """
    part: Gaussians | None = mixture.gaussians
    scales = scales_of(mixture)
    joint = part is not None and part.form in ("full", "tied")
    reals = _scaled(cells, scales)
    rows = lay(cells, scales, joint, mixture.k, reals)
    many = checked_threads(threads)
    numbers = numbers_of(mixture, scales)
    share, logs = rows.score(numbers, many)
    near = brought_near(reals.T, AFAR)
    if near is not None:
        share = lay(cells, scales, joint, mixture.k, near.T).score(numbers, many)[0]
    return share, logs + log_density_left(cells, scales)


def scored_rows(
    mixture: Mixture, source: Any, threads: int | None = None
) -> tuple[Floats, Floats, Floats | None]:
    """P(class | row), ln P(row) and the weights, of any table."""
    if is_plain(source):
        source = rows_in(source, mixture.names, mixture.names)
    cells = taken(plan_of_parts(mixture.parts), source)
    share, logs = scored(mixture, cells, threads)
    return share, logs, cells.weights
