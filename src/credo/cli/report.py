"""`credo report`: everything about a model in one HTML file."""

from __future__ import annotations

import json
import shlex
from typing import Any

import click

from credo.cli.reading import read_from, reading_settings

__all__ = ["command"]


@click.command("report")
@click.argument("model")
@click.option("--data", "table", metavar="TABLE", help="The rows to report on and check against.")
@click.option(
    "-o", "--output", default="report.html", show_default=True, metavar="FILE", help="The page."
)
@click.option("-q", "--question", multiple=True, help="A question to answer; may be repeated.")
@click.option("--title", default="", help="The heading of the page.")
@click.option(
    "--interval", type=float, default=0.95, show_default=True, help="The level of intervals."
)
@click.option("--no-checks", is_flag=True, help="Leave the checks against the data out.")
@click.option("--seed", type=int, default=0, show_default=True, help="For what is random.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
@reading_settings
def command(
    model: str,
    table: str | None,
    output: str,
    question: tuple[str, ...],
    title: str,
    interval: float,
    no_checks: bool,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Write everything about a model to one HTML file that needs nothing else.

    The data and its schema, gaps, the network, every table with its intervals, checks, questions
    and answers, how the model was learned and how to reproduce it. MODEL is a network file (.bif
    .xmlbif .net .dsc .xdsl .uai .credo, also .gz).

    \b
    Examples:
      credo report model.credo --data patients.csv -o report.html
      credo report asia.bif -o asia.html --question "P(lung | smoke=yes)"
    """
    from credo.formats import load
    from credo.reports import write_report

    net = load(model)
    rows = None if table is None else read_from(table, **reading)
    written = write_report(
        net,
        output,
        rows,
        question,
        title=title,
        level=interval,
        checks=not no_checks,
        seed=seed,
        model_file=model,
        data_file=table or "",
        reading=_flags(reading),
    )
    size = written.stat().st_size
    if as_json:
        document = {"version": 1, "model": model, "data": table, "report": output, "bytes": size}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
        return
    click.echo(f"wrote {output}: {size / 1e6:.2f} MB, opens in any browser")


def _flags(reading: dict[str, Any]) -> str:
    """The options that say how the table is read, as they were given."""
    out = ""
    for name, value in reading.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            out += f" {flag}"
        elif isinstance(value, tuple):
            out += "".join(f" {flag} {shlex.quote(v)}" for v in value)
        elif value:
            out += f" {flag} {shlex.quote(str(value))}"
    return out
