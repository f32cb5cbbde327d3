"""Findings that say the same of other variables, told once: the worst in full, the rest by name.

Two are alike when their sentences differ in names and numbers alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from credo.checking.findings import Finding
from credo.core.render import shortened

__all__ = ["Alike", "alike", "places"]

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
