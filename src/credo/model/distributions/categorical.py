"""Categorical: one of several states.

p(x) = Π_k π_k^[x = k],   mle: π_k = n_k / n
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.model.distributions.discrete import Discrete
from credo.model.distributions.point import no_data
from credo.model.values.data import States, distinct
from credo.model.values.probabilities import probabilities
from credo.model.values.value import NAME, ordered

if TYPE_CHECKING:
    from credo.model.distributions.dirichlet import Dirichlet

__all__ = ["Categorical"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Categorical(Discrete):
    """One of several states, each with its probability in `p`.

    Given are a mapping from state to probability, or a sequence (the states are then 0, 1, …
    unless they are given).

    >>> Categorical({"red": 0.25, "green": 0.75}).mode
    'green'
    >>> balls = Categorical.fit([1, 3, 2, 1, 1, 3])
    >>> balls.states, balls.p.tolist()
    ((1, 2, 3), [0.5, 0.16666666666666666, 0.3333333333333333])
    >>> balls.mode, round(balls.log_likelihood([1, 3, 2, 1, 1, 3]), 6)
    (1, -6.068426)
    >>> Categorical.fit([1, 3], states=[1, 2, 3]).zeros
    (2,)
    """

    p: Any  # once built, a read-only array
    states: tuple[Any, ...] = ()
    name: str = field(default=NAME, compare=False, repr=False)
    _example: ClassVar[str] = "cr.Dirichlet(1, states=[…])"

    def __post_init__(self) -> None:
        given, states = self.p, ordered(self.states, "The states")
        if isinstance(given, Mapping):
            if states and set(states) != set(given):
                raise InputError("Give the states in the mapping, or with states=, not both.")
            states = states or tuple(given)
            given = [given[s] for s in states]
        elif not states:
            given = ordered(given, "The probabilities")
            states = tuple(range(len(given)))
        object.__setattr__(self, "states", Variable(self.name, "discrete", states).states)
        object.__setattr__(self, "p", probabilities(given, (len(states),), repr(self.name)))

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each state, in the order of the states."""
        p: NDArray[np.float64] = self.p
        return p

    @classmethod
    def _with(cls, p: NDArray[np.float64], states: tuple[Any, ...], name: str) -> Self:
        return cls(p, states, name)

    @classmethod
    def _states_of(cls, data: States) -> tuple[Any, ...]:
        seen = distinct(data)
        if not seen:
            raise no_data("a Categorical", cls._example)
        return seen

    @classmethod
    def _belief(cls) -> type[Dirichlet]:
        from credo.model.distributions.dirichlet import Dirichlet

        return Dirichlet

    @classmethod
    def _prior(cls, alpha: float, states: tuple[Any, ...], name: str) -> Dirichlet:
        return cls._belief()(alpha, states, name)

    @classmethod
    def posterior(
        cls,
        data: States,
        prior: Dirichlet | float | None = None,
        *,
        states: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> Dirichlet:
        """What is believed of p after data; the prior is uniform if none is given.

        >>> Categorical.posterior([1, 3, 2, 1, 1, 3])
        Dirichlet(alpha=[4, 2, 3], states=(1, 2, 3))
        """
        after: Dirichlet = cls._posterior(data, prior, states, name)
        return after
