"""The way up a concave function with a Gaussian prior: L-BFGS, with the trace it leaves.

maximise  g(w) − (λ/2) |w|²       (Liu & Nocedal 1989)
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from itertools import count
from typing import cast

import numpy as np
from numpy.typing import NDArray

from credo.core.progress import track

__all__ = ["Ascent", "climb"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ascent:
    """Where it ended: parameters, g there, the penalised value at each step, and why it stopped."""

    w: Floats
    value: float
    trace: tuple[float, ...]
    gradient: float
    reason: str


def climb(
    g: Callable[[Floats], tuple[float, Floats]],
    size: int,
    *,
    l2: float,
    rows: float,
    iterations: int,
    tolerance: float,
    label: str,
) -> Ascent:
    """Maximise g(w) − l2/2 |w|² from w = 0, until no slope, per row, is above the tolerance.

    >>> found = climb(lambda w: (float(-((w - 3) ** 2).sum()), -2 * (w - 3)), 1, l2=0.0, rows=1,
    ...               iterations=50, tolerance=1e-9, label="")
    >>> found.w.round(6).tolist(), found.reason
    ([3.0], 'no slope above 1e-09 a row')
    """
    from scipy.optimize import minimize

    per_row = max(rows, 1.0)
    last: dict[str, tuple[float, Floats]] = {}
    trace: list[float] = []
    steps = cast("Generator[int]", track(count(), label))  # a bar on a terminal, if it takes long

    def down(w: Floats) -> tuple[float, Floats]:
        value, slope = g(w)
        total, slope = value - l2 / 2 * float(w @ w), slope - l2 * w
        last["at"] = total, slope
        return -total / per_row, -slope / per_row

    def each(_: Floats) -> None:
        trace.append(last["at"][0])
        next(steps)

    options: dict[str, float] = {"maxiter": iterations, "maxfun": 4 * iterations, "maxcor": 20}
    options |= {"gtol": tolerance, "ftol": 0.0}
    try:
        found = minimize(
            down, np.zeros(size), jac=True, method="L-BFGS-B", callback=each, options=options
        )
    finally:
        steps.close()
    value, slope = g(found.x)
    steepest = float(np.abs(slope - l2 * found.x).max(initial=0.0)) / per_row
    if steepest <= tolerance:
        reason = f"no slope above {tolerance:g} a row"
    elif found.nit >= iterations or found.nfev >= 4 * iterations:
        reason = f"{found.nit:,} iterations were allowed"
    else:
        reason = f"no step goes further up; the steepest slope is {steepest:.2g} a row"
    return Ascent(found.x, value, tuple(trace), steepest, reason)
