"""`credo impute`: the gaps of a table, filled by a network."""

from __future__ import annotations

from typing import Any

import click

from credo.cli.models import load_model, model_argument
from credo.cli.options import Common, Manual, common_options, plural
from credo.cli.reading import read_from, reading_options

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

    MODEL is a network file (.bif .xmlbif .net .dsc .xdsl .uai .credo, also .gz), or - for standard
    input. Columns that the network does not have are left out. Each gap is filled from what the
    rest of its row says; several drawn copies keep the uncertainty for a later analysis.

    \b
    Examples:
      credo impute asia.bif gaps.csv -o filled.csv
      credo impute asia.bif gaps.csv --method posterior
      credo impute asia.bif gaps.csv --method sample --copies 5 --seed 1 -o filled.csv
    """
    from credo.errors import InputError

    if copies is not None and output is None:
        raise InputError("--copies needs --output, where the copies go.")
    if method == "posterior" and output is not None:
        raise InputError("--method posterior prints what is known of each gap; leave -o out.")
    net = load_model(model)
    table: Any = read_from(**reading)
    options: dict[str, Any] = {"rng": common.seed}
    if copies is not None:
        method = "sample"
        options["copies"] = copies
    found = net.impute(table, method, **options)
    if method == "posterior":
        if common.as_json:
            common.emit("impute", {"model": model, "gaps": _posteriors(found)})
        else:
            click.echo(str(found))
        return
    tables = found if isinstance(found, list) else [found]
    filled = _filled(table, tables[0], net)
    files = []
    if output is not None:
        for k, one in enumerate(tables):
            name = output if copies is None else _numbered(output, k + 1)
            _write(one, name)
            files.append(name)
    if common.as_json:
        document: dict[str, Any] = {"model": model, "rows": len(tables[0])}
        document |= {"filled": filled, "files": files}
        if output is None:
            document["table"] = tables[0].to("arrow").to_pylist()
        common.emit("impute", document)
        return
    if output is None:
        click.echo(str(tables[0]))
    where = f"; written to {', '.join(files)}" if files else ""
    common.say(
        f"{plural(sum(filled.values()), 'gap')} filled in {plural(len(filled), 'column')} "
        f"of {plural(len(tables[0]), 'row')}{where}"
    )


def _posteriors(found: Any) -> list[dict[str, Any]]:
    gaps = []
    for row, name in found:
        posterior = found[row, name]
        item: dict[str, Any] = {"row": row, "variable": name}
        if found.table.schema[name].is_discrete:
            item["distribution"] = {str(s): p for s, p in posterior.items()}
        else:
            item["mean"], item["variance"] = posterior.mean, posterior.variance
        gaps.append(item)
    return gaps


def _filled(before: Any, after: Any, net: Any) -> dict[str, int]:
    """How many gaps of each column were filled."""
    from credo.predict.rows import read_rows

    old = read_rows(net, before)
    out = {}
    for name in after.schema.names:
        v = old.schema[name]
        array = old.block.arrays[old.schema.index(name)]
        count = int((array == v.arity).sum() if v.is_discrete else (array != array).sum())
        if count:
            out[name] = count
    return out


def _numbered(path: str, k: int) -> str:
    stem, dot, ending = path.rpartition(".")
    return f"{stem}-{k}.{ending}" if dot else f"{path}-{k}"


def _write(table: Any, path: str) -> None:
    """A file of rows, replaced whole; .json is taken as lines."""
    from pathlib import Path

    from credo.data.atomic import replacing
    from credo.data.writing import text_rows, write_rows

    if not path.lower().endswith(".json"):
        write_rows(path, table.schema, [table])
        return
    _, lines = text_rows("jsonl", table.schema)
    with replacing(Path(path)) as out:
        for some in lines(table):
            out.write(some)
