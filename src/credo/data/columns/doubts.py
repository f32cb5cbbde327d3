"""Cells that may be meant otherwise: what looks like a number and is none, odd dates, other words
for missing. They are named in the report and never changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.data.columns.cells import cell_text, number_of
from credo.data.columns.identifiers import are_states
from credo.data.columns.numerals import looks_like_date, looks_numeric, numbers_of
from credo.data.columns.profile import Doubt, Profile
from credo.data.columns.written import MISSING

_CODE = re.compile(r"[+-]?0[0-9]+")
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]*)([eE][+-]?[0-9]+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+", re.ASCII)


def numeric_doubts(
    profile: Profile, values: Sequence[Any], numbers: NDArray[np.float64]
) -> list[Doubt]:
    """Cells that are no numbers in a column of which most look like numbers; `numbers` are the
    values as such, NaN where they are none.
    """
    odd = _no_numbers(values, numbers)
    good = len(values) - len(odd)
    meant = sum(_is_meant(cell_text(v).strip()) for v in odd)
    if 2 * (good + meant) < len(values) or not odd:
        return []
    if not meant and len(odd) > max(3, len(values) // 10):
        return []
    if 2 * profile.numbers() <= profile.observed:
        return []
    return [Doubt(profile.first_row(v) or 0, cell_text(v), "is not a number") for v in odd[:5]]


def too_large(profile: Profile) -> Doubt | None:
    """The first whole number that is too large for a float, if there is one."""
    for value in profile.values or ():
        if not np.isfinite(number_of(value)):
            return Doubt(profile.first_row(value) or 0, cell_text(value), "is too large a number")
    return None


def _no_numbers(values: Sequence[Any], numbers: NDArray[np.float64]) -> list[Any]:
    return [values[i] for i in np.flatnonzero(np.isnan(numbers)).tolist()]


def are_quantities(
    name: str, values: Sequence[Any], numbers: NDArray[np.float64], cells: int
) -> bool:
    """Whether a column is of numbers, but for a few cells: at least half of the different ones are
    numbers, and some are decimals, or one of the others looks like a number and is none while the
    whole numbers do not repeat as states do.
    """
    odd = _no_numbers(values, numbers)
    good = numbers[~np.isnan(numbers)]
    if len(good) < len(odd):
        return False
    if (good % 1 != 0).any():
        return True
    left = cells - len(odd)
    if not any(_is_meant(cell_text(v).strip()) for v in odd):
        return False
    repeat = len(good) < left
    return not (repeat and are_states(name, len(good), left, good.min(), good.max())[0])


def decimal_commas(texts: Sequence[str]) -> bool:
    """Whether a column is written with decimal commas: every text is a number if they are read so,
    at least half have one, and not all of those could be thousands.

    >>> decimal_commas(["1,72", "68,8", "70"]), decimal_commas(["1,200", "3,400"])
    (True, False)
    """
    plain = [t.strip() for t in texts]
    if not all(_COMMA.fullmatch(t) or _WHOLE.fullmatch(t) for t in plain):
        return False
    with_comma = [t for t in plain if "," in t]
    if not with_comma or 2 * len(with_comma) < len(plain):
        return False
    return not all(_THOUSANDS.fullmatch(t) for t in with_comma)


def like_numbers(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Of each text, whether it is a number, or looks as if it was meant to be one.

    >>> like_numbers(["1.5", "1,5", "007"]).tolist()
    [True, True, False]
    """
    like = ~np.isnan(numbers_of(texts))
    for i in np.flatnonzero(~like).tolist():
        like[i] = _is_meant(texts[i].strip())
    return like


def _is_meant(text: str) -> bool:
    """Whether a text that is no number looks like one; a code such as 007 does not.

    >>> _is_meant("1_000"), _is_meant("007")
    (True, False)
    """
    return looks_numeric(text) and not _CODE.fullmatch(text)


_MISSING_WORDS = frozenset(
    ("nan", "na", "n/a", "none", "null", "nil", "-", "--", ".", "missing", "unknown", "#n/a")
)
_TRUTH_WORDS = frozenset("yes no y n true false t f 0 1 on off ja nein oui non si".split())  # noqa: SIM905


def other_doubts(profile: Profile, texts: Sequence[str], told: set[str]) -> list[Doubt]:
    """Cells that may be meant otherwise: odd numbers, odd dates, other words for missing."""
    if len(texts) > 1000:
        return []
    found: list[Doubt] = []
    others = _no_numbers(texts, numbers_of(texts))
    dates = [t for t in others if looks_like_date(t.strip())]
    shapes = {re.sub(r"[0-9]+", "0", t.strip()) for t in dates}
    odd, of_dates = set(others), set(dates)
    mostly_dates = 2 * len(dates) >= len(texts)
    for text in texts if mostly_dates else others:
        plain = text.strip()
        why = ""
        if text in told:
            continue
        if plain.casefold() in _MISSING_WORDS:
            words = list(dict.fromkeys([*MISSING[1:], plain]))
            why = (
                "is kept as a state; name it in missing= if it is missing "
                f"(missing={words} keeps the usual words)"
            )
        elif text in odd and looks_numeric(plain):
            why = "" if _CODE.fullmatch(plain) else "is not read as a number"
        elif mostly_dates and text not in of_dates:
            why = "is not a date"
        elif mostly_dates and len(shapes) > 1:
            why = "is written in another way than other dates"
        if why and len(found) < 6:
            found.append(Doubt(profile.first_row(text) or 0, text, why))
    if len(texts) > 2 and all(t.strip().casefold() in _TRUTH_WORDS for t in texts):
        found.append(Doubt(0, ", ".join(sorted(texts)), "are kept apart as states"))
    return found
