"""The data: its schema as it was read, and the share of each state."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.core.errors import CredoError
from credo.core.render import number, schema_parts
from credo.data import Stream, Table
from credo.model.answers.number_answer import NumberAnswer
from credo.reports.charts import histogram, patterns, strip
from credo.reports.markup import Html, items, join, note, paragraph, picture, said, table, tag
from credo.reports.page import Section
from credo.reports.subject import Subject
from credo.train.independence.missingness import missingness

__all__ = ["data_section", "gaps_section", "variables_section"]

_STRIPS = 200  # variables whose shares are counted for the picture
_PATTERNS, _COLUMNS = 16, 30
_BINS = 24


def data_section(subject: Subject) -> Section | None:
    """The table the report was given."""
    if subject.data is None:
        return None
    schema = subject.data.schema
    title, (head, rows), aside, notes = schema_parts(schema)
    rows, aside = _real_reasons(subject, rows, aside)
    shares = _shares(subject, schema.names[:_STRIPS])
    lines = [[*row[:3], shares.get(row[0], Html("")), *row[3:]] for row in rows]
    parts: list[object] = [
        paragraph(title),
        table(
            [*head[:3], "shares", *head[3:]],
            lines,
            caption="Variables, as they were read; bars are the rows, the line is the model",
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


def _real_reasons(subject: Subject, rows: Any, aside: Any) -> tuple[Any, Any]:
    """Why each column is what it is: by the rules, where the model's schema says the same."""
    plain = subject.by_rules
    if plain is None:
        return rows, aside
    own = {c.name: c.reason for c in plain.columns}
    model = subject.model.schema
    same = {n for n in plain.names if n in model and plain[n] == model[n]}
    rows = [[*row[:-1], own[row[0]] if row[0] in same else row[-1]] for row in rows]
    head, lines = aside
    kinds = {c.name: c.kind for c in plain.columns if not c.used}
    lines = [[r[0], kinds.get(r[0], r[1]), own[r[0]] if r[0] in kinds else r[2]] for r in lines]
    return rows, (head, lines)


def _more(names: list[str], most: int) -> str:
    return f" and {len(names) - most:,} more" if len(names) > most else ""


def _shares(subject: Subject, names: tuple[str, ...]) -> dict[str, Html]:
    """The share of each state; of a number its mean and spread, and a histogram with the model."""
    data = subject.data
    assert data is not None
    if not names:
        return {}
    tally = data.tally(list(names))
    out: dict[str, Html] = {}
    for name in names:
        found, variable = tally[name], data.schema[name]
        if not variable.is_numeric or (variable.is_discrete and isinstance(data, Stream)):
            counts = [float(c) for c in np.asarray(found).ravel()]
            total = sum(counts) or 1.0
            pairs = [(s, c / total) for s, c in zip(variable.states, counts, strict=True)]
            out[name] = strip(pairs)
        else:
            of = ""
            if variable.scale is None:
                mean, sd = _moments(found)
            elif isinstance(data, Table):
                mean, sd = _own_moments(data, name)
            else:
                mean, sd = _moments(found)
                of = f" behind its {variable.scale.words}"
            words = said(f"mean {mean:.5g}, sd {sd:.5g}{of}")
            out[name] = join([_histogram(subject, name), tag("div", words, class_="note")])
    return out


def _histogram(subject: Subject, name: str) -> Html:
    """The rows of a continuous column in bins, and how many the model expects there."""
    data = subject.data
    if not isinstance(data, Table):
        return Html("")
    values = data.values(name)
    seen = ~np.isnan(values)
    if not seen.any():
        return Html("")
    weights = None if data.weights is None else np.asarray(data.weights, dtype=float)[seen]
    heights, edges = np.histogram(values[seen], bins=_BINS, weights=weights)
    at = np.linspace(edges[0], edges[-1], 4 * _BINS + 1)
    density: Any = None
    if name in subject.model.schema and len(subject.model.names) <= _STRIPS:
        try:
            density = _expected(subject.beliefs[name], at, edges[1] - edges[0])
        except (CredoError, AttributeError):  # no exact density of this variable
            density = None
    model = [] if density is None else (density * heights.sum()).tolist()
    words = f"{name}: {edges[0]:.4g} to {edges[-1]:.4g}"
    return histogram([float(h) for h in heights], model, words)


def _expected(belief: Any, at: Any, wide: float) -> Any:
    """The share of the rows that the model expects in a bar at each place.

    Of a number with a scale what lies there, since an atom (a value that repeats) has no width.
    """
    if isinstance(belief, NumberAnswer):
        return np.asarray(belief.cdf(at + wide / 2)) - np.asarray(belief.cdf(at - wide / 2))
    return np.exp(belief.logpdf(at)) * wide


def _own_moments(data: Table, name: str) -> tuple[float, float]:
    """The mean and the standard deviation of the user's numbers."""
    values = data.values(name)
    seen = ~np.isnan(values)
    weights = None if data.weights is None else np.asarray(data.weights, dtype=float)[seen]
    if not seen.any():
        return 0.0, 0.0
    mean = float(np.average(values[seen], weights=weights))
    return mean, float(np.average((values[seen] - mean) ** 2, weights=weights)) ** 0.5


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
        if v.scale is not None and not v.is_discrete:
            states = v.scale.words
        kind = "continuous" if v.is_numeric else v.kind
        rows.append([v.name, kind, v.arity if v.is_discrete else "", states])
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
