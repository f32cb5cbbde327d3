"""`credo schema`: what credo sees in a table, before anything is learned from it."""

from __future__ import annotations

import json
from typing import Any

import click

from credo.cli.reading import read_from, reading_options
from credo.schema import Schema

__all__ = ["command", "schema_json"]


@click.command("schema")
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def command(as_json: bool, **reading: Any) -> None:
    """Show what credo sees in a table: kinds, states, gaps, and what was set aside and why.

    TABLE is a file or a quoted glob: .csv .tsv .jsonl .parquet .arrow, text files also .gz .zst.

    \b
    Examples:
      credo schema patients.csv
      credo schema patients.csv --kind age=continuous --states stage=I,II,III --drop name
      credo schema 'part-*.parquet' --json
    """
    source = read_from(**reading)
    if as_json:
        click.echo(
            json.dumps(schema_json(source.schema, len(source)), ensure_ascii=False, indent=2)
        )
        return
    from credo.cli.terminal import print_schema

    print_schema(source.schema)


def schema_json(schema: Schema, rows: int) -> dict[str, Any]:
    """The schema report as plain data; `version` changes when its form does."""
    return {
        "version": 1,
        "source": schema.source,
        "rows": rows,
        "variables": [
            {
                "name": v.name,
                "kind": v.kind,
                "states": [s if _plain(s) else str(s) for s in v.states],
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
                "notes": list(c.notes),
            }
            for c in schema.columns
        ],
        "notes": list(schema.notes),
    }


def _plain(value: object) -> bool:
    return isinstance(value, (str, int, float, bool))
