"""Evidence: what is known of some variables, checked and turned into codes and likelihoods.

A discrete variable can be known (`"yes"`), known to be one of several states (`{"yes", "maybe"}`),
or seen through an unreliable report (a likelihood for each state: `{"yes": 0.8, "no": 0.1}`). A
continuous variable is known by its value. None says that a variable is not observed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import InputError, unknown_name
from credo.model.value import finite
from credo.schema import Variable, is_missing

if TYPE_CHECKING:
    from credo.model.network import Network

__all__ = ["Evidence"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """Hard evidence as codes, soft evidence as likelihoods, values of continuous variables."""

    hard: dict[str, int] = field(default_factory=dict)
    soft: dict[str, Floats] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, net: Network, given: Mapping[str, Any]) -> Evidence:
        """Evidence as the user gave it; unknown names and states offer near ones."""
        if not isinstance(given, Mapping):
            raise InputError(
                f"The evidence must be a mapping from variable to state, got {given!r}."
            )
        out = cls()
        for name, value in given.items():
            if name not in net.schema:
                raise unknown_name("Variable", name, net.names, "in the model")
            variable = net.variable(name)
            if is_missing(value):
                continue
            if not variable.is_discrete:
                out.values[name] = _number(variable, value)
                continue
            likelihood = _likelihood(variable, value)
            if isinstance(likelihood, int):
                out.hard[name] = likelihood
            else:
                out.soft[name] = likelihood
        return out

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of which something is known."""
        return (*self.hard, *self.soft, *self.values)

    def without(self, name: str) -> Evidence:
        """The same evidence less what is known of one variable."""
        return Evidence(
            {k: v for k, v in self.hard.items() if k != name},
            {k: v for k, v in self.soft.items() if k != name},
            {k: v for k, v in self.values.items() if k != name},
        )


def _number(variable: Variable, value: Any) -> float:
    return finite(value, f"The evidence on the continuous variable {variable.name!r}")


def _likelihood(variable: Variable, value: Any) -> int | Floats:
    """A code for a state; else a likelihood for each state. A single possible state is hard."""
    if isinstance(value, Mapping):
        out = np.zeros(variable.arity)
        for state, likelihood in value.items():
            out[variable.code(state)] = _weight(variable, likelihood)
    elif isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "fiu":
        if len(value) != variable.arity:
            raise InputError(
                f"The likelihoods of {variable.name!r} must be {variable.arity} numbers, "
                f"got {len(value)}."
            )
        out = np.array([_weight(variable, v) for v in value.tolist()])
    elif isinstance(value, (set, frozenset, list)) or (
        isinstance(value, Iterable)
        and not _is_state(variable, value)
        and not isinstance(value, str)
    ):
        out = np.zeros(variable.arity)
        for state in value:
            out[variable.code(state)] = 1.0
    else:
        return variable.code(value)
    if not out.any():
        raise InputError(
            f"The evidence on {variable.name!r} rules out every state.",
            hint="At least one state must have a likelihood above 0.",
        )
    if np.count_nonzero(out) == 1 and out.max() == 1.0:
        return int(out.argmax())
    return out


def _is_state(variable: Variable, value: Any) -> bool:
    try:
        return value in variable.states
    except (TypeError, ValueError):
        return False


def _weight(variable: Variable, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not (0 <= number < np.inf):
        raise InputError(
            f"A likelihood of {variable.name!r} must be a finite number, 0 or more, got {value!r}."
        )
    return number
