"""What a decision network decides: its diagram, the best strategy, what is worth knowing, how sure.

The other sections are about the network in which the decisions follow the best strategy.
"""

from __future__ import annotations

from typing import Any

from credo.core.errors import CredoError
from credo.core.render import View
from credo.reports.markup import Html, join, note, paragraph, picture, table, tag
from credo.reports.page import Section
from credo.reports.subject import Subject

__all__ = ["decision_section"]


def decision_section(subject: Subject) -> Section | None:
    """What to do in each situation; None where nothing is decided."""
    net = subject.decided
    if net is None:
        return None
    found = net.solve(interval=subject.level, rng=subject.seed)
    parts: list[object] = [
        picture(Html(net.svg()), "Decisions are rectangles, utilities diamonds.")
    ]
    parts += [paragraph(line) for line in found.said.split("\n")]
    for policy in found.policy.values():
        parts += [tag("h3", policy.name), _shown(policy._view())]
    parts += [tag("h3", "What is worth knowing"), _or_why(lambda: net.value_of_information())]
    parts += [tag("h3", "What would change the decision"), _or_why(lambda: net.sensitivity())]
    for question in subject.decided_questions:
        answer = net.ask(question)
        shown = _shown(answer._view()) if hasattr(answer, "_view") else paragraph(str(answer))
        parts += [tag("h3", question), shown]
    return Section("decisions", "Decisions", join(parts))


def _shown(view: View) -> Html:
    made = table(view.head, view.rows, right=list(view.right), caption=view.title)
    return join([made, note(view.note) if view.note else ""])


def _or_why(ask: Any) -> Html:
    """An answer as a table, or why there is none."""
    try:
        return _shown(ask()._view())
    except CredoError as error:
        return note(str(error))
