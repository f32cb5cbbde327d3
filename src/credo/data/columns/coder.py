"""A coder: the cells of one column, batch after batch, kept small while it is not yet known
what the column is.

Cells are kept as codes into the values met so far (one byte each while there are few). A
column that passes `MAX_STATES` different values is kept as numbers if its values are numbers,
and not at all if they are text, or categories that the table declares. When the column's variable
has been decided, `finish` turns what was kept into the variable's codes or floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import TableError, UnknownNameError
from credo.core.interval_states import cuts_of, interval_codes
from credo.core.schema import MAX_STATES, Variable
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
from credo.data.columns.few_numbers import are_few, few_floats
from credo.data.columns.identifiers import FEW_INTEGERS, are_row_names
from credo.data.columns.kept_codes import counted, first_place, recoded
from credo.data.columns.met import Met
from credo.data.columns.noted import MANY, SAMPLE, Noted
from credo.data.columns.numerals import as_int
from credo.data.columns.profile import Doubt, Profile
from credo.data.columns.taking import States, count_missing, holds_floats, holds_others, take_states
from credo.data.columns.taking_numbers import (
    Numbers,
    are_floats,
    is_float,
    numbers_of_cells,
    take_numbers,
    whole_dates,
)
from credo.data.weights import RowNumbers
from credo.stats.rows import code_type

__all__ = ["Batch", "Coder"]

Batch = tuple[NDArray[Any], NDArray[np.int64]] | NDArray[np.float64]
"""The cells taken last: where each stands among the batch's values, and the code of each value
(missing cells stand past the last); or numbers, NaN where missing."""


class Coder:
    """Collects one column. `text` says that cells are raw text, typed only at the end; `kind` is
    the user's word for the column, or 'declared' where the table says that it has categories.
    """

    def __init__(
        self,
        name: str,
        *,
        text: bool = False,
        missing: Tokens | None = None,
        kind: str | None = None,
        keep: bool = True,
        numbers: RowNumbers | None = None,
    ) -> None:
        self.name = name
        self.text = text
        self.kind = kind
        self.keep = keep
        self.rows = 0
        self.missing = 0
        self.missing_as: dict[str, int] = {}
        self.doubts: list[Doubt] = []
        self.types: set[str] = set()
        self.batch: Batch | None = None
        self._before = 0
        self._numbered = numbers
        self._tokens = missing or Tokens((), text)
        self._met = Met()
        self._parts: list[NDArray[Any]] = []
        self._cells = np.zeros(0, dtype=np.int64)  # of each state, where codes are not kept
        self._numbers = 0
        self._as_floats = True  # whether numbers are the floats that they were kept as
        self._many = False  # whether it is known that numbers are not few
        self._mode = "numbers" if kind == "continuous" else "codes"
        self._noted = Noted()
        self._words = 0.0

    @property
    def states(self) -> list[Any]:
        """The different cells met so far."""
        return self._met.states

    @property
    def values(self) -> list[Any]:
        """The same."""
        return self._met.states

    # --- taking cells in ------------------------------------------------------------------

    def add(self, cells: Any) -> None:
        """Take one batch: an Arrow array, or a NumPy array of Python objects."""
        self._begin(cells)
        if self.kind is None and self._mode != "numbers" and self._noted_dates(cells):
            return
        undecided = self.kind is None and not self.text
        if undecided:
            self._choose(cells)
        try:
            if self._mode == "numbers":
                asked = self.kind == "continuous"
                self._add_numbers(take_numbers(cells, self._tokens, undecided, asked))
            else:
                as_states = self.kind in ("discrete", "declared")
                self._add_states(take_states(cells, self._tokens, as_states))
                if self._may_be_either and len(self.states) > MANY:
                    self._to_numbers()
        except Unsupported as error:
            told = self.kind if self.kind != "declared" else None
            if isinstance(error, Unhashable) and told is not None:
                what = "is not a number" if told == "continuous" else "cannot be a state"
                raise TableError(
                    f"Row {self._row(error.index):,} of column {self.name!r} holds "
                    f"{error.cell!r}, which {what}.",
                    hint=f"Leave the column out with schema={{{self.name!r}: 'drop'}}.",
                ) from None
            if told is not None:
                raise unusable(self.name, str(error), told) from None
            self.types.add(str(error))
            self.missing += count_missing(cells)
            self._let_go()

    def _begin(self, cells: Any) -> None:
        self.batch = None
        self._before = self.rows
        self.rows += len(cells)

    def _noted_dates(self, cells: Any) -> bool:
        """Note a batch of many different dates, which are no states unless the user says so."""
        dates = None if self.states or self._tokens else whole_dates(cells)
        if dates is None or (self._mode == "codes" and len(np.unique(dates[: 4 * MANY])) <= MANY):
            return False
        self.types.add("date")
        self.missing += len(cells) - len(dates)
        self._let_go()
        self._noted.numbers(dates.astype(np.float64), dates)
        return True

    def _count_missing(self, taken: States | Numbers) -> None:
        self.types |= taken.types
        self.missing += taken.missing
        for token, n in taken.missing_as.items():
            self.missing_as[token] = self.missing_as.get(token, 0) + n

    def _add_states(self, taken: States) -> None:
        self._count_missing(taken)
        if self._mode == "text":
            self._noted.texts(taken.values, len(taken.where) - taken.missing)
            return
        n = len(taken.values)
        lut = self._met.codes(taken, self._before, self.keep)
        self.batch = (taken.where, lut)
        if not self.text:
            self._numbers += taken.numbers
        elif not self.keep:
            self._cells = self._cells_by_state()
            np.add.at(self._cells, lut[:n], np.bincount(taken.where, minlength=n)[:n])
        if self.keep:
            size = code_type(len(self.states))
            lut[n] = np.iinfo(size).max
            out = np.empty(len(taken.where), dtype=size)
            _core.take_codes(taken.where, lut.astype(size), out)
            self._parts.append(out)
        if len(self.states) > MAX_STATES and self.kind != "discrete":
            self._overflow()

    def _cells_by_state(self) -> NDArray[np.int64]:
        """How many cells of a text file have each state."""
        cells = counted(self._parts, len(self.states))
        cells[: len(self._cells)] += self._cells
        return cells

    def _number_cells(self) -> int:
        """How many cells are numbers, or look as if they were meant to be."""
        if not self.text or self._mode == "numbers":
            return self._numbers
        return int(self._cells_by_state()[like_numbers(self.states)].sum())

    def _add_numbers(self, taken: Numbers) -> None:
        self._count_missing(taken)
        for i in taken.bad[: 3 - len(self.doubts)]:
            infinite = np.isinf(taken.values[i])
            why = "is not finite" if infinite else "is not a number"
            self.doubts.append(Doubt(self._row(int(i)), taken.shown(int(i)), why))
        if len(taken.bad):
            self.types.add("infinite" if np.isinf(taken.values[taken.bad]).any() else "str")
            taken.values[taken.bad] = np.nan
        self._numbers += len(taken.values) - taken.missing - len(taken.bad)
        self._as_floats = self._as_floats and taken.as_floats
        self._noted.numbers(taken.values, taken.exact)
        self.batch = taken.values
        if self.keep:
            self._parts.append(taken.values)

    # --- changing one's mind --------------------------------------------------------------

    def _overflow(self) -> None:
        """Too many values to be states: numbers stay as numbers, texts are let go. So are numbers
        that the table calls categories: nobody said that they are quantities.
        """
        if self.kind == "declared":
            self._noted.texts(self.states, self.rows - self.missing)
            self._let_go()
            return
        bad = np.flatnonzero(np.isnan(self.state_numbers()))
        half = 2 * len(bad) <= len(self.states)
        if half and (not len(bad) or 2 * self._number_cells() > self.rows - self.missing):
            for i in bad[:3]:
                row = self._first_row(self.states[i]) or 0
                self.doubts.append(Doubt(row, cell_text(self.states[i]), "is not a number"))
            self._to_numbers()
            if len(bad):
                self.types.add("str")
            return
        if self.text and decimal_commas(self.states):
            self.types.add("decimal comma")
        self._measure_words()
        self._noted.texts(self.states, self.rows - self.missing)
        self._let_go()

    def _let_go(self) -> None:
        """Keep no cells of this column any more."""
        self._parts.clear()
        self._mode = "text"

    def state_numbers(self, asked: bool = False) -> NDArray[np.float64]:
        """The states as numbers, NaN where they are none."""
        return numbers_of_cells(self.states, self.text, self.types, asked)

    def _to_numbers(self, asked: bool = False) -> None:
        lut = self.state_numbers(asked)
        numbers = self.text and not np.isnan(lut).any()
        self._numbers = self.rows - self.missing if numbers else self._number_cells()
        parts, self._parts = self._parts, []
        self._mode = "numbers"
        for part in parts:
            out = np.full(len(part), np.nan)
            seen = part != np.iinfo(part.dtype).max
            out[seen] = lut[part[seen]]
            self._parts.append(out)
        if self.text and self.states:
            self.types.discard("str")
            whole = all(as_int(s.strip()) is not None for s in self.states)
            self.types.add("int" if whole else "float")
        exact = None
        self._as_floats = self._as_floats and all(map(is_float, self.states))
        if not self.text and self.types == {"int"}:
            exact = np.array(self.states, dtype=object)
        self._noted.numbers(lut, exact)
        self._noted.cells = min(self.rows - self.missing, SAMPLE)

    @property
    def _may_be_either(self) -> bool:
        """Whether codes are of numbers that are quantities, unless texts come."""
        if self.kind is not None or self.text or self._mode != "codes":
            return False
        return "float" in self.types and self.types <= {"int", "float"}

    def _choose(self, cells: Any) -> None:
        """Floats are kept as such at once; other numbers beside decimals stay states while they are
        few, and so do floats when other cells come.
        """
        floats = are_floats(cells)
        if self._mode == "numbers":
            if not floats or holds_others(cells):
                self._to_codes()
        elif self.types <= {"int", "float"} and holds_floats(cells):
            alone = floats and not self.states
            if alone or len(self.states) > MANY or not are_few(cells):
                self._to_numbers()
                self._noted.cells = min(self._before - self.missing, SAMPLE)  # these are to come

    def _to_codes(self, most: int = MANY) -> None:
        """Numbers that were taken for quantities become states again, where they are few: other
        cells come now, or the last has come, and what a column is must not depend on which came
        first.
        """
        if self.doubts or self._noted.settled or self._many or not self._as_floats:
            return
        if not self.keep and self._noted.cells < self._before - self.missing:
            return
        values = few_floats(
            self._parts if self.keep else [self._noted.different().astype(float)], most
        )
        if values is None:
            self._many = True
            return
        self._mode = "codes"
        codes = np.empty(len(values) + 1, dtype=np.int64)
        for i, value in enumerate(values.tolist()):
            codes[i] = self._met.add(value)
        size = code_type(len(self.states))
        codes[-1] = np.iinfo(size).max
        for i, part in enumerate(self._parts):
            at = np.searchsorted(values, part)  # NaN, for missing, is past the last
            self._parts[i] = codes.astype(size)[at]

    def _measure_words(self) -> None:
        texts = [s for s in self.states[:1000] if isinstance(s, str)]
        self._words = sum(len(t.split()) for t in texts) / max(len(texts), 1)

    @property
    def nbytes(self) -> int:
        """The memory of the cells kept so far."""
        return sum(p.nbytes for p in self._parts)

    def forget(self) -> None:
        """Let the cells go, and keep none from now on: there is no room for them."""
        if self._mode == "codes" and self.text:
            self._cells = self._cells_by_state()
        self._parts.clear()
        self.keep = False

    # --- what was seen --------------------------------------------------------------------

    def profile(self) -> Profile:
        """What the rules of inference need to know of the column."""
        if self._mode == "numbers" and self.kind is None:
            self._before = self.rows
            self._to_codes(FEW_INTEGERS)
        coded = self._mode == "codes" and (
            not self._may_be_either or len(self.states) <= FEW_INTEGERS
        )
        noted = self._noted
        if self._may_be_either:
            noted = Noted()
            noted.numbers(self.state_numbers())
        if coded:
            self._measure_words()
            distinct, sampled = len(self.states), self.rows - self.missing
        elif self._mode != "text" and not noted.whole and not are_row_names(self.name):
            distinct, sampled = FEW_INTEGERS + 1, self.rows - self.missing  # many: that is enough
        else:
            distinct, sampled = noted.distinct(), noted.cells
        return Profile(
            name=self.name,
            rows=self.rows,
            missing=self.missing,
            missing_as=dict(sorted(self.missing_as.items(), key=lambda word: (-word[1], word[0]))),
            types=frozenset(self.types),
            text=self.text,
            values=tuple(self.states) if coded else None,
            distinct=distinct,
            sampled=sampled,
            low=noted.low,
            high=noted.high,
            whole=not coded and self._mode != "text" and noted.whole,
            words=self._words,
            doubts=tuple(self.doubts),
            numbers=self._number_cells,
            first_row=self._first_row,
        )

    def _row(self, index: int) -> int:
        """The number of a row of this batch as a person counts it."""
        kept = self._before + index
        return self._numbered.of(kept) if self._numbered else kept + 1

    def _first_row(self, value: Any) -> int | None:
        """The row in which a value first stands, as far as it can be told."""
        code = self._met.find(value)
        if code is None:
            return None
        kept = self._met.first.get(code)
        if kept is None and self._mode == "codes":
            kept = first_place(self._parts, code)
        return None if kept is None else self._row(kept - self._before)

    # --- giving cells out -----------------------------------------------------------------

    def check(self, variable: Variable) -> None:
        """Refuse a variable that the cells do not fit, naming the row."""
        if variable.is_discrete and not self._is_cut(variable):
            self.codes_for(variable)
            return
        if self._mode == "codes":
            for i in np.flatnonzero(~np.isfinite(self.state_numbers(asked=True)))[:1]:
                raise not_a_number(self.name, self.states[i], self._first_row(self.states[i]))
        for doubt in self.doubts:
            raise not_a_number(self.name, doubt.cell, doubt.row, doubt.why)
        if self._mode == "text":
            raise TableError(f"The cells of column {self.name!r} are not numbers.")

    def finish(self, variable: Variable) -> NDArray[Any]:
        """The column as the variable's codes (the arity for missing) or floats (NaN)."""
        if variable.is_discrete:
            return self._finish_codes(variable)
        self.check(variable)
        if self._mode == "codes":
            self._to_numbers(asked=True)
        return self.numbers()

    def codes_for(self, variable: Variable) -> NDArray[Any]:
        """The code of each value met, as a state of the variable."""
        if self._mode != "codes":
            raise TableError(
                f"Column {self.name!r} has more than {MAX_STATES:,} different values, "
                "or cells that cannot be states.",
                hint=f"Read it with schema={{{self.name!r}: 'continuous'}} or 'drop'.",
            )
        find = finder(variable, self.text)
        lut = np.empty(len(self.states), dtype=code_type(variable.arity))
        for i, value in enumerate(self.states):
            try:
                lut[i] = find(value)
            except UnknownNameError as error:
                raise not_a_state(variable, value, self._first_row(value), error) from None
        return lut

    def cells(self) -> NDArray[Any]:
        """The cells kept, each as the number of its value among `states`, missing ones after."""
        many = len(self.states)
        return recoded(self._parts, np.arange(many, dtype=code_type(many)), many)

    def numbers(self) -> NDArray[np.float64]:
        """The cells kept as numbers, NaN where one is missing or is none."""
        return np.concatenate(self._parts) if self._parts else np.zeros(0)

    @property
    def holds_codes(self) -> bool:
        """Whether cells are kept as codes of their values (otherwise as numbers, or not)."""
        return self._mode == "codes"

    @property
    def holds_numbers(self) -> bool:
        """Whether cells are kept as numbers."""
        return self._mode == "numbers"

    def different(self) -> NDArray[Any]:
        """The different numbers of a column kept as numbers, as far as they were looked at."""
        return self._noted.different()

    def _is_cut(self, variable: Variable) -> bool:
        """Whether the cells are numbers, too many to be listed, and the states are intervals."""
        return self._mode == "numbers" and cuts_of(variable.states) is not None

    def _finish_codes(self, variable: Variable) -> NDArray[Any]:
        if self._is_cut(variable):
            self.check(variable)
            codes = interval_codes(self.numbers(), cuts_of(variable.states) or ())
            return codes.astype(code_type(variable.arity))
        return recoded(self._parts, self.codes_for(variable), variable.arity)
