"""MultivariateMixture: several numbers together that are one of several Gaussians.

p(x) = Σ_k w_k N(x; μ_k, Σ_k)       μ = Σ w_k μ_k,   Σ = Σ w_k (Σ_k + (μ_k − μ)(μ_k − μ)ᵀ)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from credo.core.errors import InputError
from credo.core.render import many, number
from credo.model.answers.interval import Interval
from credo.model.answers.normal_mixture import NormalMixture
from credo.model.distributions.elliptical import named, points
from credo.model.distributions.located import Spread, position
from credo.model.distributions.multivariate import MultivariateGaussian
from credo.model.distributions.point import Point
from credo.model.mixtures.labels import (
    Labels,
    component_rows,
    counted,
    weighed,
)
from credo.model.values.probabilities import drawn
from credo.model.values.randomness import Rng, generator
from credo.model.values.reals import Floats
from credo.model.values.value import View, plain, readonly

if TYPE_CHECKING:
    from credo.model.answers.approximation import Approximation


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MultivariateMixture(Spread, Point):
    """Gaussians of several variables with their `weights`, `means` and `covariances`.

    >>> two = MultivariateMixture([0.5, 0.5], [[0, 0], [2, 2]], [np.eye(2)] * 2, ("a", "b"))
    >>> two.mean.tolist(), two.covariance.tolist()
    ([1.0, 1.0], [[2.0, 1.0], [1.0, 2.0]])
    >>> two.marginal("a")
    NormalMixture(a: 2 Gaussians, mean=1, sd=1.41421)
    >>> print(two)
    a, b: a mixture of 2 Gaussians
    part   weight  mean a     sd a  mean b     sd b
    1     0.50000       0        1       0        1  ██████████
    2     0.50000       2        1       2        1  ██████████
    all   1.00000       1  1.41421       1  1.41421
    correlation of a, b: 0.500
    """

    weights: Floats
    means: Floats
    covariances: Floats
    names: tuple[str, ...] = ()
    labels: Labels | None = field(default=None, compare=False, repr=False)
    approximation: Approximation | None = field(default=None, compare=False, repr=False)
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        weights = weighed(self.weights)
        means = readonly(self.means)
        covariances = readonly(self.covariances)
        if means.ndim != 2 or len(means) != len(weights):
            raise InputError("The means of a mixture must be a row of numbers for each weight.")
        d = means.shape[1]
        if covariances.shape != (len(weights), d, d):
            raise InputError(f"The covariances of a mixture must be a {d} × {d} matrix each.")
        if not (np.isfinite(means).all() and np.isfinite(covariances).all()):
            raise InputError("The means and covariances of a mixture must be finite numbers.")
        for what, value in (("weights", weights), ("means", means), ("covariances", covariances)):
            object.__setattr__(self, what, value)
        object.__setattr__(self, "names", named(self.names, d))

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def mean(self) -> Floats:
        """The mean of each variable."""
        out: Floats = self.weights @ self.means
        return out

    @property
    def covariance(self) -> Floats:
        """The covariance of all: within the Gaussians and between them."""
        away = self.means - self.mean
        between = np.einsum("k,ki,kj->ij", self.weights, away, away)
        out: Floats = np.tensordot(self.weights, self.covariances, 1) + between
        return out

    def __getitem__(self, states: Any) -> MultivariateGaussian:
        """The Gaussian of some states of the discrete variables."""
        if self.labels is None:
            raise InputError("The Gaussians of this mixture belong to no states.")
        k = self.labels.position(states)
        return MultivariateGaussian(self.means[k], self.covariances[k], self.names)

    def marginal(self, names: str | Sequence[str]) -> Any:
        """The mixture of one variable, or of several."""
        if isinstance(names, str):
            i = position(names, self.names)
            return NormalMixture(
                self.weights, self.means[:, i], self.covariances[:, i, i], names, self.labels
            )
        at = [position(n, self.names) for n in names]
        return MultivariateMixture(
            self.weights, self.means[:, at], self.covariances[:, at][:, :, at], tuple(names),
            self.labels,
        )  # fmt: skip

    def interval(self, level: float = 0.95, *, of: str) -> Interval:
        """The central interval of one variable's next value."""
        found: Interval = self.marginal(of).interval(level)
        return found

    def _roots(self) -> Floats:
        try:
            out: Any = np.linalg.cholesky(self.covariances)
        except np.linalg.LinAlgError:
            raise InputError(
                f"{', '.join(self.names)} determine each other to the last digit, so they have "
                "no joint density.",
                hint="Ask about fewer of them at once.",
            ) from None
        roots: Floats = out
        return roots

    def logpdf(self, x: ArrayLike) -> Any:
        """The log-density at one row of numbers, or at many rows.

        >>> one = MultivariateMixture([1.0], [[0, 0]], [np.eye(2)])
        >>> round(one.logpdf([0, 0]), 6)
        -1.837877
        """
        from scipy.special import logsumexp

        at = points(x, self.means.shape[1])
        roots = self._roots()
        away = at[..., None, :, None] - self.means[..., None]
        with np.errstate(over="ignore"):
            m2 = (np.linalg.solve(roots, away)[..., 0] ** 2).sum(axis=-1)
        log_det = 2 * np.log(np.diagonal(roots, axis1=-2, axis2=-1)).sum(axis=-1)
        d = self.means.shape[1]
        logs = np.log(self.weights) - 0.5 * (d * np.log(2 * np.pi) + log_det + m2)
        return plain(logsumexp(logs, axis=-1))

    def log_likelihood(self, data: ArrayLike) -> float:
        """The log-density of all rows together."""
        return float(np.sum(self.logpdf(data)))

    def sample(self, n: int, rng: Rng) -> Floats:
        """Rows drawn at random, one column for each variable."""
        source = generator(rng)
        k = drawn(self.weights, n, source)
        z = source.standard_normal((len(k), self.means.shape[1]))
        out: Floats = self.means[k] + np.einsum("nij,nj->ni", self._roots()[k], z)
        return out

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        out: dict[str, Any] = {"variables": list(self.names), "mean": self.mean.tolist()}
        out["covariance"] = self.covariance.tolist()
        out["components"] = counted(
            self.labels, weight=self.weights, mean=self.means, covariance=self.covariances
        )
        return out

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({', '.join(self.names)}: {many(len(self), 'Gaussian')}, "
            f"mean=[{', '.join(number(float(m)) for m in self.mean)}])"
        )

    @property
    def _note(self) -> str:
        """The correlations, a pair on each line, and how the mixture was found."""
        r, lines = self.correlation, []
        for i, a in enumerate(self.names):
            for j in range(i + 1, len(self.names)):
                lines.append(f"correlation of {a}, {self.names[j]}: {r[i, j]:.3f}")
        lines += [] if self.approximation is None else [self.approximation.line]
        return "\n".join(lines)

    def _view(self) -> View:
        heads, columns, total = [], [], []
        sd = self.sd
        for i, name in enumerate(self.names):
            heads += [f"mean {name}", f"sd {name}"]
            columns += [self.means[:, i], np.sqrt(self.covariances[:, i, i])]
            total += [number(float(self.mean[i])), number(float(sd[i]))]
        head, rows, right = component_rows(self.labels, self.weights, heads, columns, total)
        title = f"{', '.join(self.names)}: a mixture of {many(len(self), 'Gaussian')}"
        return View(title, head, rows, right, self._note)
