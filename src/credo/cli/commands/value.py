"""`credo value`: which variable, if it were observed, would tell most of a target."""

from __future__ import annotations

import click

from credo.cli.models import load_model, model_argument
from credo.cli.options import Common, Manual, common_options, numbers_by_name, option
from credo.cli.terminal import print_view

__all__ = ["command"]


@click.command("value", cls=Manual)
@model_argument
@click.argument("target")
@option("--given", metavar="NAME=STATE, …", help="What is known already.")
@option("--among", multiple=True, metavar="NAME", help="Only variables that can be observed.")
@option("--cost", "costs", multiple=True, metavar="NAME=NUMBER", help="What one costs.")
@common_options()
def command(
    model: str,
    target: str,
    given: str | None,
    among: tuple[str, ...],
    costs: tuple[str, ...],
    common: Common,
) -> None:
    """Tell which unobserved variable would say most of TARGET, in bits.

    \b
    Examples:
      credo value asia.bif lung
      credo value asia.bif lung --given "smoke=yes, dysp=yes" --among xray --among bronc
      credo value asia.bif lung --cost xray=30 --cost smoke=1 --json
    """
    from credo.predict.questions.question import parse_conditions

    net = load_model(model)
    known, do = parse_conditions(net, given) if given else ({}, {})
    net = net.do(do) if do else net
    prices = numbers_by_name(costs, "--cost")
    found = net.evidence_value(target, known, among=list(among) or None, costs=prices)
    if common.as_json:
        common.emit("value", {"model": model, **found.to_dict()})
        return
    view = found._view()
    print_view(view)
    if view.note:
        click.echo(view.note)
