"""A family: a child and its parents, and how many configurations they have.

cells(x₁, …, x_k) = Π_i |x_i|
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from credo.core.errors import InputError, SchemaError
from credo.core.schema import Variable

__all__ = ["MAX_CELLS", "cells", "family"]

MAX_CELLS = 100_000_000
"""A table of more numbers than this is refused before it is allocated."""


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
