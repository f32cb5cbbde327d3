"""A tally: the statistics of many families, counted in one pass over a source.

`tally(a ⧺ b) == tally(a) + tally(b)`: whatever can tally its parts can feed every learner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from credo.errors import InputError, unknown_name
from credo.schema import Schema
from credo.stats.counts import Counts
from credo.stats.family import Family
from credo.stats.moments import Moments

__all__ = ["Source", "Statistic", "Tally"]

Statistic = Counts | Moments


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


@dataclass(frozen=True, eq=False)
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

    statistics: Mapping[Family, Statistic]
    rows: int | float

    def __post_init__(self) -> None:
        object.__setattr__(self, "statistics", dict(self.statistics))
        object.__setattr__(self, "_by_key", {f.key: f for f in self.statistics})

    def __getitem__(self, family: Any) -> Statistic:
        wanted = Family.of(family)
        found = self._by_key.get(wanted.key)  # type: ignore[attr-defined]
        if found is None:
            known = [str(f)[7:-1] for f in self.statistics]
            raise unknown_name("The family", str(wanted)[7:-1], known, "in this tally")
        statistic = self.statistics[found]
        if found.parents != wanted.parents:
            statistic = statistic.marginal(wanted.names)
        return statistic

    def __iter__(self) -> Iterator[Family]:
        return iter(self.statistics)

    def __len__(self) -> int:
        return len(self.statistics)

    def __contains__(self, family: object) -> bool:
        try:
            return Family.of(family).key in self._by_key  # type: ignore[attr-defined]
        except InputError:
            return False

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if {f.key for f in self} != {f.key for f in other}:
            raise InputError("Two tallies can be added when they are of the same families.")
        merged = {f: _sum(self.statistics[f], other[f]) for f in self}
        return Tally(merged, self.rows + other.rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return (
            self.rows == other.rows
            and {f.key for f in self} == {f.key for f in other}
            and all(self.statistics[f] == other[f] for f in self)
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "\n\n".join(f"{str(f)[7:-1]}\n{s}" for f, s in self.statistics.items())

    def __repr__(self) -> str:
        return f"Tally({len(self)} famil{'y' if len(self) == 1 else 'ies'} of {self.rows:,} rows)"

    def _repr_html_(self) -> str:
        import html

        return "".join(
            f"<h4>{html.escape(str(f)[7:-1])}</h4>{s._repr_html_()}"
            for f, s in self.statistics.items()
        )


def _sum(a: Statistic, b: Statistic) -> Statistic:
    if isinstance(a, Counts) and isinstance(b, Counts):
        return a + b
    if isinstance(a, Moments) and isinstance(b, Moments):
        return a + b
    raise InputError("Counts and moments of the same family cannot be added.")
