"""Configurations: rows of state codes, kept in lexicographic order without repeats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, shown

A = TypeVar("A", bound=np.generic)


def frozen(array: NDArray[A]) -> NDArray[A]:
    """A read-only view of the array, so that a value stays what it is."""
    view = array.view()
    view.flags.writeable = False
    return view


def named(names: Sequence[str] | str) -> tuple[str, ...]:
    """One name or a list of names, as a tuple; anything else is refused.

    >>> named("a"), named(["a", "b"])
    (('a',), ('a', 'b'))
    """
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Iterable):
        raise InputError(f"A name or a list of names is needed, got {shown(names)}.")
    out = tuple(names)
    if len(set(map(str, out))) < len(out):
        raise InputError(f"A variable is named twice in {list(out)}.")
    return out


def grouped(where: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The different rows of a code matrix in lexicographic order, and the group of each row.

    >>> unique, group = grouped(np.array([[1, 0], [0, 2], [1, 0]]))
    >>> unique.tolist(), group.tolist()
    ([[0, 2], [1, 0]], [1, 0, 1])
    """
    rows, width = where.shape
    if rows == 0 or width == 0:
        return where[: min(rows, 1)], np.zeros(rows, dtype=np.intp)
    keys = _packed(where)
    # what was merged before comes as sorted runs, which a stable sort joins in one go
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
    new = np.zeros(rows, dtype=bool)
    new[0] = True
    for key in keys:
        ordered = key[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    group = np.empty(rows, dtype=np.intp)
    group[order] = np.cumsum(new) - 1
    return where[order[new]], group


def _packed(where: NDArray[Any]) -> list[NDArray[np.uint64]]:
    """Keys in the order of the rows: as many columns in each as fit 64 bits, the first on top."""
    keys: list[NDArray[np.uint64]] = []
    left = 0
    for column in where.T:
        bits = int(column.max()).bit_length()
        if bits > left or not keys:
            keys.append(column.astype(np.uint64))
            left = 64 - bits
        else:
            keys[-1] <<= np.uint64(bits)
            keys[-1] |= column.astype(np.uint64)
            left -= bits
    return keys
