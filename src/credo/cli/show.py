"""`credo show`: a network's variables, one of its tables, its picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

__all__ = ["command"]


@click.command("show")
@click.argument("model")
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="NAME",
    help="Show P(NAME | parents), or the potentials of NAME.",
)
@click.option("--factors", is_flag=True, help="Draw the factor graph.")
@click.option("--svg", metavar="FILE", help="Write the picture of the graph.")
@click.option("--dot", is_flag=True, help="Print the graph as DOT text.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def command(
    model: str,
    tables: tuple[str, ...],
    factors: bool,
    svg: str | None,
    dot: bool,
    as_json: bool,
) -> None:
    """Show a network: its variables, a table, a picture.

    \b
    Examples:
      credo show asia.bif
      credo show asia.bif --table dysp
      credo show asia.bif --svg asia.svg
      credo show grid.uai --factors --svg grid.svg
    """
    from credo.formats import load
    from credo.model.network import Network

    net = load(model)
    directed = isinstance(net, Network)
    found = [t for name in tables for t in ([net.cpt(name)] if directed else _factors(net, name))]
    picture = net.to_factor_graph() if factors else net.dag if directed else net
    if svg is not None:
        Path(svg).write_text(picture.svg(), encoding="utf-8")
        click.echo(f"wrote {svg}", err=True)
    if dot:
        click.echo(picture.dot())
    elif as_json:
        click.echo(json.dumps(_json(net, model), ensure_ascii=False, indent=2))
    elif found:
        click.echo("\n\n".join(map(str, found)))
    else:
        click.echo(str(net))
        if net.record is not None:
            click.echo(f"\n{net.record}")


def _factors(net: Any, name: str) -> list[Any]:
    net.variable(name)
    return [f for f in net.factors if name in f.names]


def _json(net: Any, model: str) -> dict[str, Any]:
    if hasattr(net, "potentials"):
        return {
            "version": 1,
            "model": model,
            "kind": type(net).__name__,
            "variables": [_variable(v) for v in net.variables],
            "edges": [list(e) for e in net.graph.edges],
            "potentials": [{"name": p.name, "variables": list(p.names)} for p in net.potentials],
        }
    return {
        "version": 1,
        "model": model,
        "parameters": net.free_parameters,
        "variables": [
            {**_variable(v), "parents": list(net.dag.parents(v.name))} for v in net.variables
        ],
    }


def _variable(v: Any) -> dict[str, Any]:
    states = [s if isinstance(s, (str, int, float)) else str(s) for s in v.states]
    return {"name": v.name, "kind": v.kind, "states": states}
