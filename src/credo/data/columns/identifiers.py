"""Which columns only tell rows apart, by their names.

The row names that R and pandas write (a first column without a name, *rownames*) tell rows apart
from two rows on, whatever they are. A name that ends in *id* says what its column is, in two rows
as in a million, when four in five values differ, or more than 20; so does a *subject* or a
*patient* of more than 20 whole numbers, and a *name* that no two rows share. A *number* may be a
quantity: it needs 21 rows, or five with cells like codes (1,000 and more; texts with a digit). So
may an *index* or a *key*, of the body's mass or of a song: they need 21 rows, all different. In
fewer rows than that, consecutive numbers are an identifier only when the name says so: from three
rows on one of those words or no name at all, from five on a word for what a row is (*case*, *day*,
*patient*, …). A *dose* of 0, 1, 2, 3, 4, a *rank* and a *month* are quantities.
"""

from __future__ import annotations

import re

from credo.data.columns.profile import Profile

__all__ = [
    "ROW_WORDS",
    "SMALL",
    "are_row_names",
    "is_named_identifier",
    "named_like_id",
    "named_like_rows",
    "numbers_rows",
    "words_of",
]

_ID_WORDS = frozenset(
    (
        "id", "ids", "uuid", "guid", "idx", "rowid", "caseid", "hhid", "patid", "personid", "pid",
        "studyid", "subjid", "subjectid", "uid", "userid",
    )
)  # fmt: skip
_NAME_WORDS = frozenset(("name", "names"))
_WHO_WORDS = frozenset(
    ("participant", "patient", "person", "respondent", "student", "subj", "subject")
)
_NUMBER_WORDS = frozenset(("no", "nr", "num", "number"))
_INDEX_WORDS = frozenset(("index", "key"))
_NUMBERING = _ID_WORDS | _NUMBER_WORDS | _INDEX_WORDS
ROW_WORDS = _WHO_WORDS | frozenset(
    (
        "row", "case", "day", "entry", "example", "instance", "item", "line", "mail", "email",
        "observation", "obs", "record", "sample", "unit",
    )
)  # fmt: skip
_NO_NAME = re.compile(r"Unnamed: [0-9]+(\.[0-9]+)*|column_[0-9]+_*|\.\.\.[0-9]+|")
_ROW_NAMES = re.compile(r"Unnamed: 0(\.[0-9]+)*|column_1_*|\.\.\.1|[rR]ow[._ ]?[nN]ames?|")
_DIGIT = re.compile(r"[0-9]")
SMALL = 21
"""Fewer rows than this say little: that numbers are consecutive may be chance."""


def words_of(name: str) -> list[str]:
    """The words of a name, in small letters.

    >>> words_of("birthYear"), words_of("Row ID"), words_of("x2")
    (['birth', 'year'], ['row', 'id'], ['x', '2'])
    """
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)
    return [word.casefold() for word in words]


def _last_word(name: str) -> str:
    return (words_of(name) or [""])[-1]


def are_row_names(name: str) -> bool:
    """Whether a column is named as the row names that R and pandas write.

    >>> are_row_names("rownames"), are_row_names("column_1"), are_row_names("column_2")
    (True, True, False)
    """
    return _ROW_NAMES.fullmatch(name) is not None


def named_like_id(name: str) -> bool:
    """Whether a column is named as numbers of rows are.

    >>> named_like_id("patientId"), named_like_id("ticket_number"), named_like_id("idea")
    (True, True, False)
    """
    return _last_word(name) in _NUMBERING


def named_like_rows(name: str) -> bool:
    """Whether a name is one for the rows themselves, or for the numbers of rows of a file.

    >>> named_like_rows("PassengerId"), named_like_rows("day"), named_like_rows("dose")
    (True, True, False)
    """
    if are_row_names(name) or name.startswith("Unnamed: "):
        return True
    return _last_word(name) in _NUMBERING | ROW_WORDS


def is_named_identifier(p: Profile, n: int, d: int, low: float | None = None) -> bool:
    """Whether the name and the different values say that a column tells rows apart; `low` is the
    least of whole numbers.
    """
    if are_row_names(p.name):
        return n > 1 and d >= 0.8 * p.sampled
    word = _last_word(p.name)
    if word in _INDEX_WORDS:
        return n >= SMALL and d == p.sampled
    if word in _NAME_WORDS:
        return n >= 3 and d == p.sampled
    if d >= SMALL and (word in _ID_WORDS or (word in _WHO_WORDS and low is not None)):
        return True
    if word not in _NUMBERING or d < 0.8 * p.sampled:
        return False
    if word in _ID_WORDS:
        return n > 1
    codes = low >= 1000 if low is not None else all(_DIGIT.search(str(v)) for v in p.values or ())
    return n >= SMALL or (n >= 5 and codes)


def numbers_rows(name: str, n: int) -> bool:
    """Whether consecutive numbers under this name number the rows of a small table."""
    word = _last_word(name)
    if word in _NUMBERING or _NO_NAME.fullmatch(name):
        return n >= 3
    return n >= 5 and word in ROW_WORDS
