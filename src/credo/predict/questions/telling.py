"""A note that goes with an answer: a warning at the user's own line."""

from __future__ import annotations

import sys
import warnings

from credo.core.errors import CredoWarning

__all__ = ["tell"]


def tell(text: str) -> None:
    """Warn at the first line that is not credo's own."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("credo."):
        frame, level = frame.f_back, level + 1
    warnings.warn(CredoWarning(text), stacklevel=level)
