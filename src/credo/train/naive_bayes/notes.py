"""What was noticed of many features, put into words when it is read.

A table with a thousand columns and a few rows has thousands of them, and nobody may ask.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

__all__ = ["AndMore", "Notes", "SpreadNotes", "StateNotes"]

Flags = NDArray[np.bool_]


class Notes(Sequence[str]):
    """Notes by place; equal to the same texts in a tuple."""

    __slots__ = ()

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: int | slice) -> str | tuple[str, ...]:
        places = range(len(self))[at]
        return self.texts([places])[0] if isinstance(places, int) else self.texts(places)

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts(range(len(self))))

    @abstractmethod
    def texts(self, places: Sequence[int]) -> tuple[str, ...]:
        """The notes at some places."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (tuple, Notes)) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class SpreadNotes(Notes):
    """Of real features: which are constant, and which have no spread in which class.

    >>> flags = np.array([[True, False]]), np.array([False])
    >>> SpreadNotes(("a",), ("u", "v"), np.array([[1.0, 2.0]]), *flags)[0]
    "column 'a' has no spread in class 'u' (1 rows): its variance there comes from all classes"
    """

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    n: NDArray[np.float64]
    floored: Flags
    constant: Flags

    def _where(self) -> NDArray[np.intp]:
        """Feature and class of each note; the first class of a feature that is constant."""
        told = self.floored & ~self.constant[:, None]
        told[self.constant, 0] = True
        return np.stack(np.divmod(np.flatnonzero(told), max(told.shape[1], 1)), axis=1)

    def places(self) -> list[int]:
        """The feature of each note."""
        return [int(j) for j in self._where()[:, 0]]

    def __len__(self) -> int:
        alone = int(np.count_nonzero(self.constant))
        floored = int(np.count_nonzero(self.floored))
        if not alone or not floored:
            return floored + (alone if self.floored.shape[1] else 0)
        return int(np.count_nonzero(self.floored[~self.constant])) + alone

    def texts(self, places: Sequence[int]) -> tuple[str, ...]:
        """The notes at some places."""
        return tuple(self._told(*where) for where in self._where()[list(places)].tolist())

    def _told(self, j: int, c: int) -> str:
        name = self.names[j]
        if self.constant[j]:
            what = "is constant" if self.n[j].sum() else "has no value"
            return f"column {name!r} {what}: it tells nothing"
        return (
            f"column {name!r} has no spread in class {self.classes[c]!r} "
            f"({self.n[j, c]:g} rows): its variance there comes from all classes"
        )


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class StateNotes(Notes):
    """Of discrete features: which have one state only.

    >>> StateNotes(("a", "b"), np.array([1]), (7,))[0]
    "column 'b' has one state, 7: it tells nothing"
    """

    names: tuple[str, ...]
    where: NDArray[np.intp]
    states: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.where)

    def texts(self, places: Sequence[int]) -> tuple[str, ...]:
        """The notes at some places."""
        told = [(self.names[self.where[i]], self.states[i]) for i in places]
        return tuple(f"column {n!r} has one state, {s!r}: it tells nothing" for n, s in told)


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class AndMore(Notes):
    """Notes, and a few more after them."""

    notes: Sequence[str]
    more: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.notes) + len(self.more)

    def texts(self, places: Sequence[int]) -> tuple[str, ...]:
        """The notes at some places."""
        n = len(self.notes)
        return tuple(self.notes[i] if i < n else self.more[i - n] for i in places)
