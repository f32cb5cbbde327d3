"""`credo learn`: a network from a table, its structure and its parameters."""

from __future__ import annotations

import json
from typing import Any

import click

from credo.cli.reading import read_from, reading_options
from credo.cli.rules import rule_options, rules_from, score_options, score_settings

__all__ = ["command"]

# option of the command line → option of the search
_OF_SEARCH = ("target", "restarts", "alpha", "steps")


@click.command("learn")
@reading_options
@click.option(
    "-o", "--output", metavar="FILE", help="Where to write the network (.bif, .credo, …)."
)
@click.option("--search", default="auto", show_default=True, metavar="NAME",
              help="auto, hill-climb, tabu, anneal, order, exact, chow-liu, tan, naive-bayes, "
              "pc, mmhc or ges.")  # fmt: skip
@score_options
@rule_options
@click.option("--budget", type=float, metavar="SECONDS", help="Stop with the best so far.")
@click.option("--seed", type=int, default=0, show_default=True, help="For what is random.")
@click.option("--target", metavar="NAME", help="The class, for tan and naive-bayes.")
@click.option("--restarts", type=int, help="Of hill-climb and tabu.")
@click.option("--alpha", type=float, help="The level of the tests of pc and mmhc.")
@click.option("--steps", type=int, help="Proposals of anneal.")
@click.option(
    "--missing-cells",
    "missing_cells",
    default="structural-em",
    show_default=True,
    type=click.Choice(["structural-em", "available-cases", "node-average", "complete-rows"]),
    help="What to do where cells are missing.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def command(
    output: str | None,
    search: str,
    score_name: str | None,
    ess: float | None,
    edge_prior: float | None,
    threads: int | None,
    require: tuple[str, ...],
    forbid: tuple[str, ...],
    tier: tuple[str, ...],
    max_parents: int | None,
    budget: float | None,
    seed: int,
    as_json: bool,
    target: str | None,
    restarts: int | None,
    alpha: float | None,
    steps: int | None,
    missing_cells: str,
    **reading: Any,
) -> None:
    """Learn a network from a table: its graph by a score and a search, then its parameters.

    \b
    Examples:
      credo learn patients.csv -o model.bif
      credo learn patients.csv -o model.bif --score bic --search hill-climb --max-parents 3
      credo learn patients.csv --forbid 'lung->smoke' --tier age,sex --tier smoke --json
    """
    from credo.train import learn

    given = {"target": target, "restarts": restarts, "alpha": alpha, "steps": steps}
    options: dict[str, Any] = {n: given[n] for n in _OF_SEARCH if given[n] is not None}
    net = learn(
        read_from(**reading),
        search=search,
        budget=budget,
        rng=seed,
        missing=missing_cells,
        **score_settings(score_name, ess, edge_prior, threads),
        **rules_from(require, forbid, tier, max_parents),
        **options,
    )
    if output is not None:
        net.save(output)
    record = net.record
    assert record is not None
    if as_json:
        document = {
            "version": 1,
            "output": output,
            "how": record.how,
            "score": record.score,
            "reason": record.reason,
            "seconds": record.seconds,
            "proven": record.details.get("proven", False),
            "nodes": list(net.dag.nodes),
            "edges": [list(e) for e in net.dag.edges],
            "parameters": net.free_parameters,
            "notes": list(record.notes),
        }
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
        return
    click.echo(str(net))
    click.echo()
    click.echo(str(record))
    if output is not None:
        click.echo(f"written to {output}")
