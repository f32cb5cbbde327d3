"""NormalInverseWishart: what is believed about the mean and covariance of several columns.

    Σ ~ inverse-Wishart(ν, Ψ),   μ | Σ ~ N(μ₀, Σ/κ)

Each column alone is a normal-inverse-gamma with α = (ν − d + 1)/2, β = Ψ_jj/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from credo.core.errors import InputError
from credo.core.render import number
from credo.model.answers.interval import Interval
from credo.model.distributions.elliptical import column_names, named, points, symmetric
from credo.model.distributions.located import centre, matrix_view, position
from credo.model.distributions.multivariate import MultivariateGaussian
from credo.model.distributions.normal_inverse_gamma import NormalInverseGamma
from credo.model.distributions.normal_wishart import Hyper, NormalWishart
from credo.model.distributions.student import MultivariateT
from credo.model.values.randomness import Rng
from credo.model.values.reals import Floats
from credo.model.values.value import WEIGHT, View, at_least, plain


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NormalInverseWishart(NormalWishart):
    """A belief about the mean and the covariance of several continuous variables.

    `mu` is where the means are thought to be, worth `kappa` observations; `dof` and `scale` are
    those of the covariance's inverse-Wishart, whose mean is scale / (dof − d − 1).

    >>> prior = NormalInverseWishart([0, 0], 1, 4, [[1, 0], [0, 1]], names=("a", "b"))
    >>> posterior = prior.update({"a": [1, 2, 3], "b": [0, 1, 5]})
    >>> posterior.mu.tolist(), posterior.kappa, posterior.dof, posterior.scale.tolist()
    ([1.5, 1.5], 4.0, 7.0, [[6.0, 8.0], [8.0, 18.0]])
    >>> posterior.marginal("a")
    NormalInverseGamma(mu=1.5, kappa=4, alpha=3, beta=3)
    >>> print(posterior.interval(0.95, of="a"))
    0.276544 to 2.72346 (95 %)
    """

    mu: Floats
    kappa: float
    dof: float
    scale: Floats
    names: tuple[str, ...] = ()
    _proper: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        mu = centre(self.mu, "mu")
        object.__setattr__(self, "mu", mu)
        object.__setattr__(self, "names", named(self.names, len(mu)))
        object.__setattr__(self, "scale", symmetric(self.scale, len(mu), "The scale"))
        object.__setattr__(self, "kappa", at_least(self.kappa, 0.0, "kappa", WEIGHT))
        object.__setattr__(self, "dof", at_least(self.dof, -1.0, "dof", 2 * WEIGHT))
        proper = self.hyper.is_proper()
        if not proper and self.kappa > 0 and self.dof > len(mu) - 1:
            self._root()  # names the column that makes the scale no covariance
        object.__setattr__(self, "_proper", proper)

    @classmethod
    def default(cls, mean: ArrayLike, sd: ArrayLike, names: Sequence[str] | None = None) -> Self:
        """A weak belief, worth one observation: each column around its `mean`, give or take `sd`.

        The unit-information prior (Kass & Wasserman 1995): κ = 1, ν = d, Ψ = diag(sd²).

        >>> NormalInverseWishart.default([170, 70], [10, 15]).dof
        2.0
        """
        mu, spread = centre(mean, "mean"), centre(sd, "sd")
        if mu.shape != spread.shape or (spread <= 0).any():
            raise InputError("sd must hold a number above 0 for each mean.")
        return cls(mu, 1.0, float(len(mu)), np.diag(spread**2), named(names, len(mu)))

    @classmethod
    def reference(cls, names: Sequence[str]) -> Self:
        """The reference prior p(μ, Σ) ∝ |Σ|^−(d+1)/2 (Gelman et al. 2013, §3.6).

        It is not a distribution until more rows than columns came.

        >>> NormalInverseWishart.reference(["a", "b"]).is_proper
        False
        """
        found = column_names(names)
        if not found:
            raise InputError("The names of the columns are needed, got none.")
        d = len(found)
        return cls(np.zeros(d), 0.0, -1.0, np.zeros((d, d)), found)

    @property
    def is_proper(self) -> bool:
        """Whether this is a distribution; the reference prior is not, before data."""
        return self._proper

    @property
    def hyper(self) -> Hyper:
        """The parameters as a row and a matrix."""
        return Hyper(self.mu, self.kappa, self.dof, self.scale)

    @property
    def _names(self) -> tuple[str, ...]:
        return self.names

    def _with(self, hyper: Hyper, names: tuple[str, ...]) -> Self:
        return type(self)(*hyper, names)

    def _gaussian(self, mean: Floats, covariance: Floats) -> MultivariateGaussian:
        return MultivariateGaussian(mean, covariance, self.names)

    def marginal(self, name: str) -> NormalInverseGamma:
        """What is believed of the mean and variance of one column."""
        self._check_proper("a marginal")
        i = position(name, self.names)
        alpha = (self.dof - len(self.mu) + 1) / 2
        return NormalInverseGamma(
            float(self.mu[i]), self.kappa, alpha, float(self.scale[i, i]) / 2, name
        )

    def predictive(self) -> MultivariateT:
        """The distribution of the next row."""
        dof, shape = self._predictive()
        return MultivariateT(dof, self.mu, shape, self.names)

    def logpdf(self, *at: ArrayLike, of: Any = None, parameter: str = "mean") -> Any:
        """The log-density at a mean and a covariance (or many, along leading axes); with `of`, at
        values of one column's `mean`, `variance` or `sd`.

        >>> belief = NormalInverseWishart([0, 0], 1, 4, [[1, 0], [0, 1]], names=("a", "b"))
        >>> round(belief.logpdf([0, 0], [[1, 0], [0, 1]]), 6), round(belief.logpdf(0, of="a"), 6)
        (-6.062048, -0.451583)
        """
        if of is not None:
            return self.marginal(of).logpdf(*at, of=parameter)
        self._check_proper("density")
        if len(at) != 2:
            raise InputError("Give a mean and a covariance: logpdf(mu, covariance).")
        d = len(self.mu)
        mu, sigma = points(at[0], d), points(at[1], d)
        if sigma.ndim < 2 or sigma.shape[-2] != d:
            raise InputError(f"The covariance must have the shape {(d, d)}.")
        return plain(self.hyper.log_density(mu, sigma, self._root()))

    def sample(self, n: int, rng: Rng) -> tuple[Floats, Floats]:
        """Draws of the mean, one row each, and of the covariance, one matrix each."""
        mu, b = self._draws(n, rng)
        with np.errstate(over="ignore", invalid="ignore"):
            return mu, b @ b.transpose(0, 2, 1)

    def pdf(self, *at: ArrayLike, of: Any = None, parameter: str = "mean") -> Any:
        """The density at a mean and a covariance; with `of`, at values of one column's `mean`,
        `variance` or `sd`.

        >>> belief = NormalInverseWishart([0, 0], 1, 4, [[1, 0], [0, 1]], names=("a", "b"))
        >>> round(belief.pdf(0, of="a"), 6)
        0.63662
        """
        with np.errstate(over="ignore"):
            return plain(np.exp(self.logpdf(*at, of=of, parameter=parameter)))

    def cdf(self, x: ArrayLike, of: Any = None, parameter: str = "mean") -> Any:
        """The probability that one column's `mean`, `variance` or `sd` is at most `x`.

        >>> belief = NormalInverseWishart([0, 0], 1, 4, [[1, 0], [0, 1]], names=("a", "b"))
        >>> belief.cdf(0, of="a"), round(belief.cdf(1, of="a", parameter="sd"), 6)
        (0.5, 0.801252)
        """
        return self._column(of, "the probability").cdf(x, of=parameter)

    def quantile(self, q: ArrayLike, of: Any = None, parameter: str = "mean") -> Any:
        """The value of one column's `mean`, `variance` or `sd` below which the share `q` lies.

        >>> belief = NormalInverseWishart([0, 0], 1, 4, [[1, 0], [0, 1]], names=("a", "b"))
        >>> belief.quantile(0.5, of="a")
        0.0
        """
        return self._column(of, "the quantile").quantile(q, of=parameter)

    def interval(self, level: float = 0.95, of: Any = None, parameter: str = "mean") -> Interval:
        """The central credible interval of one column's `mean`, `variance` or `sd`."""
        return self._column(of, "the interval").interval(level, of=parameter)

    def _column(self, of: Any, what: str) -> NormalInverseGamma:
        if of is None:
            example = f"of={self.names[0]!r}"
            raise InputError(f"Say which column {what} is for.", hint=f"Write {example}.")
        return self.marginal(of)

    def _view(self) -> View:
        title = "Normal-inverse-Wishart"
        if not self.is_proper:
            rows = [[n] for n in self.names]
            return View(f"{title}: not yet a distribution, it needs more rows", ["column"], rows)
        covariance = self.scale / (self.dof + len(self.names) + 2)  # at the mode
        v = matrix_view(f"{title}, at its mode", self.names, self.mu, covariance)
        note = f"kappa {number(self.kappa)}, dof {number(self.dof)}"
        return v._replace(note=note)
