"""`credo studio`: a network in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from credo.cli.models import load_model, model_argument, read_for
from credo.cli.options import Common, Manual, common_options, option
from credo.cli.reading import reading_settings

__all__ = ["command"]


@click.command("studio", cls=Manual)
@model_argument
@option("--data", "table", metavar="TABLE", help="Rows to step through as evidence.")
@option("--browser/--no-browser", "browser", default=True, help="Open the browser, or only print "
        "the address.")  # fmt: skip
@option("--port", type=int, default=0, metavar="N", help="The port.  [default: a free one]")
@reading_settings
@common_options()
def command(
    model: str,
    table: str | None,
    browser: bool,
    port: int,
    common: Common,
    **reading: Any,
) -> None:
    """Open a network in the browser: click a state, and every posterior moves.

    The page is served to this machine alone, behind a token in the address. Ctrl-C ends it.
    MODEL is a network file (.bif .xmlbif .net .dsc .xdsl .dne .uai .credo, also .gz).

    \b
    Examples:
      credo studio asia.bif
      credo studio patients.credo --data patients.csv --no-browser
    """
    from credo.studio.opening import studio

    net = load_model(model)
    rows = None if table is None else read_for(net, {"table": table, **reading})
    load = f"net = cr.load({model!r})" if model != "-" else ""
    title = Path(model).name if model != "-" else ""
    opened = studio(net, rows, browser=browser, port=port, title=title, load=load)
    if common.as_json:
        common.emit("studio", {"model": model, "data": table, "url": opened.url})
    else:
        common.say("The studio is open; Ctrl-C closes it.")
        click.echo(opened.url)
    opened.wait()
