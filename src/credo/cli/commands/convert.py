"""`credo convert`: the same network in another file format."""

from __future__ import annotations

import click

from credo.cli.models import load_model, normalise_option
from credo.cli.options import Common, Manual, common_options, files, option

__all__ = ["command"]


@click.command("convert", cls=Manual)
@click.argument("source", shell_complete=files)
@click.argument("target", shell_complete=files)
@option("--markov", is_flag=True, help="Write a Bayesian network as a Markov network.")
@option("--directed", is_flag=True, help="Write a Markov network as a Bayesian network.")
@normalise_option
@common_options()
def command(source: str, target: str, markov: bool, directed: bool, common: Common) -> None:
    """Write a network in another file format; the endings say which.

    Known are .bif .xmlbif .xml .bifxml .net .dsc .xdsl .uai .credo, each also with .gz, and to read
    .dne .dnet .pgmx; SOURCE may be -. Only .credo keeps posteriors and continuous variables. The
    target is replaced whole or not at all.

    \b
    Examples:
      credo convert asia.bif asia.xdsl
      credo convert asia.bif.gz asia.credo
      credo convert asia.bif asia.uai --markov
      credo convert asia.uai directed.bif --directed
    """
    from credo.core.errors import InputError
    from credo.model.networks.network import Network

    net = load_model(source)
    if markov and directed:
        raise InputError("Give --markov or --directed, not both.")
    if markov:
        net = net.to_markov_network()
    elif directed and not isinstance(net, Network):
        net = net.to_network()
    net.save(target)
    notes = list(net.record.notes) if net.record is not None else []
    if common.as_json:
        common.emit("convert", {"from": source, "to": target, "notes": notes})
        return
    common.say(f"wrote {target}: {net!r}")
    for note in notes:
        common.say(f"  {note}")
