"""Finding: one thing a check has found, in a sentence with a number, and what to do about it.

What every section of a report shares: a title, a table, notes, findings, plain data.

What a check found, kept in the record of the model, so that who asks it later is told again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from credo.core.errors import InputError, unknown_name
from credo.core.render import shortened
from credo.model.values.value import Value

if TYPE_CHECKING:
    from credo.checking.report import Report
    from credo.model.networks.network import Network
    from credo.model.values.record import Record

__all__ = [
    "SEVERITIES", "SHOWN", "SURE", "Alike", "Finding", "Section", "alike", "found_of", "keep",
    "kept", "kept_how", "left_after", "p_below", "p_text", "pick", "places", "plain", "ranked",
]  # fmt: skip

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


T = TypeVar("T")

SHOWN = 10
"""How many lines of a section are printed; all are in its values."""


class Section(Value):
    """One part of a report: a frozen value that prints as a table.

    A subclass says in `_view` how it looks and in `findings` what it found. Fields whose names
    begin with an underscore, and arrays of a number for each row, stay out of `to_dict`.
    """

    __slots__ = ()

    def findings(self) -> list[Finding]:
        """What was found, in sentences."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        out = {}
        for f in fields(self):  # type: ignore[arg-type]
            if f.metadata.get("json", True):
                out[f.name] = plain(getattr(self, f.name))
        return out


def pick(items: Iterable[T], key: str, name: object, what: str, where: str) -> T:
    """The item whose attribute is this name; what is near is offered where there is none."""
    for item in (known := list(items)):
        if getattr(item, key) == name:
            return item
    raise unknown_name(what, name, [getattr(item, key) for item in known], where)


def plain(value: Any) -> Any:
    """A value as JSON has it: no number that is not finite, no array, no state of another type.

    >>> plain({"a": (1, float("-inf")), "b": None})
    {'a': [1, '-inf'], 'b': None}
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value.tolist()]
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    return str(value)


def p_text(p: float) -> str:
    """A p-value as people write it.

    >>> p_text(0.0312), p_text(0.00001)
    ('0.031', '< 0.001')
    """
    return f"{p:.3f}" if p >= 0.0005 else "< 0.001"


def p_below(n: int) -> str:
    """How many tests have a small p-value, in words.

    >>> p_below(1), p_below(1200)
    ('1 has p < 0.05', '1,200 have p < 0.05')
    """
    return f"{n:,} {'has' if n == 1 else 'have'} p < 0.05"


def left_after(n: int) -> str:
    """How many of them are left after something, in words.

    >>> left_after(1), left_after(0)
    ('1 remains after', '0 remain after')
    """
    return f"{n:,} {'remains' if n == 1 else 'remain'} after"


_FIELDS = ("kind", "sentence", "number", "severity", "advice", "where")


def keep(net: Network, report: Report) -> Network:
    """The network with the findings of a check in its record.

    >>> import credo as cr
    >>> rows = cr.examples.pneumonia()
    >>> net = cr.fit("[Pneu][Fev|Pneu]", rows, prior=cr.BDeu(1))
    >>> net = keep(net, cr.check(net, rows, sections=["held_out"]))
    >>> kept(net.record)[0].kind
    'held_out'
    """
    record = net.record
    assert record is not None
    found = [f.to_dict() for f in report.findings]
    details = {**record.details, "findings": found, "checked": report.how}
    return net.with_record(replace(record, details=details))


def kept(record: Record | None) -> tuple[Finding, ...]:
    """The findings that a record keeps, worst first; none where it was not checked."""
    found = [] if record is None else record.details.get("findings", [])
    return tuple(Finding(*(f[name] for name in _FIELDS)) for f in found)


def kept_how(record: Record | None) -> str:
    """How the check was made whose findings a record keeps; empty where there was none."""
    return "" if record is None else str(record.details.get("checked", ""))


def found_of(record: Record | None, names: Collection[str]) -> str:
    """In one line what was found wrong with variables that all are among these names, or with the
    whole; empty where nothing was.

    >>> from credo.model.values.record import Record
    >>> wrong = Finding("calibration", "The probabilities of lung are too sure.", 0.2, "problem",
    ...                 where="lung").to_dict()
    >>> found_of(Record("learned", details={"findings": [wrong]}), ["lung", "smoke"])
    'Found when it was learned: The probabilities of lung are too sure.'
    """
    bad = [f for f in kept(record) if f.severity in ("problem", "warning")]
    here = [f for f in bad if f.kind == "held_out" or (f.where and set(places(f)) <= set(names))]
    if not here:
        return ""
    more = f" (and {len(here) - 1} more: credo check)" * (len(here) > 1)
    return f"Found when it was learned: {here[0].sentence}{more}"
