"""`credo cut`: the numbers of a table as intervals, by a class or by their own density."""

from __future__ import annotations

from typing import Any

import click

from credo.cli.models import refuse_no_folder
from credo.cli.options import Common, Manual, common_options, option
from credo.cli.reading import read_from, reading_options
from credo.core.render import many

__all__ = ["command"]


@click.command("cut", cls=Manual)
@reading_options
@option("--by", metavar="NAME", help="The class that the intervals are to tell; else each column "
        "is cut by its own density.")  # fmt: skip
@option("--columns", "-c", multiple=True, metavar="NAME", help="A column to cut; all that are "
        "continuous unless told.")  # fmt: skip
@option("--max-bins", type=int, metavar="N", help="The most intervals of a column.")
@option("-o", "--output", metavar="FILE", help="Write the table: .parquet, .arrow, .csv, .tsv or "
        ".jsonl.")  # fmt: skip
@common_options()
def command(
    by: str | None,
    columns: tuple[str, ...],
    max_bins: int | None,
    output: str | None,
    common: Common,
    **reading: Any,
) -> None:
    """Cut the numbers of a table into intervals, where the rows ask for it.

    With --by, where the class changes: the partition of the largest posterior probability (MODL). A
    column that tells nothing of it is left in one interval. Without, where the density of the
    column changes. The cut points stand in the names of the states, so a network learned from the
    table takes numbers as evidence.

    \b
    Examples:
      credo cut survey.csv --by smoke
      credo cut survey.csv --by smoke -o cut.csv
      credo cut survey.csv -c age --max-bins 4 --json
    """
    from credo.core.interval_states import cuts_of
    from credo.train.numbers.cutting import cut

    if output is not None:
        refuse_no_folder(output)
    source = read_from(**reading)
    table = cut(source, by, columns=columns or None, max_bins=max_bins)
    names = [v.name for v in source.schema if v != table.schema[v.name]]
    if common.as_json:
        found = {n: list(cuts_of(table.schema[n].states) or ()) for n in names}
        common.emit("cut", {"by": by, "rows": len(source), "cuts": found, "output": output})
    elif not common.quiet:
        from credo.cli.terminal import print_schema

        print_schema(table.schema)
    if output is not None:
        from credo.data.out.writing import write_rows

        write_rows(output, table.schema, table.batches())
        wide = many(len(table.schema), "variable")
        common.say(f"wrote {output}: {many(len(table), 'row')} of {wide}")
