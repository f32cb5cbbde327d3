"""A scan: one pass over the batches of a table that says what each column holds.

A column becomes codes into its different values (a category index), or floats where its first rows
are many different numbers. A column of more than `MAX_STATES` values goes on as floats if they are
numbers; of others only what the rules of inference ask is kept. Where a column began as floats and
other cells come, it is scanned again as categories, so that what it is does not depend on the order
of its rows. `infer.decide` says once what the column is, and `finish` gives its array.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import LimitError, TableError, UnknownNameError
from credo.core.progress import Report, track
from credo.core.schema import MAX_STATES, Variable
from credo.core.state_values import is_number
from credo.data.columns.cells import (
    Tokens,
    Unhashable,
    Unsupported,
    cell_key,
    cell_text,
    finder,
    not_a_number,
    not_a_state,
    unsigned,
    unusable,
)
from credo.data.columns.doubts import decimal_commas, like_numbers
from credo.data.columns.identifiers import are_row_names
from credo.data.columns.number_states import FEW_INTEGERS
from credo.data.columns.numerals import as_int
from credo.data.columns.profile import Doubt, Profile
from credo.data.columns.taking import States, count_missing, take_states
from credo.data.columns.taking_numbers import (
    EXACT,
    Numbers,
    are_floats,
    numbers_of_cells,
    take_numbers,
    whole_dates,
)
from credo.data.row_numbers import RowNumbers
from credo.data.sources.arrays import first_places
from credo.data.sources.feed import Feed
from credo.data.weights import Weights
from credo.stats.rows import code_type

__all__ = ["ColumnScan", "Scan", "scan"]

_MANY = 50  # different numbers among the first cells of a text column that is one of numbers
_HEAD = 200  # those cells
_SAMPLE = 1_000_000  # cells looked at to judge whether all values of a column differ


@dataclass(slots=True)
class Scan:
    """What a scan found: the columns, the weights of the rows kept, and how many those are."""

    columns: dict[str, ColumnScan]
    weights: list[NDArray[Any]]
    rows: int
    numbers: RowNumbers
    kept: bool
    """Whether the cells are in memory; otherwise the table was only looked at."""


def scan(
    feed: Feed,
    kinds: Mapping[str, str | None],
    tokens: Mapping[str, Tokens],
    weighting: Weights,
    limit: float = np.inf,
    report: Report | None = None,
) -> Scan:
    """One pass over the columns that `kinds` names, with what is known of each: 'discrete',
    'continuous', 'declared' by the table, or None. Cells are kept while they fit the limit.
    """
    size = (feed.rows or 0) * len(feed.names) if feed.bytes is None else feed.bytes
    numbers = RowNumbers()

    def column(name: str, guess: bool = True) -> ColumnScan:
        return ColumnScan(
            name, text=feed.text, tokens=tokens[name], kind=kinds[name], keep=found.kept,
            numbers=numbers, guess=guess,
        )  # fmt: skip

    found = Scan({}, [], 0, numbers, size <= limit)
    found.columns = {name: column(name) for name in kinds}
    _fill(found, feed, weighting, limit, report)
    again = [c.name for c in found.columns.values() if c.misjudged]
    if again:
        other = replace(found, columns={n: column(n, guess=False) for n in again}, weights=[])
        other.numbers = RowNumbers()
        _fill(other, feed, weighting, limit, report)
        found.columns |= other.columns
        found.kept = other.kept
        if not found.kept:
            for one in found.columns.values():
                one.forget()
    return found


def _fill(found: Scan, feed: Feed, weighting: Weights, limit: float, report: Report | None) -> None:
    columns, done = found.columns, 0
    names = weighting.with_column(list(columns)) or list(feed.names[:1])
    for batch in track(
        feed.read(names),
        f"reading {feed.label}",
        total=feed.rows,
        size=lambda b: len(next(iter(b.values()))),
        report=report,
    ):
        kept, weights, there = weighting.split(batch, done)
        rows = len(next(iter(batch.values())))
        found.numbers.add(done, rows, there)
        for name, column in columns.items():
            column.add(kept[name])
        if weights is not None:
            found.weights.append(weights)
        if found.kept and sum(c.nbytes for c in columns.values()) > limit:
            found.kept = False
            if feed.once:
                raise LimitError(
                    f"{feed.label} can be read only once and does not fit the memory limit.",
                    hint="Write it to a Parquet file and read that, or raise memory=.",
                )
            for column in columns.values():
                column.forget()
        done += rows
    if done == 0:
        again = "If it was read before, its rows are gone: read it into a table first."
        raise feed.without_rows(again if feed.once else "")
    if weighting.array is not None and len(weighting.array) != done:
        raise TableError(f"There are {len(weighting.array):,} weights for {done:,} rows.")
    found.rows = next(iter(columns.values())).rows if columns else done
    if (weighting.column or weighting.array is not None) and found.rows == 0:
        raise TableError("Every weight is 0, so no row is left.")


class CategoryIndex:
    """The different values of a column, numbered as the rows show them; `first` is the row of each,
    `counts` how many cells have it.

    >>> import pyarrow as pa
    >>> index = CategoryIndex()
    >>> taken = take_states(pa.array(["b", "a", "b"]), Tokens((), False))
    >>> index.add(taken, 0).tolist()[:2], index.values, index.counts.tolist()
    ([0, 1], ['b', 'a'], [2, 1])
    """

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.first: list[int] = []
        self.counts: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._codes: dict[Any, int] = {}

    def find(self, value: Any) -> int | None:
        """The code of a value, if a row has it."""
        return self._codes.get(cell_key(value))

    def put(self, value: Any, row: int) -> int:
        """The code of a value, a new one if no row had it before this one."""
        code = self._codes.setdefault(cell_key(value), len(self.values))
        if code == len(self.values):
            self.values.append(unsigned(value))
            self.first.append(row)
        return code

    def add(self, taken: States, before: int) -> NDArray[np.int64]:
        """The code of each value of a batch that follows some rows, and room for one more."""
        n = len(taken.values)
        lut = np.zeros(n + 1, dtype=np.int64)
        new = []
        for i, value in enumerate(taken.values):
            code = self.find(value)
            if code is None:
                new.append(i)
            else:
                lut[i] = code
        if new:
            at = first_places(taken.where, n)
            for i in sorted(new, key=lambda i: int(at[i])):
                if at[i] < len(taken.where):  # otherwise a dictionary lists it, and no row has it
                    lut[i] = self.put(taken.values[i], before + int(at[i]))
            grown = np.zeros(len(self.values), dtype=np.int64)
            grown[: len(self.counts)] = self.counts
            self.counts = grown
        np.add.at(self.counts, lut[:n], np.bincount(taken.where, minlength=n)[:n])
        return lut


class NumberSummary:
    """The range of a column of numbers, whether they are whole, and how many differ: all of them
    while they are few, then those of the first million cells. Of decimals it is enough that there
    are more than could be states.

    >>> seen = NumberSummary()
    >>> seen.add(np.array([2.0, 5.0, 2.0, np.nan]))
    >>> seen.low, seen.high, seen.whole, seen.distinct, seen.sampled
    (2.0, 5.0, True, 2, 3)
    """

    def __init__(self, settles: bool = True) -> None:
        self.low, self.high, self.whole = np.inf, -np.inf, True
        self.sampled = 0
        self.settled = False
        self._settles = settles
        self._few = True
        self._different: NDArray[Any] | None = None

    def add(self, values: NDArray[np.float64], exact: NDArray[Any] | None = None) -> None:
        """Numbers, NaN for none; `exact` are the same where floats cannot hold them."""
        values = values[np.isfinite(values)]
        if not len(values):
            return
        self.low = min(self.low, float(values.min()))
        self.high = max(self.high, float(values.max()))
        if self.whole:
            self.whole = not (values[:64] % 1).any() and not (values % 1).any()
        if self.settled or (self.sampled >= _SAMPLE and not self._few):
            return
        kept = values if exact is None else exact
        kept = kept if self._few else kept[: _SAMPLE - self.sampled]
        self.sampled += len(kept)
        decimals = self._settles and not self.whole
        self.settled = decimals and len(np.unique(kept[: 4 * FEW_INTEGERS])) > FEW_INTEGERS
        if not self.settled:
            self._note(_different(kept))
            self.settled = decimals and self.distinct > FEW_INTEGERS

    def _note(self, different: NDArray[Any]) -> None:
        if self._different is not None:
            different = np.unique(np.concatenate([self._different, different]))
        self._different = different
        self._few = len(different) <= MAX_STATES

    @property
    def distinct(self) -> int:
        """How many different numbers there are among those looked at."""
        if self.settled:
            return FEW_INTEGERS + 1
        return 0 if self._different is None else len(self._different)

    @property
    def few(self) -> NDArray[np.float64] | None:
        """The different numbers, where they are so few that they may be states."""
        if self.settled or self._different is None or self.distinct > FEW_INTEGERS:
            return None
        return self._different.astype(np.float64)


def _different(values: NDArray[Any]) -> NDArray[Any]:
    """The different values in their order; whole numbers close together are marked, not sorted."""
    if values.dtype.kind in "iuf" and len(values) > 1000:
        low, high = values.min(), values.max()
        if high - low < len(values) and not (values % 1).any():
            seen = np.zeros(int(high - low) + 1, dtype=bool)
            seen[(values - low).astype(np.intp)] = True
            return (np.flatnonzero(seen) + low).astype(values.dtype)
    return np.unique(values)


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
        if self._sampled < _SAMPLE:
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
        self._summary.sampled = min(self.rows - self.missing, _SAMPLE)

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
