"""Finding: one thing a check has found, in a sentence with a number, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from credo.core.errors import InputError
from credo.core.render import shortened

__all__ = ["SEVERITIES", "SURE", "Alike", "Finding", "alike", "places", "ranked"]

SEVERITIES = ("problem", "warning", "note", "good")
"""How much a finding matters, worst first."""
SURE = 5
"""A problem has an adjusted p-value below the level by this factor: it is sure, and not only
large. So the sections together seldom call a right model wrong."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    `kind` names the section it comes from, `number` is the number in the sentence, `severity` is
    'problem', 'warning', 'note' or 'good', `advice` says what to do (empty where nothing is to be
    done), and `where` names the variables, edge or rows. `variables` are those it is about, and `p`
    is the adjusted p-value behind it (None where nothing was tested): findings of one kind and
    severity that differ in these alone can be told together.

    >>> f = Finding("outliers", "Row 7 carries 41.2 bits.", 41.2, "warning", "Look at it.", "row 7")
    >>> print(f)
    warning  Row 7 carries 41.2 bits. Look at it.
    """

    kind: str
    sentence: str
    number: float
    severity: str
    advice: str = ""
    where: str = ""
    weight: float = 0.0  # what ranks findings of the same severity
    variables: tuple[str, ...] = ()
    p: float | None = None

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES:
            raise InputError(f"A severity is one of {list(SEVERITIES)}, got {self.severity!r}.")

    def __str__(self) -> str:
        return f"{self.severity:<7}  {self.sentence} {self.advice}".rstrip()

    def _repr_html_(self) -> str:
        from html import escape

        return (
            f"<p><b>{escape(self.severity)}</b> {escape(self.sentence)} "
            f"<i>{escape(self.advice)}</i></p>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "kind": self.kind, "severity": self.severity, "sentence": self.sentence,
            "number": self.number, "advice": self.advice, "where": self.where,
            "variables": list(self.variables), "p": self.p,
        }  # fmt: skip


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Worst first; among equals, those that weigh most."""
    found = list(findings)
    order = {s: i for i, s in enumerate(SEVERITIES)}
    return tuple(sorted(found, key=lambda f: (order[f.severity], -f.weight)))


# --- Findings that say the same of other variables, told once: the worst in full, the rest by name.
# Two are alike when their sentences differ in names and numbers alone.

_NUMBER = re.compile(r"[-+±]?\d[\d,.e%-]*")
_GIVEN = re.compile(r" given (?!the others)[^;:]*")


@dataclass(frozen=True, slots=True)
class Alike:
    """The worst of some findings that are alike, and where the others are."""

    first: Finding
    others: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The sentence of the worst, and what it holds of besides."""
        if not self.others:
            return self.first.sentence
        return f"{self.first.sentence} Likewise: {shortened(self.others, 40)}."


def alike(findings: Sequence[Finding]) -> list[Alike]:
    """Findings in groups, in the order of the worst of each.

    >>> found = [Finding("calibration", f"The probabilities of {v} are too sure: off by {n}.",
    ...                  n, "problem", "", v) for v, n in [("lung", 0.2), ("xray", 0.1)]]
    >>> [group.sentence for group in alike(found)]
    ['The probabilities of lung are too sure: off by 0.2. Likewise: xray.']
    """
    groups: dict[tuple[str, str], list[Finding]] = {}
    for f in findings:
        text = f.sentence
        for name in sorted(places(f), key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "□", text)
        key = _NUMBER.sub("#", _GIVEN.sub("", text))
        groups.setdefault((f.kind, key), []).append(f)
    return [
        Alike(g[0], tuple("–".join(places(f)) for f in g[1:] if f.where)) for g in groups.values()
    ]


def places(finding: Finding) -> tuple[str, ...]:
    """The variables, or the rows, that a finding is about."""
    return tuple(p for p in re.split(r", | → | — ", finding.where) if p)
