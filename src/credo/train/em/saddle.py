"""Saddle points: starts that EM cannot leave, because nothing tells hidden states apart.

    P(H=a | row) / P(H=b | row) = P(a | parents) / P(b | parents)    if every child is alike in a, b

If that ratio is the same for all parents too, each row gives both states the same share, and each
step gives them the same tables again. So with a continuous hidden variable on which no child
depends, and which depends on no parent. Such a start is a saddle point, and is refused.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.model.values.reals import shown
from credo.train.em.maximise import Maximiser
from credo.train.em.problem import Numbers

__all__ = ["refuse_saddle"]

Floats = NDArray[np.float64]

_DIGITS = 12  # numbers that agree to so many digits after the point are alike


def refuse_saddle(maximiser: Maximiser, numbers: Numbers, hidden: Collection[str]) -> None:
    """Refuse a start in which states of a hidden variable are alike, or a factor has no effect."""
    layout = maximiser.layout
    for name in hidden:
        variable, _ = layout.families[layout.at[name]]
        below = [j for j, (_, above) in enumerate(layout.families) if variable in above]
        near = [layout.at[name], *below]
        if not below or all(j in maximiser.fixed_numbers for j in near):
            continue
        if not variable.is_discrete:
            if _without_effect(maximiser, numbers, name, below):
                raise InputError(
                    f"In the start nothing depends on the hidden variable {name!r}: its slopes "
                    "are all 0, which is a saddle point: every step would leave them 0.",
                    hint="Use start='random' (the default), or lines with slopes.",
                )
            continue
        alike = _alike(maximiser, numbers, name, below)
        tied = any(layout.names[j] in maximiser.groups for j in near)
        if len(alike) < 2 or (tied and len(alike) < variable.arity):
            continue  # a tied table elsewhere may tell them apart
        states = [shown(variable.states[k]) for k in alike[:3]]
        some = f"the states {', '.join(states[:-1])} and {states[-1]}"
        if len(alike) == variable.arity:
            some = "all states"
        elif len(alike) > 3:
            some = f"{len(alike):,} states ({', '.join(states)}, …)"
        raise InputError(
            f"The start treats {some} of the hidden variable {name!r} alike, which is a saddle "
            "point: every step would leave them alike.",
            hint="Use start='random' (the default), or tables that differ between its states.",
        )


def _alike(maximiser: Maximiser, numbers: Numbers, name: str, below: list[int]) -> list[int]:
    """The first states that nothing tells apart: neither tables and lines nor their priors."""
    layout = maximiser.layout
    own = layout.table(numbers.theta, layout.at[name])
    prior = layout.table(maximiser.add, layout.at[name])
    by_state = own.reshape(-1, own.shape[-1]).T
    mass = by_state.sum(axis=1, keepdims=True)
    there = np.flatnonzero(mass[:, 0] > 0)
    parts = [by_state / np.where(mass > 0, mass, 1.0), prior.reshape(-1, prior.shape[-1]).T]
    for j in below:
        child, above = layout.families[j]
        axis = [p.name for p in above if p.is_discrete].index(name)
        if child.is_discrete:
            values = [layout.table(numbers.theta, j), layout.table(maximiser.add, j)]
        else:
            values = [layout.line(numbers.lines, j)]
        parts += [np.moveaxis(v, axis, 0).reshape(len(mass), -1) for v in values]
    marks = np.round(np.concatenate(parts, axis=1)[there], _DIGITS) + 0.0
    _, inverse, times = np.unique(marks, axis=0, return_inverse=True, return_counts=True)
    if times.max(initial=0) < 2:
        return []
    found: list[int] = there[inverse.ravel() == int(times.argmax())].tolist()
    return found


def _without_effect(maximiser: Maximiser, numbers: Numbers, name: str, below: list[int]) -> bool:
    """Whether a continuous variable depends on nothing, and nothing on it."""
    layout = maximiser.layout
    own = layout.line(numbers.lines, layout.at[name])
    flat = own.reshape(-1, own.shape[-1])
    if np.abs(flat[:, 1:-1]).max(initial=0.0) > 0 or np.ptp(flat, axis=0).max() > 10.0**-_DIGITS:
        return False
    for j in below:
        _, above = layout.families[j]
        k = [p.name for p in above if not p.is_discrete].index(name)
        if np.abs(layout.line(numbers.lines, j)[..., 1 + k]).max(initial=0.0) > 0:
            return False
    return True
