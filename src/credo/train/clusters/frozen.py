"""Where clusters find the base of values that stay what they are."""

from credo.frozen import Frozen

__all__ = ["Frozen"]
