"""Small charts as SVG, without matplotlib: a curve, a strip of shares, a histogram, gaps."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from credo.core.drawing.svg import text_width
from credo.core.render import one_line
from credo.plot.networks.scene import cut
from credo.reports.markup import Html, join, tag

__all__ = ["curve", "histogram", "patterns", "strip"]


def strip(shares: Sequence[tuple[object, float]]) -> Html:
    """Shares side by side, each as wide as it is; what each one is shows when it is pointed at.

    >>> strip([("no", 0.75), ("yes", 0.25)]).count("<i")
    2
    """
    parts = [
        tag(
            "i",
            "",
            style=f"flex:{max(p, 0.0):.5f} 1 0",
            title=f"{one_line(str(s))}: {100 * p:.3g} %",
        )
        for s, p in list(shares)[:40]
    ]
    return tag("div", join(parts), class_="strip")


def histogram(heights: Sequence[float], model: Sequence[float], words: str) -> Html:
    """Bars as high as the rows in each bin, and a line where the model expects them.

    `heights` and `model` are in the same unit; the model's points lie at equal distances from the
    first edge to the last.

    >>> histogram([1, 4, 2], [1.5, 3.0, 1.0], "age").count('class="bar"')
    3
    """
    wide, tall = 200.0, 52.0
    most = max(max(heights), min(max(model, default=0.0), 1.5 * max(heights))) or 1.0
    step = wide / len(heights)
    bars = [
        f'<rect class="bar" x="{i * step:.1f}" y="{tall - tall * h / most:.1f}" '
        f'width="{max(step - 1, 0.5):.1f}" height="{tall * h / most:.1f}"/>'
        for i, h in enumerate(heights)
    ]
    across = wide / max(len(model) - 1, 1)
    points = " ".join(
        f"{i * across:.1f},{tall - tall * min(m / most, 1.0):.1f}" for i, m in enumerate(model)
    )
    line = f'<polyline class="fitted" points="{points}"/>' if model else ""
    return Html(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {tall:g}" '
        f'width="{wide:g}" height="{tall:g}" role="img"><title>{escape(words)}</title>'
        f"{''.join(bars)}{line}</svg>"
    )


def curve(values: Sequence[float], x_label: str, y_label: str) -> Html:
    """A line through values in their order, with the ends of both axes named.

    >>> "polyline" in curve([1.0, 2.0, 2.5], "iteration", "score")
    True
    """
    wide, tall, left, low = 640.0, 220.0, 96.0, 34.0
    least, most = min(values), max(values)
    span = (most - least) or 1.0
    n = max(len(values) - 1, 1)
    step = max(1, len(values) // 600)
    kept = [*range(0, len(values), step)]
    if kept[-1] != len(values) - 1:
        kept.append(len(values) - 1)
    right = wide - 16
    across, down = (right - left) / n, (tall - low - 16) / span
    points = " ".join(f"{left + across * i:.1f},{10 + down * (most - values[i]):.1f}" for i in kept)
    ground = tall - low
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {tall:g}" width="{wide:g}" '
        f'height="{tall:g}" style="max-width:100%;height:auto" role="img" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12">',
        f"<title>{escape(y_label)} by {escape(x_label)}</title>",
        f'<line class="rule" x1="{left}" y1="{ground}" x2="{right}" y2="{ground}"/>',
        f'<line class="rule" x1="{left}" y1="8" x2="{left}" y2="{ground}"/>',
        f'<polyline class="curve" points="{points}"/>',
        _label(left - 8, 16, f"{most:.6g}", "end"),
        _label(left - 8, ground, f"{least:.6g}", "end"),
        _label(left, ground + 15, "0", "middle"),
        _label(right, ground + 15, f"{len(values) - 1:,}", "end"),
        _label((left + right) / 2, ground + 28, x_label, "middle"),
        f'<text class="ink" transform="translate(14 {ground / 2:.1f}) rotate(-90)" '
        f'text-anchor="middle">{escape(cut(y_label, ground - 10, 12))}</text>',
        "</svg>",
    ]
    return Html("".join(out))


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="ink" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def patterns(names: Sequence[str], rows: Sequence[tuple[frozenset[str], float]]) -> Html:
    """Which columns are missing at once: a row for each pattern, dark where a cell is missing.

    >>> patterns(["a", "b"], [(frozenset(), 0.9), (frozenset("a"), 0.1)]).count('class="bar"')
    1
    """
    cell, row, left = 26.0, 20.0, 74.0
    labels = [cut(n, 150, 12) for n in names]
    top = max([text_width(t, 12) for t in labels], default=0.0) * 0.72 + 20
    slant = max([text_width(t, 12) for t in labels], default=0.0) * 0.72
    wide, tall = left + cell * len(names) + slant + 12, top + row * len(rows) + 10
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {tall:.0f}" '
        f'width="{wide:.0f}" height="{tall:.0f}" role="img" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12">',
        "<title>columns that are missing at once</title>",
    ]
    for j, label in enumerate(labels):
        x = left + cell * (j + 0.5)
        out.append(
            f'<text class="ink" transform="translate({x:.1f} {top - 6:.1f}) rotate(-45)">'
            f"{escape(label)}</text>"
        )
    for i, (gone, share) in enumerate(rows):
        y = top + row * i
        out.append(_label(left - 8, y + 14, f"{100 * share:.1f} %", "end"))
        for j, name in enumerate(names):
            kind = "bar" if name in gone else "track"
            out.append(
                f'<rect class="{kind}" x="{left + cell * j + 1:.1f}" y="{y + 1:.1f}" '
                f'width="{cell - 2:.1f}" height="{row - 2:.1f}"/>'
            )
    return Html("".join([*out, "</svg>"]))
