"""A profile: what the rules of inference need to know of one column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from credo.core.frozen import Frozen

__all__ = ["Doubt", "Profile"]


@dataclass(frozen=True, slots=True)
class Doubt:
    """A cell that is not what its column seems to be. Reported, never changed."""

    row: int
    cell: str
    why: str


@dataclass(frozen=True, slots=True)
class Profile(Frozen):
    """What was seen of one column.

    `types` are the types of its cells ('bool', 'int', 'float', 'str', 'date', 'enum', 'infinite',
    'unsupported …'); `values` the different cells while there are few, else None; `distinct` how
    many different ones there are among `sampled` cells; `words` the mean number of words.
    """

    name: str
    rows: int
    missing: int
    missing_as: Mapping[str, int]
    types: frozenset[str]
    text: bool
    values: tuple[Any, ...] | None
    distinct: int
    sampled: int
    first_row: Callable[[Any], int | None]
    low: float = 0.0
    high: float = 0.0
    whole: bool = False
    words: float = 0.0
    doubts: tuple[Doubt, ...] = ()
    numbers: Callable[[], int] = lambda: 0
    """How many cells are numbers, or look as if they were meant to be."""

    @property
    def observed(self) -> int:
        """The number of cells that are not missing."""
        return self.rows - self.missing
