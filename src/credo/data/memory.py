"""How much memory a table may take: what the user says, or half of what is free."""

from __future__ import annotations

import os
import re

import numpy as np

from credo.core.errors import InputError

__all__ = ["memory_limit"]


def memory_limit(given: int | str | None = None) -> float:
    """The bytes that `memory=` stands for.

    >>> memory_limit("2GB"), memory_limit("1.5 kB"), memory_limit(100)
    (2000000000.0, 1500.0, 100.0)
    """
    if given is None:
        try:
            return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2)
        except (AttributeError, ValueError, OSError):
            return 4e9
    if isinstance(given, str):
        match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*([kmgt]?)i?b?\s*", given.casefold())
        if not match:
            raise InputError(
                f"memory must be a number of bytes or a text like '2GB', got {given!r}."
            )
        if float(match[1]) == 0:
            raise InputError(f"memory must be more than 0, got {given!r}.")
        return float(match[1]) * float(1000 ** " kmgt".index(match[2] or " "))
    is_number = isinstance(given, (int, float, np.integer)) and not isinstance(given, bool)
    if not is_number or not given > 0:
        raise InputError(f"memory must be more than 0 bytes, or a text like '2GB', got {given!r}.")
    return float(given)
