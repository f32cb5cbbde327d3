"""The summary: what was learned, whether it beats independent columns, the worst that was found."""

from __future__ import annotations

from credo.checking.findings import alike
from credo.core.render import many, number
from credo.reports.markup import Html, join, paragraph, tag
from credo.reports.page import Section
from credo.reports.subject import Subject

__all__ = ["CLASSES", "finding", "summary_section"]

CLASSES = {"problem": "bad", "warning": "attention", "note": "", "good": "good"}
"""How a finding of each severity looks."""

_WORST = 3


def summary_section(subject: Subject) -> Section:
    """A few sentences for who reads nothing else."""
    parts: list[object] = [paragraph(_learned(subject))]
    found = subject.findings
    against = [f for f in found if f.kind == "held_out" and f.where == "independent columns"]
    bad = [f for f in found if f.severity in ("problem", "warning") and f not in against]
    parts += [finding(f.severity, f.sentence, f.advice) for f in against[:1]]
    groups = alike(bad)
    if groups:
        rest = len(groups) - _WORST
        more = f"; {rest} more in the checks below" if rest > 0 else ""
        parts.append(paragraph(f"Worst first{more}:"))
        parts += [finding(g.first.severity, g.sentence) for g in groups[:_WORST]]
    elif found:
        parts.append(finding("good", "No problem and nothing to warn of was found."))
    else:
        parts.append(paragraph(subject.checked[1] or "Not checked: no data was given."))
    return Section("summary", "Summary", join(parts))


def finding(severity: str, sentence: str, advice: str = "") -> Html:
    """A finding as a paragraph with its colour."""
    line = join([tag("strong", severity), " ", sentence, " ", tag("em", advice)])
    return paragraph(line, f"finding {CLASSES.get(severity, '')}".strip())


def _learned(subject: Subject) -> str:
    model, record = subject.model, subject.model.record
    edges = many(len(subject.edges), "edge")
    words = f"A network of {many(len(model.names), 'variable')} and {edges}"
    if record is None:
        return f"{words}, as it was given."
    rows = record.details.get("rows")
    seen = f" ({number(rows)} rows)" if isinstance(rows, (int, float)) else ""
    source = f" from {record.source}{seen}" if record.source else ""
    return f"{words}, {record.how}{source}."
