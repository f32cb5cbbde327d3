"""Configurations: rows of state codes, kept in lexicographic order without repeats."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["frozen", "grouped"]

A = TypeVar("A", bound=np.generic)


def frozen(array: NDArray[A]) -> NDArray[A]:
    """A read-only view of the array, so that a value stays what it is."""
    view = array.view()
    view.flags.writeable = False
    return view


def grouped(where: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The different rows of a code matrix in lexicographic order, and the group of each row.

    >>> unique, group = grouped(np.array([[1, 0], [0, 2], [1, 0]]))
    >>> unique.tolist(), group.tolist()
    ([[0, 2], [1, 0]], [1, 0, 1])
    """
    rows, width = where.shape
    if rows == 0 or width == 0:
        return where[: min(rows, 1)], np.zeros(rows, dtype=np.intp)
    order = np.lexsort(where.T[::-1])
    ordered = where[order]
    new = np.ones(rows, dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    group = np.empty(rows, dtype=np.intp)
    group[order] = np.cumsum(new) - 1
    return ordered[new], group
