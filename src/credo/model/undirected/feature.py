"""Feature: one term of a log-linear model, a function of some variables and its weight.

    P(x) ∝ exp Σ_k w_k f_k(x)

Features of the same name share one weight: the coupling of an Ising grid is one number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.model.undirected.factor import Factor, discrete_variables
from credo.model.values.tables import table_of
from credo.model.values.value import Told, finite, readonly


@dataclass(frozen=True, eq=False)
class Feature(Told):
    """A function of some variables, tabulated, with its weight: the factor exp(w f(x)).

    >>> a = Variable("A", "discrete", (-1, 1)); b = Variable("B", "discrete", (-1, 1))
    >>> coupling = Feature((a, b), lambda s, t: s * t, weight=0.5, name="coupling")
    >>> coupling.values.tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    >>> print(coupling.factor)
    coupling(A, B)
    A       B=-1       B=1
    -1   1.64872  0.606531
    1   0.606531   1.64872
    """

    variables: tuple[Variable, ...]
    values: Any
    weight: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", discrete_variables(self.variables))
        if not isinstance(self.name, str):
            raise InputError(f"The name of a feature must be a text, got {self.name!r}.")
        if not self.name:
            object.__setattr__(self, "name", f"f({', '.join(self.names)})")
        what = f"The feature {self.name!r} of ({', '.join(self.names)})"
        given = table_of(self.variables, self.values, what)
        if not np.isfinite(given).all():
            raise InputError(f"{what} must hold finite numbers.")
        object.__setattr__(self, "values", readonly(given))
        object.__setattr__(self, "weight", finite(self.weight, f"The weight of {self.name!r}"))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(v.name for v in self.variables)

    @property
    def factor(self) -> Factor:
        """The feature as a factor, exp(w f(x))."""
        logs: NDArray[np.float64] = self.weight * self.values
        return Factor.from_log(self.variables, logs, self.name)

    def weighted(self, weight: float) -> Feature:
        """The same feature with another weight."""
        out = object.__new__(Feature)  # what is known to be right is not checked again
        number = finite(weight, f"The weight of {self.name!r}")
        same = (("variables", self.variables), ("values", self.values), ("name", self.name))
        for name, value in (*same, ("weight", number)):
            object.__setattr__(out, name, value)
        return out

    def on(self, names: Sequence[str]) -> Feature:
        """The same feature with its axes in another order."""
        order = [self.names.index(n) for n in names]
        variables = tuple(self.variables[i] for i in order)
        return Feature(variables, self.values.transpose(order), self.weight, self.name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Feature):
            return NotImplemented
        return (
            (self.name, self.weight) == (other.name, other.weight)
            and set(self.variables) == set(other.variables)
            and np.array_equal(self.values, other.on(self.names).values)
        )

    def __hash__(self) -> int:
        return hash((self.name, self.weight, frozenset(self.variables)))

    def __str__(self) -> str:
        return f"{self.weight:.6g} · {self.name}({', '.join(self.names)})"

    def __repr__(self) -> str:
        return f"Feature({self})"
