"""NormalInverseGamma: what is believed about the mean and the variance of a Gaussian.

    σ² ~ inverse-gamma(α, β),   μ | σ² ~ N(μ₀, σ²/κ)

Read it as: κ values seen with the mean μ₀, and 2α values with the variance β/α. The mean alone
is a Student t with 2α degrees of freedom around μ₀, of scale √(β/(ακ)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from credo.core.errors import InputError
from credo.core.render import number
from credo.model.answers.interval import Interval, between, shares, tails
from credo.model.distributions.conjugate import one_parameter
from credo.model.distributions.elliptical import points, side_by_side
from credo.model.distributions.gaussian import Gaussian
from credo.model.distributions.normal_wishart import Hyper, NormalWishart
from credo.model.distributions.quantiles import (
    gamma_quantile,
    inverse_gamma_log_density,
    inverse_gamma_share,
)
from credo.model.distributions.student import StudentT
from credo.model.values.randomness import Rng
from credo.model.values.reals import Floats
from credo.model.values.value import (
    NAME,
    SQUARE,
    WEIGHT,
    View,
    at_least,
    choice,
    finite,
    plain,
    positive,
    text,
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NormalInverseGamma(NormalWishart):
    """A belief about the mean and the variance of a Gaussian.

    `mu` is where the mean is thought to be, worth `kappa` observations; `alpha` and `beta` are
    those of the variance's inverse-gamma, whose mean is beta / (alpha − 1).

    >>> prior = NormalInverseGamma(5, 1, 2, 2)
    >>> posterior = prior.update([4.0, 8.0, 6.0])
    >>> posterior
    NormalInverseGamma(mu=5.75, kappa=4, alpha=3.5, beta=6.375)
    >>> posterior.mean(), posterior.map()
    (Gaussian(mean=5.75, variance=2.55), Gaussian(mean=5.75, variance=1.275))
    >>> print(posterior.interval(0.95, of="mean"))
    4.15435 to 7.34565 (95 %)
    >>> posterior.predictive()
    StudentT(dof=7, location=5.75, scale=1.5089)
    """

    mu: float
    kappa: float
    alpha: float
    beta: float
    name: str = field(default=NAME, compare=False, repr=False)

    def __post_init__(self) -> None:
        text(self.name, "The name")
        object.__setattr__(self, "mu", finite(self.mu, "mu"))
        object.__setattr__(self, "kappa", at_least(self.kappa, 0.0, "kappa", WEIGHT))
        object.__setattr__(self, "alpha", at_least(self.alpha, -0.5, "alpha", WEIGHT))
        object.__setattr__(self, "beta", at_least(self.beta, 0.0, "beta", SQUARE))

    @classmethod
    def default(cls, mean: float = 0.0, sd: float = 1.0) -> Self:
        """A weak belief, worth one observation: the values lie around `mean`, give or take `sd`.

        The unit-information prior of Kass & Wasserman (1995): κ = 1, α = ½, β = sd²/2.

        >>> NormalInverseGamma.default(mean=20, sd=10)
        NormalInverseGamma(mu=20, kappa=1, alpha=0.5, beta=50)
        """
        return cls(mean, 1.0, 0.5, positive(sd, "sd") ** 2 / 2)

    @classmethod
    def reference(cls) -> Self:
        """The reference prior p(μ, σ²) ∝ 1/σ², Jeffreys' for mean and variance apart.

        Its intervals are those of the classical t and χ² (Gelman et al. 2013, §3.2). It is not a
        distribution until two different values came.

        >>> NormalInverseGamma.reference().update([4.0, 8.0, 6.0]).predictive()
        StudentT(dof=2, location=6, scale=2.3094)
        """
        return cls(0.0, 0.0, -0.5, 0.0)

    @property
    def hyper(self) -> Hyper:
        """The same belief as a normal-inverse-Wishart of one dimension: ν = 2α, Ψ = 2β."""
        return Hyper(np.array([self.mu]), self.kappa, 2 * self.alpha, np.array([[2 * self.beta]]))

    @property
    def _names(self) -> tuple[str, ...]:
        return (self.name,)

    def _with(self, hyper: Hyper, names: tuple[str, ...]) -> Self:
        return type(self)(
            float(hyper.mu[0]), hyper.kappa, hyper.dof / 2, float(hyper.scale[0, 0]) / 2, names[0]
        )

    def _gaussian(self, mean: Floats, covariance: Floats) -> Gaussian:
        return Gaussian(float(mean[0]), float(covariance[0, 0]), self.name)

    def predictive(self) -> StudentT:
        """The distribution of the next value."""
        dof, shape = self._predictive()
        return StudentT(dof, self.mu, math.sqrt(shape[0, 0]), self.name)

    def marginal_mean(self) -> StudentT:
        """What is believed of the mean alone."""
        self._check_proper("a marginal")
        scale = math.sqrt(self.beta / (self.alpha * self.kappa))
        return StudentT(2 * self.alpha, self.mu, scale, self.name)

    def logpdf(self, *parameter: ArrayLike, of: str | None = None) -> Any:
        """The log-density at values of the mean and of the variance; with `of`, at values of the
        `mean`, the `variance` or the `sd` alone.

        >>> round(NormalInverseGamma(0, 1, 1, 1).logpdf(0, 1), 6)
        -1.918939
        >>> NormalInverseGamma(0, 1, 1, 1).logpdf(1, of="variance")
        -1.0
        """
        if of is not None:
            return self._log_density_of(one_parameter(parameter, f"a {_part(of)}"), of)
        self._check_proper("density")
        if len(parameter) != 2:
            raise InputError(
                "Give a mean and a variance: logpdf(mu, variance).",
                hint="With of='mean', of='variance' or of='sd', give that alone.",
            )
        mu, variance = side_by_side(*(points(p) for p in parameter))
        return plain(self.hyper.log_density(mu[..., None], variance[..., None, None], self._root()))

    def sample(self, n: int, rng: Rng) -> tuple[Floats, Floats]:
        """Draws of the mean and of the variance.

        >>> mu, variance = NormalInverseGamma(5, 1, 2, 2).sample(4, rng=0)
        >>> mu.shape, bool((variance > 0).all())
        ((4,), True)
        """
        mu, b = self._draws(n, rng)
        with np.errstate(over="ignore"):
            return mu[:, 0], b[:, 0, 0] ** 2

    def _log_density_of(self, x: Any, of: str) -> Any:
        """That of one part alone."""
        if of == "mean":
            return self.marginal_mean().logpdf(x)
        self._check_proper("density")
        power = 1 if of == "variance" else 2
        return plain(inverse_gamma_log_density(self.alpha, self.beta, points(x), power))

    def cdf(self, x: ArrayLike, of: Any = "mean") -> Any:
        """The probability that the `mean`, the `variance` or the `sd` is at most `x`.

        >>> belief = NormalInverseGamma(5, 4, 3, 6)
        >>> belief.cdf(5), round(belief.cdf(2, of="variance"), 6), round(belief.cdf(2, of="sd"), 6)
        (0.5, 0.42319, 0.808847)
        """
        if _part(of) == "mean":
            return self.marginal_mean().cdf(x)
        self._check_proper("probabilities")
        power = 1 if of == "variance" else 2
        return plain(
            inverse_gamma_share(self.alpha, self.beta, points(x, what="share below"), power)
        )

    def quantile(self, q: ArrayLike, of: Any = "mean") -> Any:
        """The value of the `mean`, the `variance` or the `sd` below which the share `q` lies.

        >>> belief = NormalInverseGamma(5, 4, 3, 6)
        >>> round(belief.quantile(0.5, of="variance"), 6), round(belief.quantile(0.5, of="sd"), 6)
        (2.243779, 1.497925)
        """
        if _part(of) == "mean":
            return self.marginal_mean().quantile(q)
        self._check_proper("quantiles")
        return self._spread(shares(q), of)

    def _spread(self, q: ArrayLike, of: str, above: bool = True) -> Any:
        """The variance or the sd whose precision has the share `q` `above` it, or below."""
        with np.errstate(over="ignore", divide="ignore"):  # a tail may pass every number
            t = gamma_quantile(self.alpha, q, above)
            return plain(self.beta / t if of == "variance" else math.sqrt(self.beta) / np.sqrt(t))

    def interval(self, level: float = 0.95, of: Any = "mean") -> Interval:
        """The central credible interval of the `mean`, the `variance` or the `sd`.

        >>> print(NormalInverseGamma(5, 4, 3, 6).interval(0.9, of="variance"))
        0.953017 to 7.33773 (90 %)
        >>> print(NormalInverseGamma(5, 4, 3, 6).interval(0.9, of="sd"))
        0.976226 to 2.70882 (90 %)
        """
        if _part(of) == "mean":
            return self.marginal_mean().interval(level)
        share = tails(level)[0]
        return between(self.quantile(share, of), self._spread(share, of, above=False), level)

    def _view(self) -> View:
        title = f"Normal-inverse-gamma of the mean and variance of {self.name}"
        if not self.is_proper:
            return View(
                f"{title}: not yet a distribution, it needs more data",
                ["mu", "kappa", "alpha", "beta"],
                [[number(v) for v in (self.mu, self.kappa, self.alpha, self.beta)]],
                (0, 1, 2, 3),
            )
        rows = []
        for of, mode in (("mean", self.mu), ("variance", self.beta / (self.alpha + 1.5))):
            try:
                low, high = self.interval(0.95, of=of)
            except InputError:  # narrower than every number whose square there is
                low = high = mode
            rows.append([of, number(mode), f"{number(low)} to {number(high)}"])
        note = (
            f"mu {number(self.mu)}, kappa {number(self.kappa)}, alpha {number(self.alpha)}, "
            f"beta {number(self.beta)}"
        )
        return View(title, ["", "mode", "95 %"], rows, (1, 2), note)


def _part(of: Any) -> str:
    return choice(of, ("mean", "variance", "sd"), "of")
