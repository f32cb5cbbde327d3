"""How well the model fits its data: what was found, most important first, with pictures."""

from __future__ import annotations

from credo.reports.page import Section
from credo.reports.subject import Subject

__all__ = ["checks_section"]


def checks_section(subject: Subject) -> Section | None:
    """The checks of the model against the data."""
    return None
