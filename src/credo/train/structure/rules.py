"""Rules: what a structure may look like before any row is seen.

Required and forbidden edges, tiers (no edge from a later tier to an earlier one), the most
parents, a white list of candidate parents. Every search obeys them; rules that contradict each
other are refused with the edge that shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.schema import Schema
from credo.model.graphs.dag import Dag
from credo.model.networks.count_table import counts
from credo.model.values.reals import shown

__all__ = ["Rules"]

Edge = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Rules:
    """What a search may do, over variables by number: arrays are [child, parent]."""

    schema: Schema
    allowed: NDArray[np.uint8]
    required: NDArray[np.uint8]
    most: tuple[int, ...]

    @classmethod
    def of(
        cls,
        schema: Schema,
        *,
        required: Any = (),
        forbidden: Any = (),
        tiers: Any = (),
        max_parents: Any = None,
        candidates: Any = None,
    ) -> Rules:
        """The rules in names, checked."""
        names = schema.names
        at = {n: i for i, n in enumerate(names)}
        n = len(names)
        allowed = np.ones((n, n), dtype=np.uint8)
        np.fill_diagonal(allowed, 0)
        why: dict[Edge, str] = {}

        def forbid(parent: str, child: str, reason: str) -> None:
            allowed[at[child], at[parent]] = 0
            why.setdefault((parent, child), reason)

        continuous = schema.continuous
        for v in schema.variables if continuous else ():
            for p in continuous if v.is_discrete else ():
                forbid(p, v.name, "a discrete variable cannot have a continuous parent")
        for counted in (v.name for v in schema.variables if counts(v)):
            for other in names:
                if other != counted:
                    forbid(counted, other, f"{counted!r} counts, so it is the parent of none")
        for child, parents in _candidates(candidates, schema):
            for other in names:
                if other not in parents and other != child:
                    forbid(other, child, f"candidates= does not list {other!r} for {child!r}")
        level = _tiers(tiers, schema)
        for a in level:
            for b in level:
                if level[a] > level[b]:
                    forbid(a, b, f"{a!r} is in a later tier than {b!r}")
        for a, b in _edges(forbidden, schema, "forbidden"):
            forbid(a, b, "it is forbidden")
        needed = np.zeros((n, n), dtype=np.uint8)
        wanted = _edges(required, schema, "required")
        Dag(wanted, names)  # refuses a cycle, spelled out
        for a, b in wanted:
            if not allowed[at[b], at[a]]:
                raise InputError(f"The required edge {a} → {b} is not allowed: {why[a, b]}.")
            needed[at[b], at[a]] = 1
            allowed[at[a], at[b]] = 0
        most = _most(max_parents, schema)
        for i, name in enumerate(names):
            if needed[i].sum() > most[i]:
                raise InputError(
                    f"{name!r} has {int(needed[i].sum())} required parents; max_parents allows "
                    f"{most[i]}."
                )
        return cls(schema, allowed, needed, most)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The variables in the order of their numbers."""
        return self.schema.names

    @property
    def needed(self) -> list[list[int]]:
        """The required parents of each variable."""
        out: list[list[int]] = [[] for _ in self.names]
        for child, parent in zip(*np.nonzero(self.required), strict=True):
            out[int(child)].append(int(parent))
        return out

    @property
    def free(self) -> bool:
        """Whether there are no rules but those of the kinds and of acyclicity."""
        n = len(self.names)
        return bool(self.allowed.sum() == n * (n - 1)) and min(self.most) >= n - 1

    @property
    def arguments(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8], list[int]]:
        """As the native searches take them."""
        return self.allowed, self.required, list(self.most)

    def start(self, dag: Dag | None) -> list[list[int]]:
        """The parents a search starts from: a graph within the rules, or the required edges."""
        if dag is None:
            return self.needed
        at = {n: self.schema.index(n, "The start's node") for n in dag.nodes}
        parents: list[list[int]] = [[] for _ in self.names]
        for a, b in dag.edges:
            if not self.allowed[at[b], at[a]]:
                raise InputError(f"The start has the edge {a} → {b}, which the rules do not allow.")
            parents[at[b]].append(at[a])
        for child, row in enumerate(self.required):
            for parent in np.flatnonzero(row):
                if int(parent) not in parents[child]:
                    a, b = self.names[int(parent)], self.names[child]
                    raise InputError(f"The start lacks the required edge {a} → {b}.")
            if len(parents[child]) > self.most[child]:
                raise InputError(
                    f"The start gives {self.names[child]!r} {len(parents[child])} parents; "
                    f"max_parents allows {self.most[child]}."
                )
        return [sorted(p) for p in parents]


def _known(name: Any, schema: Schema) -> str:
    """A name of the table; one that is not there, or was set aside, is refused."""
    return schema.variables[schema.index(name)].name


def _edges(given: Any, schema: Schema, what: str) -> list[Edge]:
    if isinstance(given, Dag):
        given = given.edges
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{what}= must be a list of edges (parent, child), got {shown(given)}.")
    out = []
    for edge in given:
        if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 2:
            raise InputError(f"{what}= must hold edges (parent, child), got {shown(edge)}.")
        a, b = (_known(n, schema) for n in edge)
        if a == b:
            raise InputError(f"{what}= has an edge from {a!r} to itself.")
        out.append((a, b))
    return list(dict.fromkeys(out))


def _tiers(given: Any, schema: Schema) -> dict[str, int]:
    """The tier of each variable that is in one; the others are free."""
    if given is None:
        return {}
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"tiers= must be a list of lists of names, got {shown(given)}.")
    level: dict[str, int] = {}
    for i, tier in enumerate(given):
        for name in [tier] if isinstance(tier, str) else tier:
            if _known(name, schema) in level:
                raise InputError(f"{name!r} is in two tiers.")
            level[name] = i
    return level


def _candidates(given: Any, schema: Schema) -> list[tuple[str, set[str]]]:
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise InputError(
            f"candidates= must map a child to a list of possible parents, got {shown(given)}."
        )
    out = []
    for child, parents in given.items():
        listed = [parents] if isinstance(parents, str) else parents
        if child in listed:
            raise InputError(f"candidates= lists {child!r} as a parent of itself.")
        out.append((_known(child, schema), {_known(p, schema) for p in listed}))
    return out


def _most(given: Any, schema: Schema) -> tuple[int, ...]:
    names = schema.names
    free = max(len(names) - 1, 0)
    by_name = given if isinstance(given, Mapping) else dict.fromkeys(names, given)
    for name in by_name:
        _known(name, schema)
    out = []
    for name in names:
        k = by_name.get(name)
        if k is None:
            out.append(free)
        elif isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 0:
            raise InputError(f"max_parents must be a whole number, 0 or more, got {shown(k)}.")
        else:
            out.append(min(int(k), free))
    return tuple(out)
