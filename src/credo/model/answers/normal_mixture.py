"""NormalMixture: a number that is one of several Gaussians, each with its weight.

    p(x) = Σ_k w_k N(x; μ_k, σ²_k)       μ = Σ w_k μ_k,   σ² = Σ w_k (σ²_k + (μ_k − μ)²)

It is what is known of a continuous variable whose discrete parents are not observed: a Gaussian
for each of their configurations, weighted by how probable that configuration is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.errors import InputError
from credo.core.render import many, number
from credo.model.answers.interval import Interval, halved, shares, tails
from credo.model.distributions.elliptical import points
from credo.model.distributions.gaussian import Gaussian, drawn
from credo.model.distributions.point import Point
from credo.model.mixtures.labels import (
    Components,
    Labels,
    component_rows,
    counted,
    weighed,
)
from credo.model.values.data import Numbers
from credo.model.values.probabilities import drawn as positions
from credo.model.values.randomness import Rng, generator
from credo.model.values.value import NAME, SQUARE, View, plain, readonly

if TYPE_CHECKING:
    from credo.model.answers.approximation import Approximation

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NormalMixture(Point):
    """Gaussians with their `weights`, `means` and `variances`.

    `labels` says which states of which discrete variables each of them belongs to, and a state
    picks its Gaussian.

    >>> import credo as cr
    >>> sex, tall = cr.Variable("sex", "discrete", ("f", "m")), cr.Variable("height", "continuous")
    >>> net = cr.Network("[sex][height|sex]", [
    ...     cr.Cpt(sex, (), [0.5, 0.5]),
    ...     cr.LinearGaussian(tall, (sex,), [1.65, 1.78], [], [0.07**2, 0.08**2]),
    ... ])
    >>> height = net.p("height")
    >>> print(height)
    height: a mixture of 2 Gaussians, which .components lists
     mean        sd      95 % of values  density
    1.715  0.099373  1.53414 to 1.91166  1.49 ... 1.97
    >>> print(height.components)
    height: a mixture of 2 Gaussians
    sex   weight   mean        sd
    f    0.50000   1.65      0.07  ██████████
    m    0.50000   1.78      0.08  ██████████
    all  1.00000  1.715  0.099373
    >>> round(height.mean, 6), round(height.sd, 6), height["f"]
    (1.715, 0.099373, Gaussian(mean=1.65, variance=0.0049))
    >>> round(height.cdf(1.7), 6), round(float(height.pdf(1.7)), 6)
    (0.460565, 3.720284)
    """

    weights: Floats
    means: Floats
    variances: Floats
    name: str = field(default=NAME, compare=False, repr=False)
    labels: Labels | None = field(default=None, compare=False, repr=False)
    approximation: Approximation | None = field(default=None, compare=False, repr=False)
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        weights = weighed(self.weights)
        object.__setattr__(self, "weights", weights)
        for what in ("means", "variances"):
            given = readonly(getattr(self, what))
            if given.shape != weights.shape or not np.isfinite(given).all():
                raise InputError(
                    f"The {what} of a mixture must be {len(weights)} finite numbers, "
                    "one for each weight."
                )
            object.__setattr__(self, what, given)
        if not (self.variances >= 1 / SQUARE).all():
            raise InputError("The variances of a mixture must be above 0.")

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def sds(self) -> Floats:
        """The standard deviation of each Gaussian."""
        out: Floats = np.sqrt(self.variances)
        return out

    @property
    def mean(self) -> float:
        """The mean of all."""
        return float(self.weights @ self.means)

    @property
    def variance(self) -> float:
        """The variance of all: within the Gaussians and between them."""
        return float(self.weights @ (self.variances + (self.means - self.mean) ** 2))

    @property
    def sd(self) -> float:
        """The standard deviation of all."""
        return math.sqrt(self.variance)

    def __getitem__(self, states: Any) -> Gaussian:
        """The Gaussian of some states of the discrete variables."""
        if self.labels is None:
            raise InputError("The Gaussians of this mixture belong to no states.")
        k = self.labels.position(states)
        return Gaussian(float(self.means[k]), float(self.variances[k]), self.name)

    def logpdf(self, x: ArrayLike) -> Any:
        """The log-density at one value or at many.

        >>> two = NormalMixture([0.5, 0.5], [0, 0], [1, 1])
        >>> round(two.logpdf(0), 6)
        -0.918939
        """
        from scipy.special import logsumexp

        at = points(x)[..., None]
        with np.errstate(over="ignore"):
            m2 = ((at - self.means) / self.sds) ** 2
        logs = np.log(self.weights) - 0.5 * (np.log(2 * np.pi * self.variances) + m2)
        return plain(logsumexp(logs, axis=-1))

    def cdf(self, x: ArrayLike) -> Any:
        """The probability of a value of at most `x`.

        >>> NormalMixture([0.5, 0.5], [-1, 1], [1, 1]).cdf(0.0)
        0.5
        """
        from scipy.special import ndtr

        return plain(self._share(points(x, what="share below"), ndtr))

    def _share(self, x: Floats, below: Any) -> Floats:
        out: Floats = below((x[..., None] - self.means) / self.sds) @ self.weights
        return np.minimum(out, 1.0)

    def quantile(self, q: ArrayLike) -> Any:
        """The value below which the share `q` of the probability lies.

        >>> round(NormalMixture([0.5, 0.5], [-1, 1], [1, 1]).quantile(0.5), 9) + 0.0
        0.0
        """
        from scipy.special import ndtr, ndtri

        share = shares(q)
        ends = self.means + self.sds * ndtri(share[..., None])
        inside = (share > 0) & (share < 1)
        out = np.where(share == 0, -np.inf, np.inf)
        if inside.any():
            low, high = float(ends[inside].min()), float(ends[inside].max())
            out = np.where(inside, halved(lambda s: self._share(s, ndtr), share, low, high), out)
        return plain(out)

    def interval(self, level: float = 0.95) -> Interval:
        """The central interval that holds the next value with probability `level`."""
        low, high = tails(level)
        return Interval(self.quantile(low), self.quantile(high), level)

    def log_likelihood(self, data: Numbers) -> float:
        """The log-density of all values together.

        >>> round(NormalMixture([0.5, 0.5], [0, 0], [1, 1]).log_likelihood([0.0, 1.0]), 6)
        -2.337877
        """
        return float(np.sum(self.logpdf(points(data))))  # type: ignore[arg-type]

    def sample(self, n: int, rng: Rng) -> Floats:
        """Values drawn at random.

        >>> NormalMixture([0.5, 0.5], [-1, 1], [0.01, 0.01]).sample(3, rng=0).round(2).tolist()
        [1.01, -1.05, -0.96]
        """
        source = generator(rng)
        k = positions(self.weights, n, source)
        return self.means[k] + self.sds[k] * source.standard_normal(len(k))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON.

        >>> NormalMixture([0.25, 0.75], [0, 4], [1, 1]).to_dict()["mean"]
        3.0
        """
        out: dict[str, Any] = {"mean": self.mean, "variance": self.variance}
        out["components"] = counted(self.labels, weight=self.weights, mean=self.means, sd=self.sds)
        return out

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.name}: {many(len(self), 'Gaussian')}, "
            f"mean={number(self.mean)}, sd={number(self.sd)})"
        )

    @property
    def components(self) -> Components:
        """The Gaussians, which print as a table: their states, weights, means and deviations."""
        columns, total = [self.means, self.sds], [number(self.mean), number(self.sd)]
        table = component_rows(self.labels, self.weights, ["mean", "sd"], columns, total)
        return Components(self._title, *table)

    @property
    def _title(self) -> str:
        return f"{self.name}: a mixture of {many(len(self), 'Gaussian')}"

    @property
    def _note(self) -> str:
        return "" if self.approximation is None else self.approximation.line

    def _view(self) -> View:
        low, high = self.interval(0.95)
        row = [
            number(self.mean), number(self.sd), f"{number(low)} to {number(high)}", drawn(self),
        ]  # fmt: skip
        head = ["mean", "sd", "95 % of values", "density"]
        title = f"{self._title}, which .components lists"
        return View(title, head, [row], (0, 1, 2), self._note)
