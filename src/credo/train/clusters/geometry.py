"""A geometry: how far apart rows are. Euclid's, in the scaled space, or Gower's.

    Gower's  d(a, b) = Σ_c d_c(a, b) / (number of columns seen in both)

d_c is |x − y| / range for numbers, |rank − rank| / (states − 1) for ordered states, and 0 or 1 for
other states (Gower 1971; ranks as Podani 1999). With scale "sd" numbers are divided by their
standard deviation instead, with "none" by nothing. Rows with no column in common are 1 apart, which
is the most that "range" can give. Euclid's is taken when every column is a number and no cell is
missing; Gower's otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.core.schema import Variable
from credo.data import Table
from credo.predict.rows.far_rows import AFAR, brought_near
from credo.train.clusters.space import Space, checked_scale, space_of

Floats = NDArray[np.float64]

DISTANCES = ("euclidean", "gower")


@dataclass(frozen=True)
class Geometry(Frozen):
    """Rows and the distance between them."""

    name: str
    space: Space
    points: Floats | None = None
    mixed: Gower | None = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        if self.points is not None:
            return len(self.points)
        assert self.mixed is not None
        return self.mixed.rows

    def take(self, rows: Any) -> Geometry:
        """Some of the rows."""
        if self.points is not None:
            return replace(self, points=self.points[rows])
        assert self.mixed is not None
        return replace(self, mixed=self.mixed.take(rows))

    def of(self, table: Table) -> Geometry:
        """Other rows in the same geometry, brought near where rounding would hide what is near."""
        if self.name == "euclidean":
            points = self.space.points(table, copies=2)
            if np.isnan(points).any():
                row = int(np.argwhere(np.isnan(points).any(axis=1))[0, 0])
                raise InputError(
                    f"Row {row + 1} has a missing cell, and Euclid's distance needs all of them.",
                    hint="Cluster with distance='gower', which leaves gaps out pair by pair.",
                )
            return replace(self, points=self._reached(points))
        assert self.mixed is not None
        return replace(self, mixed=Gower.of(table, self.space).held_to(self.mixed))

    def _reached(self, points: Floats) -> Floats:
        """New points, not farther out than `AFAR` spreads of the known ones."""
        assert self.points is not None
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        middle, most = low + (high - low) / 2, AFAR * float((high - low).max())
        near = brought_near(points - middle, most)
        return points if near is None else near + middle

    def to(self, other: Geometry) -> Floats:
        """The distance of each row to each row of another."""
        if self.points is not None:
            from scipy.spatial.distance import cdist

            assert other.points is not None
            found: Floats = cdist(self.points, other.points)
            return found
        assert self.mixed is not None and other.mixed is not None
        return self.mixed.to(other.mixed)

    @property
    def told(self) -> str:
        """The distance in words."""
        return in_words(self.name, self.space.scale)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a summary says of it."""
        states = any(a.variable.is_discrete for a in self.space.axes)
        coded = (AS_COORDINATES,) if self.name == "euclidean" and states else ()
        return (*self.space.notes, self.told, *coded)


@dataclass(frozen=True)
class Unmade:
    """A geometry of a table whose rows become points, or ready for Gower's, as they are taken."""

    name: str
    space: Space
    table: Table

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.table.rows

    def take(self, rows: Any) -> Geometry:
        """Some of the rows, made."""
        return replace(self, table=self.table.take(rows)).made()

    def made(self, copies: int = 1) -> Geometry:
        """All of them; `copies` says how many arrays of points the caller will have at once."""
        if self.name == "euclidean":
            points = self.space.points(self.table, copies)
            return Geometry("euclidean", self.space, points=points)
        return Geometry("gower", self.space, mixed=Gower.of(self.table, self.space))


AS_COORDINATES = "states are 0/1 coordinates, each column weighing as one number"


def in_words(name: str, scale: str) -> str:
    """A distance in words.

    >>> in_words("gower", "none")
    "Gower's distance, numbers as they are, gaps left out pair by pair"
    """
    by = {"sd": "standard deviation", "range": "range", "none": ""}[scale]
    if name == "gower":
        numbers = f"numbers divided by their {by}" if by else "numbers as they are"
        return f"Gower's distance, {numbers}, gaps left out pair by pair"
    if not by:
        return "Euclid's distance of the numbers as they are"
    return f"Euclid's distance, each column divided by its {by}"


def usual_distance(table: Table) -> str:
    """The distance that `geometry_of` takes unless another is asked for, in words."""
    if _is_plain(table):
        return in_words("euclidean", space_of(table, "like").scale)
    return in_words("gower", "range")


def _is_plain(table: Table) -> bool:
    return not table.schema.discrete and not any(table.block.gaps)


def checked_distance(distance: Any) -> str:
    """One of the distances, or 'auto'."""
    if distance not in ("auto", *DISTANCES):
        raise InputError(f"distance must be 'euclidean', 'gower' or 'auto', got {distance!r}.")
    return str(distance)


def geometry_of(
    table: Table, distance: str = "auto", scale: str = "auto", copies: int = 2
) -> Geometry:
    """The geometry of a table: as asked for, or by its columns.

    `copies` says how many arrays of all points the caller will have at once.
    """
    return unmade_of(table, distance, scale).made(copies)


def unmade_of(table: Table, distance: str = "auto", scale: str = "auto") -> Unmade:
    """The same before any row is made into a point."""
    distance = checked_distance(distance)
    if distance == "gower" or (distance == "auto" and not _is_plain(table)):
        return Unmade("gower", space_of(table, checked_scale(scale, "range")), table)
    if any(table.block.gaps):
        gap = table.schema.names[table.block.gaps.index(True)]
        raise InputError(
            f"Euclid's distance needs every cell, and {gap!r} has missing ones.",
            hint="Use distance='gower', which leaves them out pair by pair.",
        )
    return Unmade("euclidean", space_of(table, checked_scale(scale, "like")), table)


APART = 1.0
"""How far apart two rows are that have no column in common."""


@dataclass(frozen=True)
class Gower(Frozen):
    """Rows ready for Gower's distances, with the space that says how numbers are scaled."""

    space: Space
    reals: tuple[Floats, ...]
    codes: tuple[NDArray[np.int32], ...]

    @classmethod
    def of(cls, table: Table, space: Space) -> Gower:
        """The rows of a table."""
        reals, codes = [], []
        for axis in space.axes:
            array = table.block.arrays[table.schema.index(axis.variable.name)]
            if not axis.variable.is_discrete:
                scale = axis.scale if space.scale != "none" else 1.0
                reals.append(np.ascontiguousarray(array / scale))
                continue
            gone = array == axis.variable.arity
            if _ranked(axis.variable):
                ranks = array / (axis.variable.arity - 1)
                reals.append(np.where(gone, math.nan, ranks))
            else:
                codes.append(np.where(gone, np.int32(-1), array.astype(np.int32)))
        return cls(space, tuple(reals), tuple(codes))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.reals[0] if self.reals else self.codes[0])

    @cached_property
    def _threads(self) -> int:
        return _core.cores()

    def take(self, rows: Any) -> Gower:
        """Some of the rows."""
        pick = np.ascontiguousarray
        return Gower(
            self.space,
            tuple(pick(r[rows]) for r in self.reals),
            tuple(pick(c[rows]) for c in self.codes),
        )

    def held_to(self, known: Gower) -> Gower:
        """The rows, no number farther than `AFAR` spreads from those of the known rows.

        What lies beyond is the same in the distance to each of them.
        """
        held = []
        for own, theirs in zip(self.reals, known.reals, strict=True):
            low, high = float(np.nanmin(theirs)), float(np.nanmax(theirs))
            most = AFAR * ((high - low) or 1.0)
            held.append(np.clip(own, low - most, high + most))
        return Gower(self.space, tuple(held), self.codes)

    def pairs(self) -> tuple[Floats, int]:
        """The distances of all pairs, as SciPy's pdist has them, and how many share no column."""
        return _core.gower_pairs(list(self.reals), list(self.codes), APART, self._threads)

    def to(self, other: Gower) -> Floats:
        """The distance of each row to each row of another."""
        return _core.gower_between(
            list(self.reals),
            list(self.codes),
            list(other.reals),
            list(other.codes),
            APART,
            self._threads,
        )[0]


def _ranked(variable: Variable) -> bool:
    return variable.ordered and variable.arity > 1
