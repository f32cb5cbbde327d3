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
    found = session.report[1].to_dict()
    calibration, outliers = found.get("calibration", {}), found.get("outliers", {})
    curves = [
        {"name": c["variable"], "number": False, "curve": c["curve"]}
        for c in calibration.get("discrete", ())
    ] + [
        {
            "name": c["variable"], "number": True,
            "curve": [[float(level), share, c["rows"]] for level, share in c["coverage"].items()],
        }
        for c in calibration.get("continuous", ())
    ]  # fmt: skip
    report = {
        "verdict": found["verdict"], "how": found["how"], "rows": found["rows"],
        "findings": [{**f, "at": _at(at, f)} for f in found["findings"]],
        "left_out": found["left_out"], "curves": curves,
        "surprising": outliers.get("rows", [])[:_MOST_ROWS],
        "threshold": outliers.get("threshold"),
    }  # fmt: skip
    return {"report": plain(report)}


def _at(at: State, finding: Json) -> list[str]:
    """The variables that a finding is about: one is a node, two of an edge are an edge."""
    names = [n for n in finding["variables"] if n in at.net.schema]
    return names or [n for n in str(finding["where"]).split(" → ") if n in at.net.schema]


VERBS: dict[str, Verb] = {
    "check": Verb(_check, {"seconds": (int, float)}),
    "report": Verb(_report, {}),
}
"""The requests by their names."""
