"""Tables for people in a terminal; plain text when the output is piped."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

import click

from credo.cli.words import in_options
from credo.core.render import View, schema_parts, shortened, table_text
from credo.core.schema import Schema

__all__ = [
    "family_lines",
    "graph_lines",
    "heading",
    "print_graph",
    "print_schema",
    "print_table",
    "print_view",
    "read_line",
    "wrapped",
]


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


def print_view(view: View) -> None:
    """The title and the table of a part of a report."""
    heading(view.title)
    print_table(view.head, [[str(c) for c in row] for row in view.rows], view.right)


def wrapped(line: str, wide: int | None, indent: str) -> str:
    """A line folded to the width of the terminal, or to `wide` (None: as it is) when piped."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else wide
    if width is None:
        return line
    return "\n".join(textwrap.wrap(line, max(width, 40), subsequent_indent=indent)) or line


def read_line(schema: Schema) -> str:
    """What was read and what was set aside, on one line.

    >>> import credo as cr
    >>> read_line(cr.examples.play_tennis().schema)
    'play_tennis.csv: 14 rows, 5 discrete variables; set aside: Day (identifier)'
    """
    rows = schema.columns[0].rows if schema.columns else 0
    discrete, n = len(schema.discrete), len(schema.variables)
    kinds = [
        f"{many:,} {kind}" for many, kind in ((discrete, "discrete"), (n - discrete, "continuous"))
        if many
    ]  # fmt: skip
    aside = [f"{c.name} ({c.kind})" for c in schema.columns if not c.used]
    line = f"{schema.source or 'table'}: {rows:,} row{'s' * (rows != 1)}, {' and '.join(kinds)} "
    line += f"variable{'s' * (n != 1)}"
    return line + (f"; set aside: {shortened(aside, 8, 80)}" if aside else "")


def print_schema(schema: Schema) -> None:
    """The schema report."""
    title, variables, aside, notes = schema_parts(schema)
    heading(title)
    print_table(*variables)
    if aside[1]:
        head, rows = aside
        print_table(head, [[in_options(cell) for cell in row] for row in rows])
    if notes:
        heading("noticed")
        for note in notes:
            click.echo(wrapped(f"  {in_options(note)}", None, "    "))


_TREE = 12  # variables up to which a graph is drawn as a tree
_LINES = 8  # of a graph as families, unless all are asked for


def print_graph(dag: Any, *, whole: bool = True) -> None:
    """A graph as a tree: each node below one of its parents, the others named beside it.

    One of many variables is told family by family on a few lines, unless the whole is asked for.
    """
    if whole or len(dag.nodes) <= _TREE:
        click.echo("\n".join(graph_lines(dag)))
        return
    lines = family_lines(dag, min(shutil.get_terminal_size().columns, 100) - 2)
    click.echo("\n".join(lines[:_LINES]))
    if len(lines) > _LINES:
        click.echo(f"  … {len(lines) - _LINES} more lines: --details")


def family_lines(dag: Any, width: int = 98) -> list[str]:
    """Each child with its parents, several on a line, those without parents last.

    >>> from credo.model.graphs.dag import Dag
    >>> family_lines(Dag.parse("[A][B][C|A:B][D|C][E]"), 30)
    ['C ← A, B;  D ← C', 'no parents: A, B, E']
    """
    said = [f"{n} ← {', '.join(dag.parents(n))}" for n in dag.order if dag.parents(n)]
    free = [n for n in dag.order if not dag.parents(n)]
    lines = [""]
    for part in said:
        if lines[-1] and len(lines[-1]) + len(part) + 3 > width:
            lines.append("")
        lines[-1] += (";  " if lines[-1] else "") + part
    return [*(line for line in lines if line), f"no parents: {shortened(free, 30, width - 12)}"]


def graph_lines(dag: Any) -> list[str]:
    """The graph as lines: a node stands under its last parent and names the others.

    >>> from credo.model.graphs.dag import Dag
    >>> print("\\n".join(graph_lines(Dag.parse("[A][B][C|A:B][D|C][E]"))))
    A
    B
    └─ C  (also ← A)
       └─ D
    E
    """
    place = {n: i for i, n in enumerate(dag.order)}
    under: dict[str, list[str]] = {n: [] for n in dag.nodes}
    roots = []
    for name in dag.order:
        parents = dag.parents(name)
        if parents:
            under[max(parents, key=place.__getitem__)].append(name)
        else:
            roots.append(name)
    lines: list[str] = []

    # a name, what its line begins with, what the lines below it begin with
    waiting = [(root, "", "") for root in reversed(roots)]
    while waiting:
        name, lead, rest = waiting.pop()
        others = sorted(dag.parents(name), key=place.__getitem__)[:-1]
        also = f"  (also ← {', '.join(others)})" if others else ""
        lines.append(lead + name + also)
        for child in reversed(under[name]):
            last = child == under[name][-1]
            waiting.append(
                (child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))
            )
    return lines
