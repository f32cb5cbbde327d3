"""The studio: ask, learn, build and check in the browser.

`session` answers JSON with JSON and knows nothing of a network; `server` puts it on the loopback
behind `guard`; the page is built from `web/` by `make studio`. The package can be called, because
`cr.studio` is a function and Python names a loaded package on its parent.

>>> import credo as cr
>>> cr.studio("asia.bif")
Traceback (most recent call last):
...
credo.errors.InputError: The studio shows a Network, got str.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from credo.studio.opening import Studio, studio

__all__ = ["Studio", "studio"]


class _Callable(ModuleType):
    """The package as `cr.studio`."""

    def __call__(self, *args: Any, **options: Any) -> Studio:
        return studio(*args, **options)


_Callable.__call__.__doc__ = studio.__doc__
sys.modules[__name__].__class__ = _Callable
