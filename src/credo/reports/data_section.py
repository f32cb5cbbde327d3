"""The data: its schema as it was read, and the share of each state."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.data import Stream
from credo.render import number, schema_parts
from credo.reports.charts import patterns, strip
from credo.reports.markup import Html, items, join, note, paragraph, picture, said, table
from credo.reports.page import Section
from credo.reports.subject import Subject
from credo.train.missing import missingness

__all__ = ["data_section", "gaps_section", "variables_section"]

_STRIPS = 200  # variables whose shares are counted for the picture
_PATTERNS, _COLUMNS = 16, 30


def data_section(subject: Subject) -> Section | None:
    """The table the report was given."""
    if subject.data is None:
        return None
    schema = subject.data.schema
    title, (head, rows), aside, notes = schema_parts(schema)
    shares = _shares(subject.data, schema.names[:_STRIPS])
    lines = [[*row[:3], shares.get(row[0], Html("")), *row[3:]] for row in rows]
    parts: list[object] = [
        paragraph(title),
        table(
            [*head[:3], "shares", *head[3:]],
            lines,
            caption="Variables, as they were read",
        ),
    ]
    if aside[1]:
        parts.append(table(*aside, caption="Columns set aside"))
    if notes:
        parts += [paragraph("Noticed while reading:"), items(notes)]
    unused = [n for n in schema.names if n not in subject.model.schema]
    lacking = [n for n in subject.model.names if n not in schema]
    if unused:
        parts.append(note(f"Not in the model: {', '.join(unused[:40])}{_more(unused, 40)}."))
    if lacking:
        parts.append(note(f"Not in the data: {', '.join(lacking[:40])}{_more(lacking, 40)}."))
    return Section("data", "Data", join(parts))


def _more(names: list[str], most: int) -> str:
    return f" and {len(names) - most:,} more" if len(names) > most else ""


def _shares(data: Any, names: tuple[str, ...]) -> dict[str, Html]:
    """The share of each state, or the mean and spread of a number, in one pass over the rows."""
    if not names:
        return {}
    tally = data.tally(list(names))
    out: dict[str, Html] = {}
    for name in names:
        found, variable = tally[name], data.schema[name]
        if variable.is_discrete:
            counts = [float(c) for c in np.asarray(found).ravel()]
            total = sum(counts) or 1.0
            pairs = [(s, c / total) for s, c in zip(variable.states, counts, strict=True)]
            out[name] = strip(pairs)
        else:
            mean, sd = _moments(found)
            out[name] = said(f"mean {mean:.5g}, sd {sd:.5g}")
    return out


def _moments(found: Any) -> tuple[float, float]:
    mean = float(np.ravel(found.mean)[0])
    variance = float(np.ravel(found.variance)[0])
    return mean, variance**0.5


def variables_section(subject: Subject) -> Section:
    """The variables of the model when there is no data to show them with."""
    rows = []
    for v in subject.model.variables:
        states = ", ".join(v.texts[:12]) if v.is_discrete else ""
        if v.is_discrete and v.arity > 12:
            states += f", … {v.arity - 12} more"
        rows.append([v.name, v.kind, v.arity if v.is_discrete else "", states])
    made = table(["variable", "kind", "number", "states"], rows, right=[2], caption="Variables")
    text = "No data was given with this report; it tells of the model alone."
    return Section("data", "Variables", join([paragraph(text), made]))


def gaps_section(subject: Subject) -> Section | None:
    """Where cells are missing, which go missing together, and what the gaps go with."""
    if subject.data is None:
        return None
    if isinstance(subject.data, Stream):
        text = "The rows are read batch by batch; patterns of gaps are told for tables in memory."
        return Section("gaps", "Gaps", note(text))
    report = missingness(subject.data)
    if not report.cells:
        return Section(
            "gaps", "Gaps", paragraph(f"No cell of {number(report.rows)} rows is missing.")
        )
    parts: list[object] = [
        paragraph(
            f"{100 * report.cells:.3g} % of the cells are missing; "
            f"{100 * report.complete:.3g} % of the rows are complete."
        )
    ]
    gaps = {n for names, _ in report.patterns for n in names}
    ranked = sorted(gaps, key=lambda n: -report.rates[n])[:_COLUMNS]
    names = [n for n in report.rates if n in set(ranked)]
    shown = report.patterns[:_PATTERNS]
    rest = sum(s for _, s in report.patterns[_PATTERNS:])
    left = len(report.patterns) - len(shown)
    words = "Each row is a pattern of gaps with its share of the rows; dark cells are missing."
    if left:
        words += f" {left:,} rarer patterns ({100 * rest:.3g} % of the rows) are not drawn."
    if len(gaps) > len(names):
        words += f" The {len(names)} columns with the most gaps of {len(gaps)} are drawn."
    parts.append(picture(patterns(names, [(frozenset(n), s) for n, s in shown]), words))
    for title, head, rows, right in report._parts():
        if rows and "missing at once" not in title:
            kept = [i for i, h in enumerate(head) if h or head == ["column", "missing", ""]]
            cells = [[r[i] for i in kept if head[i]] for r in rows]
            parts.append(table([h for h in head if h], cells, right=right, caption=title))
    parts.append(
        note(
            "Gaps that depend on nothing, or only on cells that were seen, do EM no harm. Gaps "
            "that depend on the value that is missing bias every method, and no table can tell."
        )
    )
    return Section("gaps", "Gaps", join(parts))
