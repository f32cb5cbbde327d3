"""How many threads to use."""

from __future__ import annotations

import operator
from typing import Any

from credo import _core
from credo.core.errors import InputError, shown

_MOST = 1 << 20  # beyond any machine; the kernels use no more than they have work for


def checked_threads(threads: Any) -> int:
    """Those asked for, or one for each processor that this process may use.

    >>> checked_threads(2)
    2
    """
    if threads is None:
        return _core.cores()
    try:
        number = 0 if isinstance(threads, bool) else operator.index(threads)
    except TypeError:
        number = 0
    if number < 1:
        raise InputError(f"threads must be a whole number above 0, got {shown(threads)}.")
    return min(number, _MOST)
