"""Each distribution of the model: tables with their intervals, lines, potentials.

Each row of a table is drawn as bars behind its numbers. What would make the page too long is left
out and said, with the command that prints it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from credo.core.render import many, number, short_probability
from credo.model.networks.cpt import Cpt
from credo.model.networks.family import cells
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.softmax import Softmax
from credo.model.undirected.feature import Feature
from credo.reports.markup import Html, folded, join, note, paragraph, table, tag
from credo.reports.page import Section
from credo.reports.subject import Subject
from credo.stats import Counts

__all__ = ["tables_section"]

_ROWS = 64  # rows of one table that are written out
_CELLS = 40_000  # cells of all tables together
_STATES = 40
_OPEN = 10  # at most so many tables, small ones, are open at first


def tables_section(subject: Subject) -> Section:
    """Every table, folded when there are many, with a list to find them."""
    made, left = [], _CELLS
    few = len(subject.model.names) <= _OPEN
    names = []
    for i, (name, title, size, cost, body) in enumerate(_distributions(subject)):
        place = f"table-{i}"
        names.append(tag("li", tag("a", name, href=f"#{place}")))
        summary = join([tag("strong", title), tag("span", size, class_="note")])
        if cost > left:
            body_html: object = note(
                f"Left out to keep this page short. Print it: credo show {subject.model_name}."
            )
        else:
            left -= cost
            body_html = body()
        is_open = few and cost <= 200
        made.append(folded(summary, body_html, is_open=is_open, id_=place))
    parts: list[object] = [paragraph(_words(subject))]
    if len(made) > _OPEN:
        box = Html(
            '<input type="search" placeholder="Find a variable" aria-label="Find a variable" '
            'data-filter="#tables details, #tables .index li">'
        )
        button = Html('<button type="button" data-open="#tables details">Open all</button>')
        parts.append(tag("div", join([box, button]), class_="tools"))
        parts.append(tag("ul", join(names), class_="index"))
    return Section("tables", "Tables", join([*parts, *made]))


def _words(subject: Subject) -> str:
    if not subject.directed:
        return (
            "Each potential says how well states go together: larger is likelier. They are not "
            "probabilities until all are multiplied and divided by the whole."
        )
    words = "Each row is one distribution, given the states of the parents."
    if any(getattr(d, "counts", None) is not None for d in subject.model.distributions.values()):
        words += (
            f" Below each probability its {100 * subject.level:g} % credible interval; "
            "a wide one means few rows."
        )
    else:
        words += " The model keeps no posterior, so its probabilities come without intervals."
    return words


def _distributions(subject: Subject) -> Iterator[tuple[str, str, str, int, Any]]:
    """Name, title, size in words, cells and the body of each distribution."""
    if not subject.directed:
        for p in subject.model.potentials:
            title = f"{p.name or 'φ'}({', '.join(p.names)})"
            size = 1 if isinstance(p, Feature) else int(np.prod(p.shape))
            yield title, title, f"{number(size)} numbers", min(size, 4096), _potential(p)
        return
    for d in subject.model.distributions.values():
        if isinstance(d, Cpt):
            rows = min(cells(d.parents), _ROWS)
            words = f"{many(cells(d.parents), 'row')} × {many(d.child.arity, 'state')}"
            yield (
                d.name,
                d.title,
                words,
                rows * min(d.child.arity, _STATES),
                _table(d, subject.level),
            )
        elif isinstance(d, Softmax):
            words = f"{many(d.free_parameters, 'coefficient')}"
            yield d.name, f"{d.title}: softmax", words, d.intercept.size, _softmax(d)
        else:
            rows = min(d.intercept.size, _ROWS)
            words = many(d.intercept.size, "line")
            yield d.name, d.title, words, rows * (2 + len(d.continuous)), _lines(d, subject.level)


def _table(d: Cpt, level: float) -> Any:
    def body() -> Html:
        bounds = _intervals(d, level)
        seen = _rows_seen(d)
        states = d.child.states[:_STATES]
        head: list[object] = [p.name for p in d.parents]
        head += [f"{d.name} = {s}" if i == 0 else s for i, s in enumerate(states)]
        if seen is not None:
            head.append("rows")
        rows = []
        for i, at in enumerate(itertools.islice(np.ndindex(*d.shape[:-1]), _ROWS)):
            row: list[object] = [p.states[i] for p, i in zip(d.parents, at, strict=True)]
            for k in range(len(states)):
                p = float(d.values[(*at, k)])
                ends_here = None
                if bounds is not None:
                    ends_here = tuple(float(b[i, k]) for b in bounds)
                row.append(_heat(p, ends_here))
            if seen is not None:
                row.append(number(float(seen[at])))
            rows.append(row)
        right = [*range(len(d.parents), len(head))]
        out: list[object] = [table(head, rows, right=right)]
        hidden = cells(d.parents) - len(rows)
        if hidden:
            out.append(
                note(f"{hidden:,} more rows are not shown; net.cpt({d.name!r}) prints them.")
            )
        if d.child.arity > _STATES:
            out.append(note(f"{d.child.arity - _STATES:,} more states are not shown."))
        return join(out)

    return body


def _intervals(d: Cpt, level: float) -> tuple[Any, Any] | None:
    """The ends of the intervals of the rows that are shown."""
    if d.counts is None:
        return None
    low, high = d.ends(level, rows=_ROWS)
    return low, high


def _rows_seen(d: Cpt) -> Any:
    """How many rows of the data each row of the table was learned from, if that is known."""
    observed = None if d.learned is None else d.learned.observed
    if not isinstance(observed, Counts) or observed.cells > 10_000_000:
        return None
    counts = np.asarray(observed, dtype=float)
    return counts.sum(axis=-1) if counts.shape == d.shape else None


def _heat(p: float, ends: tuple[float, ...] | None) -> Html:
    inner = [short_probability(p)]
    if ends is not None:
        low, high = map(short_probability, ends)
        inner.append(tag("small", f"{low}–{high}"))
    return tag("td", join(inner), class_="heat", style=f"--p:{100 * p:.1f}%")


def _softmax(d: Softmax) -> Any:
    def body() -> Html:
        view = d._view()
        return table(view.head, view.rows, right=[*view.right])

    return body


def _lines(d: LinearGaussian, level: float) -> Any:
    def body() -> Html:
        head: list[str] = [*(p.name for p in d.discrete), "intercept"]
        head += [f"× {p.name}" for p in d.continuous] + ["standard deviation"]
        spans = _line_spans(d, level)
        rows = []
        for at in itertools.islice(np.ndindex(*d.intercept.shape), _ROWS):
            row: list[object] = [p.states[i] for p, i in zip(d.discrete, at, strict=True)]
            numbers = [d.intercept[at], *d.coefficients[at], np.sqrt(d.variance[at])]
            for value, span in zip(numbers, spans, strict=True):
                row.append(_value(float(value), span, at))
            rows.append(row)
        out: list[object] = [table(head, rows, right=[*range(len(d.discrete), len(head))])]
        hidden = d.intercept.size - len(rows)
        if hidden:
            out.append(note(f"{hidden:,} more lines are not shown; net.cpt({d.name!r}) has them."))
        return join(out)

    return body


def _line_spans(d: LinearGaussian, level: float) -> list[Any]:
    """The intervals of the intercept, each slope and the standard deviation, or None for each."""
    what = ["intercept", *(p.name for p in d.continuous), "variance"]
    if d.posterior is None:
        return [None] * len(what)
    spans: list[Any] = []
    for name in what:
        ends = [np.asarray(end, dtype=float) for end in d.interval(level, of=name)]
        spans.append([np.sqrt(e) for e in ends] if name == "variance" else ends)
    return spans


def _value(value: float, span: Any, at: tuple[int, ...]) -> object:
    if span is None:
        return f"{value:.5g}"
    low, high = (float(e[at]) if e.ndim else float(e) for e in span)
    return join([f"{value:.5g}", tag("small", f"{low:.4g} to {high:.4g}")])


def _potential(p: Any) -> Any:
    def body() -> Html:
        if isinstance(p, Feature):
            return paragraph(f"A feature with the weight {p.weight:.6g}.")
        head = [*p.names, "value"]
        most = float(np.max(p.values)) or 1.0
        rows = []
        for at in itertools.islice(np.ndindex(*p.shape), 4096):
            states = [v.states[i] for v, i in zip(p.variables, at, strict=True)]
            value = float(p.values[at])
            style = f"--p:{100 * value / most:.1f}%"
            rows.append([*states, tag("td", f"{value:.5g}", class_="heat", style=style)])
        hidden = int(np.prod(p.shape)) - len(rows)
        more = note(f"{hidden:,} more cells are not shown.") if hidden else ""
        return join([table(head, rows), more])

    return body
