"""What a check found, kept in the record of the model, so that who asks it later is told again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from credo.checking.findings import Finding, places

if TYPE_CHECKING:
    from credo.checking.report import Report
    from credo.model.networks.network import Network
    from credo.model.values.record import Record

__all__ = ["found_of", "keep", "kept", "kept_how"]

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
