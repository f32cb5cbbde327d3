"""Cells as they are written on the command line: texts, which mean values of their column's type.

In a program `[3, 2, 1]` and `["3", "2", "1"]` are different states, and the user says which. On the
command line there are only texts: `3,2,1` are numbers if the cells are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from credo.core.errors import InputError
from credo.core.state_values import is_number, readable
from credo.data.columns.numerals import as_bool, as_int, as_number

_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "bool": as_bool,
    "int": as_int,
    "float": as_number,
}


@dataclass(frozen=True, slots=True)
class Written:
    """Cells as texts, in their order: what `schema=` and `missing=` take from a command."""

    texts: tuple[str, ...]


def values_meant(text: str) -> tuple[Any, ...]:
    """Every cell that a text may stand for, whatever the type of its column.

    >>> values_meant("-9"), values_meant("true"), values_meant("None")
    (('-9', -9.0), ('true', True), ('None',))
    """
    read = (as_bool(text), as_number(text))
    return (text, *(value for value in read if value is not None))


def states_meant(texts: Sequence[str], kind: str, cells: Sequence[Any]) -> tuple[Any, ...]:
    """The states that texts stand for, in a column of a type, of which some cells were seen.

    >>> states_meant(["3", "1"], "int", [1, 2]), states_meant(["true"], "bool", [])
    ((3, 1), (True,))
    >>> states_meant(["1", "x"], "str", ["x"])
    ('1', 'x')
    """
    by_text = {readable(c): c for c in cells}
    by_text |= {c.isoformat(): c for c in cells if hasattr(c, "isoformat")}
    by_number = {float(c): c for c in cells if is_number(c)}

    def meant(text: str) -> Any:
        if text in by_text:
            return by_text[text]
        number = as_number(text)
        if number is not None and number in by_number:
            return by_number[number]
        value = _PARSERS[kind](text) if kind in _PARSERS else None
        return text if value is None else value

    return tuple(map(meant, texts))


# --- cells that stand for missing ---------------------------------------------------------
#
# Which cells stand for missing besides None, NaN and null: the words a user gives, or the usual.
#
# In a text file an empty cell is missing whatever words are given; only an empty list of words says
# that it is a cell like any other.


MISSING = ("", "NA", "NaN", "null", "?")
"""What is taken as missing in a text file; the text `None` is a state."""


def missing_words(given: Any, text: bool) -> tuple[Any, ...]:
    """The words that stand for missing, as given; `text` says that the cells are of a text file.

    >>> missing_words(["-9"], text=True), missing_words([], text=True)
    (('', '-9'), ())
    >>> missing_words([*MISSING, "None"], text=True)
    ('', 'NA', 'NaN', 'null', '?', 'None')
    >>> missing_words(Written(("-9",)), text=False)
    ('-9', -9.0)
    """
    if given is None:
        return MISSING if text else ()
    if isinstance(given, str):
        given = [given]
    if isinstance(given, Written):
        given = given.texts if text else [v for t in given.texts for v in values_meant(t)]
    if isinstance(given, Mapping):
        raise InputError(
            f"missing= must be a list of cells, which holds for all columns, got {given!r}.",
            hint="To take a word as missing in one column only, turn its cells into None first.",
        )
    if not isinstance(given, Iterable) or isinstance(given, (bytes, bytearray)):
        raise InputError(f"missing= must be a list of cells, got {given!r}.")
    words = tuple(given)
    return ("", *words) if text and words and "" not in words else words
