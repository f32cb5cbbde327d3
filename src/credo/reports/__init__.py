"""Reports: everything about a model in one HTML file that needs nothing else.

A report is made of sections; each is a function from a model and its data to HTML text. Every
name, state and sentence is escaped where it enters the page (`credo.reports.markup`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credo.core.lazy import lazy_names

_WHERE = {"write_report": "credo.reports.writing", "report_html": "credo.reports.writing"}

__all__ = list(_WHERE)

if TYPE_CHECKING:
    from credo.reports.writing import report_html as report_html
    from credo.reports.writing import write_report as write_report

__getattr__, __dir__ = lazy_names("credo.reports", _WHERE)
