"""Nodes by name, whatever joins them: names stay outside; inside, a node is its position."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from credo.core.errors import InputError, unknown_name
from credo.model.graphs.refusals import three_sets

__all__ = ["Edge", "Names", "Nodes"]

Edge = tuple[str, str]
Names = str | Iterable[str]


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Nodes:
    """Nodes and edges; two graphs of a kind are equal when these are, whatever the order."""

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    _index: dict[str, int]

    def __reduce__(self) -> tuple[type[Nodes], tuple[object, ...]]:
        return type(self), (self.edges, self.nodes)

    def _key(self) -> tuple[Any, ...]:
        return frozenset(self.nodes), frozenset(self.edges)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Nodes)
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        return node in self._index

    def _at(self, node: str) -> int:
        try:
            return self._index[node]
        except (KeyError, TypeError):
            raise unknown_name("Node", node, self.nodes, "in the graph") from None

    def _all_at(self, names: Names) -> list[int]:
        """The positions of one name or of several."""
        if isinstance(names, str):
            return [self._at(names)]
        try:
            given = list(names)
        except TypeError:
            raise InputError(f"A name or a list of names is needed, got {names!r}.") from None
        return [self._at(n) for n in dict.fromkeys(given)]

    def _named(self, positions: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.nodes[i] for i in positions)

    def _three(self, *sets: Names) -> Any:
        """The positions of three sets of names, which must not overlap."""
        return three_sets(self.nodes, [self._all_at(names) for names in sets])
