"""Gaussian: a bell curve with a mean and a variance.

p(x) = exp(−(x − μ)² / 2σ²) / √(2πσ²)
mle: μ = Σ x_i / n,   σ² = Σ (x_i − μ)² / n      (n − 1 with sample_variance=True)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from credo.core.errors import InputError
from credo.core.render import heights, number
from credo.model.distributions.elliptical import check_spread, divisor, gaussian_log_density, points
from credo.model.distributions.likelihood import LikelihoodCurve, checked_grid
from credo.model.distributions.located import Located
from credo.model.distributions.point import chosen, no_data, picked
from credo.model.values.data import Numbers, measured, summary
from credo.model.values.randomness import Rng, generator, size
from credo.model.values.reals import Floats, shown
from credo.model.values.value import NAME, SQUARE, View, finite, plain, positive, text

if TYPE_CHECKING:
    from credo.model.distributions.normal_inverse_gamma import NormalInverseGamma
    from credo.model.distributions.normal_mean import NormalMean

_EXAMPLE = "cr.distributions.NormalInverseGamma(0, 1, 2, 2)"  # of a prior


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Gaussian(Located):
    """A bell curve with its `mean` and `variance`.

    >>> g = Gaussian.fit([4.0, 8.0, 6.0])
    >>> g
    Gaussian(mean=6, variance=2.66667)
    >>> round(g.pdf(6.0), 6), round(g.log_likelihood([4.0, 8.0, 6.0]), 6)
    (0.244301, -5.728059)
    >>> print(Gaussian(0, 1).interval(0.95))
    -1.95996 to 1.95996 (95 %)
    >>> Gaussian.fit([5.0, 5.0, 5.0])
    Traceback (most recent call last):
    credo.errors.InputError: The column 'x' is constant: its maximum-likelihood variance is 0. \
Give a prior such as prior=cr.distributions.NormalInverseGamma(0, 1, 2, 2), known_variance=…, or \
leave 'x' out.
    """

    mean: float
    variance: float
    name: str = field(default=NAME, compare=False, repr=False)
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        text(self.name, "The name")
        object.__setattr__(self, "mean", finite(self.mean, "The mean"))
        object.__setattr__(self, "variance", positive(self.variance, "The variance", SQUARE))

    @property
    def sd(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.variance)

    def logpdf(self, x: ArrayLike) -> Any:
        """The log-density at one value or at many.

        >>> round(Gaussian(0, 1).logpdf(0), 6)
        -0.918939
        """
        with np.errstate(over="ignore"):
            m2 = ((points(x) - self.mean) / self.sd) ** 2
        return plain(gaussian_log_density(m2, math.log(self.variance), 1))

    def log_likelihood(self, data: Numbers) -> float:
        """The log-density of all values together, from the values or from their moments."""
        n, mean, scatter = summary(measured(data, (self.name,)))
        with np.errstate(over="ignore"):
            m2 = (scatter[0, 0] + n * (mean[0] - self.mean) ** 2) / self.variance
        return float(-0.5 * (n * math.log(2 * math.pi * self.variance) + m2))

    def sample(self, n: int, rng: Rng) -> Floats:
        """Values drawn at random.

        >>> Gaussian(6, 1).sample(3, rng=0).round(3).tolist()
        [6.126, 5.868, 6.64]
        """
        return self.mean + self.sd * generator(rng).standard_normal(size(n))

    @property
    def _around(self) -> tuple[float, float]:
        return self.mean, self.sd

    def _share(self, z: Floats) -> Any:
        from scipy.special import ndtr

        return ndtr(z)

    def _end(self, q: Any) -> Any:
        from scipy.special import ndtri

        return ndtri(q)

    # --- learning ---------------------------------------------------------------------------

    @classmethod
    def fit(
        cls,
        data: Numbers,
        prior: NormalInverseGamma | NormalMean | None = None,
        estimate: str | None = None,
        *,
        known_variance: float | None = None,
        sample_variance: bool = False,
    ) -> Self:
        """The Gaussian learned from values, or from their `Moments`.

        Without a prior by maximum likelihood; with one, at the posterior `mean` or `map`.
        With `known_variance` only the mean is learned, and one value is enough.

        >>> Gaussian.fit([4.0, 8.0, 6.0], known_variance=1)
        Gaussian(mean=6, variance=1)
        >>> Gaussian.fit([4.0, 8.0, 6.0], sample_variance=True)
        Gaussian(mean=6, variance=4)
        """
        how = chosen(estimate, prior, _EXAMPLE)
        if how != "mle":
            after = cls.posterior(data, prior, known_variance=known_variance)
            fitted: Self = picked(after, how)
            return fitted
        moments = measured(data)
        n, mean, scatter = _one(moments.names, *summary(moments))
        name = moments.names[0]
        if not n:
            raise no_data("a Gaussian", _EXAMPLE)
        if known_variance is not None:
            return cls(mean, positive(known_variance, "known_variance", SQUARE), name)
        check_spread(n, np.array([mean]), np.array([[scatter]]), (name,), _EXAMPLE)
        return cls(mean, scatter / divisor(n, sample_variance), name)

    @classmethod
    def posterior(
        cls,
        data: Numbers,
        prior: NormalInverseGamma | NormalMean | None = None,
        *,
        known_variance: float | None = None,
    ) -> NormalInverseGamma | NormalMean:
        """What is believed of the mean and the variance after data.

        The prior is the reference prior p(μ, σ²) ∝ 1/σ² if none is given; with
        `known_variance`, a flat prior of the mean.

        >>> print(Gaussian.posterior([4.0, 8.0, 6.0]).interval(0.95, of="mean"))
        1.03172 to 10.9683 (95 %)
        """
        from credo.model.distributions.normal_inverse_gamma import NormalInverseGamma
        from credo.model.distributions.normal_mean import NormalMean

        if prior is None:
            prior = (
                NormalInverseGamma.reference()
                if known_variance is None
                else NormalMean.flat(known_variance)
            )
        elif not isinstance(prior, (NormalInverseGamma, NormalMean)):
            raise InputError(
                "The prior of a Gaussian must be a cr.distributions.NormalInverseGamma, or a "
                "cr.distributions.NormalMean "
                f"when its variance is known, got {shown(prior)}."
            )
        elif known_variance is not None and getattr(prior, "known_variance", None) != positive(
            known_variance, "known_variance", SQUARE
        ):
            raise InputError(
                f"The prior {prior!r} is not one for the known variance {known_variance!r}.",
                hint=f"Use cr.distributions.NormalMean(…, known_variance={known_variance!r}).",
            )
        return prior.update(data)

    @classmethod
    def likelihood_curve(
        cls,
        data: Numbers,
        grid: Any = None,
        *,
        variance: float | None = None,
    ) -> LikelihoodCurve:
        """The log-likelihood over the mean, with the variance fixed; or over both.

        `variance` fixes it (the maximum-likelihood one if it is not given). A pair of grids,
        for μ and σ, gives the surface over both.

        >>> Gaussian.likelihood_curve([4.0, 8.0, 6.0], variance=1).maximum
        6.0
        >>> Gaussian.likelihood_curve([4.0, 8.0, 6.0], ([5, 6, 7], [1, 2])).maximum
        (6.0, 2.0)
        """
        moments = measured(data)
        n, mean, scatter = _one(moments.names, *summary(moments))
        if not n:
            raise InputError("There is no data, so the likelihood is the same everywhere.")
        if isinstance(grid, tuple) and len(grid) == 2 and not all(np.isscalar(g) for g in grid):
            mu, sigma = checked_grid(grid[0], "the mean"), checked_grid(grid[1], "σ")
            if (sigma <= 0).any():
                raise InputError("The grid of σ must lie above 0.")
            values = _log_likelihood(n, mean, scatter, mu[:, None], sigma[None, :] ** 2)
            return LikelihoodCurve(("μ", "σ"), (mu, sigma), values)
        if variance is None and not scatter:
            raise InputError(
                f"The values of {moments.names[0]!r} are all the same, so their "
                "maximum-likelihood variance is 0 and the likelihood has no curve.",
                hint="Give the variance: variance=1.0, for example.",
            )
        fixed = (
            cls.fit(moments).variance
            if variance is None
            else positive(variance, "variance", SQUARE)
        )
        if grid is None:
            mu = mean + np.linspace(-4, 4, 201) * math.sqrt(fixed / n)
        else:
            mu = checked_grid(grid, "the mean")
        return LikelihoodCurve(
            ("μ",), (mu,), _log_likelihood(n, mean, scatter, mu, np.array(fixed))
        )

    def _view(self) -> View:
        low, high = self.interval(0.95)
        row = [
            self.name,
            number(self.mean),
            number(self.sd),
            number(self.variance),
            f"{number(low)} to {number(high)}",
            drawn(self),
        ]
        head = ["", "mean", "sd", "variance", "95 % of values", "density"]
        return View("Gaussian", head, [row], (1, 2, 3, 4))


def drawn(one: Any, cells: int = 24) -> str:
    """The density of a number between the ends of its 99 % interval, drawn in blocks.

    >>> drawn(Gaussian(0, 1), 9)
    '-2.58 ▁▂▄▇█▇▄▂▁ 2.58'
    """
    low, high = one.interval(0.99)
    curve = np.exp(one.logpdf(np.linspace(low, high, cells)))
    if not np.isfinite(curve).all():
        return ""
    return f"{number(low, 3)} {heights(curve.tolist())} {number(high, 3)}"


def _one(names: tuple[str, ...], n: float, mean: Floats, scatter: Floats) -> tuple[Any, ...]:
    if len(names) != 1:
        raise InputError(
            f"A Gaussian has one variable, got {', '.join(names)}.",
            hint="Use cr.distributions.MultivariateGaussian for several together.",
        )
    return n, float(mean[0]), float(scatter[0, 0])


def _log_likelihood(n: float, mean: float, scatter: float, mu: Floats, variance: Floats) -> Floats:
    with np.errstate(over="ignore"):
        m2 = (scatter + n * (mean - mu) ** 2) / variance
    out: Floats = -0.5 * (n * np.log(2 * np.pi * variance) + m2)
    return out
