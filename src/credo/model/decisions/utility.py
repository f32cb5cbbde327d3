"""Utility: what an outcome is worth, a number for each configuration of its parents.

U(x) = Σ_j u_j(parents_j)        (or Π_j, where the network says so)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, SchemaError
from credo.core.render import number
from credo.core.schema import Variable
from credo.model.values.tables import refuse_large, table_of
from credo.model.values.value import Value, View

__all__ = ["Utility", "product_of", "utility_of"]

_MOST = 60  # rows printed


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Utility(Value):
    """A table of numbers over the parents of a utility node; `utility_of` reads one.

    >>> drill = Variable("Drill", "discrete", ("yes", "no"))
    >>> print(Utility("Profit", (drill,), np.array([70.0, 0.0])))
    Drill  Profit
    yes        70
    no          0
    """

    name: str
    parents: tuple[Variable, ...]
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        for parent in self.parents:
            if not parent.is_discrete:
                raise SchemaError(
                    f"The utility {self.name!r} depends on {parent.name!r}, which is continuous.",
                    hint=f"Cut it into intervals: cr.cut(rows[{parent.name!r}]).",
                )
        values = np.array(self.values, dtype=np.float64)
        shape = tuple(v.arity for v in self.parents)
        if values.shape != shape:
            raise InputError(
                f"The utility {self.name!r} needs numbers of the shape {shape}, one for each "
                f"configuration of {[p.name for p in self.parents]}, got {values.shape}."
            )
        if not np.isfinite(values).all():
            bad = values[~np.isfinite(values)][0]
            raise InputError(f"The utility {self.name!r} must be finite numbers, got {bad}.")
        object.__setattr__(self, "values", values)
        Value.__post_init__(self)

    def on(self, parents: tuple[Variable, ...]) -> Utility:
        """The same numbers with the parents in another order."""
        order = [self.parents.index(p) for p in parents]
        return Utility(self.name, parents, self.values.transpose(order))

    def _view(self) -> View:
        grid = list(product(*(p.texts for p in self.parents)))
        rows = [
            [*at, number(v)]
            for at, v in zip(grid[:_MOST], self.values.ravel().tolist(), strict=False)
        ]
        more = f"… {len(grid) - _MOST} more" if len(grid) > _MOST else ""
        head = [*(p.name for p in self.parents), self.name]
        return View("", head, rows, (len(head) - 1,), more)


def utility_of(name: str, parents: tuple[Variable, ...], given: Any) -> Utility:
    """A utility from nested dicts by the parents' states, a dict by tuples, an array or a frame.

    >>> drill = Variable("Drill", "discrete", ("yes", "no"))
    >>> utility_of("Profit", (drill,), {"no": 0, "yes": 70}).values.tolist()
    [70.0, 0.0]
    """
    if isinstance(given, Utility):
        if given.name != name or set(given.parents) != set(parents):
            raise SchemaError(
                f"The utility {given.name!r} of {[p.name for p in given.parents]} cannot be that "
                f"of {name!r} with the parents {[p.name for p in parents]}."
            )
        return given.on(parents)
    if not all(p.is_discrete for p in parents):
        return Utility(name, parents, np.zeros(()))  # which refuses it
    column = name if name in getattr(given, "columns", ()) else "utility"
    return Utility(name, parents, table_of(parents, given, f"The utility {name!r}", column))


def product_of(utilities: Sequence[Utility]) -> Utility:
    """One utility whose numbers are the products of several."""
    parents = tuple(dict.fromkeys(p for u in utilities for p in u.parents))
    refuse_large(parents, "The product of the utilities")
    out = np.ones([p.arity for p in parents])
    for u in utilities:
        held = u.on(tuple(p for p in parents if p in u.parents))
        out = out * held.values.reshape([p.arity if p in u.parents else 1 for p in parents])
    return Utility(" × ".join(u.name for u in utilities), parents, out)
