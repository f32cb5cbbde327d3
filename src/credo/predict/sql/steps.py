"""Steps: columns that are made of columns, laid out as the fewest SELECTs, one above the other.

A column is defined once, by an expression over columns that were defined before; its step is the
first one after theirs. Each SELECT carries on what a later one still reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from credo.core.errors import LimitError
from credo.predict.sql.dialects import Dialect

__all__ = ["IMPOSSIBLE", "RULED_OUT", "Steps", "added", "any_of", "greatest"]

IMPOSSIBLE = -1e300
"""Stands for ln 0: sums of it stay finite, and engines that refuse infinities are content."""
RULED_OUT = -1e299
"""A sum below it has a factor of 0."""

_OWN = re.compile(r"\bc_\d+\b")  # the columns of the statement; user texts are in the first step


class Steps:
    """The columns of one statement, in the order they are defined.

    >>> from credo.predict.sql.dialects import DIALECTS
    >>> steps = Steps(DIALECTS["duckdb"], '"t"')
    >>> a = steps.read('"x"')
    >>> b = steps.define(f"{a} + 1")
    >>> print(steps.select([(f"{a} * {b}", "y")]))
    WITH
    s_0 AS (
      SELECT "x" AS c_0
      FROM "t"
    ),
    s_1 AS (
      SELECT c_0,
      c_0 + 1 AS c_1
      FROM s_0
    )
    SELECT c_0 * c_1 AS "y"
    FROM s_1
    """

    def __init__(self, dialect: Dialect, table: str) -> None:
        self.dialect = dialect
        self._table = table
        self._made: list[str] = []
        self._step: list[int] = []

    def read(self, expression: str) -> str:
        """A column over those of the table."""
        return self._add(expression, 0)

    def define(self, expression: str) -> str:
        """A column over columns of the statement."""
        used = [self._step[at] for at in _used(expression)]
        return self._add(expression, 1 + max(used, default=0))

    def _add(self, expression: str, step: int) -> str:
        self._made.append(expression)
        self._step.append(step)
        return f"c_{len(self._made) - 1}"

    def select(self, out: Sequence[tuple[str, str]]) -> str:
        """The statement that answers with some expressions, each with its name."""
        last = max(self._step, default=0)
        by_step: list[list[int]] = [[] for _ in range(last + 1)]
        for at, step in enumerate(self._step):
            by_step[step].append(at)
        needed = {at for expression, _ in out for at in _used(expression)}
        parts: list[str] = []
        for step in range(last, -1, -1):
            made = [at for at in by_step[step] if at in needed]
            carried = sorted(needed - set(made))
            if step == 0:
                carried = []
            limit = self.dialect.most_columns
            if limit is not None and len(made) + len(carried) > limit:
                raise LimitError(
                    f"The statement needs {len(made) + len(carried):,} columns in one SELECT; "
                    f"{self.dialect.label} takes at most {limit:,}.",
                    hint="Use another dialect, gaps='null' of a network, or fewer features.",
                )
            columns = [f"c_{at}" for at in carried]
            new = [f"{self._made[at]} AS c_{at}" for at in made]
            above = self._table if step == 0 else f"s_{step - 1}"
            # a table of which nothing is read still has its rows
            listed = ",\n  ".join(filter(None, [", ".join(columns), *new])) or "1 AS c_0"
            parts.append(f"s_{step} AS (\n  SELECT {listed}\n  FROM {above}{self.dialect.fence}\n)")
            needed -= set(made)
            if step:
                needed |= {u for at in made for u in _used(self._made[at])}
        answers = ",\n  ".join(f"{e} AS {self.dialect.name(n)}" for e, n in out)
        before = ",\n".join(reversed(parts))
        return f"WITH\n{before}\nSELECT {answers}\nFROM s_{last}"


def _used(expression: str) -> list[int]:
    return [int(found[2:]) for found in _OWN.findall(expression)]


def added(terms: Sequence[str]) -> str:
    """A sum, as deep as its logarithm: engines limit how deep an expression may be.

    >>> added(["a", "b", "c", "d"])
    '((a + b) + (c + d))'
    """
    return _folded(list(terms), "+")


def any_of(conditions: Sequence[str]) -> str:
    """Whether one of some conditions holds, in the same form."""
    return _folded([f"({c})" for c in conditions], "OR")


def all_of(conditions: Sequence[str]) -> str:
    """Whether all of some conditions hold."""
    return _folded([f"({c})" for c in conditions], "AND")


def _folded(terms: list[str], sign: str) -> str:
    while len(terms) > 1:
        pairs = [f"({a} {sign} {b})" for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[len(pairs) * 2 :]
    return terms[0]


def greatest(terms: Sequence[str]) -> str:
    """The largest of some columns without gaps."""
    return terms[0] if len(terms) == 1 else f"GREATEST({', '.join(terms)})"
