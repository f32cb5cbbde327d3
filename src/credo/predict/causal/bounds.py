"""Bounds of what no table tells alone: counterfactuals, and effects by an instrument.

    q(x, y_1, …, y_k)   the joint of x and of what y would be under each value of x
    Σ q = P(x, y) where y is y_x;     Σ q = P(y | do(x))         least and most of any sum of q

A linear programme whose unknowns are the types of rows: how each would respond (Balke & Pearl 1997;
Tian & Pearl 2000). The bounds are sharp: some model has each end.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError

__all__ = ["Types", "counterfactual_bounds", "instrument_bounds"]

Floats = NDArray[np.float64]
MAX_TYPES = 100_000
"""More types of rows than this are refused."""

Types = tuple[int, tuple[int, ...]]
"""The value of x, and what y would be under each value of x."""


def counterfactual_bounds(
    joint: Floats, do: Floats, event: Callable[[int, tuple[int, ...]], bool]
) -> tuple[float, float] | None:
    """Bounds of P(event) from P(x, y) and P(y | do(x)), both [x, y]; None if they contradict.

    >>> joint, do = np.array([[0.4, 0.1], [0.1, 0.4]]), np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> low, high = counterfactual_bounds(joint, do, lambda x, y: y == (0, 1))  # PNS
    >>> round(low, 6), round(high, 6)
    (0.6, 0.8)
    """
    kx, ky = joint.shape
    _check(kx * ky**kx)
    types = [(x, ys) for x in range(kx) for ys in product(range(ky), repeat=kx)]
    rows, sides = [], []
    for x, y in product(range(kx), range(ky)):
        rows.append([t == x and ys[x] == y for t, ys in types])
        sides.append(joint[x, y])
        rows.append([ys[x] == y for _, ys in types])
        sides.append(do[x, y])
    aim = np.array([float(event(*t)) for t in types])
    return _ends(aim, np.array(rows, dtype=float), np.array(sides))


def instrument_bounds(
    p: Floats, aim: Callable[[tuple[int, ...]], float]
) -> tuple[float, float] | None:
    """Bounds of a mean over rows of `aim`, a function of what y would be under each value of x.

    `p` is P(x, y | z) [z, x, y], z an instrument for x → y; y of ±1 and 0 make the bounds of a
    difference. None if no model in which z reaches y through x alone has this distribution.

    >>> p = np.array([[[0.919, 0.081], [0, 0]], [[0.315, 0.073], [0.139, 0.473]]])
    >>> low, high = instrument_bounds(p, lambda y: y[1] - y[0])  # Balke & Pearl 1997
    >>> round(low, 3), round(high, 3)
    (0.392, 0.78)
    """
    kz, kx, ky = p.shape
    _check(kx**kz * ky**kx)
    types = list(product(product(range(kx), repeat=kz), product(range(ky), repeat=kx)))
    cells = list(product(range(kz), range(kx), range(ky)))
    rows = np.array([[xs[z] == x and ys[x] == y for xs, ys in types] for z, x, y in cells])
    sides = np.array([p[cell] for cell in cells])
    return _ends(np.array([aim(ys) for _, ys in types]), rows.astype(float), sides)


def _check(types: int) -> None:
    if types > MAX_TYPES:
        raise LimitError(
            f"There are {types:,} types of rows; at most {MAX_TYPES:,} are allowed.",
            hint="Use variables with fewer states.",
        )


def _ends(aim: Floats, rows: Floats, sides: Floats) -> tuple[float, float] | None:
    from scipy.optimize import linprog

    ends = []
    for sign in (1.0, -1.0):
        found = linprog(sign * aim, A_eq=rows, b_eq=sides, bounds=(0, None), method="highs")
        if found.status == 2:
            return None
        if found.status != 0:
            raise InputError(f"The bounds could not be found: {found.message}")
        ends.append(min(max(float(sign * found.fun), float(aim.min())), float(aim.max())))
    return ends[0], max(ends)
