"""Correlations from moments, r_ij = S_ij / √(S_ii S_jj), in each configuration.

A variable that does not vary has no correlation, not even 0: it is refused by its name. Constant is
what varies by no more than the rounding of its mean, as wherever a Gaussian is fitted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.stats.labelled import described

if TYPE_CHECKING:
    from credo.stats.moments import Moments

__all__ = ["correlations"]

Floats = NDArray[np.float64]


def correlations(moments: Moments) -> Floats:
    """The correlation matrix of each configuration, or an error that names what is constant.

    >>> from credo.stats.moments import Moments
    >>> correlations(Moments.of({"x": [1.0, 2.0], "y": [3.0, 3.0]}))
    Traceback (most recent call last):
    credo.errors.InputError: 'y' is constant, so that it has no correlation. Leave it out: \
moments.marginal(['x']).
    """
    rounding = (4 * np.finfo(float).eps * np.abs(moments.mean)) ** 2
    for row, column in np.argwhere(moments.variance <= rounding)[:1].tolist():
        raise _constant(moments, row, moments.continuous[column].name)
    size = np.sqrt(np.diagonal(moments.scatter, axis1=1, axis2=2))
    r: Floats = np.clip(moments.scatter / size[:, :, None] / size[:, None, :], -1.0, 1.0)
    np.einsum("ijj->ij", r)[...] = 1.0
    return r


def _constant(moments: Moments, row: int, name: str) -> InputError:
    where = described(moments.discrete, moments.configurations[row].tolist())
    apart = "Take the slices apart: moments[{…}].correlation." if moments.discrete else ""
    if moments.n[row] <= 1:
        why = f"One row has no spread, so that {name!r} has no correlation{where}."
        return InputError(why, hint=apart or "Give more rows.")
    rest = [n for n in moments.names if n != name]
    out = f"Leave it out: moments.marginal({rest})." if len(moments.continuous) > 1 else ""
    why = f"{name!r} is constant{where}, so that it has no correlation."
    return InputError(why, hint=f"{out} {apart}".strip())
