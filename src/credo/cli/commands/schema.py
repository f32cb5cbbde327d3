"""`credo schema`: what credo sees in a table, before anything is learned from it."""

from __future__ import annotations

from typing import Any

import click

from credo.cli.learning import weights_line
from credo.cli.options import Common, Manual, common_options
from credo.cli.reading import read_from, reading_options
from credo.cli.words import in_options
from credo.core.schema import Schema
from credo.core.state_values import json_state

__all__ = ["command", "schema_json"]


@click.command("schema", cls=Manual)
@reading_options
@common_options()
def command(common: Common, **reading: Any) -> None:
    """Show what credo sees in a table: kinds, states, gaps, and what was set aside and why.

    TABLE is a file, a folder or a quoted glob: .csv .tsv .jsonl .parquet .arrow, text files also
    .gz .zst; a table of a DuckDB file: shop.duckdb/visits; a query over files: "select … from
    'a.csv'"; - is standard input. Whatever is inferred can be overruled: --kind, --states,
    --drop, --missing.

    \b
    Examples:
      credo schema patients.csv
      credo schema survey.csv --kind age=continuous --states smoke=no,yes --drop name
      credo schema 'part-*.parquet' --json
      gzip -dc patients.csv.gz | credo schema -
    """
    source = read_from(**reading)
    if common.as_json:
        common.emit("schema", schema_json(source.schema, len(source)))
        return
    from credo.cli.terminal import print_schema

    print_schema(source.schema)
    hint = weights_line(source)
    if hint and not common.quiet:
        common.say(hint)


def schema_json(schema: Schema, rows: int) -> dict[str, Any]:
    """The schema report as plain data."""
    return {
        "source": schema.source,
        "rows": rows,
        "variables": [
            {
                "name": v.name,
                "kind": v.kind,
                "states": [json_state(s) for s in v.states],
                "ordered": v.ordered,
                "missing_rate": schema.missing[v.name],
            }
            for v in schema.variables
        ],
        "columns": [
            {
                "name": c.name,
                "kind": c.kind,
                "used": c.used,
                "reason": c.reason,
                "missing": c.missing,
                "missing_as": dict(c.missing_as),
                "notes": list(map(in_options, c.notes)),
            }
            for c in schema.columns
        ],
        "notes": list(schema.notes),
    }
