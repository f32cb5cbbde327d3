"""FCI: what tests of independence say of causes when common causes may be hidden.

1. Pairs that some set makes independent lose their edge: sets of neighbours first, then sets of
   possible d-separators, since hidden causes may need nodes further away.
2. Unshielded triples a *–* b *–* c whose separating set lacks b are colliders.
3. The rules R1 to R10 turn every other mark that all graphs of the class share.

(Spirtes, Meek & Richardson 1999; rules and their completeness: Zhang 2008.)

Of rows from experiments the tests take those in which nothing was set: rows of different
experiments together may depend where rows of each do not, and a hidden cause may leave no set that
mends it. What the experiments say is marks: what a moves has a for a cause, what it leaves alone
has not, whatever is hidden.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.model.causal.pag import Pag
from credo.train.independence.tests import ManyTests
from credo.train.independence.under_experiments import moved
from credo.train.parameters.experiments import Experiments
from credo.train.structure.fci_rules import ARROW, CIRCLE, TAIL, Marks, oriented
from credo.train.structure.searching import time_limit

__all__ = ["fci", "learn_pag"]

Question = tuple[int, int, tuple[int, ...]]
Independent = Callable[[Sequence[Question]], Sequence[bool] | None]  # None: no time is left
Moved = Callable[[Sequence[tuple[int, int]]], Mapping[tuple[int, int], bool]]
Separators = dict[tuple[int, int], tuple[int, ...]]


def learn_pag(source: Any, options: Mapping[str, Any], score: Any, start: Any) -> Pag:
    """The graph of a table by tests; of `options` test, alpha, max_condition, seconds.

    >>> import credo as cr
    >>> print(cr.learn(cr.examples.pneumonia(), search="fci", alpha=0.05))
    Pal, Fev, Cou, HWB, Pneu
    """
    options = {**options, "score": score, "start": start}
    given = {k: v for k, v in options.items() if v is not None and not _is_empty(v)}
    for name in given:
        if name not in ("test", "alpha", "max_condition", "seconds", "rng", "threads"):
            raise InputError(
                f"The search 'fci' goes by tests alone: {name}= does not go with it.",
                hint="It has test=, alpha=, max_condition= and seconds=.",
            )
    alpha = options.get("alpha", 0.01)
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float)) or not 0 < alpha < 1:
        raise InputError(f"alpha must be between 0 and 1, got {alpha!r}.")
    most = options.get("max_condition")
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
        raise InputError(f"max_condition must be a whole number, 0 or more, got {most!r}.")
    names = source.schema.names
    rows = source.observed if isinstance(source, Experiments) else source
    if rows is None:
        raise InputError(
            "The search 'fci' tests rows in which nothing was set, and there are none.",
            hint="Use a search by a score, such as search='order'.",
        )
    many = ManyTests(rows, options.get("test"))
    limit, began = time_limit(options.get("seconds")), time.monotonic()

    def late() -> bool:
        return limit is not None and time.monotonic() - began > limit

    def independent(asked: Sequence[Question]) -> list[bool] | None:
        if late():
            return None
        p = many.p([(names[i], names[j], [names[v] for v in z]) for i, j, z in asked])
        return [bool(x > alpha) for x in p]

    def told(pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], bool]:
        if not isinstance(source, Experiments):
            return {}
        named = {(names[i], names[j]): (i, j) for i, j in pairs}
        return {named[pair]: is_ for pair, is_ in moved(source, named, alpha).items()}

    found = fci(names, independent, most, told)
    notes = [] if most is None else [f"sets of more than {most} variables were not tried"]
    if late():
        notes.append(f"the budget of {limit:g} s was spent: edges that no test took away are left")
    if many.undone:
        notes.append(f"{many.undone:,} tests were not made and took no edge away")
    return replace(found, notes=tuple(notes))


def _is_empty(value: Any) -> bool:
    return isinstance(value, (list, tuple, dict, set)) and not value


def fci(
    names: Sequence[str], independent: Independent, most: int | None = None,
    moved: Moved = lambda pairs: {},
) -> Pag:  # fmt: skip
    """The partial ancestral graph of what is independent given what.

    `moved` says of pairs that are joined whether setting the first moves the second, where it is
    known.
    """
    n = len(names)
    most = n if most is None else most
    near = ~np.eye(n, dtype=bool)
    separators: Separators = {}
    for depth in range(most + 1):
        fixed = near.copy()  # neighbours as they were at the start of the level
        pairs = [(i, j) for i, j in combinations(range(n), 2) if near[i, j]]
        tried = _thin(near, separators, independent, {p: _around(fixed, *p, depth) for p in pairs})
        if not tried:
            break
    marks = _colliders(near, separators)
    far = [_possible_d_separators(marks, i) for i in range(n)]
    pairs = [(i, j) for i, j in combinations(range(n), 2) if near[i, j]]
    _thin(near, separators, independent, {p: _further(far, *p, most) for p in pairs})
    told: dict[tuple[int, int], str] = {}
    marks = _colliders(near, separators, names, told)
    for (a, b), moves in moved([(int(a), int(b)) for a, b in np.argwhere(near)]).items():
        leaves = "moves" if moves else "does not move"
        why = f"setting {names[a]} {leaves} {names[b]}"
        marks[b, a], told[b, a] = TAIL if moves else ARROW, why
        if moves:
            marks[a, b], told[a, b] = ARROW, why
    between = {frozenset(pair): set(z) for pair, z in separators.items()}
    oriented(marks, between, told, names)
    sign = {1: "o", 2: ">", 3: "-"}
    edges = [
        (names[i], names[j], sign[int(marks[j, i])], sign[int(marks[i, j])])
        for i, j in combinations(range(n), 2)
        if near[i, j]
    ]
    edges = [(b, a, y, x) if (x, y) in ((">", "-"), (">", "o")) else (a, b, x, y)
             for a, b, x, y in edges]  # fmt: skip
    reasons = {(names[i], names[j]): text for (i, j), text in told.items()}
    sets = {frozenset((names[i], names[j])): tuple(names[v] for v in z)
            for (i, j), z in separators.items()}  # fmt: skip
    return Pag(tuple(names), tuple(edges), reasons, sets)


def _thin(
    near: Any, separators: Separators, independent: Independent,
    waiting: dict[tuple[int, int], Iterator[tuple[int, ...]]],
) -> int:  # fmt: skip
    """Take out the pairs that one of their sets makes independent; how many tests were made."""
    tests = 0
    while waiting:
        asked: list[Question] = []
        for pair, sets in list(waiting.items()):
            z = next(sets, None)
            if z is None:
                del waiting[pair]
            else:
                asked.append((*pair, z))
        found = independent(asked) if asked else ()
        if found is None:
            break
        tests += len(asked)
        for (i, j, z), holds in zip(asked, found, strict=True):
            if holds:
                near[i, j] = near[j, i] = False
                separators[i, j] = z
                del waiting[i, j]
    return tests


def _around(near: Any, i: int, j: int, size: int) -> Iterator[tuple[int, ...]]:
    """Sets of the neighbours of i, then of j, each once."""
    seen = set()
    for of, other in ((i, j), (j, i)):
        for z in combinations([int(v) for v in np.flatnonzero(near[of]) if v != other], size):
            if z not in seen:
                seen.add(z)
                yield z


def _further(far: Sequence[set[int]], i: int, j: int, most: int) -> Iterator[tuple[int, ...]]:
    """Sets of the possible d-separators of i, then of j, the small ones first."""
    seen = set()
    for size in range(most + 1):
        for of in (i, j):
            for z in combinations(sorted(far[of] - {i, j}), size):
                if z not in seen:
                    seen.add(z)
                    yield z


def _colliders(
    near: Any, separators: Separators, names: Sequence[str] = (),
    told: dict[tuple[int, int], str] | None = None,
) -> Marks:  # fmt: skip
    """Circles everywhere but at the unshielded colliders; marks[a, b] is the mark at b."""
    marks: Marks = np.where(near, CIRCLE, 0).astype(np.int8)
    for b in range(len(near)):
        for a, c in combinations(np.flatnonzero(near[b]).tolist(), 2):
            if not near[a, c] and b not in separators[min(a, c), max(a, c)]:
                for end in (a, c):
                    marks[end, b] = ARROW
                    if told is not None:
                        told.setdefault(
                            (end, b),
                            f"R0: {names[b]} is not in what makes {names[a]} and {names[c]} "
                            "independent",
                        )
    return marks


def _possible_d_separators(marks: Marks, x: int) -> set[int]:
    """Nodes on paths from x of which every inner node is a collider or in a triangle."""
    found: set[int] = set()
    line = [(x, int(v)) for v in np.flatnonzero(marks[x])]
    seen = set(line)
    while line:
        a, b = line.pop()
        found.add(b)
        for c in np.flatnonzero(marks[b]).tolist():
            collider = marks[a, b] == ARROW and marks[c, b] == ARROW
            if c not in (a, x) and (b, c) not in seen and (collider or marks[a, c]):
                seen.add((b, c))
                line.append((b, c))
    return found - {x}
