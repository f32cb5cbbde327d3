"""A family: a child and its parents, and how many configurations they have.

cells(x₁, …, x_k) = Π_i |x_i|
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from credo.core.errors import InputError, SchemaError
from credo.core.schema import Variable
from credo.model.values.tables import MAX_CELLS

__all__ = ["MAX_CELLS", "Conditional", "cells", "family"]


class Conditional:
    """What every P(child | parents) of a network says of its family."""

    child: Variable
    parents: tuple[Variable, ...]

    @property
    def name(self) -> str:
        """The name of the child."""
        return self.child.name

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The parents, then the child."""
        return (*self.parents, self.child)

    @property
    def discrete(self) -> tuple[Variable, ...]:
        """The discrete parents, in order."""
        return tuple(p for p in self.parents if p.is_discrete)

    @property
    def continuous(self) -> tuple[Variable, ...]:
        """The continuous parents, in order."""
        return tuple(p for p in self.parents if not p.is_discrete)


def family(child: Variable, parents: Any) -> tuple[Variable, ...]:
    """The parents as a tuple of variables, each named once and none of them the child."""
    found = tuple(parents) if isinstance(parents, Sequence) else (parents,)
    for v in (child, *found):
        if not isinstance(v, Variable):
            raise InputError(f"A child and its parents must be of type Variable, got {v!r}.")
    names = [child.name, *(v.name for v in found)]
    if len(set(names)) < len(names):
        raise SchemaError(f"A variable is named twice in the family {names}.")
    return found


def cells(variables: Sequence[Variable]) -> int:
    """The number of configurations of some variables."""
    out = 1
    for v in variables:
        out *= v.arity
    return out
