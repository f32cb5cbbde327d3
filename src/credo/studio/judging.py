"""The requests of Check: what `cr.check` finds, each finding by its node or edge; the rows by their
surprise; how right the probabilities are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from credo.checking.checkup import check
from credo.checking.findings import plain
from credo.core.errors import InputError
from credo.studio.state import Json, State, Verb

if TYPE_CHECKING:
    from credo.studio.session import Session

_MOST_ROWS = 50


def _check(session: Session, at: State, /, seconds: float) -> Json:
    table = at.data
    if table is None:
        raise InputError("A check needs rows.", hint="Open a table under Learn.")
    if not 0 < seconds <= 86_400:
        raise InputError(f"The seconds must be a number from 0 to 86400, got {seconds!r}.")
    net = at.net

    def end(report: Any) -> None:
        session.report = net, report

    session.start("Checking", lambda: check(net, table, seconds=seconds, rng=0), end)
    return {}


def _report(session: Session, at: State, /) -> Json:
    """The last check, if it is of this network."""
    if session.report is None or session.report[0] is not at.net:
        return {"report": None}
    found = session.report[1]
    sections = found.sections
    outliers, calibration = sections.get("outliers"), sections.get("calibration")
    return {
        "report": {
            "verdict": str(found.verdict), "how": str(found.how), "rows": plain(found.rows),
            "findings": [
                {**plain(f.to_dict()), "at": _at(at, f)} for f in found.findings
            ],
            "left_out": plain(found.left_out),
            "surprising": [] if outliers is None else [
                plain(row) for row in outliers.rows[:_MOST_ROWS]
            ],
            "threshold": None if outliers is None else plain(outliers.threshold),
            "curves": [] if calibration is None else [
                {"name": c.variable, "rows": plain(c.rows), "curve": plain(c.curve)}
                for c in calibration.discrete
            ],
        }
    }  # fmt: skip


def _at(at: State, finding: Any) -> list[str]:
    """The variables that a finding is about: one is a node, two of an edge are an edge."""
    names = [n for n in finding.variables if n in at.net.schema]
    return names or [n for n in finding.where.split(" → ") if n in at.net.schema]


VERBS: dict[str, Verb] = {
    "check": Verb(_check, {"seconds": (int, float)}),
    "report": Verb(_report, {}),
}
"""The requests by their names."""
