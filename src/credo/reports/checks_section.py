"""How well the model fits its data: what was found, most important first, with pictures.

The checks are `cr.check`'s: those given, those that the model's record keeps, or made now. Pictures
are put in as PNG where matplotlib is installed.
"""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable
from typing import Any

from credo.checking.findings import alike, kept_how
from credo.core.errors import CredoError, MissingPackageError
from credo.reports.markup import Html, folded, items, join, note, paragraph, picture, table, tag
from credo.reports.page import Section
from credo.reports.subject import Subject
from credo.reports.summary_section import finding

__all__ = ["checks_section"]

_FINDINGS = 40
_PICTURES = {
    "held_out": ("held_out_bars",),
    "predictive": ("predictive_histogram",),
    "calibration": ("calibration_curves", "rank_histogram"),
    "edges": ("edge_bars",),
    "outliers": ("surprise",),
}


def checks_section(subject: Subject) -> Section | None:
    """The checks of the model against the data."""
    if subject.data is None:
        return None
    report, why = subject.checked
    if report is not None:
        return Section("checks", "Checks", _told(report))
    if not subject.kept:
        return Section("checks", "Checks", note(why))
    how = f"Found when the model was learned. {kept_how(subject.model.record)}"
    data = subject.data_file or "TABLE"
    more = (
        f"This is the short check of credo learn. The whole one, with tables and pictures: "
        f"credo report {subject.model_name} --data {data} --checks."
    )
    body = join([paragraph(how), *_grouped(subject.kept), note(more)])
    return Section("checks", "Checks", body)


def _grouped(findings: Any) -> list[object]:
    """Findings that are alike are told once, the first few of them."""
    groups = alike(findings)
    parts: list[object] = [
        finding(g.first.severity, g.sentence, g.first.advice) for g in groups[:_FINDINGS]
    ]
    more = len(groups) - _FINDINGS
    return [*parts, note(f"{more:,} lesser findings are not shown.")] if more > 0 else parts


def _told(report: Any) -> Html:
    parts: list[object] = [paragraph(tag("strong", report.title)), paragraph(report.how)]
    parts += _grouped(report.findings)
    for name, section in report.sections.items():
        seen = section._view()
        body: list[object] = [table(seen.head, seen.rows, right=seen.right)]
        if seen.note:
            body.append(note(seen.note))
        body += _pictures(report, name)
        parts.append(folded(tag("strong", seen.title), join(body)))
    last = [f"{name.replace('_', ' ')}: {why}" for name, why in report.left_out.items()]
    last += report.notes
    if last:
        parts += [paragraph("Not done, or done in part:"), items(last)]
    return join(parts)


def _pictures(report: Any, name: str) -> list[Html]:
    """The pictures of a section; none where it has nothing to draw."""
    from credo.plot import checks

    out = []
    for which in _PICTURES.get(name, ()):
        try:
            raw = _png(getattr(checks, which), report)
        except MissingPackageError as error:
            return [note(str(error))]
        except CredoError:
            continue
        address = "data:image/png;base64," + base64.b64encode(raw).decode("ascii")
        words = which.replace("_", " ")
        out.append(picture(Html(f'<img src="{address}" alt="{words}">')))
    return out


def _png(draw: Callable[..., Any], report: Any) -> bytes:
    """A picture drawn on a figure of its own, which leaves the user's figures alone."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackageError(
            "Pictures of the checks need matplotlib, which is not installed.",
            hint='Run pip install "credo[plot]".',
        ) from None
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a glyph that the font lacks is no matter here
        draw(report, ax=figure.subplots())
        out = io.BytesIO()
        figure.savefig(out, format="png", dpi=110)
    return out.getvalue()
