"""The posterior of the graph beside the chosen one: how probable each edge is, drawn or not."""

from __future__ import annotations

import warnings

from credo.core.errors import CredoError, CredoWarning
from credo.predict.rows.rows import read_rows
from credo.reports.markup import join, note, table
from credo.reports.page import Section
from credo.reports.subject import Subject
from credo.train.averaging.averaging import AUTO, average

__all__ = ["structures_section"]

_LEAST, _MOST = 0.05, 60  # edges that are listed


def structures_section(subject: Subject) -> Section | None:
    """How sure the graph is, where it was searched for and all graphs can be summed."""
    model, data = subject.model, subject.data
    record = getattr(model, "record", None)
    if not subject.directed or data is None or record is None or len(model.names) > AUTO:
        return None
    if not record.details.get("search") or any(n not in data.schema for n in model.names):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CredoWarning)
            post = average(read_rows(model, data), rng=subject.seed, numbers="gaussian")
    except CredoError:
        return None
    own = set(model.dag.edges)
    shown = [e for e in post.edges.rows if e.p >= _LEAST or e[:2] in own][:_MOST]
    listed = [
        [e.parent, e.child, f"{e.p:.3f}", "chosen" if (e.parent, e.child) in own else ""]
        for e in shown
    ]
    details = post.record.details
    words = f"Edges and their probability, prior {details['prior']}, {details['score']}"
    parts = [
        note("All graphs weighed by the rows, beside the one that was chosen."),
        table(["from", "to", "p", ""], listed, right=[2], caption=words),
        *(note(n) for n in post.record.notes if n.startswith("cells are missing")),
    ]
    return Section("structures", "How sure is the graph?", join(parts))
