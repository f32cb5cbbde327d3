"""Text that stands for numbers, strictly: what is not surely a number stays text and is reported.

`1,5`, `0x10`, `1_000`, `inf` and `1e309` look like numbers to a person and to some parsers;
here they are never read as one, and never become NaN.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.data.sources.arrays import bools, text_buffers, texts

_INT = re.compile(r"[+-]?(0|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_CODE = re.compile(r"[+-]?0[0-9]+", re.ASCII)
_NUMBERISH = re.compile(
    r"[$€£¥]? ?[+-]?(inf(inity)?|0x[0-9a-f]+|[0-9]+(_[0-9]+)+|[0-9.]*,[0-9]+"
    r"|[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?|[0-9]+(\.[0-9]+)?) ?[%€$£]?",
    re.IGNORECASE | re.ASCII,
)
_DAY, _MONTH = r"(0?[1-9]|[12][0-9]|3[01])", r"(0?[1-9]|1[0-2])"
_NAMED = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIME = r"([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?( ?[ap]m)?"
_ZONE = r"( ?(z|utc|gmt)|[+-][0-9]{2}(:?[0-9]{2})?)?"
_DATE = re.compile(
    rf"([0-9]{{4}}([-/]){_MONTH}\2{_DAY}|[0-9]{{4}}\.(0[1-9]|1[0-2])\.(0[1-9]|[12][0-9]|3[01])"
    rf"|{_DAY}([/.-]){_DAY}\8[0-9]{{4}}|{_DAY}/{_DAY}/[0-9]{{2}}"
    rf"|{_DAY}[ -]{_NAMED}[ -]([0-9]{{4}}|[0-9]{{2}})|{_NAMED} {_DAY},? [0-9]{{4}})"
    rf"([t ]{_TIME}{_ZONE})?|{_TIME}",
    re.IGNORECASE | re.ASCII,
)


def as_int(text: str) -> int | None:
    """The whole number a text is, or None; `0012` is a code, not a number.

    >>> as_int("+2"), as_int("0012"), as_int("2.0")
    (2, None, None)
    """
    return int(text) if len(text) <= 300 and _INT.fullmatch(text) else None


def as_number(text: str) -> float | None:
    """The finite number a text is, or None.

    >>> as_number("1e3"), as_number("1e309"), as_number("1,5"), as_number("0012")
    (1000.0, None, None, None)
    """
    if not _FLOAT.fullmatch(text) or _CODE.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def as_bool(text: str) -> bool | None:
    """True or False for exactly these words in any case; a single letter is not a boolean.

    >>> as_bool("TRUE"), as_bool("F")
    (True, None)
    """
    return {"true": True, "false": False}.get(text.casefold())


def looks_numeric(text: str) -> bool:
    """Whether a text that is not a number looks as if it was meant to be one.

    >>> [looks_numeric(t) for t in ("1,5", "0x1F", "1_000", "inf", "1e309", "-", "rot")]
    [True, True, True, True, True, False, False]
    """
    return bool(_NUMBERISH.fullmatch(text) or _FLOAT.fullmatch(text))


def looks_like_date(text: str) -> bool:
    """Whether a text is a date (year first, or last after day and month), a time, or both.

    >>> [looks_like_date(t) for t in ("2024-02-29", "29.02.2024", "12:30", "1-2", "2024-13-01")]
    [True, True, True, False, False]
    >>> [looks_like_date(t) for t in ("2020-01-05 10:00:00+00", "1/5/20 1:05 PM", "5-Jan-2020")]
    [True, True, True]
    """
    return _DATE.fullmatch(text) is not None


def numbers_of(given: Sequence[str]) -> NDArray[np.float64]:
    """What `as_number` gives for each text, all at once; NaN for None.

    >>> numbers_of(["1.5", " 2", "0012", "inf"]).tolist()
    [1.5, 2.0, nan, nan]
    """
    found = text_numbers(texts(given))
    found.values[found.bad] = np.nan
    return found.values


@dataclass(slots=True)
class TextNumbers:
    """What texts are: `values` are NaN where they are no finite number (infinite where one is too
    large), `bad` says which, `gone` which are null or a word for missing, `decimal` which numbers
    are not written as whole ones: `2.0` is not.
    """

    values: NDArray[np.float64]
    bad: NDArray[np.bool_]
    gone: NDArray[np.bool_]
    decimal: NDArray[np.bool_]


def text_numbers(cells: Any, words: Sequence[str] = ()) -> TextNumbers:
    """The numbers of an Arrow array of texts, blanks around them aside.

    >>> found = text_numbers(texts(["1.5", "NA", "007", "+2 "]), ["NA"])
    >>> found.values.tolist(), found.bad.tolist(), found.gone.tolist()
    ([1.5, nan, nan, 2.0], [False, False, True, False], [False, True, False, False])
    """
    offsets, data = text_buffers(cells)
    values, kinds = _core.read_numbers(offsets, data, list(words))
    gone, bad, decimal = kinds == _WORD, kinds == _OTHER, kinds == _DECIMAL
    values[gone | bad] = np.nan
    if cells.null_count:
        null = bools(cells.is_null())
        values[null], gone[null], bad[null] = np.nan, True, False
    for i in np.flatnonzero((kinds == _UNSURE) & ~gone).tolist():
        text = cells[i].as_py().strip()
        gone[i] = text in words
        number = bool(_FLOAT.fullmatch(text)) and not _CODE.fullmatch(text) and not gone[i]
        values[i] = float(text) if number else np.nan
        bad[i] = not (gone[i] or math.isfinite(values[i]))
        decimal[i] = number and as_int(text) is None
    return TextNumbers(values, bad, gone, decimal)


_DECIMAL, _WORD, _OTHER, _UNSURE = 1, 2, 3, 4  # as credo::Read has them
