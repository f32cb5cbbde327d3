"""`credo show`: a network's variables, one of its tables, its picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

__all__ = ["command"]


@click.command("show")
@click.argument("model")
@click.option("--table", "tables", multiple=True, metavar="NAME", help="Show P(NAME | parents).")
@click.option("--svg", metavar="FILE", help="Write the picture of the graph.")
@click.option("--dot", is_flag=True, help="Print the graph as DOT text.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def command(model: str, tables: tuple[str, ...], svg: str | None, dot: bool, as_json: bool) -> None:
    """Show a network: its variables, a table, a picture.

    \b
    Examples:
      credo show asia.bif
      credo show asia.bif --table dysp
      credo show asia.bif --svg asia.svg
    """
    from credo.formats import load

    net = load(model)
    found = [net.cpt(name) for name in tables]
    if svg is not None:
        Path(svg).write_text(net.dag.svg(), encoding="utf-8")
        click.echo(f"wrote {svg}", err=True)
    if dot:
        click.echo(net.dag.dot())
    elif as_json:
        click.echo(json.dumps(_json(net, model), ensure_ascii=False, indent=2))
    elif found:
        click.echo("\n\n".join(map(str, found)))
    else:
        click.echo(str(net))
        if net.record is not None:
            click.echo(f"\n{net.record}")


def _json(net: Any, model: str) -> dict[str, Any]:
    return {
        "version": 1,
        "model": model,
        "parameters": net.free_parameters,
        "variables": [
            {
                "name": v.name,
                "kind": v.kind,
                "states": [s if isinstance(s, (str, int, float)) else str(s) for s in v.states],
                "parents": list(net.dag.parents(v.name)),
            }
            for v in net.variables
        ],
    }
