"""Cells: which are the same, which stand for missing, which state one is."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from credo.core.errors import InputError, TableError, UnknownNameError, shown
from credo.core.schema import Variable
from credo.core.state_values import is_missing, is_number, state_key
from credo.data.columns.numerals import as_bool, as_int, as_number, looks_like_date
from credo.data.columns.written import MISSING


class Unsupported(Exception):
    """A batch of a type that can be neither states nor numbers; the column is set aside."""


class Unhashable(Unsupported):
    """A cell that is a list, a dict or the like, at a position of its batch."""

    def __init__(self, index: int, cell: Any) -> None:
        super().__init__("unsupported lists or dicts")
        self.index = index
        self.cell = cell


def cell_key(value: Any) -> tuple[str, Any]:
    """True, 1 and 1.0 are equal and hash alike in Python, but True is another cell.

    >>> cell_key(True) == cell_key(1), cell_key(1) == cell_key(1.0)
    (False, True)
    """
    if type(value) is str:  # as most are
        return "", value
    truth, plain = state_key(value)
    return "bool" if truth else "", plain


def unsigned(value: Any) -> Any:
    """A value as a state: -0.0 and 0.0 are one, whichever comes first.

    >>> unsigned(-0.0), unsigned(-1.5), unsigned("-0.0")
    (0.0, -1.5, '-0.0')
    """
    return 0.0 if type(value) is float and value == 0 else value


class Tokens:
    """What the user takes as missing besides null. In text, blanks around a token are ignored,
    and a number or a boolean stands for every way to write it. Cells that have types are tokens
    that they equal: the text "1" is not the number 1.

    >>> "NA " in Tokens(["NA", -9], text=True), "-9.0" in Tokens([-9], text=True)
    (True, True)
    >>> "TRUE" in Tokens([True], text=True), 1 in Tokens([True, "1"], text=False)
    (True, False)
    """

    def __init__(self, given: Collection[Any], text: bool) -> None:
        self.text = text
        plain = [t.item() if isinstance(t, np.generic) else t for t in given]
        try:
            self._keys = {cell_key(_written(t) if text else t) for t in plain}
        except TypeError:
            raise InputError(f"missing= must be a list of single cells, got {given!r}.") from None
        self._numbers = [number_of(t) for t in plain if is_number(t)]
        self._truths = [_written(t) for t in plain if isinstance(t, bool)]
        self._plain = plain

    def __bool__(self) -> bool:
        return bool(self._plain)

    def __contains__(self, value: Any) -> bool:
        if not self._keys:
            return False
        if isinstance(value, (Decimal, Fraction)):
            return number_of(value) in self._numbers
        if not isinstance(value, str):
            return cell_key(value) in self._keys
        stripped = value.strip() if self.text else value
        if cell_key(stripped) in self._keys:
            return True
        if self.text and self._truths and stripped.casefold() in self._truths:
            return True
        return self.text and bool(self._numbers) and as_number(stripped) in self._numbers

    def beside(self, states: Collection[Any]) -> Tokens:
        """The same beside states that somebody has named: a usual word that is one of them is no
        token there. Words that the user gave are tokens everywhere.

        >>> "NA" in Tokens(MISSING, text=True).beside(["NA", "EU"])
        False
        """
        if not self.text or tuple(self._plain) != MISSING:
            return self
        named = {s.strip() for s in states if isinstance(s, str)}
        left = [t for t in MISSING if t not in named]
        return self if len(left) == len(MISSING) else Tokens(left, self.text)

    def among(self, values: Sequence[Any]) -> list[int]:
        """Where tokens stand, and cells that are missing anyway.

        >>> Tokens(["NA"], text=True).among(["a", " NA", "b"])
        [1]
        """
        if self.text and not (self._numbers or self._truths):  # as it mostly is
            return [i for i, v in enumerate(values) if v is None or v.strip() in self._words]
        return [i for i, v in enumerate(values) if is_missing(v) or v in self]

    def shown(self, value: Any) -> str:
        """A token as the report names it."""
        return str(value).strip() if self.text else str(value)

    def clear_numbers(self, values: NDArray[np.float64]) -> dict[str, int]:
        """Make the tokens among some numbers NaN, in place; say which, and how many."""
        found = {}
        for number in self._numbers:
            hit = values == number
            if hit.any():
                found[f"{number:g}"] = int(hit.sum())
                values[hit] = np.nan
        return found

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The tokens as a text file has them."""
        return tuple(map(_written, self._plain))

    @property
    def any_truths(self) -> bool:
        """Whether a boolean stands for missing."""
        return bool(self._truths)

    def are_truths(self, given: Sequence[str]) -> NDArray[np.bool_]:
        """Which texts are a way to write a boolean that stands for missing."""
        return np.array([t.strip().casefold() in self._truths for t in given], dtype=bool)


def _written(token: Any) -> str:
    """A token as a text file has it, without blanks around it; a boolean in small letters."""
    return str(token).casefold() if isinstance(token, bool) else str(token).strip()


def number_of(value: Any) -> float:
    """A cell as a float; NaN where it is none.

    >>> number_of("1.5"), number_of("x")
    (1.5, nan)
    """
    if isinstance(value, str):
        number = as_number(value.strip())
        return float("nan") if number is None else number
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def told(cell: Any) -> str:
    """A cell as reports and errors repeat it: not too much of it.

    >>> told("1.5 x"), len(told("9" * 401))
    ("'1.5 x'", 80)
    """
    try:
        text = repr(cell)
    except ValueError:  # of more digits than Python writes
        return shown(cell)
    return text if len(text) <= 80 else f"{text[:79]}…"


def cell_text(cell: Any) -> str:
    """A cell as text; one of more digits than Python writes as what it is.

    >>> cell_text(1.5), cell_text(10**5000)
    ('1.5', 'a value of the type int')
    """
    try:
        return str(cell)
    except ValueError:
        return shown(cell)


def finder(variable: Variable, text: bool) -> Callable[[Any], int]:
    """A function from a cell to the code of its state; raw text finds states of any type."""
    if not text:
        return variable.code
    by_text = {str(s): i for i, s in enumerate(variable.states)}

    def find(cell: str) -> int:
        found = by_text.get(cell)
        if found is not None:
            return found
        plain = cell.strip()
        for meant in (as_bool(plain), as_int(plain), as_number(plain)):
            if meant is not None and (found := variable.find(meant)) is not None:
                return found
        return variable.code(cell)

    return find


def not_a_state(
    variable: Variable, value: Any, row: int | None, error: UnknownNameError
) -> TableError:
    """The error for a cell that is not one of the states a column was said to have."""
    where = f"Row {row:,} of column" if row else "Column"
    states = ", ".join(map(repr, variable.states[:8])) + (", …" if variable.arity > 8 else "")
    near = "Add it to the states in schema=. (A model keeps those that it was learned with.)"
    if "mean" in error.hint:
        near = f"{error.hint} If not, a{near[1:]}"
    twin = next((s for s in variable.states if str(s) == str(value)), None)
    if twin is not None:
        near = (
            f"The cell is {_sort(value)} and the state {twin!r} is {_sort(twin)}: "
            "give the states in schema= as the cells are, or turn the cells into the states."
        )
    return TableError(
        f"{where} {variable.name!r} holds {told(value)}, "
        f"which is not one of its states ({states}).",
        hint=near,
    )


def _sort(value: Any) -> str:
    """What a cell or a state is, in a word.

    >>> _sort("1"), _sort(1), _sort(True)
    ('a text', 'a number', 'a boolean')
    """
    if isinstance(value, (bool, np.bool_)):
        return "a boolean"
    if is_number(value):
        return "a number"
    return "a text" if isinstance(value, str) else f"of type {type(value).__name__}"


def not_a_number(name: str, cell: Any, row: int | None, why: str = "is not a number") -> TableError:
    """The error for a cell that is no finite number in a column of numbers."""
    where = f"Row {row:,} of column" if row else "Column"
    hint = "Mend the cell, or name it in missing= to take it as missing."
    if isinstance(cell, str) and re.fullmatch(r"\s*[+-]?[0-9]*,[0-9]+\s*", cell):
        hint = "If the file has decimal commas, read it with decimal=','. Otherwise m" + hint[1:]
    elif isinstance(cell, str) and looks_like_date(cell.strip()):
        hint = (
            f"If the column is of dates, read it with schema={{{name!r}: 'discrete'}}, or from a "
            "frame that knows them as dates, where they are days since 1970. Otherwise m" + hint[1:]
        )
    return TableError(f"{where} {name!r} holds {told(cell)}, which {why}.", hint=hint)


def unusable(name: str, what: str, kind: str) -> TableError:
    """The error for a column asked for whose cells are of a type that can be no variable."""
    cells = what.removeprefix("unsupported ")
    hint = "Make columns of single values of it before reading"
    if "binary" in cells:
        hint = f"Read it with schema={{{name!r}: 'discrete'}} to use its bytes as states"
    return TableError(
        f"Column {name!r} holds cells of type {cells}, which cannot be {kind}.",
        hint=f"{hint}, or leave it out with schema={{{name!r}: 'drop'}}.",
    )


def type_name(kind: Any) -> str:
    """The name that the rules of inference have for an Arrow type; of an extension, a dictionary or
    runs that of their values.

    >>> type_name(pa.int8()), type_name(pa.large_string()), type_name(pa.list_(pa.int8()))
    ('int', 'str', 'unsupported list<item: int8>')
    """
    if isinstance(kind, pa.BaseExtensionType):  # those that Python defines cannot be hashed
        return type_name(kind.storage_type)
    if pa.types.is_run_end_encoded(kind) or pa.types.is_dictionary(kind):
        return type_name(kind.value_type)
    return _plain_type_name(kind)


@lru_cache(maxsize=256)  # it is asked of every column of every batch
def _plain_type_name(kind: Any) -> str:
    if pa.types.is_boolean(kind):
        return "bool"
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale <= 0):
        return "int"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "float"
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return "date"
    is_text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return "str" if any(check(kind) for check in is_text) else f"unsupported {kind}"
