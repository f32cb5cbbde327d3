"""`credo impute`: the gaps of a table, filled by a network."""

from __future__ import annotations

import json
from typing import Any

import click

from credo.cli.reading import read_from, reading_options

__all__ = ["command"]


@click.command("impute")
@click.argument("model")
@reading_options
@click.option("-o", "--output", metavar="FILE", help="Where to write: .csv, .parquet or .json(l).")
@click.option(
    "--method",
    type=click.Choice(["mode", "sample", "posterior"]),
    default="mode",
    show_default=True,
    help="Most probable, drawn, or what is known of each gap.",
)
@click.option("--copies", type=int, metavar="M", help="Fill M copies by drawing: FILE-1, FILE-2, …")
@click.option("--seed", type=int, default=0, show_default=True, help="For drawing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def command(
    model: str,
    output: str | None,
    method: str,
    copies: int | None,
    seed: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Fill the gaps of TABLE with a network.

    MODEL is a network file (.bif .xmlbif .net .dsc .xdsl .uai .credo, also .gz). Columns that the
    network does not have are left out.

    \b
    Examples:
      credo impute asia.bif rows.csv -o filled.csv
      credo impute asia.bif rows.csv --method posterior
      credo impute asia.bif rows.csv --method sample --copies 5 -o filled.csv
    """
    from credo.errors import InputError
    from credo.formats import load

    if copies is not None and output is None:
        raise InputError("--copies needs --output, where the copies go.")
    if method == "posterior" and output is not None:
        raise InputError("--method posterior prints what is known of each gap; leave -o out.")
    net = load(model)
    table: Any = read_from(**reading)
    options: dict[str, Any] = {"rng": seed}
    if copies is not None:
        method = "sample"
        options["copies"] = copies
    found = net.impute(table, method, **options)
    if method == "posterior":
        _posteriors(found, as_json)
        return
    tables = found if isinstance(found, list) else [found]
    filled = _filled(table, tables[0], net)
    files = []
    if output is not None:
        for k, one in enumerate(tables):
            name = output if copies is None else _numbered(output, k + 1)
            _write(one, name)
            files.append(name)
    if as_json:
        document: dict[str, Any] = {"version": 1, "model": model, "rows": len(tables[0])}
        document |= {"filled": filled, "files": files}
        if output is None:
            document["table"] = tables[0].to("arrow").to_pylist()
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
        return
    if output is None:
        click.echo(str(tables[0]))
    total = sum(filled.values())
    where = f"; written to {', '.join(files)}" if files else ""
    click.echo(f"{total:,} gaps filled in {len(filled)} columns of {len(tables[0]):,} rows{where}")


def _posteriors(found: Any, as_json: bool) -> None:
    if not as_json:
        click.echo(str(found))
        return
    gaps = []
    for row, name in found:
        posterior = found[row, name]
        item: dict[str, Any] = {"row": row, "variable": name}
        if found.table.schema[name].is_discrete:
            item["distribution"] = {str(s): p for s, p in posterior.items()}
        else:
            item["mean"], item["variance"] = posterior.mean, posterior.variance
        gaps.append(item)
    click.echo(json.dumps({"version": 1, "gaps": gaps}, ensure_ascii=False, indent=2))


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
    from credo.errors import InputError

    arrow = table.to("arrow")
    low = path.lower()
    if low.endswith(".csv"):
        import pyarrow.csv

        pyarrow.csv.write_csv(arrow, path)
    elif low.endswith(".parquet"):
        import pyarrow.parquet

        pyarrow.parquet.write_table(arrow, path)
    elif low.endswith((".json", ".jsonl")):
        lines = (json.dumps(row, ensure_ascii=False) for row in arrow.to_pylist())
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    else:
        raise InputError(f"The output must end in .csv, .parquet or .jsonl, got {path!r}.")
