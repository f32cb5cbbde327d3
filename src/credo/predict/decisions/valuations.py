"""Pairs of a probability and a utility, eliminated with sums and maxima; many draws at once.

    (p, u) ⊗ (q, v) = (p q, p v + u q)
    Σ_x (p, u) = (Σ_x p, Σ_x u)            a chance variable
    max_d (p, u) = (p, max_d u)            a decision: nothing before it hangs on its choice

u is the expected utility times the probability, so that nothing is divided until the end: EU = u/p.
Sums and maxima do not commute, so the order is strong: what is seen last goes first (Jensen, Jensen
& Dittmer 1994; pairs as in Lauritzen & Nilsson 2001). The order, and a tree of buckets for it, is
found from the scopes alone and kept. Every table has the draws of the parameters as its first axis,
of length 1 where they are the same for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import LimitError

__all__ = [
    "MAX_CELLS",
    "Found",
    "Outcome",
    "Step",
    "Tree",
    "Valuation",
    "columns",
    "eliminate",
    "tree_of",
]

MAX_CELLS = 50_000_000
"""A pair of tables of more cells than this is refused before it is made."""

Floats = NDArray[np.float64]
Scope = tuple[int, ...]


class Valuation(NamedTuple):
    """A table of probabilities, or of utilities (`worth`): [draws, states of the scope…]."""

    scope: Scope
    table: Floats
    worth: bool = False


class Step(NamedTuple):
    """Chance variables to sum out in any order, or one decision to choose (`best`)."""

    variables: tuple[int, ...]
    best: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is left over the variables that were kept."""

    p: Floats
    u: Floats

    @property
    def utility(self) -> Floats:
        """EU = u / p, 0 where p is 0."""
        return np.divide(self.u, self.p, out=np.zeros_like(self.u), where=self.p > 0)


class Found(NamedTuple):
    """What a run gives: pairs over what is kept, and all policies side by side [draws, cells].

    `situations` is how probable each situation of a decision is, `utilities` the expected utility
    of each choice in it.
    """

    outcome: Outcome
    rules: Floats
    situations: Floats
    utilities: Floats


class Tree:
    """A tree of buckets for some scopes (`cpp/decide`): structure alone, for any tables.

    With `full` memory the decisions are those that the steps choose, and `families` wishes for the
    order of the axes of their policies; with limited memory it says what each policy looks at.
    """

    __slots__ = ("_core", "_shape", "_spans", "families")

    families: tuple[Scope, ...]

    def __init__(
        self,
        scopes: Sequence[Scope],
        worth: Sequence[bool],
        arities: Sequence[int],
        steps: Sequence[Step],
        keep: Scope,
        families: Sequence[Scope],
        full: bool,
    ) -> None:
        core = _core.BucketTree(arities, scopes, worth, steps, keep, families, full, MAX_CELLS)
        if core.width > MAX_CELLS:
            raise LimitError(
                f"What to do would need a table of {core.width:,.0f} cells over {core.variables} "
                f"variables; at most {MAX_CELLS:,} are allowed.",
                hint='Let the decisions see less: memory="limited".',
            )
        self._core = core
        self._shape = tuple(arities[v] for v in keep)
        self.families = tuple(map(tuple, core.families))
        shapes = [tuple(arities[v] for v in f) for f in self.families]
        self._spans = [
            (slice(*cells), slice(*met), shape)
            for cells, met, shape in zip(
                pairwise(accumulate(map(prod, shapes), initial=0)),
                pairwise(accumulate((prod(s[:-1]) for s in shapes), initial=0)),
                shapes,
                strict=True,
            )
        ]

    def run(
        self,
        tables: Sequence[Floats],
        start: Sequence[Floats] = (),
        order: Sequence[int] = (),
        *,
        rules: bool = False,
        detail: bool = False,
    ) -> Found:
        """The numbers for some tables; limited memory improves the `start` policies in `order`."""
        draws = max(map(len, (*tables, *start)), default=1)
        p, u, *found = self._core.run(tables, draws, start, order, rules, detail)
        shape = (draws, *self._shape)
        return Found(Outcome(p.reshape(shape), u.reshape(shape)), *found)

    def policies(self, rules: Floats) -> list[Floats]:
        """The policy of each decision, [draws, situations…, options]."""
        return [rules[:, cells].reshape(-1, *shape) for cells, _, shape in self._spans]

    def described(self, found: Found) -> Iterable[tuple[Floats, Floats, Floats]]:
        """For each decision its policy, how probable each situation is, and EU of each choice."""
        rules, met, worth = (part[0] for part in found[1:])
        for part in (rules, met, worth):
            part.flags.writeable = False
        for cells, seen, shape in self._spans:
            yield (
                rules[cells].reshape(shape),
                met[seen].reshape(shape[:-1]),
                worth[cells].reshape(shape),
            )


@lru_cache(maxsize=256)
def tree_of(
    scopes: tuple[Scope, ...],
    worth: tuple[bool, ...],
    arities: tuple[int, ...],
    steps: tuple[Step, ...],
    keep: Scope = (),
    families: tuple[Scope, ...] = (),
    full: bool = True,
) -> Tree:
    """The tree for some scopes, made once."""
    return Tree(scopes, worth, arities, steps, keep, families, full)


def eliminate(
    valuations: Sequence[Valuation],
    arities: Sequence[int],
    steps: Sequence[Step],
    keep: Scope = (),
) -> Outcome:
    """Σ and max over all variables but those kept, in the order of the steps.

    >>> rain = Valuation((0,), np.array([[0.7, 0.3]]))
    >>> worth = Valuation((0, 1), np.array([[[20.0, 100.0], [70.0, 0.0]]]), worth=True)
    >>> eliminate([rain, worth], [2, 2], [Step((0,)), Step((1,), best=True)]).utility
    array([70.])
    """
    scopes, tables, worth = columns(valuations)
    chosen = tuple(s.variables for s in steps if s.best)
    tree = tree_of(scopes, worth, tuple(arities), tuple(steps), keep, chosen)
    return tree.run(tables).outcome


def columns(valuations: Sequence[Valuation]) -> Any:
    """The scopes, the tables and the kinds."""
    return tuple(zip(*valuations, strict=True)) if valuations else ((), (), ())
