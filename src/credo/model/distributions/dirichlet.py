"""Dirichlet: what is believed about the probabilities of several states.

    p(π) ∝ Π_k π_k^(α_k − 1);   Dirichlet(α) + counts n = Dirichlet(α + n)

    mean π_k = α_k / Σα,   mode π_k = (α_k − 1) / Σ (α − 1),   next value: the mean
    ln p(data) = ln B(α + n) − ln B(α),   ln B(α) = Σ ln Γ(α_k) − ln Γ(Σα)

One pseudo-count for each state is uniform over the probabilities (Laplace 1774); ½ for each is
Jeffreys' prior (1946); 1/K for each, worth one observation in all, is Perks' (1947). A Beta is a
Dirichlet of two states, which shares all of this but its name.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from credo.core.errors import InputError, shown
from credo.core.render import bar, number
from credo.core.schema import Variable
from credo.model.answers.distribution import Distribution
from credo.model.answers.interval import Interval
from credo.model.distributions.categorical import Categorical
from credo.model.distributions.conjugate import Conjugate, one_parameter
from credo.model.distributions.elliptical import points
from credo.model.distributions.log_rising import log_dirichlet, log_polya
from credo.model.values.data import States, counted
from credo.model.values.randomness import Rng, generator, size
from credo.model.values.reals import Floats
from credo.model.values.value import NAME, WEIGHT, View, flag, ordered, plain, positive, readonly
from credo.stats.counts import Counts


class Pseudocounts(Conjugate):
    """What Beta and Dirichlet share; each says its states and their pseudo-counts."""

    __slots__ = ()

    states: tuple[Any, ...]
    name: str

    @property
    @abstractmethod
    def pseudocounts(self) -> Floats:
        """The pseudo-count of each state, in the order of the states."""

    @abstractmethod
    def _with(self, alpha: Floats, name: str) -> Self: ...

    @abstractmethod
    def _point(self, p: Floats) -> Categorical: ...

    @property
    def variable(self) -> Variable:
        """The variable: its name and its states."""
        return Variable(self.name, "discrete", self.states)

    @property
    def weight(self) -> float:
        """How many observations the belief is worth: the sum of the pseudo-counts."""
        return float(self.pseudocounts.sum())

    @property
    def is_proper(self) -> bool:
        """Always: every pseudo-count is above zero."""
        return True

    # --- learning ---------------------------------------------------------------------------

    def _read(self, data: States) -> Counts:
        return counted(data, self.states, self.name)

    def _plus(self, statistic: Counts) -> Self:
        name = statistic.names[0] if self.name == NAME else self.name
        return self._with(self.pseudocounts + statistic.values, name)

    def _log_evidence(self, statistic: Counts) -> float:
        return log_polya(self.pseudocounts, np.asarray(statistic.values, dtype=np.float64))

    def _log_at(self, p: Floats) -> Floats:
        """The log-density at points of the simplex, along the last axis."""
        return log_dirichlet(self.pseudocounts, p)

    # --- answers ----------------------------------------------------------------------------

    def mean(self) -> Any:
        """The distribution at the mean of the parameter."""
        return self._point(self.pseudocounts / self.weight)

    def map(self) -> Any:
        """The distribution at the mode; refused where there is no single one."""
        alpha = self.pseudocounts
        if len(alpha) == 1:
            return self._point(np.ones(1))
        if (alpha < 1).any():
            state = self.states[int(alpha.argmin())]
            raise InputError(
                f"{self!r} has no mode: the pseudo-count of {state!r} is below 1, so the density "
                "grows without bound towards probability 0.",
                hint="Use mean(), or a prior whose pseudo-counts are all at least 1.",
            )
        if (alpha == 1).all():
            raise InputError(
                f"{self!r} has no single mode: its density is flat.",
                hint="Use mean(), or update it with data first.",
            )
        return self._point((alpha - 1) / (alpha - 1).sum())

    def predictive(self) -> Distribution:
        """The distribution of the next value: its probabilities are the mean."""
        return Distribution((self.variable,), self.pseudocounts / self.weight)

    def cdf(self, x: ArrayLike, of: Any = None) -> Any:
        """The probability that the probability of one state is at most `x`.

        >>> round(Dirichlet([1, 1, 1]).cdf(0.5, of=0), 12)
        0.75
        """
        return self.marginal(self._state(of, "the probability")).cdf(x)

    def quantile(self, q: ArrayLike, of: Any = None) -> Any:
        """The value of one state's probability below which the share `q` of the belief lies.

        >>> round(Dirichlet([1, 1, 1]).quantile(0.75, of=0), 12)
        0.5
        """
        return self.marginal(self._state(of, "the quantile")).quantile(q)

    def interval(self, level: float = 0.95, of: Any = None, *, hpd: bool = False) -> Interval:
        """The credible interval of the probability of one state.

        Central: as much probability left out below as above. With `hpd=True` the shortest
        interval, the one of highest density.
        """
        state = self._state(of)
        if len(self.states) == 1:
            self.variable.code(state)
            return Interval(1.0, 1.0, level)
        b = self.marginal(state)
        found: Interval = b.shortest(level) if flag(hpd, "hpd") else b.central(level)
        return found

    def _state(self, of: Any, what: str = "the interval") -> Any:
        if of is None:
            if len(self.states) > 2:
                raise InputError(
                    f"Say which state {what} is for.",
                    hint=f"Write of={self.states[0]!r}, or one of {list(self.states[:6])}.",
                )
            return self.states[-1]
        return of

    def marginal(self, state: Any) -> Any:
        """What is believed of the probability of one state against all others: a `Beta`."""
        from credo.model.distributions.beta import Beta

        code = self.variable.code(state)
        if len(self.states) == 1:
            raise InputError(f"{state!r} is the only state of {self.name!r}: it is certain.")
        a = float(self.pseudocounts[code])
        rest = float(np.delete(self.pseudocounts, code).sum())
        positive(rest, f"The sum of the pseudo-counts of all but {state!r}", WEIGHT)
        others = [s for s in self.states if s is not self.states[code]]
        if len(others) == 1:
            return Beta(a, rest, (others[0], self.states[code]), self.name)
        return Beta(a, rest, (f"not {state}", self.states[code]), self.name)

    def intervals(self, level: float = 0.95) -> Distribution:
        """The predictive distribution with the credible interval of each probability."""
        ends = [tuple(self.interval(level, of=s)) for s in self.states]
        lower, upper = np.array(ends).T
        return self.predictive().with_interval(lower, upper, level)

    def _draws(self, n: int, rng: Rng) -> Floats:
        out: Floats = generator(rng).dirichlet(self.pseudocounts, size(n))
        return out

    def points(self, n: int, rng: Rng) -> Iterator[Categorical]:
        """Draws of the probabilities, each as the distribution it stands for."""
        return (self._point(p) for p in self._draws(n, rng))

    def _view(self) -> View:
        rows = []
        for s, a in list(zip(self.states, self.pseudocounts, strict=True))[:60]:
            low, high = self.interval(0.95, of=s)
            share = float(a) / self.weight
            rows.append(
                [str(s), number(float(a)), f"{share:.5f}", f"{low:.3f}–{high:.3f}", bar(share)]
            )
        worth = f"{number(self.weight)} observation{'s' * (self.weight != 1)}"
        title = f"{type(self).__name__}, worth {worth}"
        return View(title, [self.name, "pseudo-count", "mean", "95 %", ""], rows, (1, 2, 3))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dirichlet(Pseudocounts):
    """A belief about the probabilities of several states, as a pseudo-count for each.

    `alpha` is a mapping from state to pseudo-count, a sequence (the states are then 0, 1, …
    unless they are given), or one number for every state in `states`.

    >>> prior = Dirichlet(1, states=["red", "green", "blue"])
    >>> posterior = prior.update(["red", "blue", "red"])
    >>> posterior
    Dirichlet(alpha=[3, 1, 2], states=('red', 'green', 'blue'))
    >>> posterior.predictive()
    Distribution(x: red 0.5, green 0.166667, blue 0.333333)
    >>> posterior.marginal("red")
    Beta(a=3, b=3, states=('not red', 'red'))
    >>> round(prior.log_marginal(["red", "blue", "red"]), 6)
    -3.401197
    """

    alpha: Any  # once built, a read-only array
    states: tuple[Any, ...] = ()
    name: str = field(default=NAME, compare=False, repr=False)

    def __post_init__(self) -> None:
        given: Any = self.alpha
        states = ordered(self.states, "The states") if self.states is not None else ()
        if isinstance(given, Mapping):
            if states and set(states) != set(given):
                raise InputError("Give the states in the mapping, or with states=, not both.")
            states = states or tuple(given)
            values = [given[s] for s in states]
        elif not isinstance(given, (str, bytes)) and not isinstance(given, Iterable):
            if not states:
                raise InputError(
                    "One pseudo-count for every state needs to know the states.",
                    hint=f"Write Dirichlet({shown(given)}, states=[…]).",
                )
            values = [given] * len(states)
        else:
            values = list(ordered(given, "The pseudo-counts"))
            states = states or tuple(range(len(values)))
        if len(values) != len(states):
            raise InputError(
                f"A pseudo-count for each of {list(states[:6])} is needed, got {len(values)}."
            )
        object.__setattr__(self, "states", Variable(self.name, "discrete", states).states)
        alpha = [
            positive(v, f"The pseudo-count of {s!r}", WEIGHT)
            for s, v in zip(states, values, strict=True)
        ]
        object.__setattr__(self, "alpha", readonly(alpha))

    @classmethod
    def uniform(cls, states: Sequence[Any]) -> Self:
        """All probabilities are as likely: one pseudo-count for each state.

        >>> Dirichlet.uniform(["a", "b"])
        Dirichlet(alpha=[1, 1], states=('a', 'b'))
        """
        return cls(1.0, ordered(states, "The states"))

    @classmethod
    def jeffreys(cls, states: Sequence[Any]) -> Self:
        """Jeffreys' prior: ½ a pseudo-count for each state.

        >>> Dirichlet.jeffreys(["a", "b"])
        Dirichlet(alpha=[0.5, 0.5], states=('a', 'b'))
        """
        return cls(0.5, ordered(states, "The states"))

    @property
    def pseudocounts(self) -> Floats:
        """The pseudo-count of each state, in the order of the states."""
        alpha: Floats = self.alpha
        return alpha

    def _with(self, alpha: Floats, name: str) -> Self:
        return type(self)(alpha, self.states, name)

    def _point(self, p: Floats) -> Categorical:
        return Categorical(p, self.states, self.name)

    def logpdf(self, *parameter: ArrayLike, of: Any = None) -> Any:
        """The log-density at probabilities of all states, along the last axis; with `of`, at
        values of the probability of one state.

        >>> round(Dirichlet([1, 1, 1]).logpdf([0.2, 0.3, 0.5]), 6)
        0.693147
        >>> round(Dirichlet([1, 1, 1]).pdf(0.25, of=0), 12)
        1.5
        """
        if of is not None:
            return self.marginal(of).logpdf(*parameter)
        p = points(one_parameter(parameter, "probabilities of all states"))
        if p.ndim == 0 or p.shape[-1] != len(self.states):
            raise InputError(f"A probability for each of {len(self.states)} states is needed.")
        if (abs(p.sum(axis=-1) - 1) > 1e-9).any():
            raise InputError("The probabilities must add up to 1.")
        return plain(np.where((p >= 0).all(axis=-1), self._log_at(np.maximum(p, 0.0)), -np.inf))

    def sample(self, n: int, rng: Rng) -> Floats:
        """Draws of the probabilities, one row each.

        >>> Dirichlet([1, 1, 1]).sample(2, rng=0).shape
        (2, 3)
        """
        return self._draws(n, rng)
