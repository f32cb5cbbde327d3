"""Tables for people in a terminal; plain text when the output is piped."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence

import click

from credo.render import schema_parts, table_text
from credo.schema import Schema

__all__ = ["heading", "print_schema", "print_table"]


def heading(text: str) -> None:
    """A line in bold (plain when piped)."""
    click.secho(text, bold=True)


def print_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()
) -> None:
    """A table; in a terminal it folds its cells to the width there is."""
    if not sys.stdout.isatty():
        click.echo(table_text(head, rows, right=right))
        click.echo()
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for i, name in enumerate(head):
        table.add_column(Text(name), justify="right" if i in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(highlight=False).print(table)


def _wrapped(line: str) -> str:
    """A line folded to the width of the terminal; as it is when piped."""
    if not sys.stdout.isatty():
        return line
    width = shutil.get_terminal_size().columns
    return "\n".join(textwrap.wrap(line, width, subsequent_indent="    ")) or line


def print_schema(schema: Schema) -> None:
    """The schema report."""
    title, variables, aside, notes = schema_parts(schema)
    heading(title)
    print_table(*variables)
    if aside[1]:
        print_table(*aside)
    if notes:
        heading("noticed")
        for note in notes:
            click.echo(_wrapped(f"  {note}"))
