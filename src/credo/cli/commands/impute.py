"""`credo impute`: the gaps of a table, filled by a network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from credo.cli.model_rows import read_for
from credo.cli.models import load_model, model_argument, refuse_no_folder
from credo.cli.options import Common, Manual, common_options, listed, plural
from credo.cli.reading import reading_options
from credo.cli.whole_rows import WholeRows, form_of, holes_of, write_columns
from credo.core.state_values import readable

__all__ = ["command"]


@click.command("impute", cls=Manual)
@model_argument
@reading_options
@click.option(
    "-o", "--output", metavar="FILE", help="Where to write: .csv, .tsv, .jsonl, .parquet."
)
@click.option(
    "--method",
    type=click.Choice(["mode", "sample", "posterior"]),
    default="mode",
    show_default=True,
    help="Most probable, drawn, or what is known of each gap.",
)
@click.option("--copies", type=int, metavar="M", help="Fill M copies by drawing: FILE-1, FILE-2, …")
@common_options(seed="For drawing.")
def command(
    model: str,
    output: str | None,
    method: str,
    copies: int | None,
    common: Common,
    **reading: Any,
) -> None:
    """Fill the gaps of TABLE with a network.

    MODEL is a network file (.bif .xmlbif .net .dsc .xdsl .dne .uai .credo, also .gz), or - for
    standard input. Each gap is filled from what the rest of its row says; several drawn copies keep
    the uncertainty for a later analysis. The file keeps all columns of TABLE in their order; those
    that the network does not have stay as they are.

    \b
    Examples:
      credo impute asia.bif gaps.csv -o filled.csv
      credo impute asia.bif gaps.csv --method posterior
      credo impute asia.bif gaps.csv --method sample --copies 5 --seed 1 -o filled.csv
    """
    from credo.core.errors import InputError
    from credo.predict.rows.rows import read_rows

    if copies is not None and output is None:
        raise InputError("--copies needs --output, where the copies go.")
    if method == "posterior" and output is not None:
        raise InputError("--method posterior prints what is known of each gap; leave -o out.")
    if output is not None:
        form_of(output)
        refuse_no_folder(output)
    net = load_model(model)
    table: Any = read_for(net, reading)
    options: dict[str, Any] = {"rng": common.seed}
    if copies is not None:
        method = "sample"
        options["copies"] = copies
    found = net.impute(table, method, **options)
    if method == "posterior":
        if common.as_json:
            common.emit("impute", {"model": model, "gaps": _posteriors(found, table)})
        else:
            click.echo(_told(found, table))
        return
    tables = found if isinstance(found, list) else [found]
    holes = holes_of(read_rows(net, table))
    filled = {n: int(gone.sum()) for n, gone in holes.items() if n in tables[0].schema}
    whole = None if output is None and not common.as_json else WholeRows(reading, table)
    files = []
    if output is not None and whole is not None:
        for k, one in enumerate(tables):
            name = output if copies is None else _numbered(output, k + 1)
            write_columns(whole.filled(one, holes, form_of(output)), name)
            files.append(name)
    if common.as_json:
        document: dict[str, Any] = {"model": model, "rows": len(tables[0])}
        document |= {"filled": filled, "files": files}
        if output is None and whole is not None:
            columns = whole.filled(tables[0], holes, "jsonl")
            cells = zip(*(c.to_pylist() for c in columns.values()), strict=True)
            document["table"] = [dict(zip(columns, row, strict=True)) for row in cells]
        common.emit("impute", document)
        return
    if output is None:
        click.echo(str(tables[0]))
    where = f"; written to {', '.join(files)}" if files else ""
    common.say(
        f"{plural(sum(filled.values()), 'gap')} filled in {plural(len(filled), 'column')} "
        f"of {plural(len(tables[0]), 'row')}{where}"
    )
    if whole is not None and whole.others(net):
        common.say(f"Kept as they are, since the model does not have them: "
                   f"{listed(whole.others(net), 12)}.")  # fmt: skip


def _numbering(table: Any) -> Callable[[int], int]:
    """The number of a row in the source, from 1: rows of weight 0 count too."""
    numbers = getattr(table, "numbers", None)
    return numbers.of if numbers is not None else lambda row: row + 1


def _told(found: Any, table: Any) -> str:
    """The posterior of each gap, for people."""
    from credo.core.render import table_text

    head, rows = found._table()
    number = _numbering(table)
    rows = [[str(number(int(row[0]))), *row[1:]] for row in rows]
    more = len(found) - len(rows)
    left = f"\n… {more:,} more gaps" if more else ""
    return table_text(["row", *head[1:]], rows, right=[0, 3]) + left


def _posteriors(found: Any, table: Any) -> list[dict[str, Any]]:
    gaps = []
    number = _numbering(table)
    for row, name in found:
        posterior = found[row, name]
        item: dict[str, Any] = {"row": number(row), "variable": name}
        if found.table.schema[name].is_discrete:
            item["distribution"] = {readable(s): p for s, p in posterior.items()}
        else:
            item["mean"], item["variance"] = posterior.mean, posterior.variance
        gaps.append(item)
    return gaps


def _numbered(path: str, k: int) -> str:
    stem, dot, ending = path.rpartition(".")
    return f"{stem}-{k}.{ending}" if dot else f"{path}-{k}"
