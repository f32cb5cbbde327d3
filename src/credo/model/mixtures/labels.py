"""What mixtures share: weights that add up to one, the states of their parts, and how they look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.core.render import bar, number
from credo.core.schema import Variable
from credo.core.state_values import json_state
from credo.model.values.reals import Floats
from credo.model.values.value import Value, View, readonly

SHOWN = 12
"""So many parts of a mixture are printed; the heaviest, if there are more."""


@dataclass(frozen=True, eq=False)
class Labels(Frozen):
    """The discrete variables that parts belong to, and each part's codes: [parts, variables].

    >>> sex = Variable("sex", "discrete", ("f", "m"))
    >>> labels = Labels((sex,), np.array([[0], [1]]))
    >>> labels.states(1), labels.position("m")
    (('m',), 1)
    """

    variables: tuple[Variable, ...]
    codes: NDArray[np.intp]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(v.name for v in self.variables)

    def states(self, part: int) -> tuple[Any, ...]:
        """The states of one part."""
        return tuple(
            v.states[int(c)] for v, c in zip(self.variables, self.codes[part], strict=True)
        )

    def position(self, states: Any) -> int:
        """Which part some states have: one state, or a tuple with one for each variable."""
        given = states if isinstance(states, tuple) else (states,)
        if len(given) != len(self.variables):
            raise InputError(
                f"A state is needed for each of {', '.join(self.names)}, got {states!r}."
            )
        codes = [v.code(s) for v, s in zip(self.variables, given, strict=True)]
        at = np.flatnonzero((self.codes == codes).all(axis=1))
        if not len(at):
            raise InputError(
                f"{', '.join(f'{n}={s}' for n, s in zip(self.names, given, strict=True))} has "
                "probability zero here, so it has no Gaussian."
            )
        return int(at[0])


def weighed(weights: ArrayLike) -> Floats:
    """Weights above 0, divided by their sum."""
    out = np.array(readonly(weights))
    if out.ndim != 1 or not len(out) or not np.isfinite(out).all() or not (out > 0).all():
        raise InputError("The weights of a mixture must be a row of finite numbers above 0.")
    out /= out.sum()
    out.flags.writeable = False
    return out


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Components(Value):
    """The parts of a mixture as a table; `to_dict` of the mixture has their numbers."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int]

    def __repr__(self) -> str:
        return f"Components({self.title})"

    def _view(self) -> View:
        return View(self.title, self.head, self.rows, self.right)


def component_rows(
    labels: Labels | None,
    weights: Floats,
    heads: Sequence[str],
    columns: Sequence[Floats],
    total: Sequence[str],
) -> tuple[list[str], list[list[str]], list[int]]:
    """The parts as a table: states, weight, numbers, a bar; all together on the last line."""
    names = list(labels.names) if labels is not None else ["part"]
    order = np.arange(len(weights))
    if len(weights) > SHOWN:
        order = np.argsort(-weights, kind="stable")[:SHOWN]
    rows = []
    for k in order.tolist():
        states = labels.states(k) if labels is not None else (k + 1,)
        row = [str(s) for s in states]
        row += [f"{weights[k]:.5f}", *(number(float(c[k])) for c in columns)]
        rows.append([*row, bar(float(weights[k]))])
    if len(weights) > SHOWN:
        rest = 1 - float(weights[order].sum())
        gap = [f"… {len(weights) - SHOWN:,} more", *[""] * (len(names) - 1)]
        rows.append([*gap, f"{rest:.5f}", *[""] * len(columns), ""])
    rows.append(["all", *[""] * (len(names) - 1), f"{1:.5f}", *total, ""])
    head = [*names, "weight", *heads, ""]
    return head, rows, list(range(len(names), len(head) - 1))


def counted(labels: Labels | None, **columns: Any) -> list[dict[str, Any]]:
    """The parts as plain data."""
    out: list[dict[str, Any]] = []
    length = len(next(iter(columns.values())))
    for k in range(length):
        row: dict[str, Any] = {}
        if labels is not None:
            row["states"] = {
                n: json_state(s) for n, s in zip(labels.names, labels.states(k), strict=True)
            }
        row |= {name: np.asarray(c)[k].tolist() for name, c in columns.items()}
        out.append(row)
    return out
