"""Beta: what is believed about the probability of one of two states.

    p(p) ∝ p^(a − 1) (1 − p)^(b − 1);   Beta(a, b) + (n₁ times the last state, n₀ the first)
         = Beta(a + n₁, b + n₀)

Beta(1, 1) is uniform (Bayes 1763); Beta(½, ½) is Jeffreys' prior (Jeffreys 1946), the same
belief however the probability is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from credo.core.errors import InputError
from credo.model.answers.interval import Interval, between, probability, shares, tails
from credo.model.distributions.categorical import Bernoulli, two_states
from credo.model.distributions.conjugate import one_parameter
from credo.model.distributions.dirichlet import Pseudocounts
from credo.model.distributions.elliptical import points
from credo.model.distributions.quantiles import beta_quantile, beta_share
from credo.model.values.randomness import Rng
from credo.model.values.reals import Floats
from credo.model.values.value import NAME, WEIGHT, plain, positive

_NARROW = 1e-8  # the square of this is nothing beside 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Beta(Pseudocounts):
    """A belief about the probability of the last state: worth `a` times it, `b` times the first.

    >>> prior = Beta(3, 4, states=("F", "T"))
    >>> posterior = prior.update(["F", "F", "T", "T", "T"])
    >>> posterior
    Beta(a=6, b=6, states=('F', 'T'))
    >>> posterior.mean().p, posterior.map().p, posterior.predictive()["T"]
    (0.5, 0.5, 0.5)
    >>> print(posterior.interval(0.95))
    0.233794 to 0.766206 (95 %)
    >>> Beta(0.5, 0.5).map()
    Traceback (most recent call last):
    credo.errors.InputError: Beta(a=0.5, b=0.5) has no mode: the pseudo-count of False is below 1, \
so the density grows without bound towards probability 0. Use mean(), or a prior whose \
pseudo-counts are all at least 1.
    """

    a: float
    b: float
    states: tuple[Any, ...] = (False, True)
    name: str = field(default=NAME, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", positive(self.a, "a", WEIGHT))
        object.__setattr__(self, "b", positive(self.b, "b", WEIGHT))
        object.__setattr__(self, "states", two_states(self.states, "A Beta"))
        self.variable  # noqa: B018  (checks the states)

    @classmethod
    def uniform(cls, states: Sequence[Any] = (False, True)) -> Self:
        """Every probability is as likely: Beta(1, 1).

        >>> Beta.uniform()
        Beta(a=1, b=1)
        """
        return cls(1.0, 1.0, two_states(states, "A Beta"))

    @classmethod
    def jeffreys(cls, states: Sequence[Any] = (False, True)) -> Self:
        """Jeffreys' prior, Beta(½, ½).

        >>> Beta.jeffreys()
        Beta(a=0.5, b=0.5)
        """
        return cls(0.5, 0.5, two_states(states, "A Beta"))

    @property
    def pseudocounts(self) -> Floats:
        """The pseudo-count of each state, in the order of the states: b, a."""
        return np.array([self.b, self.a])

    def _with(self, alpha: Floats, name: str) -> Self:
        return type(self)(float(alpha[1]), float(alpha[0]), self.states, name)

    def _point(self, p: Floats) -> Bernoulli:
        return Bernoulli(float(p[1]), self.states, self.name)

    def logpdf(self, *parameter: ArrayLike, of: Any = None) -> Any:
        """The log-density at values of the probability of the last state, or of the state `of`.

        >>> Beta(1, 1).logpdf(0.3)
        0.0
        """
        if of is not None:
            return self.marginal(of).logpdf(*parameter)
        p = points(one_parameter(parameter, "a probability"))
        inside = (p >= 0) & (p <= 1)
        q = np.where(inside, p, 0.5)
        return plain(np.where(inside, self._log_at(np.stack([1 - q, q], axis=-1)), -np.inf))

    def sample(self, n: int, rng: Rng) -> Floats:
        """Draws of the probability of the last state.

        >>> Beta(6, 6).sample(2, rng=0).shape
        (2,)
        """
        return self._draws(n, rng)[:, 1]

    def cdf(self, x: ArrayLike, of: Any = None) -> Any:
        """The probability that the probability of the last state, or of `of`, is at most `x`.

        >>> heads = Beta(14, 10, states=("tails", "heads"))
        >>> round(1 - heads.cdf(0.5), 6), round(heads.cdf(0.5, of="tails"), 6)
        (0.797564, 0.797564)
        """
        if of is not None:
            return self.marginal(of).cdf(x)
        return plain(beta_share(self.a, self.b, points(x, what="share below")))

    def quantile(self, q: ArrayLike, of: Any = None) -> Any:
        """The value of the probability below which the share `q` of the belief lies.

        >>> round(Beta(6, 6).quantile(0.5), 12)
        0.5
        """
        if of is not None:
            return self.marginal(of).quantile(q)
        return plain(beta_quantile(self.a, self.b, shares(q)))

    def central(self, level: float = 0.95) -> Interval:
        """The interval that leaves as much probability out below as above."""
        share = tails(level)[0]
        high = float(beta_quantile(self.a, self.b, share, above=True))
        return between(self.quantile(share), high, level)

    def shortest(self, level: float = 0.95) -> Interval:
        """The shortest interval, inside which the density is higher than outside.

        >>> print(Beta(1, 3).shortest(0.95))
        0 to 0.631597 (95 %)
        """
        from scipy.optimize import brentq

        level = probability(level)
        if self.a < 1 and self.b < 1:
            raise InputError(
                f"{self!r} has its highest density at both ends, so no interval holds it.",
                hint="Use the central interval: hpd=False.",
            )
        if self.a == 1 and self.b == 1:
            return self.central(level)
        if self.a <= 1 <= self.b:
            return Interval(0.0, self.quantile(level), level)
        if self.b <= 1:
            return Interval(self.quantile(1 - level), 1.0, level)

        if self.a > self.b:  # a mode below ½ has all its digits, and so has its rest
            low, high = type(self)(self.b, self.a).shortest(level)
            return Interval(1 - high, 1 - low, level)
        a, b = self.a - 1, self.b - 1
        mode = a / (a + b)
        if level < _NARROW:  # so near the mode the density is flat
            half = level / 2 / self.pdf(mode)
            return Interval(max(mode - half, 0.0), min(mode + half, 1.0), level)

        def uneven(below: float) -> float:
            away = self.quantile(np.array([below, min(below + level, 1.0)])) - mode
            x, y = away / mode, -away / (1 - mode)
            # of log densities under that of the mode: their linear parts, which cancel, are left
            # out, so that something is left of large pseudo-counts
            with np.errstate(divide="ignore"):  # an end at 0 or 1
                low, high = a * (np.log1p(x) - x) + b * (np.log1p(y) - y)
            return 0.0 if low == high else min(max(float(low - high), -50.0), 50.0)

        below = brentq(uneven, 0.0, 1 - level, xtol=1e-15, rtol=1e-14)
        return Interval(self.quantile(below), self.quantile(below + level), level)
