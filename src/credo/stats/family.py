"""Families: a child variable and its parents. What a network's distributions are learned from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from credo.core.errors import InputError, shown
from credo.core.render import one_line, text_html

Key = tuple[str, frozenset[str]]
Spelled = dict[tuple[str, ...], int]


class Family(tuple[str, tuple[str, ...]]):
    """A child and its parents, by name.

    >>> Family.of(("Fever", ["Pneumonia"]))
    Family(Fever | Pneumonia)
    >>> child, parents = Family.of("Fever")
    """

    __slots__ = ()

    def __new__(cls, child: str, parents: tuple[str, ...] = ()) -> Family:
        names = (*parents, child)
        if len(set(names)) < len(names):
            raise InputError(f"A variable stands twice in the family {child!r} | {list(parents)}.")
        for name in names:
            if not isinstance(name, str):
                raise InputError(f"A family is made of variable names, got {shown(name)}.")
        return tuple.__new__(cls, (child, parents))

    def __reduce__(self) -> Any:
        return Family, (self[0], self[1])

    @property
    def child(self) -> str:
        """The variable whose distribution the family describes."""
        return self[0]

    @property
    def parents(self) -> tuple[str, ...]:
        """The variables it is described by."""
        return self[1]

    @property
    def names(self) -> tuple[str, ...]:
        """The axes of the family's statistic: the parents, then the child."""
        return (*self[1], self[0])

    @property
    def key(self) -> Key:
        """What makes two families the same: the child and the set of parents."""
        return self[0], frozenset(self[1])

    @classmethod
    def of(cls, given: Any) -> Family:
        """A family from `"child"`, `("child", ["parent", …])` or `("child", "parent")`.

        >>> Family.of(("Alarm", ["Burglary", "Earthquake"]))
        Family(Alarm | Burglary, Earthquake)
        """
        if isinstance(given, Family):
            return given
        if isinstance(given, str):
            return cls(given)
        try:
            child, parents = given
        except (TypeError, ValueError):
            raise InputError(
                f"A family must be a name or a pair (child, [parents]), got {shown(given)}."
            ) from None
        if isinstance(parents, str):
            parents = (parents,)
        try:
            return cls(child, tuple(parents))
        except TypeError:
            raise InputError(
                f"The parents of {child!r} must be a list of names, got {shown(parents)}."
            ) from None

    def __str__(self) -> str:
        return one_line(f"{self[0]} | {', '.join(self[1])}" if self[1] else self[0])

    def __repr__(self) -> str:
        return f"Family({self})"

    def _repr_html_(self) -> str:
        return text_html(self)


def is_one_family(given: Any) -> bool:
    """Whether it is a family and no list of them: a name, or a child and a list of its parents.

    >>> is_one_family(("A", ["B", "C"])), is_one_family([("A", ["B", "C"])]), is_one_family("A")
    (True, False, True)
    """
    if isinstance(given, (str, Family)):
        return True
    return (
        type(given) is tuple
        and len(given) == 2
        and isinstance(given[0], str)
        and isinstance(given[1], list)
    )


class Families:
    """A list of different families. Made once, it can be tallied often without planning again.

    >>> pairs = Families.of([("A", ["B"]), "B", ("A", ["B"])])
    >>> pairs
    Families(A | B; B)
    """

    __slots__ = ("_at", "_items", "_plan", "_spelled")

    def __init__(self, items: Iterable[Family]) -> None:
        at: dict[Key, int] = {}
        kept: list[Family] = []
        for family in map(Family.of, items):
            if at.setdefault(family.key, len(kept)) == len(kept):
                kept.append(family)
        self._at: dict[Key, int] | None = at
        self._items: tuple[Family, ...] | None = tuple(kept)
        self._spelled: Spelled | Callable[[], Spelled] = {
            (f[0], *f[1]): i for i, f in enumerate(kept)
        }
        self._plan: tuple[Any, int, Any] | None = None

    @classmethod
    def of(cls, given: Any) -> Families:
        """Families from a list of them, from one, or from a mapping child → parents.

        >>> Families.of({"B": ["A"], "A": []})
        Families(B | A; A)
        >>> Families.of(("A", ["B", "C"]))
        Families(A | B, C)
        """
        if isinstance(given, Families):
            return given
        if isinstance(given, Mapping):
            given = list(given.items())
        if is_one_family(given):
            given = [given]
        if not isinstance(given, Iterable):
            raise InputError(
                f"The families must be a list of (child, [parents]), got {shown(given)}."
            )
        return cls(given)

    @classmethod
    def trusted(cls, spelled: Spelled | Callable[[], Spelled]) -> Families:
        """Families that are known to be sound and to differ; the rest is made when it is asked for.

        >>> Families.trusted({("A", "B"): 0, ("B",): 1})
        Families(A | B; B)
        """
        out = cls.__new__(cls)
        out._spelled = spelled
        out._at = out._items = out._plan = None
        return out

    def __reduce__(self) -> Any:
        return Families, (self._families,)

    @property
    def spelled(self) -> Spelled:
        """The position of each family by its child and its parents, in the order they have here."""
        found = self._spelled
        if not isinstance(found, dict):
            found = self._spelled = found()
        return found

    @property
    def _families(self) -> tuple[Family, ...]:
        if self._items is None:
            self._items = tuple([Family(names[0], names[1:]) for names in self.spelled])
        return self._items

    @property
    def _keys(self) -> dict[Key, int]:
        if self._at is None:
            self._at = {(n[0], frozenset(n[1:])): at for n, at in self.spelled.items()}
        return self._at

    def index(self, family: Any) -> int | None:
        """The position of a family, whatever the order of its parents."""
        wanted = Family.of(family)
        at = self.spelled.get((wanted[0], *wanted[1]))
        return self._keys.get(wanted.key) if at is None else at

    def plan_for(self, schema: Any, rows: int) -> Any:
        """The plan kept from an earlier tally of the same schema and size, if there is one."""
        kept = self._plan
        return kept[2] if kept and kept[0] is schema and kept[1] == rows else None

    def keep_plan(self, schema: Any, rows: int, plan: Any) -> None:
        """Keep a plan for the next tally."""
        self._plan = (schema, rows, plan)

    def __iter__(self) -> Iterator[Family]:
        return iter(self._families)

    def __getitem__(self, position: int) -> Family:
        return self._families[position]

    def __len__(self) -> int:
        return len(self.spelled)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Families) and (
            self.spelled == other.spelled or self._keys.keys() == other._keys.keys()
        )

    def __hash__(self) -> int:
        return hash(frozenset(self._keys))

    def __repr__(self) -> str:
        shown = "; ".join(map(str, self._families[:6]))
        more = f"; … {len(self) - 6} more" if len(self) > 6 else ""
        return f"Families({shown}{more})"

    def _repr_html_(self) -> str:
        return text_html(self)
