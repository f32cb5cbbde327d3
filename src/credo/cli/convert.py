"""`credo convert`: the same network in another file format."""

from __future__ import annotations

import json

import click

__all__ = ["command"]


@click.command("convert")
@click.argument("source")
@click.argument("target")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def command(source: str, target: str, as_json: bool) -> None:
    """Write a network in another file format; the endings say which.

    \b
    Examples:
      credo convert asia.bif asia.xdsl
      credo convert asia.bif.gz asia.credo
    """
    from credo.formats import load

    net = load(source)
    net.save(target)
    notes = list(net.record.notes) if net.record is not None else []
    if as_json:
        done = {"version": 1, "from": source, "to": target, "notes": notes}
        click.echo(json.dumps(done, ensure_ascii=False, indent=2))
        return
    click.echo(f"wrote {target}: {net!r}")
    for note in notes:
        click.echo(f"  {note}")
