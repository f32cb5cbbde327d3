"""`credo score`: how well a graph explains a table, family by family."""

from __future__ import annotations

from typing import Any

import click

from credo.cli.experiments import intervened_from, intervened_option, read_told, soft_option
from credo.cli.models import dag_from, normalise_option
from credo.cli.options import Common, Manual, common_options, files
from credo.cli.reading import reading_options
from credo.cli.rules import score_options, score_settings

__all__ = ["command"]


@click.command("score", cls=Manual)
@click.argument("graph", shell_complete=files)
@reading_options
@score_options
@intervened_option
@soft_option
@normalise_option
@common_options(threads="How many threads may count; all cores unless told.")
def command(
    graph: str,
    score_name: str | None,
    ess: float | None,
    prior_network: str | None,
    edge_prior: str | None,
    intervened: tuple[str, ...],
    soft: bool,
    common: Common,
    **reading: Any,
) -> None:
    """Score a graph on a table: a natural logarithm, larger is better.

    GRAPH is a network file, or text such as '[A][B|A]'. Scores of graphs on the same rows can be
    compared: a difference of 3 says that one graph explains the rows 20 times better.

    \b
    Examples:
      credo score asia.bif patients.csv --score bdeu --ess 10
      credo score '[smoke][lung|smoke]' patients.csv --score bic --json
      credo score '[PKA][Akt|PKA]' cells.csv --intervened stimulus
    """
    from credo.train.scores.scores import score

    dag = dag_from(graph)
    settings = score_settings(score_name or "bdeu", ess, prior_network, edge_prior, common.threads)
    told = intervened_from(intervened)
    found = score(dag, read_told(told, reading), **settings, intervened=told, soft=soft)
    if common.as_json:
        document = {
            "name": found.name,
            "score": float(found),
            "families": [
                {"child": f.child, "parents": list(f.parents), "score": value}
                for f, value in found.families.items()
            ],
            "parts": dict(found.parts),
            "notes": list(found.notes),
        }
        common.emit("score", document)
        return
    click.echo(f"{float(found):.6f}" if common.quiet else str(found))
