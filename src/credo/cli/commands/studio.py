"""`credo studio`: ask, learn, build and check in the browser."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import click

from credo.cli.models import load_model, normalise_option
from credo.cli.options import Common, Manual, common_options, files, option
from credo.cli.reading import read_from, reading_settings
from credo.core.errors import InputError
from credo.core.schema import Schema


@click.command("studio", cls=Manual)
@click.argument("model", required=False, shell_complete=files)
@normalise_option
@option("--data", "table", metavar="TABLE", help="Rows: evidence to step through, to learn from "
        "and to check against.")  # fmt: skip
@option("--browser/--no-browser", "browser", default=True, help="Open the browser, or only print "
        "the address.")  # fmt: skip
@option("--port", type=int, default=0, metavar="N", help="The port.  [default: that of the last "
        "time, or a free one]")  # fmt: skip
@option("--folder", metavar="FOLDER", help="Where sessions are kept.  [default: one for these "
        "files, in ~/.local/state/credo]")  # fmt: skip
@reading_settings
@common_options()
def command(
    model: str | None,
    table: str | None,
    browser: bool,
    port: int,
    folder: str | None,
    common: Common,
    **reading: Any,
) -> None:
    """Open the studio in the browser: ask, learn, build and check by clicking.

    The page is served to this machine alone, behind a token in the address. What is done there is
    kept: Ctrl-C ends the studio, and the same command goes on where it was. MODEL is a network
    file (.bif .xmlbif .net .dsc .xdsl .dne .uai .credo, also .gz), or a table to learn from; with
    neither a network is built from nothing.

    \b
    Examples:
      credo studio asia.bif
      credo studio patients.csv
      credo studio patients.credo --data patients.csv --no-browser
      credo studio
    """
    from credo.studio.opening import studio

    if model is not None and table is None and _is_table(model):
        model, table = None, model
    net = None if model is None else load_model(model)

    def again(schema: Any) -> Any:
        assert table is not None
        if isinstance(schema, Schema):
            return read_from(table, schema, **reading)
        kinds = tuple(f"{n}={k}" for n, k in schema.items() if k != "drop")
        drop = tuple(n for n, k in schema.items() if k == "drop")
        told = {"kind": (*reading["kind"], *kinds), "drop": (*reading["drop"], *drop)}
        return read_from(table, **{**reading, **told})

    opened = studio(
        net,
        table,
        browser=browser,
        port=port,
        title="" if model in (None, "-") else Path(str(model)).name,
        load=f"net = cr.load({model!r})" if model not in (None, "-") else "",
        folder=folder or _usual_folder(model, table),
        again=None if table is None else again,
    )
    if common.as_json:
        common.emit("studio", {"model": model, "data": table, "url": opened.url})
    else:
        common.say("The studio is open; Ctrl-C closes it, and what you did is kept.")
        click.echo(opened.url)
    opened.wait()


def _is_table(path: str) -> bool:
    """Whether a path is that of a table, by its ending."""
    from credo.data.sources.files import FORMATS

    plain = path.lower().removesuffix(".gz").removesuffix(".zst")
    return Path(plain).suffix in FORMATS


def _usual_folder(model: str | None, table: str | None) -> str:
    """A folder of its own for each model and table."""
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    paths = [str(Path(p).resolve()) if p not in (None, "-") else str(p) for p in (model, table)]
    name = hashlib.sha256("\n".join(paths).encode()).hexdigest()[:12]
    try:
        return str(Path(state).expanduser() / "credo" / "studio" / name)
    except RuntimeError:  # no home
        raise InputError("There is no home folder.", hint="Give one with --folder.") from None
