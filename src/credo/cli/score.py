"""`credo score`: how well a graph explains a table, family by family."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from credo.cli.reading import read_from, reading_options
from credo.cli.rules import score_options, score_settings

__all__ = ["command"]


@click.command("score")
@click.argument("graph")
@reading_options
@score_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def command(
    graph: str,
    score_name: str | None,
    ess: float | None,
    edge_prior: float | None,
    threads: int | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Score a graph on a table: a natural logarithm, larger is better.

    GRAPH is a network file, or text such as '[A][B|A]'.

    \b
    Examples:
      credo score asia.bif patients.csv --score bdeu --ess 10
      credo score '[smoke][lung|smoke]' patients.csv --score bic --json
    """
    from credo.formats import load
    from credo.model import Dag
    from credo.train import score

    dag = load(graph).dag if os.path.exists(graph) or "[" not in graph else Dag.parse(graph)
    settings = score_settings(score_name or "bdeu", ess, edge_prior, threads)
    found = score(dag, read_from(**reading), **settings)
    if as_json:
        document = {
            "version": 1,
            "name": found.name,
            "score": float(found),
            "families": [
                {"child": f.child, "parents": list(f.parents), "score": value}
                for f, value in found.families.items()
            ],
            "parts": dict(found.parts),
        }
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
        return
    click.echo(str(found))
