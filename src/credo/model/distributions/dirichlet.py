"""Dirichlet: what is believed about the probabilities of several states.

    p(π) ∝ Π_k π_k^(α_k − 1);   Dirichlet(α) + counts n = Dirichlet(α + n)

One pseudo-count for each state is uniform over the probabilities (Laplace 1774); ½ for each is
Jeffreys' prior (1946); 1/K for each, worth one observation in all, is Perks' (1947).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.errors import InputError, shown
from credo.core.schema import Variable
from credo.model.distributions.categorical import Categorical
from credo.model.distributions.conjugate import one_parameter
from credo.model.distributions.elliptical import points
from credo.model.distributions.pseudocounts import Pseudocounts
from credo.model.values.randomness import Rng
from credo.model.values.value import NAME, WEIGHT, ordered, positive, readonly

__all__ = ["Dirichlet"]

Floats = NDArray[np.float64]


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
        out = np.where((p >= 0).all(axis=-1), self._log_at(np.maximum(p, 0.0)), -np.inf)
        return out if out.ndim else float(out)

    def sample(self, n: int, rng: Rng) -> Floats:
        """Draws of the probabilities, one row each.

        >>> Dirichlet([1, 1, 1]).sample(2, rng=0).shape
        (2, 3)
        """
        return self._draws(n, rng)
