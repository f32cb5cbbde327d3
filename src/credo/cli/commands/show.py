"""`credo show`: a network's variables, one of its tables, its picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from credo.cli.models import load_model, model_argument
from credo.cli.options import Common, Manual, common_options, option
from credo.core.errors import InputError
from credo.core.state_values import json_state

__all__ = ["command"]


@click.command("show", cls=Manual)
@model_argument
@option("--table", "tables", multiple=True, metavar="NAME",
        help="Show P(NAME | parents), or the potentials of NAME.")  # fmt: skip
@option("--tree", is_flag=True, help="Draw the graph in the terminal.")
@option("--factors", is_flag=True, help="Draw the factor graph.")
@option("--svg", metavar="FILE", help="Write the picture of the graph.")
@option("--dot", is_flag=True, help="Print the graph as DOT text.")
@common_options()
def command(
    model: str,
    tables: tuple[str, ...],
    tree: bool,
    factors: bool,
    svg: str | None,
    dot: bool,
    common: Common,
) -> None:
    """Show a network: its variables, a table, a picture.

    MODEL is a network file, or - for standard input. A learned model also says how it was learned.

    \b
    Examples:
      credo show asia.bif
      credo show asia.bif --tree
      credo show asia.bif --table dysp
      credo show asia.bif --svg asia.svg
      credo show asia.bif --factors --dot
      credo show asia.bif --json
    """
    from credo.core.errors import InputError
    from credo.model.decisions.decision_network import DecisionNetwork
    from credo.model.networks.network import Network
    from credo.model.structures.structure_posterior import StructurePosterior

    net = load_model(model)
    if isinstance(net, StructurePosterior):
        if tables or tree or factors or svg or dot or common.as_json:
            raise InputError(
                f"{model} holds a posterior over graphs, which is shown as text alone.",
                hint="Its edges as JSON: credo average --json.",
            )
        click.echo(f"{net}\n\n{net.record}")
        return
    decided = isinstance(net, DecisionNetwork)
    directed = isinstance(net, Network) or decided
    found = [t for name in tables for t in (_tables(net, name, decided) if directed
                                            else _factors(net, name))]  # fmt: skip
    if decided and factors:
        raise InputError("A decision network has no factor graph.", hint="Use --svg or --dot.")
    picture = net.to_factor_graph() if factors else net.dag if directed and not decided else net
    if svg is not None:
        from credo.data.out.atomic import replace_file

        replace_file(Path(svg), picture.svg().encode("utf-8"))
        if not common.silent:
            click.echo(f"wrote {svg}", err=True)
    if dot:
        click.echo(picture.dot())
    elif common.as_json:
        common.emit("show", _json(net, model))
    elif found:
        click.echo("\n\n".join(map(str, found)))
    elif tree:
        _draw(net, directed)
    else:
        click.echo(str(net))
        if net.record is not None and not common.quiet:
            click.echo(f"\n{net.record}")


def _tables(net: Any, name: str, decided: bool) -> list[Any]:
    """A table of probabilities, or the numbers of a utility."""
    if not decided:
        return [net.cpt(name)]
    return [net.utilities[name] if name in net.utilities else net.chance.cpt(name)]


def _draw(net: Any, directed: bool) -> None:
    from credo.cli.terminal import print_graph

    if not directed:
        raise InputError("--tree draws a Bayesian network.", hint="Use --svg or --dot.")
    print_graph(net.dag)


def _factors(net: Any, name: str) -> list[Any]:
    net.variable(name)
    return [f for f in net.factors if name in f.names]


def _json(net: Any, model: str) -> dict[str, Any]:
    if hasattr(net, "potentials"):
        return {
            "model": model,
            "kind": type(net).__name__,
            "variables": [_variable(v) for v in net.variables],
            "edges": [list(e) for e in net.graph.edges],
            "potentials": [{"name": p.name, "variables": list(p.names)} for p in net.potentials],
        }
    if hasattr(net, "information"):
        return {
            "model": model,
            "kind": type(net).__name__,
            "variables": [
                {**_variable(v), "parents": list(net.dag.parents(v.name))}
                for v in net.chance.variables
            ],
            "edges": [list(e) for e in net.dag.edges],
            "decisions": list(net.decisions),
            "utilities": list(net.utilities),
        }
    return {
        "model": model,
        "parameters": net.free_parameters,
        "variables": [
            {**_variable(v), "parents": list(net.dag.parents(v.name))} for v in net.variables
        ],
    }


def _variable(v: Any) -> dict[str, Any]:
    return {"name": v.name, "kind": v.kind, "states": [json_state(s) for s in v.states]}
