"""`credo sql`: a model as one SELECT that scores a table where it lies."""

from __future__ import annotations

from pathlib import Path

import click

from credo.cli.models import load_model, model_argument, refuse_no_folder
from credo.cli.options import Common, Manual, common_options, option

__all__ = ["command"]


@click.command("sql", cls=Manual)
@model_argument
@option("--target", required=True, metavar="NAME", help="The variable whose states are asked for.")
@option("--dialect", default="duckdb", metavar="NAME",
        help="duckdb, spark, postgres or bigquery.")  # fmt: skip
@option("--table", default="rows", metavar="NAME", help="The table to score: rows, shop.rows, or a "
        "query in brackets.")  # fmt: skip
@option("--keep", multiple=True, metavar="NAME", help="A column of the table to carry along, such "
        "as its key.")  # fmt: skip
@option("-c", "--column", "columns", multiple=True, metavar="NAME", help="A variable that the "
        "table has, if not all.")  # fmt: skip
@option("--gaps", default="sum", metavar="HOW", help="sum: missing cells are summed over; null: a "
        "row with a gap in the Markov blanket has no answer, in a shorter statement.")  # fmt: skip
@option("-o", "--output", metavar="FILE", help="Write the statement to this file.")
@common_options()
def command(
    model: str,
    target: str,
    dialect: str,
    table: str,
    keep: tuple[str, ...],
    columns: tuple[str, ...],
    gaps: str,
    output: str | None,
    common: Common,
) -> None:
    """Write a network as one SELECT of P(each state of a variable | the row).

    What the statement answers is what `credo classify --model` answers (docs/sql.md): a column
    p_STATE for each state, NULL for a row that is refused there.

    \b
    Examples:
      credo sql asia.bif --target lung --table patients --keep id
      credo sql asia.bif --target lung --dialect spark -o lung.sql
      credo sql asia.bif --target lung -c smoke -c xray --dialect postgres
      credo sql asia.bif --target lung --gaps null --json
    """
    from credo.core.errors import InputError
    from credo.data.out.atomic import replace_file
    from credo.model.networks.network import Network

    if output is not None:
        refuse_no_folder(output)
    net = load_model(model)
    if not isinstance(net, Network):
        raise InputError(f"{model} holds a {type(net).__name__}; a Bayesian network is needed.")
    text = net.to_sql(
        dialect, target=target, table=table, keep=keep, columns=columns or None, gaps=gaps
    )
    if output is not None:
        replace_file(Path(output), text.encode("utf-8"))
    if common.as_json:
        told = {"model": model, "target": target, "dialect": dialect.lower(), "table": table}
        common.emit("sql", {**told, "sql": text, "output": output})
    elif output is not None:
        common.say(f"wrote {output}: {len(text.encode('utf-8')):,} bytes of {dialect.lower()}")
    else:
        click.echo(text, nl=False)
