"""The probabilities of edges and of sets of parents, as tables that print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import unknown_name
from credo.core.frozen import Frozen
from credo.core.render import Shown, View, bar, many, text_html

__all__ = ["Chance", "EdgeChance", "EdgeProbabilities", "ParentSets"]

Floats = NDArray[np.float64]


class Chance(float):
    """A probability that is a float and carries its Monte Carlo error: 0 where it is exact.

    >>> p = Chance(0.25, 0.01)
    >>> p + 0.5, p.error
    (0.75, 0.01)
    >>> print(p)
    0.250 ± 0.010
    """

    __slots__ = ("error",)
    error: float

    def __new__(cls, value: float, error: float = 0.0) -> Chance:
        out = super().__new__(cls, value)
        out.error = float(error)
        return out

    def __reduce__(self) -> Any:
        return Chance, (float(self), self.error)

    def __str__(self) -> str:
        return f"{float(self):.3f}" + (f" ± {self.error:.3f}" if self.error else "")

    def _repr_html_(self) -> str:
        return text_html(self)


class EdgeChance(NamedTuple):
    """An edge, its probability and the Monte Carlo error of that."""

    parent: str
    child: str
    p: float
    error: float


@dataclass(frozen=True, eq=False)
class EdgeProbabilities(Shown, Frozen, Mapping[tuple[str, str], Chance]):
    """The probability of every edge (parent, child), most probable first.

    >>> import credo as cr
    >>> edges = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"])).edges
    >>> {edge: round(p, 3) for edge, p in edges.items()}
    {('Pneu', 'Cou'): 0.334, ('Cou', 'Pneu'): 0.334}
    >>> [(e.parent, e.child, round(e.p, 3), e.error) for e in edges.rows][0]
    ('Pneu', 'Cou', 0.334, 0.0)
    """

    names: tuple[str, ...]
    p: Floats
    """[parent, child]"""
    error: Floats
    title: str = ""
    note: str = ""

    @property
    def rows(self) -> list[EdgeChance]:
        """Every edge with its probability and error, most probable first."""
        n = len(self.names)
        order = np.argsort(-np.round(self.p, 12), axis=None, kind="stable")
        pairs = [divmod(int(i), n) for i in order]
        return [
            EdgeChance(self.names[a], self.names[b], float(self.p[a, b]), float(self.error[a, b]))
            for a, b in pairs
            if a != b
        ]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((e.parent, e.child) for e in self.rows)

    def __getitem__(self, edge: tuple[str, str]) -> Chance:
        a, b = (self._place(name) for name in edge)
        return Chance(float(self.p[a, b]), float(self.error[a, b]))

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise unknown_name("Variable", name, self.names, "in the posterior")
        return self.names.index(name)

    def __len__(self) -> int:
        return len(self.names) * (len(self.names) - 1)

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain data, for JSON and data frames.

        >>> import credo as cr
        >>> cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"])).edges.to_dict()[0]["parent"]
        'Pneu'
        """
        return [e._asdict() for e in self.rows]

    def __repr__(self) -> str:
        return f"EdgeProbabilities({many(len(self), 'edge')})"

    def _view(self) -> View:
        every = self.rows
        shown = [e for e in every if e.p >= 0.01][:60]
        sampled = bool(self.error.any())
        rows = [
            [f"{e.parent} → {e.child}", f"{e.p:.3f}", *([f"{e.error:.3f}"] * sampled), bar(e.p, 10)]
            for e in shown
        ]
        head = ["edge", "p", *(["± error"] * sampled), ""]
        rest = len(self) - len(shown)
        low = max((e.p for e in every[len(shown) :]), default=0.0)
        note = f"{many(rest, 'edge')} more, each below {max(low, 1e-3):.1g}" if rest else ""
        note = "\n".join(filter(None, [note, self.note]))
        return View(self.title, head, rows, (1, 2) if sampled else (1,), note)


@dataclass(frozen=True, eq=False)
class ParentSets(Shown, Frozen):
    """The sets of parents of one variable, or its Markov blankets, with their probability.

    >>> import credo as cr
    >>> found = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"])).parents("Cou")
    >>> {names: round(p, 3) for names, p in found.items()}
    {(): 0.666, ('Pneu',): 0.334}
    """

    of: str
    sets: tuple[tuple[str, ...], ...]
    p: tuple[float, ...]
    error: tuple[float, ...]
    what: str = "parents"

    def items(self) -> Iterator[tuple[tuple[str, ...], float]]:
        """Pairs of a set and its probability, the most probable first."""
        return zip(self.sets, self.p, strict=True)

    def __len__(self) -> int:
        return len(self.sets)

    def __getitem__(self, names: Sequence[str]) -> Chance:
        wanted = {names} if isinstance(names, str) else set(names)
        for found, p, error in zip(self.sets, self.p, self.error, strict=True):
            if set(found) == wanted:
                return Chance(p, error)
        return Chance(0.0)

    def __repr__(self) -> str:
        return f"ParentSets({self.what} of {self.of}: {many(len(self), 'set')})"

    def _view(self) -> View:
        rows = [
            [", ".join(s) or "none", str(Chance(p, e)), bar(p, 10)]
            for s, p, e in list(zip(self.sets, self.p, self.error, strict=True))[:12]
        ]
        rest = max(1.0 - sum(self.p[:12]), 0.0)
        note = f"all others together {rest:.3f}" if rest > 5e-4 else ""
        return View(f"{self.what} of {self.of}", ["set", "p", ""], rows, (1,), note)
