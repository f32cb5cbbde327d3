"""What is made of the rows once and asked again and again, kept where the rows are.

EM folds rows into problems and solves these in every step: of rows in memory that is a value here,
of rows with an engine a value for each part, which its workers keep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from credo.data.engines.distributed import Distributed, OfKept
from credo.data.engines.parts import Parts
from credo.data.table import Table

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Held(Generic[T]):
    """A value of all rows, or one for each part of them."""

    here: T | None
    parts: Parts | None = None

    def fold(self, task: Callable[[T, int], R], merge: Callable[[R, R], R]) -> R | None:
        """What a function of each value and its number adds up to, in their order."""
        if self.parts is not None:
            return self.parts.gathered(OfKept(task), (), merge, lambda _: 1)
        return None if self.here is None else task(self.here, 0)


@contextmanager
def held(
    source: Any,
    of_table: Callable[[Table], T],
    merge: Callable[[T, T], T],
    names: Sequence[str] | None = None,
) -> Iterator[Held[T]]:
    """What a function of small tables adds up to: over all rows, or over each part with an engine,
    which its workers keep while the block lasts.

    >>> import credo as cr
    >>> from operator import add
    >>> with held(cr.examples.play_tennis(), len, add) as rows:
    ...     rows.fold(lambda n, number: 2 * n, add)
    28
    """
    if isinstance(source, Distributed):
        with source.holding(of_table, merge, names) as parts:
            yield Held(None, parts)
    else:
        yield Held(source.fold(of_table, merge, names))
