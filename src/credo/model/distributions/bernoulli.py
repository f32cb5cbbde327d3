"""Bernoulli: one of two states.

p(x) = p^x (1 − p)^(1 − x),   mle: p = (times the last state was seen) / n
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.model.distributions.discrete import Discrete
from credo.model.values.data import States, distinct
from credo.model.values.reals import shown
from credo.model.values.value import NAME, finite, ordered

if TYPE_CHECKING:
    from credo.model.distributions.beta import Beta

__all__ = ["Bernoulli", "two_states"]


def two_states(states: Sequence[Any], what: str) -> tuple[Any, Any]:
    """Exactly two states, as a tuple."""
    pair = () if isinstance(states, (str, bytes)) else ordered(states, "The states")
    if len(pair) != 2:
        raise InputError(f"{what} has two states, got {shown(states)}.")
    return pair[0], pair[1]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bernoulli(Discrete):
    """One of two states; `p` is the probability of the last one.

    >>> coin = Bernoulli(0.6, states=("tails", "heads"))
    >>> coin["heads"], coin.mode, coin.sample(3, rng=0)
    (0.6, 'heads', ['heads', 'tails', 'tails'])
    >>> Bernoulli.fit([True] * 3 + [False] * 2)
    Bernoulli(p=0.6)
    >>> Bernoulli.fit([])
    Traceback (most recent call last):
    credo.errors.InputError: There is no data to fit a Bernoulli to by maximum likelihood. Give \
rows, or a prior such as prior=1.0 (pseudo-counts for each state).
    """

    p: float
    states: tuple[Any, ...] = (False, True)
    name: str = field(default=NAME, compare=False, repr=False)
    _example: ClassVar[str] = "cr.Beta(1, 1)"

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", two_states(self.states, "A Bernoulli"))
        p = finite(self.p, "p")
        if not 0 <= p <= 1:
            raise InputError(f"p must lie between 0 and 1, got {p:.6g}.")
        object.__setattr__(self, "p", p)
        self.variable  # noqa: B018  (checks the states)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each state, in the order of the states."""
        return np.array([1.0 - self.p, self.p])

    @classmethod
    def _with(cls, p: NDArray[np.float64], states: tuple[Any, ...], name: str) -> Self:
        return cls(float(p[1]), two_states(states, "A Bernoulli"), name)

    @classmethod
    def _states_of(cls, data: States) -> tuple[Any, ...]:
        seen = distinct(data)
        if all(isinstance(s, (bool, np.bool_)) for s in seen):
            return False, True
        if all(s in (0, 1) for s in seen):
            return 0, 1
        raise InputError(
            f"Which of the states {list(seen[:6])} the probability p is for is not known.",
            hint="Give states=(…, …), the one that p is for last.",
        )

    @classmethod
    def _belief(cls) -> type[Beta]:
        from credo.model.distributions.beta import Beta

        return Beta

    @classmethod
    def _prior(cls, alpha: float, states: tuple[Any, ...], name: str) -> Beta:
        return cls._belief()(alpha, alpha, two_states(states, "A Bernoulli"), name)

    @classmethod
    def posterior(
        cls,
        data: States,
        prior: Beta | float | None = None,
        *,
        states: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> Beta:
        """What is believed of p after data; the prior is uniform, Beta(1, 1), if none is given.

        >>> Bernoulli.posterior([True, True, False])
        Beta(a=3, b=2)
        """
        after: Beta = cls._posterior(data, prior, states, name)
        return after
