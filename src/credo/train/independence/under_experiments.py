"""Tests on rows from experiments: on which rows two variables are compared, and what setting moves.

x ⊥ y | z is tested on the rows in which neither x nor y was set: there P(x | parents) is the same
in every experiment, so two variables that are not joined are independent given the parents of one,
whatever else was set; and an edge between them is cut in no row.

Setting a moves b exactly if a causes b. It is tested as b ⊥ a* | w, where w are the variables that
were set with a, on the rows in which a and w were set, or w alone: a* is what a was set to, or that
it was not. A number has two tests, whether b follows it where it was set and whether b differs; a
soft experiment, which does not choose the value, the second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.schema import Schema, Variable
from credo.data import Table
from credo.stats.block import Block
from credo.train.em.completed import joined
from credo.train.independence.tests import ManyTests
from credo.train.parameters.experiments import Experiments

__all__ = ["many_tests", "moved"]

Set = tuple[str, ...]
Asked = Sequence[tuple[str, str, Sequence[str]]]


def many_tests(source: Any, test: str | None = None) -> ManyTests | NeitherSet:
    """The tests of a source, of rows from experiments each on the rows in which neither was set."""
    return NeitherSet(source, test) if isinstance(source, Experiments) else ManyTests(source, test)


class NeitherSet:
    """`ManyTests`, each on the rows in which neither of its two variables was set."""

    def __init__(self, rows: Experiments, test: str | None) -> None:
        self.rows, self.test = rows, test
        self._own: dict[frozenset[Set], ManyTests | None] = {}
        self._without_rows = 0

    @property
    def undone(self) -> int:
        """Tests that were not made."""
        return self._without_rows + sum(m.undone for m in self._own.values() if m is not None)

    def p(self, asked: Asked) -> NDArray[np.float64]:
        """The p of each test; NaN where there is no row to test on."""
        out = np.full(len(asked), np.nan)
        groups: dict[frozenset[Set], list[int]] = {}
        for i, (x, y, _) in enumerate(asked):
            key = frozenset(s for s in self.rows.sets if x not in s and y not in s)
            groups.setdefault(key, []).append(i)
        for key, which in groups.items():
            if key not in self._own:
                part = self.rows.part(sorted(key)) if key else None
                self._own[key] = None if part is None else ManyTests(part, self.test)
            many = self._own[key]
            if many is None:
                self._without_rows += len(which)
            else:
                out[which] = many.p([asked[i] for i in which])
        return out


def moved(
    rows: Experiments, pairs: Iterable[tuple[str, str]], alpha: float
) -> dict[tuple[str, str], bool]:
    """Whether setting the first of a pair moves the second, where that can be told.

    >>> import credo as cr
    >>> from credo.train.parameters.experiments import experiments
    >>> told = {"a": [0, 1] * 40, "b": [0, 1] * 40, "c": [0, 0, 1, 1] * 20}
    >>> rows = experiments(cr.read({**told, "set": (["a"] * 4 + [""] * 4) * 10}), "set")
    >>> moved(rows, [("a", "b"), ("b", "a"), ("a", "c")], 0.01)
    {('a', 'b'): True, ('a', 'c'): False}
    """
    found = {pair: _least(rows, *pair) for pair in pairs}
    out = {pair: bool(p <= alpha) for pair, p in found.items() if not np.isnan(p)}
    for a, b in out:
        if out[a, b] and out.get((b, a)) and found[b, a] < found[a, b]:
            out[a, b] = False  # one of two that move each other is taken by chance: the stronger
    return out


def _least(rows: Experiments, a: str, b: str) -> float:
    """The smallest p of the tests of whether setting a moves b, times how many there are."""
    p = np.array([q for s in rows.sets if a in s and b not in s for q in _tests(rows, a, b, s)])
    p = p[~np.isnan(p)]
    return float(min(p.min() * len(p), 1.0)) if len(p) else np.nan


def _tests(rows: Experiments, a: str, b: str, together: Set) -> Iterator[float]:
    """The p of each test that the rows with one set of variables set allow."""
    given = [n for n in together if n != a]
    before = tuple(given) if tuple(given) in rows.sets else None
    cause = rows.schema[a]
    follows = not rows.soft  # it was chosen what the cause is
    if follows and (before is None or not cause.is_discrete):
        yield _p(_loaded(rows, together, [a, b, *given]), a, b, given)
    if before is not None:
        table = _beside(rows, cause, [b, *given], together, before, follows)
        yield _p(table, a, b, given)


def _p(table: Table, a: str, b: str, given: Sequence[str]) -> float:
    return float(ManyTests(table).p([(a, b, given)])[0])


def _loaded(rows: Experiments, set_: Set, names: Sequence[str]) -> Table:
    """Some columns of the rows in which one set of variables was set."""
    part = rows.part([set_])
    return part.select(names) if isinstance(part, Table) else joined(list(part.batches(names)))


def _beside(
    rows: Experiments, cause: Variable, names: list[str], together: Set, before: Set, follows: bool
) -> Table:
    """The rows of two experiments as one, the cause by what it was set to, or that it was not."""
    set_, others = (_loaded(rows, s, [cause.name, *names]) for s in (together, before))
    arity, codes = 1, np.zeros(len(set_), dtype=np.int64)
    if follows and cause.is_discrete:
        arity, codes = cause.arity, set_.codes(cause.name).astype(np.int64)
        codes[codes == arity] = arity + 1  # a cell that is missing
    whole = joined([set_.select(names), others.select(names)])
    column = np.concatenate([codes, np.full(len(others), arity)])
    as_set = Variable(cause.name, "discrete", tuple(range(arity + 1)))
    arrays = (*whole.block.arrays, column.astype(np.min_scalar_type(arity + 1)))
    return Table(Block(Schema((*whole.schema.variables, as_set)), arrays, whole.weights))
