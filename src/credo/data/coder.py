"""A coder: the cells of one column, batch after batch, kept small while it is not yet known
what the column is.

Cells are kept as codes into the values met so far (one byte each while there are few). A
column that passes `MAX_STATES` different values is kept as numbers if its values are numbers,
and not at all if they are text. When the column's variable has been decided, `finish` turns
what was kept into the variable's codes or floats.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from credo import _core
from credo.data.arrays import floats, int32s
from credo.data.cells import (
    Tokens,
    cell_key,
    finder,
    is_scalar,
    not_a_state,
    number_of,
    numbers,
    objects_of,
    type_name,
)
from credo.data.numerals import as_int, numbers_of, parse_floats
from credo.data.profile import Doubt, Profile
from credo.errors import TableError, UnknownNameError
from credo.schema import MAX_STATES, Variable
from credo.stats.rows import code_type

__all__ = ["Coder"]

_SAMPLE = 1_000_000  # values looked at to judge whether a column's values are all different
_MISSING = -1


class Coder:
    """Collects one column. `text` says that cells are raw text, typed only at the end."""

    def __init__(
        self,
        name: str,
        *,
        text: bool = False,
        missing: Collection[Any] = (),
        kind: str | None = None,
        keep: bool = True,
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
        self.states: list[Any] = []
        self._before = 0
        self._tokens = Tokens(missing, text)
        self._codes_of: dict[Any, int] = {}
        self._parts: list[NDArray[Any]] = []
        self._mode = "numbers" if self.kind == "continuous" and text else "codes"
        self._low, self._high = np.inf, -np.inf
        self._sample: list[NDArray[Any]] = []
        self._sampled = 0
        self._words = 0
        self._cells = 0

    # --- taking cells in ------------------------------------------------------------------

    def add(self, cells: Any) -> None:
        """Take one batch: an Arrow array, or a NumPy array of Python objects."""
        self._before = self.rows
        self.rows += len(cells)
        if isinstance(cells, np.ndarray):
            self._add_objects(cells)
        else:
            self._add_arrow(cells)

    def _add_arrow(self, cells: Any) -> None:
        kind = cells.type
        if pa.types.is_dictionary(kind):
            if pa.types.is_floating(kind.value_type):
                self._add_arrow(cells.dictionary_decode())
            else:
                self._add_dictionary(cells.indices, cells.dictionary)
        elif pa.types.is_null(kind):
            self._add_missing(len(cells))
        elif pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            self.types.add("float")
            self._add_floats(floats(cells))
        elif is_scalar(kind):
            if self._mode == "numbers" and not self.text:
                self._add_floats(self._as_floats(cells))
            elif self._mode == "numbers":
                self._add_number_texts(cells)
            elif self._mode == "text":
                self._add_prose(cells)
            elif self.kind == "continuous" and pa.types.is_temporal(kind):
                self.types.add("date")
                self._mode = "numbers"
                self._add_floats(self._as_floats(cells))
            else:
                encoded = pc.dictionary_encode(cells)
                self._add_dictionary(encoded.indices, encoded.dictionary)
        else:
            self.types.add(f"unsupported {kind}")
            self._mode = "text"
            self.missing += cells.null_count

    def _add_dictionary(self, indices: Any, dictionary: Any) -> None:
        """Map a batch's own dictionary to the codes of the whole column."""
        if self._mode != "codes":
            self._add_arrow(dictionary.take(indices))
            return
        self.types.add(type_name(dictionary.type))
        if indices.null_count:
            self.missing += indices.null_count
            indices = pc.fill_null(indices, len(dictionary))
        self._add_values(dictionary.to_pylist(), int32s(indices))

    def _add_objects(self, cells: NDArray[Any]) -> None:
        """Cells of mixed Python types, each kept as it is."""
        values, where, types = objects_of(cells, self.name, self._before)
        self.types |= types
        self.missing += int((where == len(values)).sum())
        if self._mode == "codes":
            self._add_values(values, where)
        elif self._mode == "numbers":
            self.missing -= int((where == len(values)).sum())
            self._add_floats(np.array([*map(number_of, values), np.nan])[where])

    def _add_values(self, values: list[Any], where: NDArray[np.int32]) -> None:
        """A batch as `values` and positions in it; the position past the end is missing."""
        n = len(values)
        lut = np.empty(n + 1, dtype=np.int64)
        lut[n] = _MISSING
        for i, value in enumerate(values):
            if value is None or value in self._tokens:
                lut[i] = _MISSING
                self._count_token(value, int((where == i).sum()))
            else:
                code = self._codes_of.setdefault(cell_key(value), len(self.states))
                if code == len(self.states):
                    self.states.append(value)
                lut[i] = code
        if self.keep:
            size = code_type(len(self.states))
            lut[lut == _MISSING] = np.iinfo(size).max
            out = np.empty(len(where), dtype=size)
            _core.take_codes(where, lut.astype(size), out)
            self._parts.append(out)
        if len(self.states) > MAX_STATES and self.kind != "discrete":
            self._overflow()

    def _count_token(self, value: Any, n: int) -> None:
        self.missing += n
        if value is not None and n:
            token = str(value).strip() if self.text else str(value)
            self.missing_as[token] = self.missing_as.get(token, 0) + n

    def _add_missing(self, n: int) -> None:
        self.missing += n
        if self.keep and self._mode == "codes":
            size = code_type(len(self.states))
            self._parts.append(np.full(n, np.iinfo(size).max, dtype=size))
        elif self.keep and self._mode == "numbers":
            self._parts.append(np.full(n, np.nan))

    def _add_floats(self, values: NDArray[np.float64]) -> None:
        """Numbers. Missing is NaN; infinities are doubtful cells."""
        if self._mode == "codes":
            if self.kind == "discrete":
                encoded = pc.dictionary_encode(pa.array(values, from_pandas=True))
                self._add_dictionary(encoded.indices, encoded.dictionary)
                return
            self._to_numbers()
        if not self.text:
            for token, n in self._tokens.clear_numbers(values):
                self.missing_as[token] = self.missing_as.get(token, 0) + n
        gone = np.isnan(values)
        self.missing += int(gone.sum())
        infinite = np.flatnonzero(np.isinf(values))
        for i in infinite[:3]:
            self._doubt(int(i), str(values[i]), "is not finite")
        if len(infinite):
            self.types.add("infinite")
        good = values[np.isfinite(values)] if gone.any() or len(infinite) else values
        self._note_numbers(good)
        if self.keep:
            self._parts.append(values)

    def _add_number_texts(self, cells: Any) -> None:
        """Raw text of a column that holds numbers; a cell that is none is a doubt."""
        trimmed, found = self._tokens.clear_texts(cells)
        for token, n in found:
            self.missing_as[token] = self.missing_as.get(token, 0) + n
        values, bad = parse_floats(trimmed)
        for i in bad[:3]:
            self._doubt(int(i), cells[int(i)].as_py(), "is not a number")
        if len(bad):
            self.types.add("str")
            values[bad] = np.nan
        self.types.add("float")
        self.missing += int(np.isnan(values).sum()) - len(bad)
        self._note_numbers(values[~np.isnan(values)])
        if self.keep:
            self._parts.append(values)

    def _add_prose(self, cells: Any) -> None:
        """A column of too many texts: nothing is kept but what the report needs."""
        self.missing += cells.null_count
        if self._sampled < _SAMPLE and pa.types.is_string(cells.type):
            kept = cells.drop_null()[: _SAMPLE - self._sampled]
            self._sample.append(np.asarray(pc.unique(kept).to_pylist(), dtype=object))
            self._sampled += len(kept)

    # --- changing one's mind --------------------------------------------------------------

    def _overflow(self) -> None:
        """Too many values to be states: numbers stay as numbers, texts are let go."""
        bad = np.flatnonzero(np.isnan(self._numbers()))
        if 2 * len(bad) <= len(self.states):
            for i in bad[:3]:
                row = self._first_row(self.states[i]) or 0
                self.doubts.append(Doubt(row, str(self.states[i]), "is not a number"))
            self._to_numbers()
            if len(bad):
                self.types.add("str")
            return
        self._sample = [np.asarray(self.states, dtype=object)]
        self._sampled = self.rows - self.missing
        self._measure_words()
        self._parts.clear()
        self._mode = "text"

    def _numbers(self) -> NDArray[np.float64]:
        """The states as numbers, NaN where they are none."""
        if self.text:
            return numbers_of(self.states)
        if "str" in self.types and self.kind != "continuous":
            return np.full(len(self.states), np.nan)  # a frame's texts are texts
        return np.array([number_of(s) for s in self.states], dtype=np.float64)

    def _to_numbers(self) -> None:
        lut = self._numbers()
        parts, self._parts = self._parts, []
        self._mode = "numbers"
        for part in parts:
            out = np.full(len(part), np.nan)
            seen = part != np.iinfo(part.dtype).max
            out[seen] = lut[part[seen]]
            self._parts.append(out)
        good = lut[np.isfinite(lut)]
        if len(good):
            self._note_numbers(good)
            self._sampled = min(self.rows - self.missing, _SAMPLE)
        if self.text and self.states:
            self.types.discard("str")
            whole = all(as_int(s.strip()) is not None for s in self.states)
            self.types.add("int" if whole else "float")

    def _as_floats(self, cells: Any) -> NDArray[np.float64]:
        if pa.types.is_temporal(cells.type):
            self.types.add("date")
        return numbers(cells)

    def _note_numbers(self, values: NDArray[np.float64]) -> None:
        if len(values):
            self._low = min(self._low, float(values.min()))
            self._high = max(self._high, float(values.max()))
            if self._sampled < _SAMPLE:
                kept = values[: _SAMPLE - self._sampled]
                self._sample.append(np.unique(kept))
                self._sampled += len(kept)

    def _doubt(self, index: int, cell: str, why: str) -> None:
        if len(self.doubts) < 3:
            self.doubts.append(Doubt(self._row(index), cell, why))

    def _row(self, index: int) -> int:
        """The number of a row as a person counts it: the first row of data is row 1."""
        return self._before + index + 1

    def _measure_words(self) -> None:
        texts = [s for s in self.states[:1000] if isinstance(s, str)]
        self._words = sum(len(t.split()) for t in texts)
        self._cells = len(texts)

    @property
    def nbytes(self) -> int:
        """The memory of the cells kept so far."""
        return sum(p.nbytes for p in self._parts)

    def forget(self) -> None:
        """Let the cells go, and keep none from now on: there is no room for them."""
        self._parts.clear()
        self.keep = False

    # --- what was seen --------------------------------------------------------------------

    def profile(self) -> Profile:
        """What the rules of inference need to know of the column."""
        if self._mode == "codes":
            self._measure_words()
            return Profile(
                name=self.name,
                rows=self.rows,
                missing=self.missing,
                missing_as=self.missing_as,
                types=frozenset(self.types),
                text=self.text,
                values=tuple(self.states),
                distinct=len(self.states),
                sampled=self.rows - self.missing,
                words=self._words / max(self._cells, 1),
                doubts=tuple(self.doubts),
                first_row=self._first_row,
            )
        sample = np.concatenate(self._sample) if self._sample else np.zeros(0)
        distinct = len(set(sample.tolist())) if self._mode == "text" else len(np.unique(sample))
        return Profile(
            name=self.name,
            rows=self.rows,
            missing=self.missing,
            missing_as=self.missing_as,
            types=frozenset(self.types),
            text=self.text,
            values=None,
            distinct=distinct,
            sampled=self._sampled,
            low=self._low,
            high=self._high,
            whole=bool(len(sample)) and self._mode == "numbers" and bool((sample % 1 == 0).all()),
            words=self._words / max(self._cells, 1),
            doubts=tuple(self.doubts),
            first_row=self._first_row,
        )

    def _first_row(self, value: Any) -> int | None:
        """The row in which a value first stands, when the codes were kept."""
        code = self._codes_of.get(cell_key(value))
        done = 0
        for part in self._parts if self._mode == "codes" else ():
            hit = part == code
            if hit.any():
                return done + int(hit.argmax()) + 1
            done += len(part)
        return None

    # --- giving cells out -----------------------------------------------------------------

    def finish(self, variable: Variable) -> NDArray[Any]:
        """The column as the variable's codes (the arity for missing) or floats (NaN)."""
        if variable.is_discrete:
            return self._finish_codes(variable)
        if self._mode == "codes":
            self._check_numbers()
            self._to_numbers()
        if self.doubts:
            doubt = self.doubts[0]
            raise TableError(
                f"Row {doubt.row} of column {self.name!r} holds {doubt.cell!r}, which {doubt.why}.",
                hint="Mend the cell, or name it in missing= to take it as missing.",
            )
        return np.concatenate(self._parts) if self._parts else np.zeros(0)

    def _check_numbers(self) -> None:
        for i in np.flatnonzero(~np.isfinite(self._numbers()))[:1]:
            state = self.states[i]
            row = self._first_row(state)
            where = f"Row {row} of column" if row else "Column"
            raise TableError(
                f"{where} {self.name!r} holds {state!r}, which is not a number.",
                hint="Mend the cell, or name it in missing= to take it as missing.",
            )

    def _finish_codes(self, variable: Variable) -> NDArray[Any]:
        size = code_type(variable.arity)
        if self._mode != "codes":
            raise TableError(
                f"Column {self.name!r} has more than {MAX_STATES:,} different values, "
                "too many to be states.",
                hint=f"Read it with schema={{{self.name!r}: 'continuous'}} or 'drop'.",
            )
        find = finder(variable, self.text)
        lut = np.empty(len(self.states), dtype=size)
        for i, value in enumerate(self.states):
            try:
                lut[i] = find(value)
            except UnknownNameError as error:
                raise not_a_state(variable, value, self._first_row(value), error) from None
        out = np.empty(self.rows, dtype=size)
        done = 0
        for part in self._parts:
            # the largest code of a part's type stands for missing, any other for a state
            full = np.full(int(part.max(initial=0)) + 1, variable.arity, dtype=size)
            full[: len(lut)] = lut[: len(full)]
            if len(full) > np.iinfo(part.dtype).max:
                full[-1] = variable.arity
            _core.take_codes(part, full, out[done : done + len(part)])
            done += len(part)
        return out
