"""`credo fit`: the parameters of a known graph, learned from a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from credo.cli.experiments import intervened_from, intervened_option, read_told
from credo.cli.models import graph_from, normalise_option, refuse_unwritable
from credo.cli.options import Common, Manual, common_options, files, option, together
from credo.cli.reading import reading_options
from credo.cli.rules import numbers_from, numbers_option, ordered_option

__all__ = ["command", "fit_json", "prior_named", "prior_options", "tell_fit"]


prior_options = together(
    option("--prior", choices=["none", "bdeu", "k2", "laplace"], default="none",
           help="What is believed before the rows; none is maximum likelihood."),
    option("--ess", type=float, help="The imagined rows of bdeu (a table) or laplace (a cell)."),
    option("--estimate", choices=["mean", "map", "mle"], help="The point that becomes the table.  "
           "[default: mean, or mle without a prior]"),
)  # fmt: skip
"""The prior of tables, and what is taken of the posterior."""


@click.command("fit", cls=Manual)
@click.argument("graph", shell_complete=files)
@reading_options
@option("-o", "--output", metavar="FILE", help="Write the network, e.g. model.credo.")
@prior_options
@ordered_option
@numbers_option
@intervened_option
@option("--update", "more", is_flag=True, help="Add the rows to those GRAPH was learned from.")
@normalise_option
@common_options(threads="How many threads may count; all cores unless told.")
def command(
    graph: str,
    output: str | None,
    prior: str,
    ess: float | None,
    estimate: str | None,
    ordered: bool,
    numbers: tuple[str, ...],
    intervened: tuple[str, ...],
    more: bool,
    common: Common,
    **reading: Any,
) -> None:
    """Learn the tables of a graph from a table of rows.

    GRAPH is a network file, whose states are kept, or a graph in text such as "[A][B|A]".
    A .credo file keeps the posterior, for `credo ask --interval` and `credo fit --update`.

    \b
    Examples:
      credo fit "[Pneu][Fev|Pneu]" pneumonia.csv -o model.credo --prior bdeu --ess 1
      credo fit asia.bif patients.csv -o patients.credo --prior k2
      credo fit patients.credo more.csv -o patients.credo --update
    """
    if output is not None:
        refuse_unwritable(output)
    from credo.core.errors import InputError
    from credo.model.networks.network import Network
    from credo.train.parameters.parameters import fit

    known: Any = graph_from(graph)
    told = intervened_from(intervened)
    if more:
        if told is not None:
            raise InputError("--update takes rows in which nothing was set: no --intervened.")
        if prior != "none" or estimate or ess is not None or numbers or ordered:
            raise InputError(
                "--update keeps the prior, the estimate and the numbers GRAPH was learned with."
            )
        if not isinstance(known, Network):
            raise InputError("--update needs a network file that was learned, such as model.credo.")
        net = known.update(_rows(known, reading, None), threads=common.threads)
    else:
        chosen = prior_named(prior, ess)
        net = fit(
            known, _rows(known, reading, told), chosen, estimate=estimate, ordered=ordered,
            numbers=numbers_from(numbers), intervened=told, threads=common.threads,
        )  # fmt: skip
    if output is not None:
        net.save(output)
    if common.as_json:
        common.emit("fit", fit_json(net, output))
        return
    tell_fit(net, output, common)


def _rows(known: Any, reading: dict[str, Any], told: Any) -> Any:
    """The table as the options say; with the network's states unless they say otherwise."""
    from credo.model.networks.network import Network

    plain = not (reading["kind"] or reading["states"] or reading["drop"])
    if not isinstance(known, Network) or not plain:
        return read_told(told, reading)
    return read_told(told, reading, known.schema)


def prior_named(name: str, ess: float | None) -> Any:
    """The prior that --prior and --ess describe."""
    from credo.core.errors import InputError
    from credo.model.networks.priors import K2, BDeu, Laplace

    if name in ("none", "k2"):
        if ess is not None:
            raise InputError(f"--ess goes with --prior bdeu or laplace, not with {name}.")
        return None if name == "none" else K2()
    amount = 1.0 if ess is None else ess
    return BDeu(amount) if name == "bdeu" else Laplace(amount)


def fit_json(net: Any, output: str | None) -> dict[str, Any]:
    """The record of a fit as plain data."""
    details = net.record.details
    return {
        "model": output,
        "rows": details["rows"],
        "log_likelihood": details["log_likelihood"],
        "log_marginal": details["log_marginal"],
        "notes": list(net.record.notes),
        "families": [dict(family) for family in details["families"]],
    }


def tell_fit(net: Any, output: str | None, common: Common) -> None:
    """The record of a fit, its families, and where the network was written."""
    common.say(net.record)
    common.say()
    common.say(net.record.families)
    if output is not None:
        common.say(f"\nwrote {Path(output).name}: {net!r}")
