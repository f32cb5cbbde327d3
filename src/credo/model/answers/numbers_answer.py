"""NumbersAnswer: what is known of several numbers together, each on the user's own scale.

    f(x) = g(t₁(x₁), t₂(x₂), …) · Π t'(x_i)          g a Gaussian or a mixture of them

A number without a transform has t(x) = x. How they vary together is a matter of all their values,
so it is told by densities, by draws and by the marginal of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.render import number
from credo.core.scales import Transform
from credo.model.answers.interval import Interval
from credo.model.answers.number_answer import NumberAnswer
from credo.model.distributions.elliptical import points
from credo.model.distributions.located import position
from credo.model.distributions.point import Point
from credo.model.values.data import Numbers
from credo.model.values.randomness import Rng
from credo.model.values.value import View, plain

__all__ = ["NumbersAnswer"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NumbersAnswer(Point):
    """Several numbers as the user measures them; `below` is the same on their `scales`.

    >>> import credo as cr
    >>> a, b = (cr.Variable(n, "continuous", scale=cr.Transform("log")) for n in "ab")
    >>> net = cr.Network("[a][b|a]", [
    ...     cr.LinearGaussian(a, (), 0.0, [], 1.0), cr.LinearGaussian(b, (a,), 1.0, [0.5], 0.25)])
    >>> both = net.p(["a", "b"])
    >>> print(both)
    a, b: numbers behind their transforms
          mean       sd       95 % of values
    a  1.64872   2.1612  0.140863 to 7.09907
    b  3.49034  2.81124  0.679836 to 10.8689
    >>> round(both.pdf([1.0, 2.0]), 6)
    0.131836
    >>> both.marginal("a").quantile(0.5)
    1.0
    """

    below: Any
    scales: tuple[Transform | None, ...]
    names: tuple[str, ...]
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False, kw_only=True)

    @property
    def approximation(self) -> Any:
        """How it was found, where that was not exact."""
        return getattr(self.below, "approximation", None)

    def marginal(self, names: str | Sequence[str]) -> Any:
        """The distribution of one number, or of several."""
        if isinstance(names, str):
            scale, one = self.scales[position(names, self.names)], self.below.marginal(names)
            return one if scale is None else NumberAnswer(one, scale, names)
        scales = tuple(self.scales[position(n, self.names)] for n in names)
        return NumbersAnswer(self.below.marginal(names), scales, tuple(names))

    @property
    def mean(self) -> Floats:
        """The mean of each."""
        return np.array([self.marginal(n).mean for n in self.names])

    @property
    def variance(self) -> Floats:
        """The variance of each."""
        return np.array([self.marginal(n).variance for n in self.names])

    @property
    def sd(self) -> Floats:
        """The standard deviation of each."""
        return np.sqrt(self.variance)

    def interval(self, level: float = 0.95, *, of: str) -> Interval:
        """The central interval of one number's next value."""
        found: Interval = self.marginal(of).interval(level)
        return found

    def logpdf(self, x: ArrayLike) -> Any:
        """The log-density at one row of numbers, or at many rows."""
        at = points(x, len(self.names))
        z, slope, inside = at.copy(), np.zeros(at.shape[:-1]), np.ones(at.shape[:-1], dtype=bool)
        for k, scale in enumerate(self.scales):
            if scale is not None:
                holds = scale.holds(at[..., k])
                z[..., k] = np.where(holds, scale.forward(at[..., k]), 0.0)
                slope = slope + np.where(holds, scale.log_slope(at[..., k]), 0.0)
                inside &= holds
        return plain(np.where(inside, np.asarray(self.below.logpdf(z)) + slope, -np.inf))

    def log_likelihood(self, data: Numbers) -> float:
        """The log-density of all rows together."""
        return float(np.sum(self.logpdf(data)))  # type: ignore[arg-type]

    def sample(self, n: int, rng: Rng) -> Floats:
        """Rows drawn at random."""
        z: Floats = np.array(self.below.sample(n, rng))
        for k, scale in enumerate(self.scales):
            if scale is not None:
                z[:, k] = scale.backward(z[:, k])
        return z

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "names": list(self.names),
            "mean": self.mean.tolist(),
            "variance": self.variance.tolist(),
        }

    def __repr__(self) -> str:
        return f"NumbersAnswer({', '.join(self.names)})"

    def _view(self) -> View:
        rows = []
        for name in self.names:
            one = self.marginal(name)
            ends = " to ".join(number(float(e)) for e in one.interval(0.95))
            rows.append([name, number(float(one.mean)), number(float(one.sd)), ends])
        title = f"{', '.join(self.names)}: numbers behind their transforms"
        note = "" if self.approximation is None else self.approximation.line
        return View(title, ["", "mean", "sd", "95 % of values"], rows, (1, 2, 3), note)
