"""Scanner: the words, texts and marks of a BIF, NET or DSC file, each with its line.

Every step moves forward and no part of the text is looked at twice, so the time is linear in
the length of the file, whatever is in it. Comments are blanked before (the lines stay).
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from credo.formats.reading import Reading

C_COMMENTS = re.compile(r'"[^"]*"|//[^\n]*|/\*(?:.*?\*/|.*)', re.S)
ALL_COMMENTS = re.compile(r'"[^"]*"|(?://|%|#)[^\n]*|/\*(?:.*?\*/|.*)', re.S)
_DIGITS = re.compile(r"[0-9]{1,18}")


class Token(NamedTuple):
    """A word, a quoted text, or a mark such as `{`; "" at the end of the file."""

    text: str
    at: int
    quoted: bool = False

    def is_mark(self, mark: str) -> bool:
        """Whether this is the mark, not a text that looks like it."""
        return self.text == mark and not self.quoted


class Scanner:
    """Steps through a text from token to token."""

    def __init__(
        self, text: str, reading: Reading, comments: re.Pattern[str], marks: str = "{}()[];,|"
    ) -> None:
        self.reading = reading
        self.at = 0
        self.end = len(text)
        self._line = 0, 1
        self.marks = marks
        self._none = {"", *marks}
        self.text = self._blanked(text, comments)
        inside = re.escape(marks)
        self._token = re.compile(
            rf'\s*+(?:"([^"]*)"|([{inside}])|([^\s"{inside}]++)|(\Z)|(.))', re.S
        )

    def _blanked(self, text: str, comments: re.Pattern[str]) -> str:
        if not any(sign in text for sign in ("/" if comments is C_COMMENTS else "/%#")):
            return text

        def blank(match: re.Match[str]) -> str:
            found = match[0]
            if found[0] == '"':
                return found
            if found.startswith("/*") and not (len(found) > 3 and found.endswith("*/")):
                self.text = text
                raise self.error("This comment is not closed.", match.start())
            return "\n".join(" " * len(part) for part in found.split("\n"))

        return comments.sub(blank, text)

    # --- where we are ---------------------------------------------------------------------

    def line(self, at: int | None = None) -> int:
        """The line of a position, counted from the one asked for last."""
        at = self.at if at is None else at
        known, line = self._line
        if at >= known:
            line += self.text.count("\n", known, at)
        else:
            line -= self.text.count("\n", at, known)
        self._line = at, line
        return line

    def error(self, message: str, at: int | None = None) -> Exception:
        """A refusal at a position."""
        return self.reading.error(self.line(at), message)

    # --- stepping -------------------------------------------------------------------------

    def next(self) -> Token:
        """The next token."""
        match = self._token.match(self.text, self.at, self.end)
        assert match is not None
        kind = match.lastindex
        assert kind is not None
        start = match.start(kind)
        if kind == 5:
            raise self.error("This text in quotes is not closed.", start)
        self.at = match.end()
        return Token(match[kind], start, kind == 1)

    def peek(self) -> Token:
        """The next token, left where it is."""
        at = self.at
        token = self.next()
        self.at = at
        return token

    def expect(self, mark: str, after: str) -> Token:
        """The mark or word that must come now."""
        token = self.next()
        if not token.is_mark(mark):
            raise self.error(f"Expected {mark!r} after {after}, got {_shown(token)}.", token.at)
        return token

    def name(self, what: str) -> Token:
        """A word or a quoted text."""
        token = self.next()
        if not token.quoted and (not token.text or token.text in self.marks):
            raise self.error(f"Expected {what}, got {_shown(token)}.", token.at)
        return token

    def names(self, close: str, what: str) -> list[str]:
        """Names up to a closing mark; commas and bars between them are passed over."""
        out: list[str] = []
        most = max(self.reading.limits.states, self.reading.limits.variables)
        while not (token := self.next()).is_mark(close):
            if token.quoted or token.text not in self._none:
                out.append(token.text)
                if len(out) > most:
                    raise self.reading.too_many(self.line(token.at), what, most)
            elif token.text not in (",", "|"):
                raise self.error(f"Expected {close!r} after {what}, got {_shown(token)}.", token.at)
        return out

    def until(self, mark: str, what: str, *, braces: bool = True) -> tuple[str, int]:
        """The raw text up to a mark (texts in quotes are passed over), and where it starts."""
        start = self.at
        match = _passing(mark, braces).match(self.text, start, self.end)
        assert match is not None
        stop = match.end()
        if stop == self.end:
            raise self.error(f"The file ends inside {what}; {mark!r} is missing.", start)
        if self.text[stop] == '"':
            raise self.error("This text in quotes is not closed.", stop)
        if self.text[stop] != mark:
            raise self.error(f"{mark!r} is missing after {what}.", start)
        self.at = stop + 1
        return self.text[start:stop], start

    def count(self, what: str) -> tuple[int, int]:
        """A whole number, and where it stands."""
        token = self.next()
        if not _DIGITS.fullmatch(token.text):
            raise self.error(f"Expected {what}, got {_shown(token)}.", token.at)
        return int(token.text), token.at


@cache
def _passing(mark: str, braces: bool) -> re.Pattern[str]:
    """Whatever may stand before a mark; without braces a closing one stops it too."""
    stops = re.escape(mark if braces else mark + "}")
    return re.compile(rf'(?:[^"{stops}]++|"[^"]*")*+')


def _shown(token: Token) -> str:
    if not token.text and not token.quoted:
        return "the end of the file"
    return repr(token.text if len(token.text) <= 40 else token.text[:40] + "…")
