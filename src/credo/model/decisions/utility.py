"""Utility: what an outcome is worth, a number for each configuration of its parents.

U(x) = Σ_j u_j(parents_j)        (or Π_j, where the network says so)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError, SchemaError
from credo.core.render import number
from credo.core.schema import Variable
from credo.model.networks.family import MAX_CELLS, cells
from credo.model.values.reals import shown
from credo.model.values.sources import column_lists
from credo.model.values.value import Value, View, finite

__all__ = ["Utility", "states_seen", "utility_of"]

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
    if cells([p for p in parents if p.is_discrete]) > MAX_CELLS:
        raise LimitError(f"The utility {name!r} would have too many numbers.")
    if hasattr(given, "columns") and hasattr(given, "__getitem__"):
        given = _of_frame(name, parents, given)
    if isinstance(given, Mapping) and all(p.is_discrete for p in parents):
        out = np.full([p.arity for p in parents], np.nan)
        _fill(out, (), name, parents, given)
        return Utility(name, parents, out)
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"The utility {name!r} must be numbers by the states of "
            f"{[p.name for p in parents]}, got {shown(given)}."
        ) from None
    return Utility(name, parents, values)


def _of_frame(name: str, parents: tuple[Variable, ...], frame: Any) -> dict[Any, Any]:
    """A column for each parent and one of numbers, as a dict by tuples."""
    columns = column_lists(frame, f"The utility {name!r}")
    value = name if name in columns else "utility"
    for wanted in (*(p.name for p in parents), value):
        if wanted not in columns:
            raise InputError(f"The frame of the utility {name!r} has no column {wanted!r}.")
    keys = zip(*(columns[p.name] for p in parents), strict=True)
    return dict(zip(keys, columns[value], strict=True))


def _fill(
    out: NDArray[np.float64],
    at: tuple[int, ...],
    name: str,
    parents: tuple[Variable, ...],
    given: Any,
) -> None:
    """Numbers by the states of the parents, a level of dicts or an item of a tuple for each."""
    depth = len(at)
    if depth == len(parents):
        out[at] = finite(given, f"The utility {name!r}")
        return
    parent = parents[depth]
    if not isinstance(given, Mapping):
        raise InputError(
            f"The utility {name!r} must be nested by {parent.name!r} here, got {shown(given)}.",
            hint=f"Give a number for each of {', '.join(map(repr, parent.states[:8]))}.",
        )
    parts: dict[int, Any] = {}
    for key, value in given.items():
        if isinstance(key, tuple) and parent.find(key) is None:
            if len(key) != len(parents) - depth:
                raise InputError(
                    f"An entry of the utility {name!r} needs a state for each of "
                    f"{[p.name for p in parents[depth:]]}, got {key!r}."
                )
            rest = key[1] if len(key) == 2 else key[1:]
            if len(key) > 1:
                parts.setdefault(parent.code(key[0]), {})[rest] = value
                continue
            key = key[0]
        parts[parent.code(key)] = value
    for code, state in enumerate(parent.states):
        if code not in parts:
            raise InputError(f"The utility {name!r} has no number for {parent.name} = {state!r}.")
        _fill(out, (*at, code), name, parents, parts[code])


def states_seen(given: Any, depth: int) -> tuple[Any, ...]:
    """The states of a parent that a table of dicts shows, at its place among the parents.

    >>> states_seen({"yes": {"dry": -70, "wet": 50}, "no": {"dry": 0, "wet": 0}}, 1)
    ('dry', 'wet')
    """
    if not isinstance(given, Mapping) or not given:
        return ()
    keys = list(given)
    if all(isinstance(k, tuple) for k in keys):
        items = [k[depth] for k in keys if depth < len(k)]
        return tuple(dict.fromkeys(items))
    for _ in range(depth):
        given = next(iter(given.values()))
        if not isinstance(given, Mapping) or not given:
            return ()
    return tuple(given)


def product_of(utilities: Sequence[Utility]) -> Utility:
    """One utility whose numbers are the products of several."""
    parents = tuple(dict.fromkeys(p for u in utilities for p in u.parents))
    if cells(parents) > MAX_CELLS:
        raise LimitError(
            f"The product of the utilities would have {cells(parents):,} numbers; at most "
            f"{MAX_CELLS:,} are allowed.",
            hint="Utilities that add stay apart.",
        )
    out = np.ones([p.arity for p in parents])
    for u in utilities:
        held = u.on(tuple(p for p in parents if p in u.parents))
        out = out * held.values.reshape([p.arity if p in u.parents else 1 for p in parents])
    return Utility(" × ".join(u.name for u in utilities), parents, out)
