"""Which cells stand for missing besides None, NaN and null: the words a user gives, or the usual.

In a text file an empty cell is missing whatever words are given; only an empty list of words says
that it is a cell like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from credo.core.errors import InputError
from credo.data.columns.written import Written, values_meant

__all__ = ["MISSING", "missing_words"]

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
