"""Pictures, with matplotlib: each takes `ax` (or makes one) and returns it.

The names load when they are first used, from where `__init__.pyi` says; `pip install "credo[plot]"`
brings matplotlib.
"""

from credo.core.lazy import public_names

__getattr__, __dir__, _names = public_names(__name__, __file__, {})
__all__ = _names[1:]  # but the version
