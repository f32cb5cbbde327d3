"""`credo sample`: rows drawn from a network, to a file or to the terminal."""

from __future__ import annotations

import sys
from typing import Any

import click

from credo.cli.models import load_model, model_argument, refuse_no_folder
from credo.cli.options import Common, Manual, common_options, option
from credo.core.errors import InputError
from credo.core.render import many

__all__ = ["command"]


@click.command("sample", cls=Manual)
@model_argument
@click.argument("rows", type=int)
@option("-o", "--output", metavar="FILE", help="Write .parquet, .arrow, .csv, .tsv or .jsonl; "
        "else CSV goes to the terminal.")  # fmt: skip
@option("--given", "-g", multiple=True, metavar="TEXT", help="Evidence, such as 'smoke=yes, dysp "
        "in {yes, no}' or 'do(smoke=yes)'.")  # fmt: skip
@common_options(
    seed="The same seed gives the same rows.",
    threads="Threads to draw with; all cores unless told. The rows are the same.",
)
def command(
    model: str,
    rows: int,
    output: str | None,
    given: tuple[str, ...],
    common: Common,
) -> None:
    """Draw rows from a network: the story it tells, from parents to children.

    MODEL is a network file (.bif .xmlbif .net .dsc .xdsl .dne .uai .credo, also .gz), or - for
    standard input. Given evidence, rows are drawn from the exact posterior: none is rejected. A
    file of any length is written in little memory, and replaced whole.

    \b
    Examples:
      credo sample asia.bif 1000 -o rows.csv
      credo sample asia.bif 10 --given "smoke=yes, xray=yes" --seed 7
      credo sample asia.bif 5 --given "do(smoke=yes)" --json
      credo sample asia.bif 100000 -o rows.parquet
      credo sample asia.bif 1000 | credo schema -
    """
    from credo.predict.questions.question import parse_conditions

    net = load_model(model)
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
    seed, threads = common.seed, common.threads
    if output is not None:
        refuse_no_folder(output)
        asked.sample(rows, seed, given=evidence, path=output, threads=threads)
        common.say(f"wrote {output}: {many(rows, 'row')} of {many(len(net.names), 'variable')}")
        if common.as_json:
            common.emit("sample", {"model": model, "seed": seed, "rows": rows, "output": output})
    elif common.as_json:
        drawn = asked.sample(rows, seed, given=evidence, threads=threads)
        common.emit("sample", {"model": model, "seed": seed, "rows": _rows(drawn)})
    else:
        _print_csv(asked, rows, seed, evidence, threads)


def _rows(table: Any) -> list[dict[str, Any]]:
    from credo.data.out.frames import frame_of

    columns = frame_of(table, "dict")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _print_csv(net: Any, rows: int, seed: int, given: dict[str, Any], threads: int | None) -> None:
    from credo.data.out.writing import text_rows
    from credo.predict.sampling.sample import sample_batches

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
