"""Rows: a table given row by row, each with the states of the parents, in any order.

BIF and DSC write `(states) numbers;` for a row, `default numbers;` for those that are not given, or
all numbers at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from credo.formats.reading import Reading
from credo.formats.scanner import Scanner, Token


def parts_of(text: str) -> list[str]:
    """Numbers or names with blanks or commas between them."""
    return text.replace(",", " ").split()


class Rows:
    """Collects the rows of one table; a default serves the rows that are not given."""

    def __init__(self, scanner: Scanner, child: str, parents: Sequence[str], at: int) -> None:
        self.scanner = scanner
        self.reading: Reading = scanner.reading
        self.child = child
        self.parents = tuple(parents)
        self.line = scanner.line(at)
        self.shape = self.reading.family(child, parents, self.line)
        self.configurations = 1
        for n in self.shape[:-1]:
            self.configurations *= n
        self._given: dict[int, int] = {}  # row → its place among the numbers
        self._at: list[int] = []
        self._parts: list[str] = []
        self._default: list[str] | None = None
        self._whole: tuple[list[str], int] | None = None

    def block(
        self,
        simple: re.Pattern[str],
        code: Callable[[str, dict[str, int], bool], int | None],
        other: Callable[[Rows, Token], None],
        separator: Callable[[], None] = lambda: None,
    ) -> None:
        """The rows up to the closing brace.

        `simple` finds the states and numbers of a usual row; `code` is that of a state among those
        of a parent, also where names may be quoted; `other` takes what is neither row nor default.
        """
        scanner = self.scanner
        scanner.expect("{", "the variables")
        while True:
            match = simple.match(scanner.text, scanner.at)
            if match is not None:
                scanner.at, at = match.end(), match.start(1)
                self._row(parts_of(match[1]), code, False, parts_of(match[2]), at)
                continue
            token = scanner.next()
            if token.is_mark("}"):
                return
            if token.is_mark("("):
                states = scanner.names(")", "the states")
                separator()
                numbers = parts_of(scanner.until(";", "a row")[0])
                self._row(states, code, True, numbers, token.at)
            elif token.is_mark("default"):
                separator()
                self.default(parts_of(scanner.until(";", "the default")[0]), token.at)
            else:
                other(self, token)

    def _row(
        self,
        states: list[str],
        code: Callable[[str, dict[str, int], bool], int | None],
        named: bool,
        parts: list[str],
        at: int,
    ) -> None:
        """A row by the states of its parents; one that a parent does not have is refused."""
        codes = []
        for parent, state in zip(self.parents, states, strict=False):
            known = self.reading.codes[parent]
            found = code(state, known, named)
            if found is None and len(states) == len(self.parents):
                line = self.scanner.line(at)
                where = f"one of {parent!r}"
                raise self.reading.unknown(line, "State", state, list(known), where)
            codes.append(found or 0)
        self.row(codes if len(states) == len(self.parents) else [0] * len(states), parts, at)

    def row(self, codes: Sequence[int], parts: list[str], at: int) -> None:
        """The numbers of one row."""
        if len(codes) != len(self.parents):
            raise self.scanner.error(
                f"A row of {self.child!r} needs a state for each of its {len(self.parents)} "
                f"parents, got {len(codes)}.",
                at,
            )
        index = 0
        for code, n in zip(codes, self.shape, strict=False):
            index = index * n + code
        self._length(parts, at)
        if self._given.setdefault(index, len(self._at)) != len(self._at):
            raise self.scanner.error(f"The table of {self.child!r} has this row twice.", at)
        self._at.append(at)
        self._parts += parts

    def _length(self, parts: list[str], at: int) -> None:
        if len(parts) != self.shape[-1]:
            raise self.scanner.error(
                f"A row of {self.child!r} needs {self.shape[-1]} numbers, got {len(parts)}.", at
            )

    def default(self, parts: list[str], at: int) -> None:
        """The numbers of every row that is not given."""
        if self._default is not None:
            raise self.scanner.error(f"The table of {self.child!r} has two defaults.", at)
        self._length(parts, at)
        self._default = [*parts]
        self._default_at = at

    def whole(self, parts: list[str], at: int) -> None:
        """All numbers at once, in the order of the format."""
        if self._whole is not None:
            raise self.scanner.error(f"There are two tables for {self.child!r}.", at)
        self.reading.check_length(self.child, parts, self.scanner.line(at))
        self._whole = parts, at

    def finish(self, *, child_fastest: bool) -> None:
        """Hand the table over, or say what is missing."""
        if self._whole is not None:
            parts, at = self._whole
            if self._given or self._default is not None:
                raise self.scanner.error(
                    f"The table of {self.child!r} is given whole and by rows.", at
                )
            line = self.scanner.line(at)
            self.reading.table_either(self.child, parts, line, child_fastest=child_fastest)
            return
        if self._default is None and len(self._given) < self.configurations:
            raise self.reading.error(self.line, self._missing())
        k = self.shape[-1]
        given = self._numbers().reshape(-1, k)
        order = np.fromiter(self._given, dtype=np.int64, count=len(self._given))
        if self._default is None:
            values = np.empty((self.configurations, k))
        else:
            default = self.reading.numbers(self._default, self.scanner.line(self._default_at))
            values = np.broadcast_to(default, (self.configurations, k)).copy()
        values[order] = given
        self.reading.fill(self.child, values, self._line_of, self._printed)

    def _numbers(self) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        try:
            return self.reading.numbers(self._parts, self.line)
        except ValueError:
            k = self.shape[-1]
            for i, at in enumerate(self._at):
                self.reading.numbers(self._parts[i * k : (i + 1) * k], self.scanner.line(at))
            raise AssertionError from None

    def _line_of(self, row: int) -> int:
        place = self._given.get(row)
        return self.scanner.line(self._default_at if place is None else self._at[place])

    def _printed(self, row: int) -> list[str]:
        place, k = self._given.get(row), self.shape[-1]
        if place is None:
            return self._default or []
        return self._parts[place * k : (place + 1) * k]

    def _missing(self) -> str:
        index = next(i for i in range(self.configurations) if i not in self._given)
        states = []
        for parent, n in reversed(list(zip(self.parents, self.shape, strict=False))):
            states.append(f"{parent}={self.reading.states[parent][index % n]}")
            index //= n
        row = f" for {', '.join(reversed(states))}" if states else ""
        return f"The table of {self.child!r} has no row{row}."
