"""Rows as points: numbers on one scale, states as 0/1 coordinates.

    continuous   (x − mean) / s        s the standard deviation, the range, or 1
    discrete     [x = state] / s       one coordinate for each state

Every column weighs the same. With scale "sd" the coordinates of each column have variance 1 in
all; with "range" two rows differ by at most 1 in a column; with "none" numbers stay as they are
and two different states are 1 apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.core.schema import Variable
from credo.data import Stream, Table, memory_limit
from credo.stats.moments import Moments
from credo.train.clusters.partition import told_of_constant

Floats = NDArray[np.float64]

SCALES = ("sd", "range", "none")

LIKE = 10.0
"""Numbers whose standard deviations are within this factor are taken to be in like units."""

_BLOCK = 4096
_FEW = 1 << 20  # bytes that any machine has
_APART = math.sqrt(2.0)  # divides 0/1 coordinates so that two different states are 1 apart


@dataclass(frozen=True, slots=True)
class Axis:
    """One column: its coordinates are (x − centre) / scale; of a discrete one, one a state."""

    variable: Variable
    centre: float
    scale: float

    @property
    def width(self) -> int:
        """How many coordinates it has."""
        return self.variable.arity if self.variable.is_discrete else 1


@dataclass(frozen=True, slots=True)
class Space:
    """How the columns of a table become coordinates."""

    axes: tuple[Axis, ...]
    scale: str
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that have coordinates."""
        return tuple(a.variable.name for a in self.axes)

    @property
    def width(self) -> int:
        """The number of coordinates."""
        return sum(a.width for a in self.axes)

    def points(self, table: Table, copies: int = 1) -> Floats:
        """The rows as points; NaN where a cell is missing.

        `copies` says how many arrays of that size the caller will have at once.
        """
        self._fits(table.rows, copies)
        arrays = [table.block.arrays[table.schema.index(n)] for n in self.names]
        if not any(a.variable.is_discrete for a in self.axes):
            return self._numbers(arrays)
        out = np.empty((table.rows, self.width))
        for i in range(0, table.rows, _BLOCK):  # a block of rows stays in the cache
            at = 0
            for axis, array in zip(self.axes, arrays, strict=True):
                to = at + axis.width
                self._fill(axis, array[i : i + _BLOCK], out[i : i + _BLOCK, at:to])
                at = to
        return out

    def _fits(self, rows: int, copies: int) -> None:
        """Refuse points that would not fit, with all that is made of them."""
        size = 8.0 * rows * self.width * copies
        if fits(size):
            return
        states = any(a.variable.is_discrete for a in self.axes)
        what = ", one for each state of a discrete column" if states else ""
        often = f", {copies} times at once" if copies > 1 else ""
        raise LimitError(
            f"The rows as points would take {size / 1e9:.3g} GB ({rows:,} rows of {self.width:,} "
            f"coordinates{what}{often}), and {free_memory() / 1e9:.3g} GB may be used.",
            hint="Leave out columns with many states, or use method='latent-class', which needs "
            "no points."
            if states
            else "Use a sample of the rows (table.take), or k-means of a stream (cr.read with "
            "memory=).",
        )

    def _numbers(self, arrays: Sequence[NDArray[Any]]) -> Floats:
        """The points of columns that are all numbers."""
        out = np.empty((len(arrays[0]), len(arrays)))
        for axis, array, column in zip(self.axes, arrays, out.T, strict=True):
            self._fill(axis, array, column[:, None])
        return out

    def _fill(self, axis: Axis, array: NDArray[Any], out: Floats) -> None:
        """The coordinates of one column."""
        if axis.variable.is_discrete:
            np.equal(array[:, None], np.arange(axis.width), out=out, casting="unsafe")
            out /= axis.scale
            gone = array == axis.variable.arity
            if gone.any():
                out[gone] = np.nan
        elif self.scale == "none":
            out[:, 0] = array
        else:
            np.subtract(array, axis.centre, out=out[:, 0])
            out[:, 0] /= axis.scale


def checked_scale(scale: Any, usual: str) -> str:
    """One of the scales; 'auto' is the usual one."""
    if scale == "auto":
        return usual
    if scale not in SCALES:
        raise InputError(f"scale must be 'sd', 'range', 'none' or 'auto', got {scale!r}.")
    return str(scale)


def space_of(source: Table | Stream, scale: str = "sd") -> Space:
    """The space of a table's columns, from one pass over its rows (two for ranges of a stream).

    With scale "like", numbers in like units stay as they are, all else is divided by its sd.
    """
    if scale == "like":
        found_space = space_of(source, "sd")
        return _plain(found_space) if _alike(found_space) else found_space
    counted = source.tally(list(source.schema.names))
    axes, notes = [], []
    for variable in source.schema.variables:
        found: tuple[float, float] | None
        if variable.is_discrete:
            found = _of_states(np.asarray(counted[variable.name, []], dtype=float), scale)
        else:
            statistic = counted[variable.name, []]
            assert isinstance(statistic, Moments)
            found = _of_numbers(source, variable.name, statistic, scale)
        if found is None:
            notes.append(f"{variable.name} is left out: every cell is missing")
            continue
        if found[1] == 0:
            notes.append(told_of_constant(variable.name))
            found = (found[0], 1.0 if scale == "sd" or not variable.is_discrete else _APART)
        axes.append(Axis(variable, *found))
    if not axes:
        raise InputError("Every cell of the columns to cluster by is missing.")
    return Space(tuple(axes), scale, tuple(notes))


def _alike(space: Space) -> bool:
    """Whether all columns are numbers whose standard deviations are within a factor `LIKE`."""
    if any(a.variable.is_discrete for a in space.axes):
        return False
    constant = {note.partition(" is constant")[0] for note in space.notes}
    spreads = [a.scale for a in space.axes if a.variable.name not in constant]
    return bool(spreads) and max(spreads) <= LIKE * min(spreads)


def _plain(space: Space) -> Space:
    """The same columns, their numbers as they are."""
    axes = tuple(Axis(a.variable, a.centre, 1.0) for a in space.axes)
    return Space(axes, "none", space.notes)


def _of_states(counts: Floats, scale: str) -> tuple[float, float] | None:
    total = counts.sum()
    if total == 0:
        return None
    shares = counts / total
    if (shares > 0).sum() < 2:
        return 0.0, 0.0
    if scale != "sd":
        return 0.0, _APART
    return 0.0, math.sqrt(1.0 - float((shares**2).sum()))


def _of_numbers(
    source: Table | Stream, name: str, moments: Moments, scale: str
) -> tuple[float, float] | None:
    if not len(moments.n):
        return None
    mean, sd = float(moments.mean[0, 0]), math.sqrt(float(moments.variance[0, 0]))
    if sd == 0 or scale == "sd":
        return mean, sd
    return mean, (_range(source, name) if scale == "range" else 1.0)


def _range(source: Table | Stream, name: str) -> float:
    low, high = source.fold(partial(_ends, name), np.fmax, [name])  # type: ignore[misc]
    return float(low + high)


def _ends(name: str, table: Table) -> Floats:
    """How far a column goes down and up; NaN where no cell is there."""
    values = table.values(name)
    return np.array([np.fmax.reduce(-values), np.fmax.reduce(values)])


def free_memory(given: int | str | None = None) -> float:
    """How many bytes may be allocated: what the user says, else half of what is free."""
    return memory_limit(given)


def fits(size: float, given: int | str | None = None) -> bool:
    """Whether so many bytes may be allocated; where few are, nobody is asked how many are free."""
    return (given is None and size < _FEW) or size <= free_memory(given)
