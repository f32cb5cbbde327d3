"""`credo report`: everything about a model in one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from credo.cli.models import load_model, model_argument, read_for, refuse_no_folder
from credo.cli.options import Common, Manual, common_options, option
from credo.cli.reading import reading_flags, reading_settings
from credo.core.errors import InputError

__all__ = ["command"]


@click.command("report", cls=Manual)
@model_argument
@option("--data", "table", metavar="TABLE", help="The rows to report on and check against.")
@option("-o", "--output", default="report.html", metavar="FILE", help="The page.")
@option("--question", multiple=True, help="A question to answer; may be repeated.")
@option("--title", default="", help="The heading of the page.")
@option("--interval", type=float, default=0.95, help="The level of intervals.")
@option("--checks/--no-checks", "checks", default=None, help="Make the whole check, or leave it "
        "out.  [default: what credo learn found, if the model keeps it]")  # fmt: skip
@option("--interactive", is_flag=True, help="Add a part that answers evidence by itself.")
@reading_settings
@common_options(seed="For what is random.")
def command(
    model: str,
    table: str | None,
    output: str,
    question: tuple[str, ...],
    title: str,
    interval: float,
    checks: bool | None,
    interactive: bool,
    common: Common,
    **reading: Any,
) -> None:
    """Write everything about a model to one HTML file that needs nothing else.

    The data and its schema, gaps, the network, every table with its intervals, checks, questions
    and answers, how the model was learned and how to reproduce it. MODEL is a network file (.bif
    .xmlbif .net .dsc .xdsl .dne .uai .credo, also .gz).

    \b
    Examples:
      credo report patients.credo --data patients.csv -o report.html
      credo report asia.bif -o asia.html --question "P(lung | smoke=yes)"
      credo report asia.bif -o asia.html --interactive
    """
    from credo.reports import write_report

    refuse_no_folder(output)
    ending = Path(output).suffix.lower()
    if ending not in ("", ".html", ".htm", ".xhtml"):
        raise InputError(
            f"The report is an HTML page, and {Path(output).name!r} has another ending.",
            hint=f"Name it {Path(output).stem}.html; a browser prints it to other formats.",
        )
    net = load_model(model)
    rows = None if table is None else read_for(net, {"table": table, **reading})
    if rows is not None:
        _refuse_strangers(net, rows)
    written = write_report(
        net,
        output,
        rows,
        question,
        title=title,
        level=interval,
        checks=checks,
        interactive=interactive,
        seed=common.seed,
        model_file=model,
        data_file=table or "",
        reading=reading_flags(reading),
    )
    size = written.stat().st_size
    if common.as_json:
        document = {"model": model, "data": table, "report": output, "bytes": size}
        common.emit("report", document)
        return
    common.say(f"wrote {output}: {size / 1e6:.2f} MB, opens in any browser")


def _refuse_strangers(net: Any, rows: Any) -> None:
    """Refuse rows that are not of this model: no column of it, or states that it does not have."""
    shared = [v for v in rows.schema.variables if v.name in net.names]
    if not shared:
        raise InputError(
            "The table has no column of the model.",
            hint=f"Its variables are {', '.join(map(repr, net.names[:12]))}.",
        )
    for v in shared:
        own = next(o for o in net.variables if o.name == v.name)
        if not (v.is_discrete and own.is_discrete):
            continue
        known = {str(s) for s in own.states}
        strange = [s for s in v.states if str(s) not in known]
        if strange:
            raise InputError(
                f"The state {strange[0]!r} of {v.name!r} is not one of the model's: "
                f"{', '.join(map(repr, own.states[:8]))}."
            )
