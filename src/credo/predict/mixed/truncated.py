"""TruncatedMixture: a number whose Gaussians are cut off at the ends of a range.

    p(x) = Σ_k w_k N(x; μ_k, σ²_k) / P_k,   P_k = Φ((high − μ_k)/σ_k) − Φ((low − μ_k)/σ_k)

It is what is known of a continuous variable that is known to lie in a range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from credo.model.answers.between import Between
from credo.model.answers.interval import halved, shares
from credo.model.answers.normal_mixture import NormalMixture
from credo.model.distributions.elliptical import points
from credo.model.distributions.gaussian import Gaussian
from credo.model.values.randomness import Rng, generator, size
from credo.predict.mixed.boxes import gauss_rule, log_between

__all__ = ["TruncatedMixture"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TruncatedMixture(NormalMixture):
    """Gaussians, cut off at `low` and `high`; `means` and `variances` are those before the cut.

    >>> import credo as cr
    >>> x = cr.Variable("x", "continuous")
    >>> net = cr.Network("[x]", [cr.LinearGaussian(x, (), 0.0, [], 1.0)])
    >>> above = net.p("x", given={"x": cr.between(0, None)})
    >>> round(above.mean, 6), round(above.sd, 6), round(above.cdf(1.0), 6)  # √(2/π), √(1 − 2/π)
    (0.797885, 0.60281, 0.682689)
    >>> above.pdf(-1.0), round(above.quantile(0.5), 6)
    (0.0, 0.67449)
    """

    low: float = field(kw_only=True)
    high: float = field(kw_only=True)

    def _cut(self) -> tuple[Floats, Floats, Floats]:
        """The ends in standard deviations of each Gaussian, and ln of what lies between them."""
        a, b = (self.low - self.means) / self.sds, (self.high - self.means) / self.sds
        return a, b, log_between(a, b)

    def _moments(self) -> tuple[float, float]:
        a, b, _ = self._cut()
        z, log = gauss_rule(a, b)
        share = np.exp(log - logsumexp(log, axis=-1, keepdims=True))
        x = self.means[:, None] + self.sds[:, None] * z
        mean = float(self.weights @ (share * x).sum(axis=1))
        return mean, float(self.weights @ (share * (x - mean) ** 2).sum(axis=1))

    @property
    def mean(self) -> float:
        """The mean of all."""
        return self._moments()[0]

    @property
    def variance(self) -> float:
        """The variance of all."""
        return self._moments()[1]

    def __getitem__(self, states: Any) -> Gaussian:
        """The Gaussian of some states, before the cut."""
        return NormalMixture.__getitem__(self, states)

    def logpdf(self, x: ArrayLike) -> Any:
        """The log-density at one value or at many."""
        at = points(x)[..., None]
        m2 = ((at - self.means) / self.sds) ** 2
        logs = np.log(self.weights) - 0.5 * (np.log(2 * np.pi * self.variances) + m2)
        inside = (at[..., 0] >= self.low) & (at[..., 0] <= self.high)
        out = np.where(inside, logsumexp(logs - self._cut()[2], axis=-1), -np.inf)
        return out if np.ndim(out) else float(out)

    def _share(self, x: Floats, below: Any = None) -> Floats:
        a, _, log = self._cut()
        at = (np.clip(x, self.low, self.high)[..., None] - self.means) / self.sds
        with np.errstate(invalid="ignore"):
            out: Floats = np.exp(log_between(a, np.maximum(at, a)) - log) @ self.weights
        return np.minimum(out, 1.0)

    def quantile(self, q: ArrayLike) -> Any:
        """The value below which the share `q` of the probability lies."""
        share = shares(q)
        z, _ = gauss_rule(*self._cut()[:2])
        x = self.means[:, None] + self.sds[:, None] * z
        low = self.low if math.isfinite(self.low) else float(x.min())
        high = self.high if math.isfinite(self.high) else float(x.max())
        out = halved(self._share, share, low, high)
        out = np.where(share == 0, self.low, np.where(share == 1, self.high, out))
        return out if np.ndim(out) else float(out)

    def sample(self, n: int, rng: Rng) -> Floats:
        """Values drawn at random."""
        out: Floats = self.quantile(generator(rng).random(size(n)))
        return out

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        ends = {"low": self.low, "high": self.high}
        finite = {name: end for name, end in ends.items() if math.isfinite(end)}
        return {**NormalMixture.to_dict(self), "cut": finite}

    @property
    def _note(self) -> str:
        cut = f"cut off to {Between(self.low, self.high).of(self.name)}"
        return cut if self.approximation is None else f"{cut}\n{self.approximation.line}"
