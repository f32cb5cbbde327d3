"""MultivariateGaussian: several columns together, with their covariance.

ln p(x) = −½ (d ln 2π + ln|Σ| + (x − μ)ᵀ Σ⁻¹ (x − μ))
mle: μ = Σ x_i / n,   Σ = Σ (x_i − μ)(x_i − μ)ᵀ / n
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from credo.core.errors import InputError
from credo.model.distributions.elliptical import (
    check_spread,
    column_names,
    distance,
    divisor,
    gaussian_log_density,
    points,
)
from credo.model.distributions.gaussian import Gaussian
from credo.model.distributions.likelihood import LikelihoodCurve, checked_grid
from credo.model.distributions.located import Several, matrix_view, position
from credo.model.distributions.point import chosen, no_data, picked
from credo.model.values.data import Numbers, measured, summary
from credo.model.values.randomness import Rng, generator, size
from credo.model.values.reals import Floats, shown
from credo.model.values.value import View, plain

if TYPE_CHECKING:
    from credo.model.distributions.normal_inverse_wishart import NormalInverseWishart


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MultivariateGaussian(Several):
    """Several continuous variables together: their `mean` and `covariance`.

    >>> rows = {"height": [1.8, 1.7, 1.6, 1.9], "weight": [80, 74, 60, 82]}
    >>> g = MultivariateGaussian.fit(rows)
    >>> g.names, g.mean.tolist(), g.covariance.round(4).tolist()
    (('height', 'weight'), [1.75, 74.0], [[0.0125, 0.9], [0.9, 74.0]])
    >>> g.marginal("height")
    Gaussian(mean=1.75, variance=0.0125)
    >>> MultivariateGaussian.fit({"a": [1, 2, 4, 3], "b": [1, 0, 1, 2], "c": [2, 2, 5, 5]})
    Traceback (most recent call last):
    credo.errors.InputError: The covariance must be positive definite, but the column 'c' is a \
linear combination of 'a', 'b'. Leave 'c' out, or use a prior such as \
cr.distributions.NormalInverseWishart.default(…).
    """

    mean: Floats
    covariance: Floats
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False, kw_only=True)
    _root: Floats = field(init=False, repr=False, compare=False)

    _parts: ClassVar = ("mean", "covariance")

    def logpdf(self, x: ArrayLike) -> Any:
        """The log-density at one row of numbers, or at many rows."""
        at = points(x, len(self.mean))
        m2 = distance(at, self.mean, self._root)
        return plain(gaussian_log_density(m2, self._log_det, len(self.mean)))

    def log_likelihood(self, data: Numbers) -> float:
        """The log-density of all rows together, from the rows or from their moments."""
        from scipy.linalg import cho_solve

        n, mean, scatter = summary(measured(data, self.names))
        away = mean - self.mean
        total = scatter + n * np.outer(away, away)
        m2 = np.trace(cho_solve((self._root, True), total))
        d = len(self.mean)
        return float(-0.5 * (n * (d * np.log(2 * np.pi) + self._log_det) + m2))

    def sample(self, n: int, rng: Rng) -> Floats:
        """Rows drawn at random, one column for each variable."""
        z = generator(rng).standard_normal((size(n), len(self.mean)))
        out: Floats = self.mean + z @ self._root.T
        return out

    def _of(self, centre: Floats, matrix: Floats, names: tuple[str, ...], left: Any = None) -> Any:
        return type(self)(centre, matrix, names)

    def _alone(self, several: Any) -> Gaussian:
        return Gaussian(float(several.mean[0]), float(several.covariance[0, 0]), several.names[0])

    # --- learning ---------------------------------------------------------------------------

    @classmethod
    def fit(
        cls,
        data: Numbers,
        prior: NormalInverseWishart | None = None,
        estimate: str | None = None,
        *,
        names: Sequence[str] | None = None,
        sample_variance: bool = False,
    ) -> Self:
        """The Gaussian learned from rows, columns by name, or their `Moments`."""
        example = "cr.distributions.NormalInverseWishart.default(mean, sd)"
        how = chosen(estimate, prior, example)
        if how != "mle":
            fitted: Self = picked(cls.posterior(data, prior, names=names), how)
            return fitted
        moments = measured(data, column_names(names))
        n, mean, scatter = summary(moments)
        if not n:
            raise no_data("a MultivariateGaussian", example)
        check_spread(n, mean, scatter, moments.names, example)
        try:
            return cls(mean, scatter / divisor(n, sample_variance), moments.names)
        except InputError:
            if n > len(mean):
                raise
        raise InputError(
            f"{n:g} rows are too few for the covariance of {len(mean)} columns "
            f"({', '.join(moments.names)}): at least {len(mean) + 1} are needed.",
            hint=f"Give more rows, or a prior such as prior={example}.",
        )

    @classmethod
    def posterior(
        cls,
        data: Numbers,
        prior: NormalInverseWishart | None = None,
        *,
        names: Sequence[str] | None = None,
    ) -> NormalInverseWishart:
        """What is believed of the mean and the covariance after data.

        The prior is the reference prior p(μ, Σ) ∝ |Σ|^−(d+1)/2 if none is given.
        """
        from credo.model.distributions.normal_inverse_wishart import NormalInverseWishart

        if prior is None:
            moments = measured(data, column_names(names))
            return NormalInverseWishart.reference(moments.names).update(moments)
        if not isinstance(prior, NormalInverseWishart):
            raise InputError(
                "The prior of a MultivariateGaussian must be a "
                f"cr.distributions.NormalInverseWishart, got {shown(prior)}."
            )
        return prior.update(data)

    @classmethod
    def likelihood_curve(
        cls, data: Numbers, grid: ArrayLike | None = None, *, of: str
    ) -> LikelihoodCurve:
        """The log-likelihood over the mean of one column, with the covariance at its best.

        The other means follow along (the profile): ln L(μ_j) = ln L̂ − n (μ_j − x̄_j)² / 2Σ_jj.
        """
        moments = measured(data)
        best = cls.fit(moments)
        i, n = position(of, best.names), moments.total
        mean, variance = float(best.mean[i]), float(best.covariance[i, i])
        if grid is None:
            mu = mean + np.linspace(-4, 4, 201) * np.sqrt(variance / n)
        else:
            mu = checked_grid(grid, f"the mean of {of!r}")
        drop = n * (mu - mean) ** 2 / (2 * variance)
        return LikelihoodCurve((f"μ {of}",), (mu,), best.log_likelihood(moments) - drop)

    def _view(self) -> View:
        return matrix_view(type(self).__name__, self.names, self.mean, self.covariance)
