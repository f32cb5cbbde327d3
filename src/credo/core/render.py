"""Plain text and HTML for people: aligned tables, bars, shortened lists.

Text is plain (no colour codes), so it reads the same in a terminal, a log and a docstring.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from credo.core.schema import Column, Schema

__all__ = [
    "Shown",
    "Told",
    "View",
    "bar",
    "heights",
    "many",
    "number",
    "one_line",
    "schema_html",
    "schema_parts",
    "schema_text",
    "short_probability",
    "shortened",
    "table_html",
    "table_text",
    "text_html",
    "whiskers",
]

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_HEIGHTS = "▁▂▃▄▅▆▇█"


def width(text: str) -> int:
    """How many terminal cells a text takes; wide East Asian characters take two.

    >>> width("abc"), width("日本")
    (3, 4)
    """
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def one_line(text: str) -> str:
    """A text on one line: what would end it, or steer a terminal, is written out.

    >>> print(one_line("a" + chr(10) + "b" + chr(27)))
    a\\nb\\x1b
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def bar(share: float, cells: int = 20) -> str:
    """A horizontal bar for a share between 0 and 1, in eighths of a cell.

    >>> bar(0.5, 4), bar(0.28125, 4)
    ('██', '█▏')
    """
    eighths = round(min(max(share, 0.0), 1.0) * cells * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def heights(values: Sequence[float]) -> str:
    """A curve drawn in blocks: each value as high as it is, the largest a whole block.

    >>> heights([0.0, 1.0, 4.0, 8.0, 4.0])
    '▁▂▅█▅'
    """
    most = max(values) or 1.0
    return "".join(_HEIGHTS[min(7, int(8 * v / most))] for v in values)


def whiskers(share: float, low: float, high: float, cells: int = 20) -> str:
    """A bar up to the low end of an interval, then the interval with a mark at the share itself.

    A plain bar where the interval is too narrow to be seen.

    >>> whiskers(0.5, 0.25, 0.75, 12)
    '███┝━━╋━━┥'
    >>> whiskers(0.6, 0.55, 0.65, 4)
    '██▍'
    """
    a, m, b = (min(int(min(max(v, 0.0), 1.0) * cells), cells - 1) for v in (low, share, high))
    if b <= a:
        return bar(share, cells)
    marks = ["█"] * a + ["━"] * (b - a + 1)
    marks[a], marks[b] = "┝", "┥"
    marks[min(max(m, a), b)] = "╋"
    return "".join(marks)


def number(value: float, digits: int = 6) -> str:
    """A number as people write it: whole numbers whole, others with a few significant digits.

    >>> number(3.0), number(0.885975609), number(12345678), number(3417.2, 3)
    ('3', '0.885976', '12,345,678', '3,417')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    if 10**digits <= abs(value) < 1e15:  # no powers of ten where the digits can stand
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def many(n: int, what: str) -> str:
    """How many of something, in words.

    >>> many(1, "edge"), many(1234, "edge")
    ('1 edge', '1,234 edges')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def short_probability(p: float) -> str:
    """A probability in three digits, or its size where those would all be 0.

    >>> short_probability(0.2344), short_probability(0.00002), short_probability(0)
    ('0.234', '2e-05', '0.000')
    """
    return f"{p:.3f}" if p >= 5e-4 or p == 0 else f"{p:.0e}"


def shortened(items: Iterable[object], most: int = 6, wide: int = 48) -> str:
    """A list of values on one line, cut with a count of the rest.

    >>> shortened(range(9), most=3)
    '0, 1, 2, … 6 more'
    """
    texts = [one_line(str(i)) for i in items]
    shown: list[str] = []
    for text in texts[:most]:
        cut = text if len(text) <= 24 else text[:23] + "…"
        if shown and width(", ".join([*shown, cut])) > wide:
            break
        shown.append(cut)
    if len(texts) == len(shown) + 1:
        shown.append(texts[-1] if len(texts[-1]) <= 24 else texts[-1][:23] + "…")
    rest = len(texts) - len(shown)
    return ", ".join(shown) + (f", … {rest} more" if rest else "")


def table_text(
    head: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[int] = ()
) -> str:
    """Columns aligned under their heads; those listed in `right` are aligned right.

    >>> print(table_text(["state", "n"], [["yes", 3], ["no", 12]], right=[1]))
    state   n
    yes     3
    no     12
    """
    lines = [[one_line(str(c)) for c in row] for row in (head, *rows)]
    widths = [max(width(line[i]) for line in lines) for i in range(len(head))]

    def pad(text: str, i: int) -> str:
        gap = " " * (widths[i] - width(text))
        return gap + text if i in right else text + gap

    return "\n".join("  ".join(pad(c, i) for i, c in enumerate(line)).rstrip() for line in lines)


def table_html(
    head: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Sequence[int] = (),
    caption: str = "",
    more: int = 0,
) -> str:
    """The same table as HTML; every cell is escaped. `more` rows are only counted.

    >>> table_html(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """

    def cells(tag: str, row: Sequence[object]) -> str:
        out = ""
        for i, c in enumerate(row):
            style = ' style="text-align:right"' if i in right else ""
            out += f"<{tag}{style}>{html.escape(one_line(str(c)))}</{tag}>"
        return f"<tr>{out}</tr>"

    title = f"<caption>{html.escape(one_line(caption))}</caption>" if caption else ""
    body = "".join(cells("td", row) for row in rows)
    if more > 0:
        body += f'<tr><td colspan="{len(head)}">… {more:,} more</td></tr>'
    return f"<table>{title}<thead>{cells('th', head)}</thead><tbody>{body}</tbody></table>"


class View(NamedTuple):
    """One part of what is shown: a title, a table and a note; text, HTML and terminal render it.

    >>> print(View("coins", ["side", "n"], [["head", 3]], right=[1], note="of 5").text())
    coins
    side  n
    head  3
    of 5
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[object]]
    right: Sequence[int] = ()
    note: str = ""
    below: str = ""
    """What stands below in plain text alone, such as curves of blocks."""

    def text(self) -> str:
        """Plain text."""
        parts = [one_line(self.title)] if self.title else []
        parts.append(table_text(self.head, self.rows, right=self.right))
        parts += [_lines(self.note)] if self.note else []
        parts += ["", _lines(self.below)] if self.below else []
        return "\n".join(parts)

    def html(self) -> str:
        """For a notebook."""
        out = table_html(self.head, self.rows, right=self.right, caption=self.title)
        return out + (f"<p>{html.escape(_lines(self.note))}</p>" if self.note else "")


class Told:
    """What shows its text in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return text_html(self)


class Shown:
    """What says once how it looks, in `_view`: printed as text, in a notebook as HTML."""

    __slots__ = ()

    def _view(self) -> View:
        raise NotImplementedError

    def __str__(self) -> str:
        return self._view().text()

    def _repr_html_(self) -> str:
        return self._view().html()


def _lines(text: str) -> str:
    """A text of several lines, in which nothing steers a terminal."""
    return "\n".join(map(one_line, text.split("\n")))


def statistic_tail(more: int, skipped: float) -> str:
    """What stands under a printed statistic: rows that are not shown, weight that was skipped.

    >>> statistic_tail(1200, 3)
    '\\n… 1,200 more\\n(3 rows skipped: a cell was missing)'
    """
    left_out = f"\n… {more:,} more" if more > 0 else ""
    rows = "row" if skipped == 1 else "rows"
    gaps = f"\n({number(skipped)} {rows} skipped: a cell was missing)" if skipped else ""
    return left_out + gaps


def text_html(value: object) -> str:
    """A value as a notebook shows it when it has no table of its own: its text, escaped.

    >>> text_html("a < b")
    '<pre>a &lt; b</pre>'
    """
    return f"<pre>{html.escape(_lines(str(value)))}</pre>"


# --- the schema report --------------------------------------------------------------------


def _missing(column: Column | None) -> str:
    if column is None or not column.missing:
        return "0"
    share = f"{column.missing:,} ({100 * column.missing_rate:.3g} %)"
    return share + (f" as {_tokens(column.missing_as)}" if column.missing_as else "")


def _tokens(seen: Mapping[str, int]) -> str:
    return ", ".join(f"{token or 'empty'} ×{n:,}" for token, n in seen.items())


def _schema_rows(schema: Schema) -> list[list[str]]:
    known = {c.name: c for c in schema.columns}
    rows = []
    for v in schema.variables:
        states = f"{v.arity}: {shortened(v.texts)}" if v.is_discrete else ""
        if v.ordered:
            states += " (ordered)"
        kind: str = v.kind
        if v.scale is not None:
            kind, states = "continuous", v.scale.words
        column = known.get(v.name)
        rows.append([v.name, kind, states, _missing(column), column.reason if column else ""])
    return rows


def _schema_title(schema: Schema) -> str:
    rows = schema.columns[0].rows if schema.columns else 0
    n, aside = len(schema.variables), len(schema.set_aside)
    title = f"{schema.source or 'table'}: "
    title += f"{rows:,} row{'s' * (rows != 1)}, " if schema.columns else ""
    title += f"{n:,} variable{'s' * (n != 1)}"
    return title + (f", {aside:,} column{'s' * (aside != 1)} set aside" if aside else "")


def _schema_notes(schema: Schema) -> list[str]:
    notes = list(schema.notes)
    notes += [f"{c.name}: {note}" for c in schema.columns for note in c.notes]
    return [one_line(n) for n in notes]


Rows = tuple[list[str], list[list[str]]]


def schema_parts(schema: Schema) -> tuple[str, Rows, Rows, list[str]]:
    """The schema report in its parts: title, variables, columns set aside, notes."""
    aside = [[c.name, c.kind, c.reason] for c in schema.columns if not c.used]
    return (
        _schema_title(schema),
        (["variable", "kind", "states", "missing", "why"], _schema_rows(schema)),
        (["set aside", "as", "why"], aside),
        _schema_notes(schema),
    )


def schema_text(schema: Schema) -> str:
    """The schema report: every variable, what was set aside and why, what was noticed."""
    title, variables, aside, notes = schema_parts(schema)
    parts = [title, table_text(*variables)]
    if aside[1]:
        parts += [table_text(*aside)]
    if notes:
        parts += ["\n".join(["noticed", *(f"  {n}" for n in notes)])]
    return "\n\n".join(parts)


def schema_html(schema: Schema) -> str:
    """The schema report for a notebook."""
    title, variables, aside, notes = schema_parts(schema)
    out = table_html(*variables, caption=title)
    if aside[1]:
        out += table_html(*aside)
    if notes:
        out += "<ul>" + "".join(f"<li>{html.escape(n)}</li>" for n in notes) + "</ul>"
    return out
