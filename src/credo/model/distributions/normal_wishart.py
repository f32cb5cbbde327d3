"""The engine of the Gaussian's conjugate beliefs, in any number of dimensions d.

    Σ ~ inverse-Wishart(ν, Ψ),   μ | Σ ~ N(m, Σ/κ)

    κ' = κ + n          m' = m + n/κ' (x̄ − m)
    ν' = ν + n          Ψ' = Ψ + S + κn/κ' (x̄ − m)(x̄ − m)ᵀ      S = Σ (x_i − x̄)(x_i − x̄)ᵀ

For d = 1 this is the normal-inverse-gamma with α = ν/2, β = Ψ/2. After Gelman et al.,
"Bayesian Data Analysis" (3rd ed., 2013), §§3.3 and 3.6, and Murphy (2007), "Conjugate Bayesian
analysis of the Gaussian distribution". κ = 0, ν = −1, Ψ = 0 is the reference prior
p(μ, Σ) ∝ |Σ|^−(d+1)/2, which is not a distribution until enough data came.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np

from credo.core.errors import InputError
from credo.model.distributions.conjugate import Conjugate
from credo.model.distributions.elliptical import COLLINEAR, factor, side_by_side
from credo.model.distributions.log_rising import log_rising
from credo.model.distributions.point import Point
from credo.model.values.data import Numbers, measured, summary
from credo.model.values.randomness import Rng, generator, size
from credo.model.values.reals import Floats
from credo.model.values.value import NAME
from credo.stats.moments import Moments


def moved(mu: Any, kappa: float, n: float, mean: Any) -> tuple[Any, float]:
    """The location after n values around `mean`, and the weight behind it.

    >>> moved(0.0, 1.0, 3.0, 8.0)
    (6.0, 4.0)
    """
    after = kappa + n
    if n >= kappa:  # start from the nearer end, so that little is rounded
        return mean + kappa / after * (mu - mean), after
    return mu + n / after * (mean - mu), after


class Hyper(NamedTuple):
    """The parameters of the belief, as a row and a matrix whatever the dimension."""

    mu: Floats
    kappa: float
    dof: float
    scale: Floats

    @property
    def d(self) -> int:
        """The number of dimensions."""
        return len(self.mu)

    def plus(self, n: float, mean: Floats, scatter: Floats) -> Hyper:
        """The belief after n rows with this mean and scatter."""
        if not n:
            return self
        mu, kappa = moved(self.mu, self.kappa, n, mean)
        return Hyper(mu, kappa, self.dof + n, self.scale + self._added(n, mean, scatter))

    def _added(self, n: float, mean: Floats, scatter: Floats) -> Floats:
        """What rows add to the scale: their scatter, and that of their mean about m."""
        away = mean - self.mu
        with np.errstate(over="ignore"):  # what overflows is refused where it is put together
            out: Floats = scatter + self.kappa * n / (self.kappa + n) * np.outer(away, away)
        return out

    def log_marginal(self, n: float, mean: Floats, scatter: Floats, root: Floats) -> float:
        """ln p(n rows); `root` is the Cholesky factor of Ψ. The ratio of normalisers (Murphy
        2007, eq. 266), each difference taken before it can cancel."""
        d, half = self.d, self.dof / 2
        whitened = np.linalg.solve(root, np.linalg.solve(root, self._added(n, mean, scatter)).T)
        grown = np.log1p(np.maximum(np.linalg.eigvalsh(whitened), 0.0)).sum()  # ln |Ψ'| − ln |Ψ|
        before = 2 * np.log(np.diag(root)).sum()
        return float(
            log_rising(half - np.arange(d) / 2, n / 2).sum()
            - d / 2 * np.log1p(n / self.kappa)
            - half * grown
            - n / 2 * (before + grown + d * np.log(np.pi))
        )

    def is_proper(self) -> bool:
        """Whether κ > 0, ν > d − 1 and Ψ is positive definite."""
        if self.kappa <= 0 or self.dof <= self.d - 1:
            return False
        variance = np.diag(self.scale)
        if not (variance > 0).all():
            return False
        size = np.sqrt(variance)
        return bool(np.linalg.eigvalsh(self.scale / np.outer(size, size))[0] > COLLINEAR)

    def log_density(self, mu: Floats, sigma: Floats, root: Floats) -> Floats:
        """The log-density at (μ, Σ), along the leading axes; −inf where Σ is not a covariance."""
        d = self.d
        mu, sigma = side_by_side(mu[..., None], sigma)
        mu = mu[..., 0]
        real = np.asarray(np.isfinite(sigma).all(axis=(-2, -1)) & np.isfinite(mu).all(axis=-1))
        with np.errstate(over="ignore", invalid="ignore"):
            askew = np.abs(sigma - sigma.swapaxes(-2, -1)).max(axis=(-2, -1))
            real = real & (askew <= 1e-9 * np.abs(sigma).max(axis=(-2, -1)))
        sigma = np.where(real[..., None, None], sigma, -np.eye(d))
        mu = np.where(real[..., None], mu, 0.0)
        valid = np.linalg.eigvalsh(sigma)[..., 0] > 0
        safe = np.where(valid[..., None, None], sigma, np.eye(d))
        # along the axes of Σ every term is a square, so that what is too large is ∞ and never NaN
        spread, axes = np.linalg.eigh(safe)
        spread = np.maximum(spread, np.finfo(float).tiny)
        away = np.einsum("...ji,...j->...i", axes, mu - self.mu)
        scale = np.einsum("...ji,jk,...kl->...il", axes, self.scale, axes)
        with np.errstate(over="ignore"):
            logs = np.log(spread).sum(axis=-1)
            kernel = (
                -(d / 2 + 1) * logs
                + self._log_wishart(2 * np.log(np.diag(root)).sum() - logs, scale, spread)
                + d / 2 * np.log(self.kappa / (2 * np.pi))
                - 0.5 * self.kappa * (away / spread * away).sum(axis=-1)
            )
        out: Floats = np.where(valid, kernel, -np.inf)
        return out

    def _log_wishart(self, log_det: Floats, scale: Floats, spread: Floats) -> Floats:
        """ν/2 ln|ΨΣ⁻¹| − ½ tr ΨΣ⁻¹ − ln Γ_d(ν/2) − νd/2 ln 2, of the logarithm of the determinant
        and of Ψ along the axes of Σ, whose spread is given.
        """
        from scipy.special import multigammaln

        d, h = self.d, self.dof / 2
        trace = (np.diagonal(scale, axis1=-2, axis2=-1) / spread).sum(axis=-1)
        out: Floats = h * log_det - 0.5 * trace - multigammaln(h, d) - h * d * np.log(2)
        return out

    def draws(self, n: int, rng: Rng, root: Floats) -> tuple[Floats, Floats]:
        """n draws of μ and of a root B of Σ = B Bᵀ, by Bartlett's decomposition (1933)."""
        g, d = generator(rng), self.d
        a = np.zeros((n, d, d))
        for i in range(d):
            # A heavy tail may draw a precision of 0 and a variance beyond every number: cut both.
            a[:, i, i] = np.sqrt(np.maximum(g.chisquare(self.dof - i, n), 1e-200))
            a[:, i, :i] = g.standard_normal((n, i))
        with np.errstate(over="ignore"):
            b = np.clip(root @ np.linalg.inv(a).transpose(0, 2, 1), -1e145, 1e145)
        z = g.standard_normal((n, d, 1))
        mu = self.mu + (b @ z)[..., 0] / np.sqrt(self.kappa)
        return mu, b


class NormalWishart(Conjugate):
    """What NormalInverseGamma and NormalInverseWishart share; each says its `hyper`."""

    __slots__ = ()

    @property
    @abstractmethod
    def hyper(self) -> Hyper:
        """The parameters as a row and a matrix."""

    @property
    @abstractmethod
    def _names(self) -> tuple[str, ...]: ...

    @abstractmethod
    def _with(self, hyper: Hyper, names: tuple[str, ...]) -> Self: ...

    @abstractmethod
    def _gaussian(self, mean: Floats, covariance: Floats) -> Point: ...

    @property
    def is_proper(self) -> bool:
        """Whether this is a distribution; the reference prior is not, before data."""
        return self.hyper.is_proper()

    def _root(self) -> Floats:
        return factor(self.hyper.scale, self._names, "The scale")

    # --- learning ---------------------------------------------------------------------------

    def _read(self, data: Numbers) -> Moments:
        return measured(data, self._names)

    def _plus(self, statistic: Moments) -> Self:
        names = statistic.names if self._names == (NAME,) else self._names
        return self._with(self.hyper.plus(*summary(statistic)), names)

    def _log_evidence(self, statistic: Moments) -> float:
        return self.hyper.log_marginal(*summary(statistic), self._root())

    # --- answers ----------------------------------------------------------------------------

    def map(self) -> Any:
        """The Gaussian at the mode of the joint density of mean and (co)variance."""
        self._check_proper("a mode")
        h = self.hyper
        return self._gaussian(h.mu, h.scale / (h.dof + h.d + 2))

    def mean(self) -> Any:
        """The Gaussian at the means of the mean and of the (co)variance."""
        self._check_proper("a mean")
        h = self.hyper
        if h.dof <= h.d + 1:
            raise InputError(
                f"{self!r} has no mean of the variance: its tail is too heavy.",
                hint="Use map() or predictive(), or update it with more rows.",
            )
        return self._gaussian(h.mu, h.scale / (h.dof - (h.d + 1)))

    def _predictive(self) -> tuple[float, Floats]:
        """Degrees of freedom and shape of the next row's Student t."""
        self._check_proper("a predictive distribution")
        h = self.hyper
        dof = h.dof - (h.d - 1)
        return dof, h.scale * ((h.kappa + 1) / (h.kappa * dof))

    def _draws(self, n: int, rng: Rng) -> tuple[Floats, Floats]:
        self._check_proper("draws")
        return self.hyper.draws(size(n), rng, self._root())

    def points(self, n: int, rng: Rng) -> Iterator[Point]:
        """Draws of the mean and the (co)variance, each as the Gaussian they stand for."""
        mu, b = self._draws(n, rng)
        return (self._gaussian(m, r @ r.T) for m, r in zip(mu, b, strict=True))
