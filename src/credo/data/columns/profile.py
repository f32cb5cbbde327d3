"""A column profile: what the rules of inference need to know of one column, and what it is found
with: the index of its categories, the summary of its numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.frozen import Frozen
from credo.core.schema import MAX_STATES
from credo.data.columns.cells import cell_key, unsigned
from credo.data.columns.identifiers import FEW_INTEGERS
from credo.data.sources.arrays import first_places

if TYPE_CHECKING:
    from credo.data.columns.taking import States

SAMPLE = 1_000_000
"""Cells looked at to judge whether all values of a column differ."""


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


class CategoryIndex:
    """The different values of a column, numbered as the rows show them; `first` is the row of each,
    `counts` how many cells have it.

    >>> import pyarrow as pa
    >>> from credo.data.columns.cells import Tokens
    >>> from credo.data.columns.taking import take_states
    >>> index = CategoryIndex()
    >>> taken = take_states(pa.array(["b", "a", "b"]), Tokens((), False))
    >>> index.add(taken, 0).tolist()[:2], index.values, index.counts.tolist()
    ([0, 1], ['b', 'a'], [2, 1])
    """

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.first: list[int] = []
        self.counts: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._codes: dict[Any, int] = {}

    def find(self, value: Any) -> int | None:
        """The code of a value, if a row has it."""
        return self._codes.get(cell_key(value))

    def put(self, value: Any, row: int) -> int:
        """The code of a value, a new one if no row had it before this one."""
        code = self._codes.setdefault(cell_key(value), len(self.values))
        if code == len(self.values):
            self.values.append(unsigned(value))
            self.first.append(row)
        return code

    def add(self, taken: States, before: int) -> NDArray[np.int64]:
        """The code of each value of a batch that follows some rows, and room for one more."""
        n = len(taken.values)
        lut = np.zeros(n + 1, dtype=np.int64)
        new = []
        for i, value in enumerate(taken.values):
            code = self.find(value)
            if code is None:
                new.append(i)
            else:
                lut[i] = code
        if new:
            at = first_places(taken.where, n)
            for i in sorted(new, key=lambda i: int(at[i])):
                if at[i] < len(taken.where):  # otherwise a dictionary lists it, and no row has it
                    lut[i] = self.put(taken.values[i], before + int(at[i]))
            grown = np.zeros(len(self.values), dtype=np.int64)
            grown[: len(self.counts)] = self.counts
            self.counts = grown
        np.add.at(self.counts, lut[:n], np.bincount(taken.where, minlength=n)[:n])
        return lut


class NumberSummary:
    """The range of a column of numbers, whether they are whole, and how many differ: all of them
    while they are few, then those of the first million cells. Of decimals it is enough that there
    are more than could be states.

    >>> seen = NumberSummary()
    >>> seen.add(np.array([2.0, 5.0, 2.0, np.nan]))
    >>> seen.low, seen.high, seen.whole, seen.distinct, seen.sampled
    (2.0, 5.0, True, 2, 3)
    """

    def __init__(self, settles: bool = True) -> None:
        self.low, self.high, self.whole = np.inf, -np.inf, True
        self.sampled = 0
        self.settled = False
        self._settles = settles
        self._few = True
        self._different: NDArray[Any] | None = None

    def add(self, values: NDArray[np.float64], exact: NDArray[Any] | None = None) -> None:
        """Numbers, NaN for none; `exact` are the same where floats cannot hold them."""
        values = values[np.isfinite(values)]
        if not len(values):
            return
        self.low = min(self.low, float(values.min()))
        self.high = max(self.high, float(values.max()))
        if self.whole:
            self.whole = not (values[:64] % 1).any() and not (values % 1).any()
        if self.settled or (self.sampled >= SAMPLE and not self._few):
            return
        kept = values if exact is None else exact
        kept = kept if self._few else kept[: SAMPLE - self.sampled]
        self.sampled += len(kept)
        decimals = self._settles and not self.whole
        self.settled = decimals and len(np.unique(kept[: 4 * FEW_INTEGERS])) > FEW_INTEGERS
        if not self.settled:
            self._note(_different(kept))
            self.settled = decimals and self.distinct > FEW_INTEGERS

    def _note(self, different: NDArray[Any]) -> None:
        if self._different is not None:
            different = np.unique(np.concatenate([self._different, different]))
        self._different = different
        self._few = len(different) <= MAX_STATES

    @property
    def distinct(self) -> int:
        """How many different numbers there are among those looked at."""
        if self.settled:
            return FEW_INTEGERS + 1
        return 0 if self._different is None else len(self._different)

    @property
    def few(self) -> NDArray[np.float64] | None:
        """The different numbers, where they are so few that they may be states."""
        if self.settled or self._different is None or self.distinct > FEW_INTEGERS:
            return None
        return self._different.astype(np.float64)


def _different(values: NDArray[Any]) -> NDArray[Any]:
    """The different values in their order; whole numbers close together are marked, not sorted."""
    if values.dtype.kind in "iuf" and len(values) > 1000:
        low, high = values.min(), values.max()
        if float(high) - float(low) < len(values) and not (values % 1).any():
            seen = np.zeros(int(high - low) + 1, dtype=bool)
            seen[(values - low).astype(np.intp)] = True
            found: NDArray[Any] = (np.flatnonzero(seen) + low).astype(values.dtype)
            return found
    return np.unique(values)
