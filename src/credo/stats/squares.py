"""What floats can hold of squares: those of values near 1e200 are infinite, near 1e-200 are 0.

A variance made of them would be wrong without a word, so it is refused with the way out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError

Floats = NDArray[np.float64]

_LEAST = 1e-290
_LEAST_WEIGHT = 1e-200
_LEAST_VALUE = 1e-145


def refuse_squares(names: Sequence[str], n: Floats, mean: Floats, scatter: Floats) -> None:
    """Refuse moments (of each group: weight, means, scatter) whose squares floats cannot hold."""
    square = np.diagonal(scatter, axis1=1, axis2=2)
    bad = ~np.isfinite(square) | ~np.isfinite(mean)
    if bad.any():
        name = names[int(np.argwhere(bad)[0][1])]
        raise InputError(
            f"The values of {name!r} are too large: their squares pass 1e308.",
            hint=f"Divide {name!r} by a power of ten and read the table again.",
        )
    tiny = (square > 0) & (square < _LEAST)
    if tiny.any():
        if (square / n[:, None] >= _LEAST)[tiny].all():
            raise weights_too_small(float(n.sum()))
        raise _too_close(names[int(np.argwhere(tiny)[0][1])])


def refuse_small_weights(n: Floats) -> None:
    """Refuse groups of so little weight that weighted squares could vanish."""
    if n.min(initial=1.0) < _LEAST_WEIGHT:
        raise weights_too_small(float(n.sum()))


def with_small_squares(columns: Sequence[Floats], n: Floats, mean: Floats, scatter: Floats) -> None:
    """Put the least number for squares that vanished, in place: values so small are refused when
    all parts have come, unless others are larger. A column that does not vary has none.
    """
    for j, values in enumerate(columns):
        if np.abs(mean[:, j]).max(initial=0.0) < _LEAST_VALUE and _underflows(values):
            gone = (scatter[:, j, j] == 0) & (n > 1)
            scatter[gone, j, j] = np.finfo(np.float64).smallest_subnormal


def _underflows(values: Floats) -> bool:
    """Whether values differ, and are so small that their squares are 0."""
    seen = values[~np.isnan(values)]
    return bool(0 < np.abs(seen).max(initial=0.0) < _LEAST_VALUE and seen.min() < seen.max())


def refuse_underflow(name: str, values: Floats) -> None:
    """Refuse values so small that their squares are 0: their variance could not be told."""
    if _underflows(values):
        raise _too_close(name)


def _too_close(name: str) -> InputError:
    return InputError(
        f"The values of {name!r} are too close together: their squares fall below 1e-290.",
        hint=f"Multiply {name!r} by a power of ten and read the table again.",
    )


def weights_too_small(total: float) -> InputError:
    """The error for weights so small that weighted squares cannot be told from 0."""
    return InputError(
        f"The weights are too small (they add up to {total:g}): weighted squares of the values "
        "cannot be told from 0.",
        hint="Multiply all weights by the same number, so that they are near 1.",
    )
