"""LinePosterior: what is believed of the lines of a LinearGaussian, after the rows.

For each configuration of the discrete parents, with y centred at c:

    σ² ~ inverse-gamma(α, β),   x at c | σ² ~ N(m, σ²/n),   b | σ² ~ N(b̂, σ² S⁻¹)

The value at the centre and the slopes are independent given σ², so nothing is lost when the
parents lie far from 0. Alone, each coefficient is a Student t with 2α degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.core.render import text_html
from credo.model.answers.interval import Interval, tails
from credo.model.distributions.quantiles import gamma_quantile
from credo.model.values.value import readonly

__all__ = ["LinePosterior"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class LinePosterior:
    """The posterior of lines, one for each configuration `u` of the discrete parents.

    `weight` [u], `centre` [u, k], `mean` [u], `slope` [u, k], `spread` [u, k, k], `alpha` [u] and
    `beta` [u] are n, c, m, b̂, S, α and β above.
    """

    weight: Floats
    centre: Floats
    mean: Floats
    slope: Floats
    spread: Floats
    alpha: Floats
    beta: Floats

    def __post_init__(self) -> None:
        for f in fields(self):
            object.__setattr__(self, f.name, readonly(getattr(self, f.name)))
        shape, k = self.weight.shape, self.slope.shape[-1:]
        wanted: dict[str, tuple[int, ...]] = dict.fromkeys(("mean", "alpha", "beta"), shape)
        wanted |= {"centre": (*shape, *k), "slope": (*shape, *k), "spread": (*shape, *k, *k)}
        for what, right in wanted.items():
            if getattr(self, what).shape != right:
                raise InputError(f"The {what} of a line's posterior must have the shape {right}.")
        for what in ("weight", "alpha", "beta"):
            if not (getattr(self, what) > 0).all():
                raise InputError(f"The {what} of a line's posterior must be above 0.")
        if not np.isfinite(self.spread).all():
            raise InputError("The spread of a line's posterior must be finite.")

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of states of each discrete parent."""
        return self.weight.shape

    @property
    def parents(self) -> int:
        """The number of continuous parents."""
        return int(self.slope.shape[-1])

    def scale(self, of: int | None) -> Floats:
        """The scale of the Student t of a slope, or (None) of the intercept at y = 0."""
        inverse = np.linalg.inv(self.spread) if self.parents else self.spread
        if of is None:
            extra = np.einsum("...i,...ij,...j->...", self.centre, inverse, self.centre)
            size = 1.0 / self.weight + extra
        else:
            size = inverse[..., of, of]
        out: Floats = np.sqrt(self.beta / self.alpha * size)
        return out

    def interval(self, level: float, of: str, names: tuple[str, ...]) -> Interval:
        """The central credible intervals of `intercept`, `variance`, or a parent's slope."""
        from scipy.special import stdtrit

        low, high = tails(level)
        if of == "variance":
            with np.errstate(over="ignore", divide="ignore"):
                least: Any = self.beta / gamma_quantile(self.alpha, low, above=True)
                most: Any = self.beta / gamma_quantile(self.alpha, low)
            return Interval(least, np.maximum(least, most), level)
        if of == "intercept":
            middle = self.mean - (self.slope * self.centre).sum(axis=-1)
            scale = self.scale(None)
        elif of in names:
            at = names.index(of)
            middle, scale = self.slope[..., at], self.scale(at)
        else:
            known = ("intercept", "variance", *names)
            raise unknown_name("The coefficient", of, known, "one of the line")
        away = stdtrit(2 * self.alpha, high) * scale
        return Interval(middle - away, middle + away, level)

    def draw(
        self, n: int, gammas: np.random.Generator, normals: np.random.Generator
    ) -> tuple[Floats, Floats, Floats]:
        """Draws of intercept [n, u], slopes [n, u, k] and variance [n, u].

        Variances and coefficients have a generator each, so that draws taken in parts are the
        draws taken at once.
        """
        size, k = (n, *self.shape), self.parents
        variance = self.beta / np.maximum(gammas.standard_gamma(self.alpha, size), 1e-290)
        noise = normals.standard_normal((*size, k + 1))
        sd = np.sqrt(variance)
        value = self.mean + sd * noise[..., 0] / np.sqrt(self.weight)
        slope = np.broadcast_to(self.slope, (*size, k)).copy()
        if k:
            root = np.linalg.inv(np.linalg.cholesky(self.spread))
            slope += sd[..., None] * np.einsum("...ji,n...j->n...i", root, noise[..., 1:])
        intercept = value - (slope * self.centre).sum(axis=-1)
        return intercept, slope, variance

    def _repr_html_(self) -> str:
        return text_html(self)
