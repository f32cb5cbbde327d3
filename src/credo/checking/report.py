"""Report: what a check of a model found: findings in sentences first, then each section."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from credo.checking.findings import Finding, Section
from credo.checking.sections.calibration import Calibration
from credo.checking.sections.costs import CostCheck
from credo.checking.sections.edges import Edges
from credo.checking.sections.graph import Graph
from credo.checking.sections.held_out import HeldOut
from credo.checking.sections.independence import Independence
from credo.checking.sections.influence import Influence
from credo.checking.sections.outliers import Outliers
from credo.checking.sections.parameters import Parameters
from credo.checking.sections.predictive import Predictive
from credo.core.frozen import Frozen
from credo.core.progress import LATE
from credo.core.render import many

__all__ = ["EVERY", "SECTIONS", "Report"]

SECTIONS = (
    "held_out", "predictive", "calibration", "independence", "edges", "parameters", "influence",
    "outliers",
)  # fmt: skip
"""The sections of a report, in order."""

EVERY = (*SECTIONS, "costs", "graph")
"""The same, and those that are made when they are asked for."""

_MARKS = {"problem": "✗", "warning": "!", "note": "·", "good": "✓"}


@dataclass(frozen=True, eq=False, repr=False)
class Report(Frozen):
    """What was found about a model on a table; made by `cr.check`.

    `findings` are sentences, ranked; each section is a value of its own and prints as a table. A
    section that could not be made is None, and `left_out` says why.

    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu][Cou|Pneu]", cr.examples.pneumonia(), prior=cr.BDeu(1))
    >>> report = cr.check(net, cr.examples.pneumonia(), draws=50, edges=0)
    >>> report
    Report(12 rows; ...)
    >>> report.findings[0].kind
    'held_out'
    """

    findings: tuple[Finding, ...]
    rows: float
    variables: int
    how: str
    held_out: HeldOut | None = None
    predictive: Predictive | None = None
    calibration: Calibration | None = None
    independence: Independence | None = None
    edges: Edges | None = None
    parameters: Parameters | None = None
    influence: Influence | None = None
    outliers: Outliers | None = None
    costs: CostCheck | None = None
    graph: Graph | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    seed: int | None = None

    @property
    def sections(self) -> dict[str, Section]:
        """The sections that were made, by name."""
        found = {name: getattr(self, name) for name in EVERY}
        return {name: s for name, s in found.items() if s is not None}

    @property
    def problems(self) -> tuple[Finding, ...]:
        """The findings that are problems."""
        return tuple(f for f in self.findings if f.severity == "problem")

    @property
    def is_sound(self) -> bool:
        """Whether no problem was found; warnings may have been."""
        return not self.problems

    def of(self, kind: str) -> tuple[Finding, ...]:
        """The findings of one section."""
        return tuple(f for f in self.findings if f.kind == kind)

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        count = {s: sum(f.severity == s for f in self.findings) for s in _MARKS}
        told = [
            f"{n:,} {word}{'s' * (n != 1)}"
            for word, n in (("problem", count["problem"]), ("warning", count["warning"])) if n
        ]  # fmt: skip
        if told:
            return " and ".join(told) + " found"
        late = any(why.startswith(LATE) for why in self.left_out.values())
        return "no problem found" + " in the time there was" * late

    @property
    def title(self) -> str:
        """What was checked."""
        rows = f"{self.rows:,.6g} row{'s' * (self.rows != 1)}"
        return f"check of {many(self.variables, 'variable')} on {rows}: {self.sentence}"

    def _lines(self) -> Iterator[tuple[str, Finding]]:
        for f in self.findings:
            yield _MARKS[f.severity], f

    def __str__(self) -> str:
        parts = [self.title, self.how]
        told = []
        for mark, f in self._lines():
            text = f"{f.sentence} {f.advice}".rstrip()
            told.append(textwrap.fill(text, 98, initial_indent=f"{mark} ", subsequent_indent="  "))
        parts.append("\n".join(told))
        parts += [str(s) for s in self.sections.values()]
        last = [f"{name.replace('_', ' ')}: {why}" for name, why in self.left_out.items()]
        last += self.notes
        if last:
            parts.append("\n".join(["not done, or done in part", *(f"  {n}" for n in last)]))
        return "\n\n".join(p for p in parts if p)

    def __repr__(self) -> str:
        return f"Report({self.rows:,.6g} row{'s' * (self.rows != 1)}; {self.sentence})"

    def _repr_html_(self) -> str:
        items = "".join(
            f"<li><b>{mark}</b> {html.escape(f.sentence)} <i>{html.escape(f.advice)}</i></li>"
            for mark, f in self._lines()
        )
        head = f"<p><b>{html.escape(self.title)}</b><br>{html.escape(self.how)}</p>"
        body = "".join(
            f"<details><summary>{html.escape(name.replace('_', ' '))}</summary>"
            f"{s._repr_html_()}</details>"
            for name, s in self.sections.items()
        )
        last = [f"{name}: {why}" for name, why in self.left_out.items()] + list(self.notes)
        tail = "".join(f"<li>{html.escape(n)}</li>" for n in last)
        return f'{head}<ul style="list-style:none">{items}</ul>{body}' + (
            f"<ul>{tail}</ul>" if tail else ""
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "version": 1,
            "rows": self.rows,
            "variables": self.variables,
            "how": self.how,
            "verdict": self.sentence,
            "findings": [f.to_dict() for f in self.findings],
            **{name: s.to_dict() for name, s in self.sections.items()},
            "left_out": dict(self.left_out),
            "notes": list(self.notes),
            "seconds": self.seconds,
            "seed": self.seed,
        }
