"""Values that draw themselves: the picture is a function of `credo.plot`, found by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["picture"]


def picture(name: str) -> Callable[..., Any]:
    """A function of `credo.plot`.

    >>> picture("tornado").__name__
    'tornado'
    """
    import credo.plot

    found: Callable[..., Any] = getattr(credo.plot, name)
    return found
