"""NormalMean: what is believed about the mean of a Gaussian whose variance is known.

    μ ~ N(μ₀, v),   x ~ N(μ, σ²)      after n values:  1/v' = 1/v + n/σ²

In units of observations the belief is worth κ = σ²/v of them, and it moves as any mean does:
μ₀' = μ₀ + n/(κ + n) (x̄ − μ₀).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from numpy.typing import ArrayLike

from credo.core.errors import InputError
from credo.core.render import number
from credo.model.answers.interval import Interval
from credo.model.distributions.conjugate import Conjugate, one_parameter
from credo.model.distributions.gaussian import Gaussian
from credo.model.distributions.normal_wishart import moved
from credo.model.values.data import Numbers, measured, summary
from credo.model.values.randomness import Rng
from credo.model.values.reals import Floats, shown
from credo.model.values.value import NAME, SQUARE, View, finite, positive, text
from credo.stats.moments import Moments


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NormalMean(Conjugate):
    """A belief about the mean of a Gaussian of known variance.

    `mu` is where the mean is thought to be, with `variance` (infinite: nothing is known).

    >>> prior = NormalMean(5, 1, known_variance=1)
    >>> posterior = prior.update([4.0, 8.0, 6.0])
    >>> posterior
    NormalMean(mu=5.75, variance=0.25, known_variance=1)
    >>> posterior.mean(), posterior.predictive()
    (Gaussian(mean=5.75, variance=1), Gaussian(mean=5.75, variance=1.25))
    """

    mu: float
    variance: float
    known_variance: float
    name: str = field(default=NAME, compare=False, repr=False)

    def __post_init__(self) -> None:
        text(self.name, "The name")
        object.__setattr__(self, "mu", finite(self.mu, "mu"))
        known = positive(self.known_variance, "known_variance", SQUARE)
        object.__setattr__(self, "known_variance", known)
        flat = isinstance(self.variance, (int, float)) and self.variance == math.inf
        variance = math.inf if flat else positive(self.variance, "The variance", SQUARE)
        object.__setattr__(self, "variance", variance)

    @classmethod
    def flat(cls, known_variance: float) -> Self:
        """Every mean is as likely; the posterior is then centred on the sample mean.

        >>> NormalMean.flat(known_variance=1).update([4.0, 8.0, 6.0])
        NormalMean(mu=6, variance=0.333333, known_variance=1)
        """
        return cls(0.0, math.inf, known_variance)

    @property
    def kappa(self) -> float:
        """How many observations the belief is worth."""
        return self.known_variance / self.variance

    @property
    def is_proper(self) -> bool:
        """Whether this is a distribution: the flat prior is not, before data."""
        return self.variance < math.inf

    @property
    def belief(self) -> Gaussian:
        """The Gaussian over the mean."""
        self._check_proper("density")
        return Gaussian(self.mu, self.variance, f"mean of {self.name}")

    def _read(self, data: Numbers) -> Moments:
        return measured(data, (self.name,))

    def _plus(self, statistic: Moments) -> Self:
        n, mean, _ = summary(statistic)
        if not n:
            return self
        mu, kappa = moved(self.mu, self.kappa, n, float(mean[0]))
        name = statistic.names[0] if self.name == NAME else self.name
        return type(self)(mu, self.known_variance / kappa, self.known_variance, name)

    def _log_evidence(self, statistic: Moments) -> float:
        """Bayes' rule read for p(data) at the posterior mean (Besag 1989)."""
        after = self._plus(statistic)
        apart = self.belief.logpdf(after.mu) - after.belief.logpdf(after.mu)
        return float(after.mean().log_likelihood(statistic) + apart)

    def mean(self) -> Gaussian:
        """The Gaussian at the mean of the belief."""
        self._check_proper("a mean")
        return Gaussian(self.mu, self.known_variance, self.name)

    def map(self) -> Gaussian:
        """The Gaussian at the mode of the belief, which is also its mean."""
        return self.mean()

    def predictive(self) -> Gaussian:
        """The distribution of the next value: the two variances add up."""
        self._check_proper("a predictive distribution")
        return Gaussian(self.mu, self.variance + self.known_variance, self.name)

    def logpdf(self, *parameter: ArrayLike, of: Any = "mean") -> Any:
        """The log-density at values of the mean.

        >>> round(NormalMean(5, 1, known_variance=1).logpdf(5), 6)
        -0.918939
        """
        _only_mean(of)
        return self.belief.logpdf(one_parameter(parameter, "a mean"))

    def sample(self, n: int, rng: Rng) -> Floats:
        """Draws of the mean."""
        return self.belief.sample(n, rng)

    def points(self, n: int, rng: Rng) -> Iterator[Gaussian]:
        """Draws of the mean, each as the Gaussian it stands for."""
        return (Gaussian(m, self.known_variance, self.name) for m in self.sample(n, rng))

    def cdf(self, x: ArrayLike, of: Any = "mean") -> Any:
        """The probability that the mean is at most `x`.

        >>> NormalMean(5, 1, known_variance=1).cdf(5)
        0.5
        """
        _only_mean(of)
        return self.belief.cdf(x)

    def quantile(self, q: ArrayLike, of: Any = "mean") -> Any:
        """The value of the mean below which the share `q` of the belief lies.

        >>> NormalMean(5, 1, known_variance=1).quantile(0.5)
        5.0
        """
        _only_mean(of)
        return self.belief.quantile(q)

    def interval(self, level: float = 0.95, of: Any = "mean") -> Interval:
        """The central credible interval of the mean."""
        _only_mean(of)
        return self.belief.interval(level)

    def _view(self) -> View:
        title = f"Normal belief about the mean of {self.name}"
        known = f"known variance {number(self.known_variance)}"
        if not self.is_proper:
            return View(title, ["mean"], [["flat: every mean is as likely"]], (), known)
        low, high = self.interval(0.95)
        row = [
            number(self.mu),
            number(math.sqrt(self.variance)),
            f"{number(low)} to {number(high)}",
        ]
        return View(title, ["mean", "sd", "95 %"], [row], (0, 1, 2), known)


def _only_mean(of: Any) -> None:
    if of is not None and not (isinstance(of, str) and of == "mean"):
        raise InputError(f"Only the mean is unknown here, got of={shown(of)}.")
