"""A tally: the statistics of many families, counted in one pass over a source.

`tally(a ⧺ b) == tally(a) + tally(b)`, moments and fractional weights to rounding: whatever can
tally its parts can feed every learner.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping
from dataclasses import FrozenInstanceError
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.core.schema import Schema
from credo.stats.counts import Counts
from credo.stats.family import Families, Family, Spelled
from credo.stats.given import given_tolerance
from credo.stats.moments import Moments

Statistic = Counts | Moments

_SHOWN = 20  # families printed in full


@runtime_checkable
class Source(Protocol):
    """Anything that has a schema and can tally."""

    @property
    def schema(self) -> Schema:
        """The variables of the source."""
        ...

    def tally(self, families: Any) -> Tally:
        """Count many families in one pass."""
        ...


class Bulk(Protocol):
    """The statistics of all families of a tally at once; None where they are not to be had so."""

    def statistics(self) -> list[Statistic | None] | None:
        """Each family's, in their order, in a list of its own."""
        ...

    def arrays(self) -> list[NDArray[Any]] | None:
        """Each family's table as a plain array."""
        ...


class Tally(Mapping[Any, Statistic]):
    """Statistics by family: `s["Fever", ["Pneumonia"]]`. Two tallies merge with `+`.

    A family is found whatever the order of its parents; the axes come in the order asked for.
    `rows` is the weight of all rows of the source.

    >>> import credo as cr
    >>> s = cr.tally(cr.examples.pneumonia(), [("Fev", ["Pneu", "Cou"])])
    >>> s
    Tally(1 family of 12 rows)
    >>> s["Fev", ["Cou", "Pneu"]].names
    ('Cou', 'Pneu', 'Fev')
    """

    __slots__ = ("_bulk", "_made", "_make", "_position", "families", "rows")

    families: Families
    rows: int | float
    _make: Callable[[int], Statistic]  # the statistic at a position, its axes in order
    _bulk: Bulk | None  # all of them at once, where that is cheaper than one by one
    _made: list[Statistic | None] | None  # by position, from when one is asked for
    _position: Spelled  # of each family as it was spelled; from then too

    def __init__(
        self,
        families: Families,
        make: Callable[[int], Statistic],
        rows: int | float,
        bulk: Bulk | None = None,
    ) -> None:
        fill = object.__setattr__
        fill(self, "families", families)
        fill(self, "rows", rows)
        fill(self, "_make", make)
        fill(self, "_bulk", bulk)
        fill(self, "_made", None)

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __getitem__(self, family: Any) -> Statistic:
        made = self._made or self._begun()
        try:  # spelled as it was when it was tallied: the usual way, and the quick one
            if isinstance(family, tuple):
                child, parents = family
                if type(parents) is list or type(parents) is tuple:  # looking uses up an iterator
                    statistic = made[self._position[(child, *parents)]]
                    if statistic is not None:
                        return statistic
        except (TypeError, ValueError, KeyError):
            pass
        return self._found(family)

    def _found(self, family: Any) -> Statistic:
        """A statistic not made before, or not spelled like this."""
        wanted = Family.of(family)
        at = self.families.index(wanted)
        if at is None:
            raise unknown_name("The family", str(wanted), self.families, "in this tally")
        statistic = self._at(at)
        return statistic if statistic.names == wanted.names else statistic.marginal(wanted.names)

    def _at(self, position: int) -> Statistic:
        made = self._made or self._begun()
        statistic = made[position]
        if statistic is None:
            statistic = made[position] = self._make(position)
        return statistic

    def _begun(self) -> list[Statistic | None]:
        """The statistics made so far, when the first is asked for: all, or none yet."""
        made = None if self._bulk is None else self._bulk.statistics()
        if made is None:
            made = [None] * len(self)
        object.__setattr__(self, "_position", self.families.spelled)
        object.__setattr__(self, "_made", made)
        return made

    def arrays(self) -> list[NDArray[Any]]:
        """The table of each family as a plain array, in their order; for many small tables.

        The numbers of `self[family].values` without their names, all at once.

        >>> import credo as cr
        >>> [a.shape for a in cr.tally(cr.examples.pneumonia(), [("Fev", ["Pneu"])]).arrays()]
        [(2, 2)]
        """
        found = None if self._bulk is None else self._bulk.arrays()
        return [self._array(i) for i in range(len(self))] if found is None else found

    def _array(self, position: int) -> NDArray[Any]:
        statistic = self._at(position)
        if isinstance(statistic, Counts):
            return statistic.dense().values
        raise InputError(
            f"The family {self.families[position]} has a continuous variable, so it has moments "
            "and no table of counts.",
            hint="Take it by its name: tally[child, parents].",
        )

    def __iter__(self) -> Iterator[Family]:
        return iter(self.families)

    def __len__(self) -> int:
        return len(self.families)

    def __contains__(self, family: object) -> bool:
        try:
            return self.families.index(Family.of(family)) is not None
        except InputError:
            return False

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.families != other.families:
            raise InputError("Two tallies can be added when they are of the same families.")
        sums = [_sum(self[f], other[f]) for f in self.families]
        return Tally(self.families, sums.__getitem__, self.rows + other.rows)

    def __radd__(self, other: object) -> Tally:
        return self if other == 0 else NotImplemented

    def __reduce__(self) -> Any:
        return _restored, (self.families, [self[f] for f in self.families], self.rows)

    def close_to(self, other: Tally, tolerance: float = 1e-12) -> bool:
        """Equal up to rounding, as statistics are that were added up as floats elsewhere."""
        tolerance = given_tolerance(tolerance)
        return (
            isinstance(other, Tally)
            and self.families == other.families
            and abs(self.rows - other.rows) <= tolerance * abs(self.rows)
            and all(_close(self[f], other[f], tolerance) for f in self.families)
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return (
            self.rows == other.rows
            and self.families == other.families
            and all(self[f] == other[f] for f in self.families)
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        shown = [f"{f}\n{self[f]}" for f in list(self.families)[:_SHOWN]]
        rest = len(self) - len(shown)
        return "\n\n".join([*shown, *([f"… {rest:,} more families"] if rest else [])])

    def __repr__(self) -> str:
        noun = "family" if len(self) == 1 else "families"
        return f"Tally({len(self):,} {noun} of {self.rows:,} rows)"

    def _repr_html_(self) -> str:
        return "".join(
            f"<h4>{html.escape(str(f))}</h4>{self[f]._repr_html_()}"
            for f in list(self.families)[:_SHOWN]
        )


def _restored(families: Families, statistics: list[Statistic], rows: int | float) -> Tally:
    return Tally(families, statistics.__getitem__, rows)


def _close(a: Statistic, b: Statistic, tolerance: float) -> bool:
    if isinstance(a, Moments) and isinstance(b, Moments):
        return a.close_to(b, tolerance)
    if isinstance(a, Counts) and isinstance(b, Counts):
        return a.close_to(b, tolerance)
    return False


def _sum(a: Statistic, b: Statistic) -> Statistic:
    if isinstance(a, Counts) and isinstance(b, Counts):
        return a + b
    if isinstance(a, Moments) and isinstance(b, Moments):
        return a + b
    raise InputError("Counts and moments of the same family cannot be added.")
