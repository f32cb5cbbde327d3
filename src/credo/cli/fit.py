"""`credo fit`: the parameters of a known graph, learned from a table."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import click

from credo.cli.reading import read_from, reading_options

__all__ = ["command"]


@click.command("fit")
@click.argument("graph")
@reading_options
@click.option("-o", "--output", metavar="FILE", help="Write the network, e.g. model.credo.")
@click.option(
    "--prior",
    type=click.Choice(["none", "bdeu", "k2", "laplace"]),
    default="none",
    show_default=True,
    help="What is believed before the rows; none is maximum likelihood.",
)
@click.option("--ess", type=float, help="The imagined rows of bdeu (a table) or laplace (a cell).")
@click.option(
    "--estimate",
    type=click.Choice(["mean", "map", "mle"]),
    help="The point that becomes the table.  [default: mean, or mle without a prior]",
)
@click.option(
    "--update", "more", is_flag=True, help="Add the rows to those GRAPH was learned from."
)
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON for machines.")
def command(
    graph: str,
    output: str | None,
    prior: str,
    ess: float | None,
    estimate: str | None,
    more: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Learn the tables of a graph from a table of rows.

    GRAPH is a network file, whose states are kept, or a graph in text such as "[A][B|A]".
    A .credo file keeps the posterior, for `credo ask --interval` and `credo fit --update`.

    \b
    Examples:
      credo fit "[Pneu][Fev|Pneu]" pneumonia.csv -o model.credo --prior bdeu --ess 1
      credo fit asia.bif asia.csv -o asia.credo --prior k2
      credo fit model.credo more.csv -o model.credo --update
    """
    from credo.errors import InputError
    from credo.formats import load
    from credo.model import Dag, Network
    from credo.train import fit

    known: Any = Dag.parse(graph) if graph.lstrip().startswith("[") else load(graph)
    if more:
        if prior != "none" or estimate or ess is not None:
            raise InputError(
                "--update keeps the prior and the estimate that GRAPH was learned with."
            )
        if not isinstance(known, Network):
            raise InputError("--update needs a network file that was learned, such as model.credo.")
        net = known.update(_rows(known, reading))
    else:
        chosen = _prior(prior, ess)
        net = fit(known, _rows(known, reading), chosen, estimate=estimate)
    if output is not None:
        net.save(output)
    if as_json:
        click.echo(json.dumps(_json(net, output), ensure_ascii=False, indent=2))
        return
    assert net.record is not None
    click.echo(str(net.record))
    click.echo()
    click.echo(str(net.record.families))
    if output is not None:
        click.echo(f"\nwrote {Path(output).name}: {net!r}")


def _rows(known: Any, reading: dict[str, Any]) -> Any:
    """The table as the options say; with the network's states unless they say otherwise."""
    from credo.model import Network

    plain = not (reading["kind"] or reading["states"] or reading["drop"])
    if not isinstance(known, Network) or not plain:
        return read_from(**reading)
    return read_from(**reading, schema=known.schema)


def _prior(name: str, ess: float | None) -> Any:
    from credo.errors import InputError
    from credo.model import K2, BDeu, Laplace

    if name in ("none", "k2"):
        if ess is not None:
            raise InputError(f"--ess goes with --prior bdeu or laplace, not with {name}.")
        return None if name == "none" else K2()
    amount = 1.0 if ess is None else ess
    return BDeu(amount) if name == "bdeu" else Laplace(amount)


def _json(net: Any, output: str | None) -> dict[str, Any]:
    details = net.record.details
    return {
        "version": 1,
        "model": output,
        "rows": details["rows"],
        "log_likelihood": _number(details["log_likelihood"]),
        "log_marginal": _number(details["log_marginal"]),
        "notes": list(net.record.notes),
        "families": [{k: _plain(v) for k, v in family.items()} for family in details["families"]],
    }


def _number(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float):
        return _number(value)
    return value if value is None or isinstance(value, (str, int, bool)) else str(value)
