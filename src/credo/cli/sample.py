"""`credo sample`: rows drawn from a network, to a file or to the terminal."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from credo.errors import InputError

__all__ = ["command"]


@click.command("sample")
@click.argument("model")
@click.argument("rows", type=int)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write .parquet, .arrow, .csv, .tsv or .jsonl; else CSV goes to the terminal.",
)
@click.option(
    "--given",
    "-g",
    multiple=True,
    metavar="TEXT",
    help="Evidence, such as 'smoke=yes, dysp in {yes, no}' or 'do(smoke=yes)'.",
)
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same rows.")
@click.option("--threads", type=int, help="Threads to draw with; all cores unless told.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def command(
    model: str,
    rows: int,
    output: str | None,
    given: tuple[str, ...],
    seed: int,
    threads: int | None,
    as_json: bool,
) -> None:
    """Draw rows from a network: the story it tells, from parents to children.

    MODEL is a network file (.bif .xmlbif .net .dsc .xdsl .uai .credo, also .gz).

    \b
    Examples:
      credo sample asia.bif 1000 -o rows.csv
      credo sample asia.bif 10 --given "smoke=yes, xray=yes" --seed 7
      credo sample asia.bif 5 --given "do(smoke=yes)" --json
      credo sample alarm.bif.gz 100000000 -o rows.parquet
    """
    from credo.formats import load
    from credo.predict.question import parse_conditions

    net = load(model)
    evidence: dict[str, Any] = {}
    do: dict[str, Any] = {}
    for text in given:
        seen, done = parse_conditions(net, text)
        for name in (*seen, *done):
            if name in evidence or name in do:
                raise InputError(f"{name!r} is given twice.")
        evidence |= seen
        do |= done
    asked = net.do(do) if do else net
    if output is not None:
        asked.sample(rows, seed, given=evidence, path=output, threads=threads)
        if as_json:
            click.echo(json.dumps({"version": 1, "model": model, "seed": seed, "rows": rows,
                                   "output": output}, ensure_ascii=False, indent=2))  # fmt: skip
        else:
            click.echo(f"wrote {output}: {rows:,} rows of {len(net.names)} variables")
        return
    if as_json:
        _print_json(asked.sample(rows, seed, given=evidence, threads=threads), model, seed)
        return
    _print_csv(asked, rows, seed, evidence, threads)


def _print_json(table: Any, model: str, seed: int) -> None:
    from credo.data.frames_out import frame_of

    columns = frame_of(table, "dict")
    drawn = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    document = {"version": 1, "model": model, "seed": seed, "rows": drawn}
    click.echo(json.dumps(document, ensure_ascii=False, indent=2, default=str))


def _print_csv(net: Any, rows: int, seed: int, given: dict[str, Any], threads: int | None) -> None:
    from credo.data.writing import text_rows
    from credo.predict.sampling import sample_batches

    head, lines = text_rows("csv", net.schema)
    # Rows that run over the screen are progress enough.
    report = (lambda *_: None) if sys.stdout.isatty() else None
    batches = sample_batches(net, rows, seed, given, threads=threads, report=report)
    out = sys.stdout.buffer
    out.write(head)
    for batch in batches:
        for some in lines(batch):
            out.write(some)
    out.flush()
