"""Limits: how large a file may be and what may be in it, checked before memory is taken."""

from __future__ import annotations

from dataclasses import dataclass, fields

from credo.core.errors import InputError

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a reader refuses before it allocates. Each number can be set.

    `ratio` is how many times a compressed file may grow; it is asked from the first MiB on.

    >>> Limits(states=50).states
    50
    >>> Limits(states=0)
    Traceback (most recent call last):
    credo.errors.InputError: The limit 'states' must be a whole number above 0, got 0.
    """

    file_bytes: int = 64 * 2**20
    decompressed_bytes: int = 512 * 2**20
    ratio: int = 200
    numbers: int = 100_000_000
    nesting: int = 100
    variables: int = 20_000
    states: int = 10_000

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(
                    f"The limit {f.name!r} must be a whole number above 0, got {value!r}."
                )
