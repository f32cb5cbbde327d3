"""What setting a variable would do, beside what is seen, for the strongest edges of a network."""

from __future__ import annotations

import shlex

from credo.core.errors import CredoError
from credo.core.render import number
from credo.reports.markup import code, join, note, paragraph, table
from credo.reports.page import Section
from credo.reports.questions_section import strong_edges
from credo.reports.subject import Subject
from credo.train.causal.effect import effect

__all__ = ["effects_section"]

_EDGES = 4
_NODES = 60  # beyond, no effects are worked out unasked
_CAUSES = (
    "If every arrow is a cause and no common cause is hidden: what setting the first variable does "
    "to the second, beside what is seen where it has that value by itself. Where the two differ, "
    "other variables move both."
)


def effects_section(subject: Subject) -> Section | None:
    """The effects along the strongest edges; nothing where there are none to tell."""
    model = subject.model
    if not subject.directed or len(model.names) > _NODES:
        return None
    rows: list[list[object]] = []
    command = ""
    for a, b in strong_edges(subject)[:_EDGES]:
        x, y = model.variable(a), model.variable(b)
        values, outcome = (x.states[0], x.states[-1]), y.states[-1]
        if x.arity < 2:
            continue
        try:
            found = effect(
                model, a, b, values=values, outcome=outcome, interval=subject.level, draws=500,
                rng=subject.seed,
            )  # fmt: skip
        except CredoError:
            continue
        span = found.interval
        ends = "" if span is None else f"{float(span.lower):.3g} to {float(span.upper):.3g}"
        seen = found.plain[1] - found.plain[0]
        rows.append(
            [
                f"{a}: {values[0]} → {values[1]}",
                f"P({b}={outcome})",
                number(float(found.difference), 3),
                ends,
                number(seen, 3),
                ", ".join(found.adjustment or ()) or "nothing",
            ]
        )
        words = ["credo", "effect", subject.model_name, a, b]
        words += ["--values", f"{values[0]},{values[1]}", "--outcome", str(outcome)]
        command = command or " ".join(map(shlex.quote, words))
    if not rows:
        return None
    head = ["set", "changes", "by", f"{100 * subject.level:g} % interval", "seen", "adjusted for"]
    parts = [paragraph(_CAUSES), table(head, rows, right=[2, 3, 4]), code(command)]
    told = "credo effect tells the formula, cells without rows, and what a hidden cause could do."
    return Section("effects", "Effects", join([*parts, note(told)]))
