"""One column of a scan: codes into its different values, or floats, and its profile.

A column of more than `MAX_STATES` values goes on as floats if they are numbers; of others only what
the rules of inference ask is kept. `finish` gives the column as a variable has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import TableError, UnknownNameError
from credo.core.schema import MAX_STATES, Variable
from credo.core.state_values import is_number
from credo.data.columns.cells import (
    Tokens,
    Unhashable,
    Unsupported,
    cell_text,
    finder,
    not_a_number,
    not_a_state,
    unusable,
)
from credo.data.columns.doubts import decimal_commas, like_numbers
from credo.data.columns.identifiers import FEW_INTEGERS, are_row_names
from credo.data.columns.numerals import as_int
from credo.data.columns.profile import SAMPLE, CategoryIndex, Doubt, NumberSummary, Profile
from credo.data.columns.taking import States, count_missing, take_states
from credo.data.columns.taking_numbers import (
    EXACT,
    Numbers,
    are_floats,
    numbers_of_cells,
    take_numbers,
    whole_dates,
)
from credo.data.weights import RowNumbers
from credo.stats.rows import code_type

_MANY = 50  # different numbers among the first cells of a text column that is one of numbers
_HEAD = 200  # those cells


class ColumnScan:
    """One column of a scan: codes or floats, and its profile.

    `text` says that cells are raw text, which has a type only when all of it is known; `kind` is
    what is known of the column before. Without a `guess` it begins as categories.

    >>> import pyarrow as pa
    >>> column = ColumnScan("x")
    >>> column.add(pa.array(["b", None, "a"]))
    >>> column.profile().values, column.profile().missing
    (('b', 'a'), 1)
    >>> column.finish(Variable("x", "discrete", ("a", "b"))).tolist()
    [1, 2, 0]
    """

    def __init__(
        self,
        name: str,
        *,
        text: bool = False,
        tokens: Tokens | None = None,
        kind: str | None = None,
        keep: bool = True,
        numbers: RowNumbers | None = None,
        guess: bool = True,
    ) -> None:
        self.name, self.text, self.kind, self.keep = name, text, kind, keep
        self.rows = self.missing = 0
        self.misjudged = False
        """Whether it was taken for numbers, and is to be scanned again as categories."""
        self.index = CategoryIndex()
        self._tokens = tokens or Tokens((), text)
        self._numbered = numbers
        self._guesses = guess and kind is None
        self._guessed = False
        self._mode = "floats" if kind == "continuous" else "codes"
        self._parts: list[NDArray[Any]] = []
        self._types: set[str] = set()
        self._missing_as: dict[str, int] = {}
        self._doubts: list[Doubt] = []
        self._bad = 0
        self._exact = True  # whether numbers are the floats that they are kept as
        self._summary = NumberSummary(not are_row_names(name))
        self._texts: set[str] = set()  # of a column that can have no states
        self._before = self._sampled = 0

    # --- taking cells in ------------------------------------------------------------------

    def add(self, cells: Any) -> None:
        """Take one batch: an Arrow array, or a NumPy array of Python objects."""
        self._before, self.rows = self.rows, self.rows + len(cells)
        if self.misjudged:
            return
        if self._guesses and not self.index.values and self._mode == "codes":
            self._guessed = self._many_numbers(cells)
            if self._guessed:
                self._to_floats()
        try:
            if self._mode == "floats":
                self._add_floats(cells)
            elif self.kind is not None or not self._are_many_dates(cells):
                as_states = self.kind in ("discrete", "declared")
                self._add_states(take_states(cells, self._tokens, as_states))
        except Unsupported as error:
            self._refuse(error)
            self._types.add(str(error))
            self.missing += count_missing(cells)
            self._let_go()

    def _refuse(self, error: Unsupported) -> None:
        """Refuse cells that can be nothing, where the user says what the column is."""
        if self.kind is None or self.kind == "declared":
            return
        if isinstance(error, Unhashable):
            what = "is not a number" if self.kind == "continuous" else "cannot be a state"
            raise TableError(
                f"Row {self._row(self._before + error.index):,} of column {self.name!r} holds "
                f"{error.cell!r}, which {what}.",
                hint=f"Leave the column out with schema={{{self.name!r}: 'drop'}}.",
            ) from None
        raise unusable(self.name, str(error), self.kind) from None

    def _many_numbers(self, cells: Any) -> bool:
        """Whether a batch is of floats, or of texts that begin with many different numbers."""
        if not self.text:
            return are_floats(cells)
        head = cells[:_HEAD].unique()
        if len(head) <= _MANY:
            return False
        taken = take_numbers(head, self._tokens)
        return not len(taken.bad) and len(np.unique(taken.values[~np.isnan(taken.values)])) > _MANY

    def _add_floats(self, cells: Any) -> None:
        undecided = self.kind is None and not self.text
        if self._guessed and not self.text and not are_floats(cells):
            self.misjudged = True
        else:
            taken = take_numbers(cells, self._tokens, undecided, asked=self.kind == "continuous")
            if self._guessed and self.text:
                self.misjudged = bool(len(taken.bad)) or (taken.whole and _largest(taken) >= EXACT)
                whole = taken.whole and "float" not in self._types
                taken.types = {"int"} if whole else {"float"}
                self._types -= set() if whole else {"int"}
        if self.misjudged:
            self._parts.clear()
            return
        self._count_missing(taken)
        for i in taken.bad[: 3 - len(self._doubts)].tolist():
            why = "is not finite" if np.isinf(taken.values[i]) else "is not a number"
            self._doubts.append(Doubt(self._row(self._before + i), taken.shown(i), why))
        if len(taken.bad):
            self._types.add("infinite" if np.isinf(taken.values[taken.bad]).any() else "str")
            taken.values[taken.bad] = np.nan
            self._bad += len(taken.bad)
        self._exact = self._exact and taken.as_floats
        self._summary.add(taken.values, taken.exact)
        if self.keep:
            self._parts.append(taken.values)

    def _add_states(self, taken: States) -> None:
        self._count_missing(taken)
        if self._mode == "text":
            self._note_texts(taken.values, len(taken.where) - taken.missing)
            return
        lut = self.index.add(taken, self._before)
        if self.keep:
            size = code_type(len(self.index.values))
            lut[-1] = np.iinfo(size).max  # the largest code of a part stands for missing
            out = np.empty(len(taken.where), dtype=size)
            _core.take_codes(taken.where, lut.astype(size), out)
            self._parts.append(out)
        if len(self.index.values) > MAX_STATES and self.kind != "discrete":
            self._overflow()

    def _count_missing(self, taken: States | Numbers) -> None:
        self._types |= taken.types
        self.missing += taken.missing
        for token, n in taken.missing_as.items():
            self._missing_as[token] = self._missing_as.get(token, 0) + n

    def _are_many_dates(self, cells: Any) -> bool:
        """Note dates too many to be states, without a Python value for each."""
        dates = None if self.index.values or self._tokens else whole_dates(cells)
        if dates is None or (self._mode == "codes" and len(np.unique(dates)) <= MAX_STATES):
            return False
        self._types.add("date")
        self.missing += len(cells) - len(dates)
        self._let_go()
        self._note_texts(np.unique(dates).tolist(), len(dates))
        return True

    def _note_texts(self, values: Sequence[Any], cells: int) -> None:
        if self._sampled < SAMPLE:
            self._texts.update(map(str, values))
            self._sampled += cells

    # --- too many values to be states ------------------------------------------------------

    def _overflow(self) -> None:
        """Numbers go on as floats, texts are let go. So are numbers that the table calls
        categories: nobody said that they are quantities.
        """
        values = self.index.values
        bad = np.flatnonzero(np.isnan(self._state_numbers()))
        half = 2 * len(bad) <= len(values) and self.kind != "declared"
        if half and (not len(bad) or 2 * self._number_cells() > self.rows - self.missing):
            for i in bad[:3].tolist():
                row = self._row(self.index.first[i])
                self._doubts.append(Doubt(row, cell_text(values[i]), "is not a number"))
            self._bad = int(self.index.counts[bad].sum())
            self._to_floats()
            self._types |= {"str"} if len(bad) else set()
            return
        if self.text and self.kind is None and decimal_commas(values):
            self._types.add("decimal comma")
        self._note_texts(values, self.rows - self.missing)
        self._let_go()

    def _let_go(self) -> None:
        self._parts.clear()
        self._mode = "text"

    def _state_numbers(self, asked: bool = False) -> NDArray[np.float64]:
        """The different values as numbers, NaN where they are none."""
        return numbers_of_cells(self.index.values, self.text, self._types, asked)

    def _number_cells(self) -> int:
        """How many cells are numbers, or look as if they were meant to be."""
        if self._mode == "floats":
            return self.rows - self.missing - self._bad
        values = self.index.values
        like = like_numbers(values) if self.text else np.array([*map(is_number, values)], bool)
        return int(self.index.counts[like].sum())

    def _to_floats(self, asked: bool = False) -> None:
        values = self.index.values
        lut = self._state_numbers(asked)
        self._mode = "floats"
        for i, part in enumerate(self._parts):
            out = np.full(len(part), np.nan)
            seen = part != np.iinfo(part.dtype).max
            out[seen] = lut[part[seen]]
            self._parts[i] = out
        if not values:
            return
        if self.text:
            self._types.discard("str")
            whole = all(as_int(s.strip()) is not None for s in values)
            self._types.add("int" if whole else "float")
        whole = not self.text and self._types == {"int"}
        self._summary.add(lut, np.array(values, dtype=object) if whole else None)
        self._summary.sampled = min(self.rows - self.missing, SAMPLE)

    def _to_codes(self) -> None:
        """Floats become categories after all, where they are few."""
        few = self._summary.few
        if few is None or self._doubts or not self._exact:
            return
        self._mode = "codes"
        for value in few.tolist():
            self.index.put(value, 0)
        size = code_type(len(few))
        codes = np.append(np.arange(len(few)), np.iinfo(size).max).astype(size)
        parts = [codes[np.searchsorted(few, part)] for part in self._parts]  # NaN is past the last
        cells = sum(
            (np.bincount(p[p < len(few)], minlength=len(few)) for p in parts),
            np.zeros(len(few), dtype=np.int64),
        )
        self.index.counts, self._parts = cells, parts

    @property
    def nbytes(self) -> int:
        """The memory of the cells kept so far."""
        return sum(p.nbytes for p in self._parts)

    def forget(self) -> None:
        """Let the cells go, and keep none from now on: there is no room for them."""
        self._parts.clear()
        self.keep = False

    # --- what was seen --------------------------------------------------------------------

    @property
    def values(self) -> list[Any]:
        """The different cells of a column of categories."""
        return self.index.values

    def profile(self) -> Profile:
        """What the rules of inference need to know of the column."""
        if self._mode == "floats" and self.kind is None:
            self._to_codes()
        values, seen = self.index.values, self._summary
        coded = self._mode == "codes"
        self._note_infinite()
        if coded and self.kind is None and not self.text and self._are_quantities():
            coded = False
            seen = NumberSummary(not are_row_names(self.name))
            seen.add(self._state_numbers())
            seen.sampled = self.rows - self.missing
        texts = [s for s in values[:1000] if isinstance(s, str)]
        if coded:
            distinct, sampled = len(values), self.rows - self.missing
        elif self._mode == "text":
            distinct, sampled = len(self._texts), self._sampled
        else:
            distinct, sampled = seen.distinct, seen.sampled
            sampled = self.rows - self.missing if seen.settled else sampled
        return Profile(
            name=self.name,
            rows=self.rows,
            missing=self.missing,
            missing_as=dict(sorted(self._missing_as.items(), key=lambda w: (-w[1], w[0]))),
            types=frozenset(self._types),
            text=self.text,
            values=tuple(values) if coded else None,
            distinct=distinct,
            sampled=sampled,
            low=seen.low,
            high=seen.high,
            whole=not coded and self._mode != "text" and seen.whole,
            words=sum(len(t.split()) for t in texts) / max(len(texts), 1),
            doubts=tuple(self._doubts),
            numbers=self._number_cells,
            first_row=self._first_row,
        )

    def _note_infinite(self) -> None:
        """Note an infinite one among numbers of several types."""
        if self._mode == "codes" and not self.text and self._types <= {"int", "float"}:
            for value in self.index.values:
                if value in (math.inf, -math.inf):
                    row = self._first_row(value) or 0
                    self._doubts.append(Doubt(row, cell_text(value), "is not finite"))
                    self._types.add("infinite")
                    return

    def _are_quantities(self) -> bool:
        """Whether categories are numbers with decimals among them, too many to be states."""
        decimals = "float" in self._types and self._types <= {"int", "float"}
        return decimals and len(self.index.values) > FEW_INTEGERS

    def _row(self, kept: int) -> int:
        """The number of a row as a person counts it."""
        return self._numbered.of(kept) if self._numbered else kept + 1

    def _first_row(self, value: Any) -> int | None:
        """The row in which a value first stands, as far as it can be told."""
        code = self.index.find(value)
        return None if code is None else self._row(self.index.first[code])

    # --- giving cells out -----------------------------------------------------------------

    def check(self, variable: Variable) -> None:
        """Refuse a variable that the cells do not fit, naming the row."""
        if variable.is_discrete:
            self._codes_for(variable)
            return
        if self._mode == "codes":
            for i in np.flatnonzero(~np.isfinite(self._state_numbers(asked=True)))[:1].tolist():
                value = self.index.values[i]
                raise not_a_number(self.name, value, self._first_row(value))
        for doubt in self._doubts:
            raise not_a_number(self.name, doubt.cell, doubt.row, doubt.why)
        if self._mode == "text":
            raise TableError(f"The cells of column {self.name!r} are not numbers.")

    def finish(self, variable: Variable) -> NDArray[Any]:
        """The column as the variable's codes (the arity for missing) or floats (NaN)."""
        if variable.is_discrete:
            return _recoded(self._parts, self._codes_for(variable), variable.arity)
        self.check(variable)
        if self._mode == "codes":
            self._to_floats(asked=True)
        return np.concatenate(self._parts) if self._parts else np.zeros(0)

    def _codes_for(self, variable: Variable) -> NDArray[Any]:
        """The code of each value, as a state of the variable."""
        if self._mode != "codes":
            raise TableError(
                f"Column {self.name!r} has more than {MAX_STATES:,} different values, "
                "or cells that cannot be states.",
                hint=f"Read it with schema={{{self.name!r}: 'continuous'}} or 'drop'.",
            )
        find: Callable[[Any], int] = finder(variable, self.text)
        lut = np.empty(len(self.index.values), dtype=code_type(variable.arity))
        for i, value in enumerate(self.index.values):
            try:
                lut[i] = find(value)
            except UnknownNameError as error:
                raise not_a_state(variable, value, self._first_row(value), error) from None
        return lut


def _largest(taken: Numbers) -> float:
    """The largest number of a batch, its sign aside; 0 if there is none."""
    return float(np.abs(taken.values[~np.isnan(taken.values)]).max(initial=0.0))


def _recoded(parts: Sequence[NDArray[Any]], lut: NDArray[Any], missing: int) -> NDArray[Any]:
    """All cells, each by what the table has for its code.

    >>> _recoded([np.uint8([1, 0, 255])], np.uint8([7, 5]), 9).tolist()
    [5, 7, 9]
    """
    out = np.empty(sum(map(len, parts)), dtype=lut.dtype)
    done = 0
    for part in parts:
        full = np.full(int(part.max(initial=0)) + 1, missing, dtype=lut.dtype)
        full[: len(lut)] = lut[: len(full)]
        if len(full) > np.iinfo(part.dtype).max:
            full[-1] = missing
        _core.take_codes(part, full, out[done : done + len(part)])
        done += len(part)
    return out
