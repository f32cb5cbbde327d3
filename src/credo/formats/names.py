"""Names that a format cannot spell are escaped, by one rule that can be undone.

A character that the format cannot hold becomes `_xH_`, where H is its code point in capital
hexadecimal digits; an empty text becomes `_x_`. A name that would be read as an escape has its
`_x` written as `_x5F_x`. A file with an escaped name says so (`MARK`), and only then are
names unescaped: a foreign file's `_x20_` stays what it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from credo.core.errors import InputError
from credo.core.schema import Variable

MARK = "credo names _xH_"
"""What a file says, in a property or a comment, when it holds escaped names."""

IDENTIFIER = re.compile(r"[^A-Za-z0-9_]|\A[0-9]")
"""What a C identifier cannot hold."""
LETTER_FIRST = re.compile(r"[^A-Za-z0-9_]")
"""The same, where the first character is looked after by a leading `x_`."""
QUOTED = re.compile(r'["\\\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]')
"""What a text in double quotes cannot hold."""
XML_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]|\A\s|\s\Z")
"""What the text of an XML element cannot hold (blanks at the ends are not kept)."""

NOTHING = re.compile(r"(?!)")
"""A format that can hold any text."""

_ESCAPE = re.compile(r"_x([0-9A-F]*)_")


def unescape(text: str, lead: str = "") -> str:
    """Undo the escapes of a name.

    >>> unescape("a_x20_b_x5F_x20_")
    'a b_x20_'
    """
    return _ESCAPE.sub(_character, text.removeprefix(lead))


def _character(match: re.Match[str]) -> str:
    code = int(match[1] or "110000", 16) if len(match[1]) < 8 else 0x110000
    return chr(code) if code < 0x110000 else "" if not match[1] else match[0]


class Spelling:
    """How one format spells names; remembers whether any had to be escaped.

    >>> spell = Spelling(IDENTIFIER)
    >>> spell("<5.12"), spell("smoker"), spell("a_x20_"), spell.escaped
    ('_x3C_5_x2E_12', 'smoker', 'a_x5F_x20_', True)
    """

    def __init__(self, forbidden: re.Pattern[str], lead: str = "") -> None:
        self.forbidden = forbidden
        self.lead = lead
        self.escaped = False

    def __call__(self, text: str) -> str:
        if self.forbidden is NOTHING:
            return text
        out = self.forbidden.sub(_code, text) or "_x_"
        if unescape(out, self.lead) != text:
            out = self.forbidden.sub(_code, text.replace("_x", "_x5F_x"))
        if self.lead and (unescape(out, self.lead) != text or not out[0].isalpha()):
            out = self.lead + out
        self.escaped = self.escaped or out != text
        return out


def _code(match: re.Match[str]) -> str:
    return f"_x{ord(match[0]):X}_"


def distinct_texts(variable: Variable, texts: Sequence[str], name: str) -> None:
    """Refuse states that have the same text, such as 1 and "1"."""
    if len(set(texts)) < len(texts):
        twice = next(t for t in texts if texts.count(t) > 1)
        raise InputError(
            f"The states of {variable.name!r} include two that are written {twice!r}; "
            f"a {name} file holds states as text.",
            hint="Save the network as .credo, which keeps their types.",
        )
