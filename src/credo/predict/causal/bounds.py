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


def instrument_bounds(p: Floats) -> tuple[Floats, Floats] | None:
    """Bounds of P(y | do(x)) [x, y] from P(x, y | z) [z, x, y], z an instrument for x → y.

    None if no model in which z reaches y through x alone has this distribution.
    """
    kz, kx, ky = p.shape
    _check(kx**kz * ky**kx)
    types = list(product(product(range(kx), repeat=kz), product(range(ky), repeat=kx)))
    rows, sides = [], []
    for z, x, y in product(range(kz), range(kx), range(ky)):
        rows.append([xs[z] == x and ys[x] == y for xs, ys in types])
        sides.append(p[z, x, y])
    low, high = np.zeros((kx, ky)), np.zeros((kx, ky))
    for x, y in product(range(kx), range(ky)):
        aim = np.array([float(ys[x] == y) for _, ys in types])
        found = _ends(aim, np.array(rows, dtype=float), np.array(sides))
        if found is None:
            return None
        low[x, y], high[x, y] = found
    return low, high


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
        ends.append(min(max(sign * found.fun, 0.0), 1.0))
    return ends[0], max(ends)
