"""Small pieces of HTML: text, tables, bars, lists, parts that fold. Everything is escaped here.

`Html` is text that is already markup; whatever else is put into a page is escaped first.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

__all__ = [
    "Html",
    "bar",
    "code",
    "folded",
    "items",
    "join",
    "note",
    "paragraph",
    "picture",
    "said",
    "table",
    "tag",
]


_HEAD = 48  # characters of a column's name


class Html(str):
    """Text that is markup already.

    >>> tag("p", "<b>"), tag("p", Html("<b>x</b>"))
    ('<p>&lt;b&gt;</p>', '<p><b>x</b></p>')
    """

    __slots__ = ()


def said(content: object) -> Html:
    """Any value as markup: escaped, unless it is markup already."""
    if isinstance(content, Html):
        return content
    line = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in str(content))
    return Html(html.escape(line))


def join(parts: Iterable[object]) -> Html:
    """Pieces one after the other."""
    return Html("".join(said(p) for p in parts))


def tag(name: str, content: object = "", **attributes: object) -> Html:
    """An element; `class_` stands for class.

    >>> tag("td", 3, class_="n")
    '<td class="n">3</td>'
    """
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None and value != ""
    )
    return Html(f"<{name}{pairs}>{said(content)}</{name}>")


def paragraph(content: object, class_: str = "") -> Html:
    """A paragraph."""
    return tag("p", content, class_=class_)


def note(content: object) -> Html:
    """A remark in smaller type."""
    return paragraph(content, "note")


def code(text: str, class_: str = "") -> Html:
    """A block of text as typed."""
    return tag("pre", tag("code", text), class_=class_, tabindex=0)


def items(lines: Iterable[object]) -> Html:
    """A list."""
    return tag("ul", join(tag("li", line) for line in lines))


def bar(share: float, low: float | None = None, high: float | None = None) -> Html:
    """A bar for a share from 0 to 1, with the ends of its interval if there are any."""
    inside = tag("i", "", style=f"width:{100 * min(max(share, 0.0), 1.0):.2f}%")
    if low is not None and high is not None:
        start, wide = 100 * max(low, 0.0), 100 * max(min(high, 1.0) - max(low, 0.0), 0.0)
        inside = join([inside, tag("b", "", style=f"left:{start:.2f}%;width:{wide:.2f}%")])
    return tag("span", inside, class_="meter")


def table(
    head: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    right: Sequence[int] = (),
    caption: str = "",
) -> Html:
    """A table that scrolls sideways on its own when it is wide; cells may be markup."""

    def line(kind: str, row: Sequence[object]) -> Html:
        cells = []
        for i, cell in enumerate(row):
            if isinstance(cell, Html) and cell.startswith("<td"):
                cells.append(cell)
            elif kind == "th" and len(str(cell)) > _HEAD:
                short = said(str(cell)[: _HEAD - 1] + "…")
                cells.append(tag(kind, short, class_="n" if i in right else "", title=str(cell)))
            else:
                cells.append(tag(kind, cell, class_="n" if i in right else ""))
        return tag("tr", join(cells))

    body = join(line("td", row) for row in rows)
    made = join(
        [
            tag("caption", caption) if caption else "",
            tag("thead", line("th", head)) if any(head) else "",
            tag("tbody", body),
        ]
    )
    inner = tag("table", made)
    return tag(
        "div", inner, class_="wide", tabindex=0, role="region", aria_label=caption or "table"
    )


def folded(summary: object, body: object, *, is_open: bool = False, id_: str = "") -> Html:
    """A part that opens when its heading is chosen."""
    inside = join([tag("summary", summary), body])
    start = f'<details id="{html.escape(id_)}"' if id_ else "<details"
    return Html(f"{start}{' open' if is_open else ''}>{inside}</details>")


def picture(inner: Html, caption: object = "", class_: str = "") -> Html:
    """A picture with what it shows."""
    frame = tag("div", inner, class_=f"frame {class_}".strip(), tabindex=0)
    return tag("figure", join([frame, tag("figcaption", caption) if caption else ""]))
