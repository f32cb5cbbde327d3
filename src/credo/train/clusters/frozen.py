"""Values of arrays that stay what they are: read-only when made, when pickled and when copied."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.model.value import taken_apart
from credo.stats.configurations import frozen

__all__ = ["Frozen"]


class Frozen:
    """The base of a frozen dataclass whose arrays, alone or in a tuple, become read-only.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Pair(Frozen):
    ...     first: Any
    >>> Pair(np.zeros(2)).first.flags.writeable
    False
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:  # type: ignore[attr-defined]
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, frozen(value))
            elif isinstance(value, tuple) and value and isinstance(value[0], np.ndarray):
                object.__setattr__(self, name, tuple(map(frozen, value)))

    def __reduce__(self) -> Any:
        return taken_apart(self)
