"""`credo average`: all graphs of a table, each as probable as the rows make it."""

from __future__ import annotations

from typing import Any

import click

from credo.cli.experiments import intervened_from, intervened_option, read_told, soft_option
from credo.cli.models import refuse_unwritable
from credo.cli.options import Common, Manual, common_options, option
from credo.cli.reading import reading_options
from credo.cli.rules import edge_prior_from, numbers_from, numbers_option, rule_options, rules_from

__all__ = ["command"]

_SHOWN = 30  # edges that are printed without --details


@click.command("average", cls=Manual)
@reading_options
@option("-o", "--output", metavar="FILE", help="Where to write the posterior (.credo), for "
        "'credo ask'.")  # fmt: skip
@option("--score", "score_name", metavar="NAME", help="bdeu, bds, k2, bge, bic, …; bdeu, or bge "
        "where all columns are numbers.")  # fmt: skip
@option("--ess", type=float, help="The equivalent sample size of bdeu and bds.")
@option("--prior", default="uniform", metavar="P", help="Of graphs: uniform, fair, order, the "
        "probability of every edge, or a CSV file of them.")  # fmt: skip
@rule_options
@numbers_option
@intervened_option
@soft_option
@option("--context", "contexts", group="Rows from experiments", multiple=True, metavar="COLUMN",
        help="A column that says in which experiment a row was made, when nobody knows what that "
        "touched: it is told how probably it touched each variable.")  # fmt: skip
@option("--method", default="auto", choices=["auto", "exact", "sampled"],
        help="Sums over all graphs, or chains.")  # fmt: skip
@option("--missing-cells", "missing_cells", default="available-cases",
        choices=["available-cases", "data-augmentation"], help="Where cells are missing: the "
        "rows that have them, or draw them with graph and parameters.")  # fmt: skip
@option("--error", type=float, default=0.01, metavar="E", help="Chains stop when every edge is "
        "known to E.")  # fmt: skip
@option("--seconds", type=float, metavar="SECONDS", help="Chains stop after so long: 60 if not "
        "given.")  # fmt: skip
@option("--details", is_flag=True, help="Say more: every edge, and how it was found.")
@common_options(
    seed="For what is random.", threads="How many threads may work; all cores unless told."
)
def command(
    output: str | None,
    score_name: str | None,
    ess: float | None,
    prior: str,
    require: tuple[str, ...],
    forbid: tuple[str, ...],
    tier: tuple[str, ...],
    max_parents: int | None,
    candidates: tuple[str, ...],
    numbers: tuple[str, ...],
    intervened: tuple[str, ...],
    soft: bool,
    contexts: tuple[str, ...],
    method: str,
    missing_cells: str,
    error: float,
    seconds: float | None,
    details: bool,
    common: Common,
    **reading: Any,
) -> None:
    """How sure is the graph? Weigh all graphs of a table by its rows.

    Each edge is told with its probability: exactly where the sums over all graphs fit, else by
    chains, with the error that they leave. With -o the posterior is kept, and 'credo ask' answers
    from all graphs together, with intervals that include how sure the graph is.

    \b
    Examples:
      credo average pneumonia.csv
      credo average patients.csv --prior fair -o graphs.credo
      credo average patients.csv --method sampled --error 0.02 --json
      credo average patients.csv --tier age,smoke --tier lung,bronc,xray,dysp --details
      credo average cells.csv --intervened stimulus --context plate
    """
    from credo.train.averaging.averaging import average
    from credo.train.averaging.lists import PRIORS

    if output is not None:
        refuse_unwritable(output)
    rules = rules_from(require, forbid, tier, max_parents, candidates)
    belief: Any = prior if prior in PRIORS else edge_prior_from(prior, "--prior", PRIORS)
    told = intervened_from(intervened)
    table = read_told(told, reading)
    post = average(
        table, score_name, prior=belief, ess=ess, method=method, missing=missing_cells, error=error,
        seconds=seconds, rng=common.seed, numbers=numbers_from(numbers, "auto"),
        threads=common.threads, intervened=told, soft=soft, contexts=contexts, **rules,
    )  # fmt: skip
    if output is not None:
        post.save(output)
    record = post.record
    if common.as_json:
        plain = {k: v for k, v in record.details.items() if isinstance(v, (int, float, str, bool))}
        document = {
            "source": record.source, "score": record.details["score"],
            "prior": record.details["prior"], "method": record.details["method"],
            "rows": float(record.details["rows"]), "graphs": post.graph_count,
            "edges": post.edges.to_dict(), "best": [list(e) for e in post.best.dag.edges],
            "notes": list(record.notes), "details": plain, "seconds": record.seconds,
            "output": output,
            "touched": {c: {n: float(p) for n, p in post.touched(c).items()} for c in contexts},
        }  # fmt: skip
        common.emit("average", document)
        return
    if common.quiet:
        return
    lines = str(post).split("\n")
    cut = len(lines) > _SHOWN + 2 and not details
    click.echo("\n".join(lines[: _SHOWN + 2] if cut else lines))
    if cut:
        click.echo("… more by --details")
    for context in contexts:
        found = [f"{n} {p:.3f}" for n, p in post.touched(context).items()]
        click.echo(f"{context} touched, how probably: {', '.join(found)}")
    if details:
        click.echo(str(record))
    if output is not None:
        common.say(f"wrote {output}: ask it with credo ask {output} 'P(…)' --interval 0.95")
