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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from credo.data.columns.profile import Profile

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


# --- which numbers are states -------------------------------------------------------------
#
# Which numbers are states: few of them, close together, with enough rows for each.
#
# States have no order and no distance, so numbers that become states lose every relation to the
# quantities beside them; numbers that stay quantities have a mean that nobody may want. Whole
# numbers are states when there are
#
# - at most 2 of them, or 3 or 4 of which one repeats;
# - at most 10, no wider apart than twice their number, with 4 rows for each on average;
# - at most 20 that repeat twice on average, under a name for codes (*class*, *region*, *month*, …).
#
# Under a name for quantities (*year*, *age*, *count*, …) more than 4 are no states. Decimals are
# states when there are at most 4, with 10 rows for each.


FEW_INTEGERS = 20
"""More whole numbers than this are never states, whatever their name."""
FEW_DECIMALS = 4
_ALWAYS = 2
_VERY_FEW = 4
_FEW = 10
_CODES = ROW_WORDS | frozenset(
    (
        "batch", "block", "category", "class", "cluster", "code", "country", "county",
        "department", "dept", "digit", "district", "firm", "group", "id", "industry", "kind",
        "label", "lot", "month", "occupation", "precinct", "region", "sector", "segment", "site",
        "species", "state", "station", "target", "team", "type", "ward", "weekday", "zone",
    )
) - {"day"}  # fmt: skip
_QUANTITIES = frozenset(
    (
        "age", "ages", "count", "counts", "days", "dose", "freq", "frequency", "hours", "income",
        "length", "minutes", "price", "score", "time", "total", "weight", "width", "year", "years",
        "yr", "yrs",
    )
)  # fmt: skip


def are_states(
    name: str, distinct: int, n: int, low: float, high: float, *, whole: bool = True
) -> tuple[bool, str]:
    """Whether so many different numbers in n cells are states, and why.

    >>> are_states("pain", 5, 245, 1, 5)
    (True, 'whole numbers, 5 different, 49 rows for each')
    >>> are_states("AIRFLOW", 7, 21, 50, 80)
    (False, 'whole numbers, 7 different, only 3 rows for each')
    >>> are_states("Time", 7, 84, 0, 24)
    (False, 'whole numbers, 7 different, under a name for quantities')
    >>> are_states("edema", 3, 418, 0, 1, whole=False)
    (True, 'decimals, 3 different, 139 rows for each')
    """
    each = f"{n // max(distinct, 1):,} rows for each"
    if not whole:
        few = distinct <= FEW_DECIMALS and n >= 10 * distinct
        return few, f"decimals, {distinct} different, {each}" if few else "numbers"
    told = f"whole numbers, {distinct:,} different"
    if distinct <= _ALWAYS or (distinct <= _VERY_FEW and distinct < n):
        return True, told
    if distinct > FEW_INTEGERS:
        return False, told
    words = words_of(name)
    if not _QUANTITIES.isdisjoint(words):
        return False, f"{told}, under a name for quantities"
    if words and words[-1] in _CODES:
        few = n >= 2 * distinct
        return few, f"{told}, under a name for codes" if few else f"{told}, only {each}"
    if distinct > _FEW:
        return False, told
    if n < 4 * distinct:
        return False, f"{told}, only {each}"
    if high - low > 2 * distinct:
        return False, f"{told}, far apart"
    return True, f"{told}, {each}"
