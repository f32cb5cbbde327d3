"""`credo convert`: the same network in another file format."""

from __future__ import annotations

import json

import click

__all__ = ["command"]


@click.command("convert")
@click.argument("source")
@click.argument("target")
@click.option("--markov", is_flag=True, help="Write a Bayesian network as a Markov network.")
@click.option("--directed", is_flag=True, help="Write a Markov network as a Bayesian network.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def command(source: str, target: str, markov: bool, directed: bool, as_json: bool) -> None:
    """Write a network in another file format; the endings say which.

    \b
    Examples:
      credo convert asia.bif asia.xdsl
      credo convert asia.bif.gz asia.credo
      credo convert asia.bif asia.uai --markov
      credo convert grid.uai grid.bif --directed
    """
    from credo.errors import InputError
    from credo.formats import load
    from credo.model.network import Network

    net = load(source)
    if markov and directed:
        raise InputError("Give --markov or --directed, not both.")
    if markov:
        net = net.to_markov_network()
    elif directed and not isinstance(net, Network):
        net = net.to_network()
    net.save(target)
    notes = list(net.record.notes) if net.record is not None else []
    if as_json:
        done = {"version": 1, "from": source, "to": target, "notes": notes}
        click.echo(json.dumps(done, ensure_ascii=False, indent=2))
        return
    click.echo(f"wrote {target}: {net!r}")
    for note in notes:
        click.echo(f"  {note}")
