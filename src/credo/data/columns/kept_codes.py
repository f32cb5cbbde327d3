"""Cells kept as codes, part by part; the largest code of a part's type stands for missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core

__all__ = ["counted", "first_place", "recoded"]

Parts = Sequence[NDArray[Any]]


def counted(parts: Parts, many: int) -> NDArray[np.int64]:
    """How many cells have each of so many codes.

    >>> counted([np.uint8([1, 0, 255]), np.uint8([1])], 3).tolist()
    [1, 2, 0]
    """
    cells = np.zeros(many, dtype=np.int64)
    for part in parts:
        cells += np.bincount(part[part != np.iinfo(part.dtype).max], minlength=many)
    return cells


def first_place(parts: Parts, code: int) -> int | None:
    """Where a code first stands, if it does.

    >>> first_place([np.uint8([1, 0]), np.uint8([2])], 2), first_place([np.uint8([1])], 2)
    (2, None)
    """
    done = 0
    for part in parts:
        if code < np.iinfo(part.dtype).max:
            hit = part == code
            if hit.any():
                return done + int(hit.argmax())
        done += len(part)
    return None


def recoded(parts: Parts, lut: NDArray[Any], missing: int) -> NDArray[Any]:
    """All cells, each by what the table has for its code.

    >>> recoded([np.uint8([1, 0, 255])], np.uint8([7, 5]), 9).tolist()
    [5, 7, 9]
    """
    out = np.empty(sum(map(len, parts)), dtype=lut.dtype)
    done = 0
    for part in parts:
        full = np.full(int(part.max(initial=0)) + 1, missing, dtype=lut.dtype)
        full[: len(lut)] = lut[: len(full)]
        if len(full) > np.iinfo(part.dtype).max:
            full[-1] = missing
        _core.take_codes(part, full, out[done : done + len(part)])
        done += len(part)
    return out
