"""`write_report`: the sections in their order, put into one page and written whole."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from credo import __version__
from credo.checking.report import Report as Checked
from credo.core.errors import InputError, LimitError
from credo.core.progress import Report, track
from credo.data import Stream, Table
from credo.data.out.atomic import replace_file
from credo.model.answers.interval import probability
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.networks.network import Network
from credo.model.undirected.factor_model import FactorModel
from credo.model.values.reals import shown
from credo.reports.data_section import data_section, gaps_section, variables_section
from credo.reports.decision_section import decision_section
from credo.reports.interactive_section import built, interactive_section
from credo.reports.markup import note, paragraph
from credo.reports.network_section import network_section
from credo.reports.page import Section, page
from credo.reports.questions_section import questions_section
from credo.reports.record_section import learned_section, reproduce_section, rows_of
from credo.reports.structures_section import structures_section
from credo.reports.subject import Subject
from credo.reports.summary_section import summary_section
from credo.reports.tables_section import tables_section

__all__ = ["MAX_BYTES", "report_html", "write_report"]

_EU = re.compile(r"\s*(argmax\s+|best\s+)?EU\b")  # a question about decisions

MAX_BYTES = 50_000_000
"""A report larger than this is not written."""


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    data: Any = None,
    questions: Sequence[str] = (),
    *,
    title: str = "",
    level: float = 0.95,
    checks: Any = None,
    interactive: bool = False,
    seed: int = 0,
    model_file: str = "",
    data_file: str = "",
    reading: str = "",
    report: Report | None = None,
) -> Path:
    """Write everything about a model to one HTML file that needs nothing else.

    With `data` (a table, a frame or a path) it tells of the rows, their gaps and how well the
    model fits; `questions` such as `"P(lung | smoke=yes)"` are answered besides those any reader
    would ask. `checks` may be the report of `cr.check`, which is then not made again; True makes it
    now, False leaves it out, and by default what `credo learn` found is told where the record keeps
    it, and the check is made where not. `interactive=True` adds a part that answers evidence by
    itself, for a network whose joint tree is small enough. `model_file` and `data_file` are the
    names used in the commands that reproduce it. See docs/report.md.

    >>> import credo as cr, os, tempfile
    >>> rows = cr.examples.pneumonia()
    >>> net = cr.fit("[Pneu][Fev|Pneu]", rows, prior=cr.BDeu(2))
    >>> path = os.path.join(tempfile.mkdtemp(), "report.html")
    >>> written = cr.write_report(net, path, data=rows, questions=["P(Pneu=T | Fev=T)"])
    >>> written.name, "P(Pneu=T | Fev=T)" in written.read_text(encoding="utf-8")
    ('report.html', True)
    """
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(
            f"A report is written to a path, got {shown(path)}.",
            hint="The model comes first: cr.write_report(net, 'report.html', rows).",
        )
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{target} is a folder; name a file, such as report.html.")
    text = report_html(
        model,
        data,
        questions,
        title=title,
        level=level,
        checks=checks,
        interactive=interactive,
        seed=seed,
        model_file=model_file,
        data_file=data_file,
        reading=reading,
        report=report,
    )
    raw = text.encode("utf-8", "xmlcharrefreplace")
    if len(raw) > MAX_BYTES:
        raise LimitError(
            f"The report would have {len(raw):,} bytes; at most {MAX_BYTES:,} are written.",
            hint="Leave the checks out, or report on a part of the model.",
        )
    replace_file(target, raw)
    return target


def report_html(
    model: Any,
    data: Any = None,
    questions: Sequence[str] = (),
    *,
    title: str = "",
    level: float = 0.95,
    checks: Any = None,
    interactive: bool = False,
    seed: int = 0,
    model_file: str = "",
    data_file: str = "",
    reading: str = "",
    report: Report | None = None,
) -> str:
    """The report as text; the arguments are those of `write_report`.

    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> report_html(net)[:15]
    '<!doctype html>'
    """
    decided: DecisionNetwork | None = None
    if isinstance(model, DecisionNetwork):
        if data is not None:
            raise InputError(
                "A report on a decision network takes no rows.",
                hint="Report on the network that it was made from.",
            )
        decided, model = model, model.under()
    if not isinstance(model, (Network, FactorModel)):
        raise InputError(
            f"A report is about a network, got {shown(model)}.",
            hint="It has one: model.network()."
            if hasattr(model, "network")
            else "Load one with cr.load, or learn one with cr.learn.",
        )
    if not isinstance(checks, (bool, type(None), Checked)):
        raise InputError(
            f"checks must be a report of cr.check, True or False, got {shown(checks)}."
        )
    if isinstance(questions, str):
        questions = [questions]
    for question in questions:
        if not isinstance(question, str):
            raise InputError(f"A question is a text, got {shown(question)}.")
    about_decisions = tuple(q for q in questions if decided is not None and _EU.match(q))
    questions = [q for q in questions if q not in about_decisions]
    table = data if data is None or isinstance(data, (Table, Stream)) else rows_of(model, data)
    if not data_file and table is not None:
        data_file = _file(data, table)
    subject = Subject(
        model, table, tuple(questions), probability(level), seed, model_file, data_file, reading,
        checks, decided, about_decisions,
    )  # fmt: skip
    for question in subject.questions:  # a wrong question is refused, not written down
        _refuse_wrong(model, question)
    asked = [interactive_section(subject)] if interactive else []
    script = built("report.js") if interactive else ""
    first, *others = (s for s in _made(subject, report) if s is not None)
    name = title or _title(subject)
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    about = f"{model if decided is None else decided!r}" + (
        f", {len(table):,} rows of data" if table is not None else ""
    )
    footer = f"Written by credo {__version__} on {when}. This file needs no network."
    return page(name, paragraph(about), [first, *asked, *others], note(footer), script)


def _made(subject: Subject, report: Report | None) -> list[Section | None]:
    from credo.reports.checks_section import checks_section
    from credo.reports.effects_section import effects_section

    steps: list[Callable[[Subject], Section | None]] = [
        summary_section,
        decision_section,
        data_section if subject.data is not None else variables_section,
        gaps_section,
        network_section,
        structures_section,
        tables_section,
        checks_section,
        questions_section,
        effects_section,
        learned_section,
        reproduce_section,
    ]
    tracked = track(steps, "writing the report", total=len(steps), report=report)
    return [make(subject) for make in tracked]


def _title(subject: Subject) -> str:
    if subject.model_file:
        return f"Report on {Path(subject.model_file).name}"
    record = subject.model.record
    named = record is not None and "." in record.source
    return f"Report on a model of {record.source}" if named else "Report on a model"


def _file(data: Any, table: Table | Stream) -> str:
    """What the data is called on disk, if it came from there."""
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data) if isinstance(data, os.PathLike) else data
    source = table.schema.source
    return source if "." in source else ""


def _refuse_wrong(model: Any, question: str) -> None:
    from credo.predict.causal.counterfactual import is_counterfactual
    from credo.predict.questions.question import parse

    if is_counterfactual(question):
        model.ask(question)
    else:
        parse(getattr(model, "_asked", model), question)
