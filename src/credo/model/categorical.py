"""Categorical: one of several states.

p(x) = Π_k π_k^[x = k],   mle: π_k = n_k / n
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from credo.model.discrete import Discrete
from credo.model.evidence import States, distinct
from credo.model.point import no_data
from credo.model.probabilities import probabilities
from credo.model.value import NAME, listed
from credo.schema import Variable

if TYPE_CHECKING:
    from credo.model.dirichlet import Dirichlet

__all__ = ["Categorical"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Categorical(Discrete):
    """One of several states, each with its probability in `p`.

    >>> balls = Categorical.fit([1, 3, 2, 1, 1, 3])
    >>> balls.states, balls.p.tolist()
    ((1, 2, 3), [0.5, 0.16666666666666666, 0.3333333333333333])
    >>> balls.mode, round(balls.log_likelihood([1, 3, 2, 1, 1, 3]), 6)
    (1, -6.068426)
    >>> Categorical.fit([1, 3], states=[1, 2, 3]).zeros
    (2,)
    """

    p: NDArray[np.float64]
    states: tuple[Any, ...]
    name: str = field(default=NAME, compare=False, repr=False)

    def __post_init__(self) -> None:
        states = listed(self.states, "The states")
        object.__setattr__(self, "states", Variable(self.name, "discrete", states).states)
        shape = (len(self.states),)
        object.__setattr__(self, "p", probabilities(self.p, shape, repr(self.name)))

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each state, in the order of the states."""
        return self.p

    @classmethod
    def _with(cls, p: NDArray[np.float64], states: tuple[Any, ...], name: str) -> Self:
        return cls(p, states, name)

    @classmethod
    def _states_of(cls, data: States) -> tuple[Any, ...]:
        seen = distinct(data)
        if not seen:
            raise no_data("a Categorical", "cr.Dirichlet(1, states=[…])")
        return seen

    @classmethod
    def _belief(cls) -> type[Dirichlet]:
        from credo.model.dirichlet import Dirichlet

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
