"""A family: a child variable and its parents. What a network's distribution is learned from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from credo.errors import InputError

__all__ = ["Family", "families_of"]


@dataclass(frozen=True, slots=True)
class Family:
    """A child and its parents, by name.

    >>> Family("Fever", ("Pneumonia",))
    Family(Fever | Pneumonia)
    """

    child: str
    parents: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = (self.child, *self.parents)
        for name in names:
            if not isinstance(name, str):
                raise InputError(f"A family is made of variable names, got {name!r}.")
        if len(set(names)) < len(names):
            raise InputError(f"A variable stands twice in the family {self}.")

    @property
    def names(self) -> tuple[str, ...]:
        """The axes of the family's statistic: the parents, then the child."""
        return (*self.parents, self.child)

    @property
    def key(self) -> tuple[str, frozenset[str]]:
        """What makes two families the same: the child and the set of parents."""
        return self.child, frozenset(self.parents)

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
                f"A family must be a name or a pair (child, [parents]), got {given!r}."
            ) from None
        if isinstance(parents, str):
            parents = (parents,)
        if not isinstance(parents, Iterable):
            raise InputError(f"The parents of {child!r} must be a list of names, got {parents!r}.")
        return cls(child, tuple(parents))

    def __repr__(self) -> str:
        parents = f" | {', '.join(self.parents)}" if self.parents else ""
        return f"Family({self.child}{parents})"


def families_of(given: Any) -> tuple[Family, ...]:
    """Families from a list of them, or from a mapping child → parents; repeats are dropped.

    >>> families_of({"B": ["A"], "A": []})
    (Family(B | A), Family(A))
    """
    if isinstance(given, Mapping):
        given = list(given.items())
    if isinstance(given, (str, Family)):
        given = [given]
    if not isinstance(given, Iterable):
        raise InputError(f"The families must be a list of (child, [parents]), got {given!r}.")
    out: dict[tuple[str, frozenset[str]], Family] = {}
    for item in given:
        family = Family.of(item)
        out.setdefault(family.key, family)
    return tuple(out.values())
