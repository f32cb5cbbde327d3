"""Text that stands for numbers, strictly: what is not surely a number stays text and is reported.

`1,5`, `0x10`, `1_000`, `inf` and `1e309` look like numbers to a person and to some parsers;
here they are never read as one, and never become NaN.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from credo.data.arrays import bools, floats, texts

__all__ = [
    "as_bool",
    "as_int",
    "as_number",
    "looks_like_date",
    "looks_numeric",
    "numbers_of",
    "parse_floats",
]

_INT = re.compile(r"[+-]?(0|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_CODE = re.compile(r"[+-]?0[0-9]+", re.ASCII)
_NUMBERISH = re.compile(
    r"[$€£¥]? ?[+-]?(inf(inity)?|0x[0-9a-f]+|[0-9]+(_[0-9]+)+|[0-9.]*,[0-9]+"
    r"|[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?|[0-9]+(\.[0-9]+)?) ?[%€$£]?",
    re.IGNORECASE | re.ASCII,
)
_DATE = re.compile(
    r"([0-9]{4}([-/.])(0[1-9]|1[0-2])\2(0[1-9]|[12][0-9]|3[01])"
    r"|(0?[1-9]|[12][0-9]|3[01])([/.-])(0?[1-9]|[12][0-9]|3[01])\6[0-9]{4})"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
    r"|([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?"
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
    """
    return _DATE.fullmatch(text) is not None


def numbers_of(given: Sequence[str]) -> NDArray[np.float64]:
    """What `as_number` gives for each text, all at once; NaN for None.

    >>> numbers_of(["1.5", " 2", "0012", "inf"]).tolist()
    [1.5, 2.0, nan, nan]
    """
    array = texts(given)
    values, bad = parse_floats(array)
    values[bad] = np.nan
    return values


def parse_floats(cells: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The numbers of an Arrow array of texts (NaN where null), and where a text is no number."""
    trimmed = pc.utf8_trim_whitespace(cells)
    null = bools(trimmed.is_null())
    code = bools(pc.match_substring_regex(trimmed, f"^({_CODE.pattern})$"))  # 007 is no number
    try:
        values = floats(pc.cast(trimmed, pa.float64()))
    except pa.ArrowInvalid:
        values = np.full(len(trimmed), np.nan)
        good = pc.match_substring_regex(trimmed, f"^({_FLOAT.pattern})$")
        good = pc.fill_null(good, False)
        values[bools(good)] = floats(pc.cast(trimmed.filter(good), pa.float64()))
    suspects = np.flatnonzero((~np.isfinite(values) | code) & ~null)
    values[null] = np.nan
    return values, suspects
