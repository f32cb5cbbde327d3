"""The options by which every command reads a table; one place, so that they are the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from credo.data import MISSING, Stream, Table
from credo.errors import InputError
from credo.schema import Schema

__all__ = ["read_from", "reading_options", "reading_settings"]

F = TypeVar("F", bound=Callable[..., Any])


def reading_options(function: F) -> F:
    """The argument TABLE and the options that say how to read it."""
    return click.argument("table")(reading_settings(function))


def reading_settings(function: F) -> F:
    """The options that say how a table is read."""
    options = [
        click.option("--kind", multiple=True, metavar="NAME=KIND",
                     help="Make a column discrete or continuous."),
        click.option("--states", multiple=True, metavar="NAME=A,B,C",
                     help="Give a column its states, in order."),
        click.option("--drop", multiple=True, metavar="NAME", help="Leave a column out."),
        click.option("--weights", metavar="NAME", help="The column with the rows' weights."),
        click.option("--missing", multiple=True, metavar="TEXT",
                     help=f"What is missing in a text file, instead of {_shown(MISSING)}."),
        click.option("--memory", metavar="SIZE", help="The most memory for cells, e.g. 2GB."),
        click.option("--delimiter", metavar="CHAR", help="What separates cells, e.g. ';'."),
        click.option("--encoding", metavar="NAME", help="The encoding of a text file."),
        click.option("--skip-ragged", is_flag=True,
                     help="Skip lines with too many or too few cells, and count them."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def _shown(tokens: tuple[str, ...]) -> str:
    return ", ".join(t or "an empty cell" for t in tokens)


def read_from(
    table: str,
    kind: tuple[str, ...],
    states: tuple[str, ...],
    drop: tuple[str, ...],
    weights: str | None,
    missing: tuple[str, ...],
    memory: str | None,
    delimiter: str | None,
    encoding: str | None,
    skip_ragged: bool,
    schema: Schema | None = None,
) -> Table | Stream:
    """Read the table that the options describe; a schema given by a model is used as it is."""
    from credo.data import read

    wanted: dict[str, Any] = {}
    for given in kind:
        name, word = _pair(given, "--kind", "NAME=KIND")
        wanted[name] = word
    for given in states:
        name, word = _pair(given, "--states", "NAME=A,B,C")
        wanted[name] = [s.strip() for s in word.split(",")]
    wanted |= dict.fromkeys(drop, "drop")
    return read(
        table,
        schema if schema is not None else wanted or None,
        weights,
        missing=list(missing) or None,
        memory=memory,
        delimiter={"\\t": "\t", "tab": "\t"}.get(delimiter or "", delimiter),
        encoding=encoding,
        ragged="skip" if skip_ragged else "error",
    )


def _pair(given: str, option: str, form: str) -> tuple[str, str]:
    name, equals, word = given.rpartition("=") if option == "--kind" else given.partition("=")
    if not equals or not name or not word:
        raise InputError(f"{option} must have the form {form}, got {given!r}.")
    return name, word
