"""NumberAnswer: what is known of a number that has a scale, on the user's own scale.

    transformed    f(x) = g(t(x)) t'(x)          g a Gaussian or a mixture of them
    binned         f(x) = P(bin of x) f(x | bin of x)

Quantiles go through the scale as they are. The mean and the standard deviation of a transformed
number are integrals over the line, by Gauss's rule on panels that meet where the transform bends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.bins import Bins
from credo.core.errors import InputError
from credo.core.render import heights, number
from credo.core.scales import Scale, Transform
from credo.model.answers.credible import Credible
from credo.model.answers.distribution import Distribution
from credo.model.answers.interval import Interval, shares, tails
from credo.model.answers.normal_mixture import NormalMixture
from credo.model.distributions.elliptical import points
from credo.model.distributions.point import Point
from credo.model.values.data import Numbers
from credo.model.values.probabilities import drawn as positions
from credo.model.values.randomness import Rng, generator, size
from credo.model.values.value import NAME, View, plain

__all__ = ["NumberAnswer", "moments_behind"]

Floats = NDArray[np.float64]

_FAR = 40.0  # standard deviations that are integrated over: E exp(z) is there up to overflow


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NumberAnswer(Point):
    """A number as the user measures it; `below` is the same on its `scale`.

    `below` is a Gaussian or a mixture behind a transform, or the distribution over bins, which is
    `bins` too.

    >>> import credo as cr
    >>> fare = cr.Variable("fare", "continuous", scale=cr.Transform("log"))
    >>> net = cr.Network("[fare]", [cr.LinearGaussian(fare, (), 2.0, [], 0.25)])
    >>> print(net.p("fare"))
    fare: a Gaussian behind its log
      mean       sd      95 % of values  density
    8.3729  4.46225  2.77324 to 19.6875  2.04 ▃▆███▇▆▅▄▃▃▂▂▂▁▁▁▁▁▁▁▁▁▁ 26.8
    >>> round(net.p("fare").quantile(0.5), 6), round(net.ask("P(fare > 20)"), 6)
    (7.389056, 0.023215)
    """

    below: Any
    scale: Scale
    name: str = field(default=NAME, compare=False, repr=False)
    mean_interval: Credible | None = field(default=None, compare=False, kw_only=True)
    sd_interval: Credible | None = field(default=None, compare=False, kw_only=True)
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False, kw_only=True)

    @property
    def bins(self) -> Distribution:
        """The distribution over the intervals of a binned number."""
        if not isinstance(self.below, Distribution):
            raise InputError(
                f"{self.name!r} has a transform and no bins.",
                hint="Ask for the probability of a range, .cdf(x) or .quantile(q).",
            )
        return self.below

    @property
    def approximation(self) -> Any:
        """How it was found, where that was not exact."""
        return getattr(self.below, "approximation", None)

    @property
    def _p(self) -> Floats:
        out: Floats = self.below.p
        return out

    @property
    def mean(self) -> float:
        """The mean."""
        return self._moments()[0]

    @property
    def variance(self) -> float:
        """The variance."""
        return self._moments()[1]

    @property
    def sd(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.variance)

    def _moments(self) -> tuple[float, float]:
        if isinstance(self.scale, Bins):
            return float(self.scale.mean(self._p)), float(self.scale.variance(self._p))
        one = self.below
        many = isinstance(one, NormalMixture)
        weights = one.weights if many else np.ones(1)
        means = one.means if many else np.array([one.mean])
        variances = one.variances if many else np.array([one.variance])
        ends = getattr(one, "low", -math.inf), getattr(one, "high", math.inf)
        m, v = moments_behind(self.scale, means, variances, *ends)
        mean = float(weights @ m)
        with np.errstate(over="ignore", invalid="ignore"):
            variance = float(weights @ (v + (m - mean) ** 2))
        return mean, (math.inf if math.isnan(variance) else variance)

    def logpdf(self, x: ArrayLike) -> Any:
        """The log-density at one value or at many.

        An atom of a binned number (a value that repeats) has its mass spread over an interval of
        the column's resolution.
        """
        at = points(x)
        if isinstance(self.scale, Bins):
            with np.errstate(divide="ignore"):
                return plain(np.log(self.scale.pdf(at, self._p)))
        inside = self.scale.holds(at)
        z = np.where(inside, self.scale.forward(at), 0.0)
        log = np.asarray(self.below.logpdf(z)) + self.scale.log_slope(at)
        return plain(np.where(inside, log, -np.inf))

    def cdf(self, x: ArrayLike) -> Any:
        """The probability of a value of at most `x`."""
        at = points(x, what="share below")
        if isinstance(self.scale, Bins):
            return plain(self.scale.cdf(at, self._p))
        low, high = self.scale.domain
        inside = (at > low) & (at < high)
        z = self.scale.forward(np.where(inside, at, self.scale.backward(0.0)))
        return plain(np.where(inside, self.below.cdf(z), at >= high))

    def quantile(self, q: ArrayLike) -> Any:
        """The value below which the share `q` of the probability lies."""
        share = shares(q)
        if isinstance(self.scale, Bins):
            return plain(self.scale.quantile(share, self._p))
        return plain(self.scale.backward(self.below.quantile(share)))

    def interval(self, level: float = 0.95) -> Interval:
        """The central interval that holds the next value with probability `level`."""
        low, high = tails(level)
        return Interval(self.quantile(low), self.quantile(high), level)

    def log_likelihood(self, data: Numbers) -> float:
        """The log-density of all values together."""
        return float(np.sum(self.logpdf(points(data))))  # type: ignore[arg-type]

    def sample(self, n: int, rng: Rng) -> Floats:
        """Values drawn at random."""
        if isinstance(self.scale, Bins):
            source, k = generator(rng), size(n)
            codes = positions(self._p, k, source)
            return self.scale.draw(codes, source.random(k))
        return self.scale.backward(self.below.sample(n, rng))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        out: dict[str, Any] = {"mean": self.mean, "variance": self.variance}
        out["quantiles"] = {f"{q:g}": self.quantile(q) for q in (0.025, 0.25, 0.5, 0.75, 0.975)}
        if isinstance(self.scale, Bins):
            out["bins"] = dict(zip(self.scale.labels, self._p.tolist(), strict=True))
        return out

    @staticmethod
    def mixed(parts: Sequence[NumberAnswer], weights: Floats) -> NumberAnswer:
        """One answer of several about the same number, each with its weight."""
        first, chances = parts[0], weights / weights.sum()
        if isinstance(first.scale, Bins):
            p = chances @ np.stack([one._p for one in parts])
            return replace(first, below=Distribution(first.below.variables, p))
        w, m, v = [], [], []
        for share, part in zip(chances, parts, strict=True):
            one = part.below
            many = isinstance(one, NormalMixture)
            w.append(share * (one.weights if many else np.ones(1)))
            m.append(one.means if many else np.array([one.mean]))
            v.append(one.variances if many else np.array([one.variance]))
        below = NormalMixture(np.concatenate(w), np.concatenate(m), np.concatenate(v), first.name)
        return replace(first, below=below)

    def __repr__(self) -> str:
        return f"NumberAnswer({self.name}: mean={number(self.mean)}, sd={number(self.sd)})"

    @property
    def _title(self) -> str:
        if isinstance(self.scale, Bins) and self.scale.counts:
            return f"{self.name}: a count"
        if isinstance(self.scale, Bins):
            return f"{self.name}: a number in {self.scale.words}, which .bins lists"
        many = len(self.below) if isinstance(self.below, NormalMixture) else 1
        what = "a Gaussian" if many == 1 else f"a mixture of {many:,} Gaussians"
        return f"{self.name}: {what} behind its {self.scale.words}"

    def _picture(self, cells: int = 24) -> str:
        """How much lies in each of some equal parts of the 99 % interval, drawn in blocks."""
        low, high = self.interval(0.99)
        if not (low < high and math.isfinite(high - low)):
            return ""
        if isinstance(self.scale, Bins) and self.scale.counts:
            wide = -(-(high - low + 1) // cells)  # whole numbers in a part
            ends = np.arange(low - 0.5, high + 0.5 + wide, wide)
        else:
            ends = np.linspace(low, high, cells + 1)
            ends[0] -= 1e-9 * (high - low)
        return f"{number(low, 3)} {heights(np.diff(self.cdf(ends)).tolist())} {number(high, 3)}"

    def _view(self) -> View:
        low, high = self.interval(0.95)
        spread = f"{number(low)} to {number(high)}"
        row = [number(self.mean), number(self.sd), spread, self._picture()]
        head = ["mean", "sd", "95 % of values", "density"]
        notes = [] if self.approximation is None else [self.approximation.line]
        for what, span in (("mean", self.mean_interval), ("sd", self.sd_interval)):
            if span is not None:
                level = f"{100 * span.level:.10g} %"
                value, ends = getattr(self, what), " to ".join(number(float(e)) for e in span)
                notes.append(f"{what} {number(value)}, {level}: {ends}")
        if self.mean_interval is not None:
            off = float(np.max(self.mean_interval.error))
            notes.append(f"({self.mean_interval.draws:,} draws; ends: mean ± {off:.2g})")
        return View(self._title, head, [row], (0, 1, 2), "\n".join(notes))


@cache
def _rule(panels: int, nodes: int) -> tuple[Floats, Floats]:
    """Places between 0 and 1 and their weights: Gauss's rule on equal panels."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    starts = np.arange(panels)[:, None]
    at = (starts + (x + 1) / 2) / panels
    return at.ravel(), np.tile(w / 2 / panels, panels)


def moments_behind(
    scale: Transform,
    means: Floats,
    variances: Floats,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    fine: bool = True,
) -> tuple[Floats, Floats]:
    """The mean and the variance of x where z = t(x) is a Gaussian, cut off at two ends; of many.

    >>> m, v = moments_behind(Transform("log"), np.array([0.0]), np.array([1.0]))
    >>> m.round(6).tolist()  # √e
    [1.648721]
    """
    sd = np.sqrt(variances)
    a, b = np.maximum(means - _FAR * sd, low), np.minimum(means + _FAR * sd, high)
    bend = np.clip(0.0, a, b)
    share, weight = _rule(80, 10) if fine else _rule(32, 5)
    z = np.concatenate(
        [
            a[..., None] + (bend - a)[..., None] * share,
            bend[..., None] + (b - bend)[..., None] * share,
        ],
        axis=-1,
    )
    w = np.concatenate([(bend - a)[..., None] * weight, (b - bend)[..., None] * weight], axis=-1)
    t = (z - means[..., None]) / sd[..., None]
    log = -0.5 * t**2
    centre = scale.backward(np.clip(means, low, high))
    with np.errstate(over="ignore", invalid="ignore"):
        p = np.exp(log - log.max(axis=-1, keepdims=True)) * w
        p = p / p.sum(axis=-1, keepdims=True)
        away = np.where(p > 0, scale.backward(z) - centre[..., None], 0.0)
        shift = (p * away).sum(axis=-1)
        spread = (p * (away - shift[..., None]) ** 2).sum(axis=-1)
    return centre + shift, spread
