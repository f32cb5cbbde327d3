"""`credo em`: the parameters of a known graph, from a table with gaps or hidden variables."""

from __future__ import annotations

from typing import Any

import click

from credo.cli.commands.fit import fit_json, prior_named, prior_options, tell_fit
from credo.cli.experiments import intervened_from, intervened_option, read_told, soft_option
from credo.cli.models import graph_from, load_model, normalise_option, refuse_unwritable
from credo.cli.options import Common, Manual, Stopped, common_options, files, option
from credo.cli.reading import reading_options
from credo.cli.rules import numbers_from, numbers_option

__all__ = ["command"]


@click.command("em", cls=Manual)
@click.argument("graph", shell_complete=files)
@reading_options
@option("-o", "--output", metavar="FILE", help="Write the network, e.g. model.credo.")
@option("--hidden", multiple=True, metavar="NAME=STATES", help="A variable never observed: its "
        "number of states, or 'continuous'.")  # fmt: skip
@prior_options
@numbers_option
@intervened_option
@soft_option
@option("--method", default="em",
        choices=["em", "gradient", "conjugate-gradient", "gradient-steps", "stepwise"],
        help="How to raise the likelihood.")  # fmt: skip
@option("--start", metavar="FILE", help="Go on from the numbers of this network.")
@option("--restarts", type=int, metavar="N", help="EM runs from different starts.")
@option("--tol", type=float, default=1e-09, help="Stop when a step changes no parameter by more.")
@option("--max-iter", "--budget", "max_iter", type=int, metavar="N", help="The most iterations.")
@option("--draws", type=int, default=200, metavar="N", help="How often missing cells are drawn, "
        "so that intervals include them; 0 for none.")  # fmt: skip
@normalise_option
@common_options(
    seed="For random starts.", threads="How many threads may work; all cores unless told."
)
def command(
    graph: str,
    output: str | None,
    hidden: tuple[str, ...],
    prior: str,
    ess: float | None,
    estimate: str | None,
    numbers: tuple[str, ...],
    intervened: tuple[str, ...],
    soft: bool,
    method: str,
    start: str | None,
    restarts: int | None,
    tol: float,
    max_iter: int | None,
    draws: int,
    common: Common,
    **reading: Any,
) -> None:
    """Learn the tables of a graph from rows with gaps, or with variables never observed.

    GRAPH is a network file, whose states are kept, or a graph in text such as "[A][B|A]".
    Ctrl-C ends the run: the best so far is written, and the exit code is 130.

    \b
    Examples:
      credo em "[smoke][lung|smoke][xray|lung]" gaps.csv -o gaps.credo
      credo em "[Bag][Flavor|Bag][Wrapper|Bag]" candy_wrappers.csv --weights Count --hidden Bag=2
      credo em asia.bif gaps.csv --prior bdeu --ess 10 -o asia.credo
    """
    if output is not None:
        refuse_unwritable(output)
    from credo.train.em.fit import em

    known: Any = graph_from(graph)
    told = intervened_from(intervened)
    net = em(
        known,
        read_told(told, reading),
        prior_named(prior, ess),
        start=None if start is None else load_model(start),
        restarts=restarts,
        hidden=dict(_hidden(h) for h in hidden) or None,
        method=method,
        tol=tol,
        max_iter=max_iter,
        draws=draws,
        rng=common.seed,
        estimate=estimate,
        numbers=numbers_from(numbers),
        intervened=told,
        soft=soft,
        threads=common.threads,
    )
    if output is not None:
        net.save(output)
    record = net.record
    assert record is not None
    if common.as_json:
        document = fit_json(net, output)
        document |= {
            "trace": list(record.trace),
            "reason": record.reason,
            "seconds": record.seconds,
            "seed": record.seed,
            "iterations": record.details["iterations"],
            "missing": record.details["missing"],
        }
        common.emit("em", document)
    else:
        tell_fit(net, output, common)
    if record.reason == "interrupted":
        raise Stopped("the climb", output)


def _hidden(given: str) -> tuple[str, Any]:
    from credo.core.errors import InputError

    name, equals, states = given.rpartition("=")
    if not equals or not name or not states:
        raise InputError(f"--hidden must have the form NAME=STATES, got {given!r}.")
    if states == "continuous":
        return name, states
    if states.isdigit():
        return name, int(states)
    if "," in states:
        return name, [s.strip() for s in states.split(",")]
    raise InputError(
        f"The states of --hidden {name} must be a number, a list A,B,C or 'continuous', "
        f"got {states!r}."
    )
