"""The options by which every command reads a table; one place, so that they are the same."""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from credo.cli.options import files, option, together
from credo.core.errors import InputError
from credo.data import MISSING, Stream, Table
from credo.data.columns.written import Written

__all__ = [
    "missing_option", "read_from", "reading_flags", "reading_options", "reading_settings",
    "text_options",
]  # fmt: skip


def _shown(tokens: tuple[str, ...]) -> str:
    return ", ".join(t or "an empty cell" for t in tokens)


_option = partial(option, group="Reading the table")

reading_settings = together(
    _option("--kind", multiple=True, metavar="NAME=KIND",
            help="Make a column discrete or continuous."),
    _option("--states", multiple=True, metavar="NAME=A,B,C",
            help="Give a column its states, in order."),
    _option("--drop", multiple=True, metavar="NAME", help="Leave a column out."),
    _option("--weights", metavar="NAME", help="The column with the rows' weights."),
    _option("--missing", multiple=True, metavar="TEXT",
            help=f"What is missing in a text file, with an empty cell, instead of "
            f"{_shown(MISSING[1:])}; +TEXT is missing besides these."),
    _option("--memory", metavar="SIZE", help="The most memory for cells, e.g. 2GB."),
    _option("--delimiter", metavar="CHAR", help="What separates cells, e.g. ';'."),
    _option("--encoding", metavar="NAME", help="The encoding of a text file."),
    _option("--decimal", metavar="CHAR",
            help="What stands before the tenths of a number: . (the default) or ,"),
    _option("--names", metavar="A,B,C",
            help="The names of the columns of a text file without a header."),
    _option("--skip-ragged", is_flag=True,
            help="Skip lines with too many or too few cells, and count them."),
)  # fmt: skip
"""The options that say how a table is read."""


reading_options = together(click.argument("table", shell_complete=files), reading_settings)
"""The argument TABLE (- is standard input) and the options that say how to read it."""


def reading_flags(reading: dict[str, Any]) -> str:
    """The options that say how a table is read, as they were given, to be pasted again.

    >>> reading_flags({"table": "a.csv", "drop": ("x y",), "weights": "n", "skip_ragged": False})
    " --drop 'x y' --weights n"
    """
    out = ""
    for name, value in reading.items():
        flag = "--" + name.replace("_", "-")
        if name == "table":
            continue
        if value is True:
            out += f" {flag}"
        elif isinstance(value, tuple):
            out += "".join(f" {flag} {shlex.quote(v)}" for v in value)
        elif value:
            out += f" {flag} {shlex.quote(str(value))}"
    return out


def text_options(reading: dict[str, Any]) -> Any:
    """How the text of a table is read, by the options given."""
    from credo.data.sources.text import TextOptions

    delimiter = reading["delimiter"]
    return TextOptions(
        {"\\t": "\t", "tab": "\t"}.get(delimiter or "", delimiter),
        reading["encoding"],
        "skip" if reading["skip_ragged"] else "error",
        list(_listed(reading["names"])) if reading["names"] else None,
        reading["decimal"] or ".",
    )


def missing_option(given: Sequence[str]) -> Any:
    """The words of --missing; those with a plus are added to the usual ones.

    >>> missing_option(["-9"]), missing_option(["+None"])
    (Written(texts=('-9',)), Written(texts=('', 'NA', 'NaN', 'null', '?', 'None')))
    """
    if not given:
        return None
    plain = [w for w in given if not w.startswith("+") or w == "+"]
    more = [w[1:] for w in given if w.startswith("+") and w != "+"]
    return Written((*(MISSING if more else ()), *plain, *more))


def read_from(table: str, schema: Any = None, **options: Any) -> Table | Stream:
    """Read the table that the options describe; a schema given by a model is used as it is."""
    from credo.data import read
    from credo.data.reading import feed_of

    _refuse_model(table)
    source = spooled() if table == "-" else table
    text = text_options(options)
    if schema is None:
        columns = options["kind"], options["states"], options["drop"]
        told = _wanted(*columns, lambda: feed_of(source, text, None).names)
    return read(
        source,
        schema if schema is not None else told or None,
        options["weights"],
        missing=missing_option(options["missing"]),
        memory=options["memory"],
        columns=text.columns,
        delimiter=text.delimiter,
        encoding=text.encoding,
        decimal=text.decimal,
        ragged=text.ragged,
    )


def _wanted(
    kind: Sequence[str],
    states: Sequence[str],
    drop: Sequence[str],
    names: Callable[[], Sequence[str]] = tuple,
) -> dict[str, Any]:
    """What the options say of columns; two that contradict each other are refused. The `names` of
    the table are asked for where = stands twice in --states.

    >>> _wanted(["age=continuous"], ['size="1,5",2'], ["note"])
    {'age': 'continuous', 'size': Written(texts=('1,5', '2')), 'note': 'drop'}
    """
    told = [(*_pair(given, "--kind", "NAME=KIND"), "--kind") for given in kind]
    told += [(*_states(given, names), "--states") for given in states]
    told += [(name, "drop", "--drop") for name in drop]
    wanted: dict[str, Any] = {}
    for name, word, by in told:
        meant = Written(_listed(word)) if by == "--states" else word
        before = wanted.get(name, meant)
        if before != meant and not (before == "discrete" and by == "--states"):
            raise InputError(
                f"The options say two things of {name!r}: {_said(before)} and {_said(meant)}.",
                hint="Leave one of them out.",
            )
        wanted[name] = meant
    return wanted


def _said(word: str | Written) -> str:
    return f"the states {', '.join(word.texts)}" if isinstance(word, Written) else repr(word)


def _listed(states: str) -> tuple[str, ...]:
    """States as a line of a CSV file has them: one with a comma stands in quotes."""
    return tuple(s.strip() for s in next(csv.reader([states], skipinitialspace=True)))


def _states(given: str, names: Callable[[], Sequence[str]]) -> tuple[str, str]:
    """A name and its states; = may be part of either, and the longest name of the table is meant.

    >>> _states("c=d=2,1", lambda: ["a", "c=d"]), _states("c=d=2,1", lambda: ["c"])
    (('c=d', '2,1'), ('c', 'd=2,1'))
    """
    if given.count("=") > 1:
        known = [n for n in names() if given.startswith(f"{n}=") and len(given) > len(n) + 1]
        if known:
            name = max(known, key=len)
            return name, given[len(name) + 1 :]
    return _pair(given, "--states", "NAME=A,B,C")


def _pair(given: str, option: str, form: str) -> tuple[str, str]:
    name, equals, word = given.rpartition("=") if option == "--kind" else given.partition("=")
    if not equals or not name or not word:
        raise InputError(f"{option} must have the form {form}, got {given!r}.")
    return name, word


def _refuse_model(path: str) -> None:
    """Refuse a model where a table belongs."""
    from credo.data.sources.files import FORMATS
    from credo.formats.files import ENDINGS

    ending = Path(path.lower().removesuffix(".gz")).suffix
    if ending in ENDINGS and ending not in FORMATS and Path(path).expanduser().exists():
        raise InputError(f"{path} is a model; a table was expected here, such as table.csv.")


# what the first bytes of standard input say it is
_STARTS = ((b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"\xff\xff\xff\xff", ".arrow"),
           (b"\x1f\x8b", ".csv.gz"), (b"\x28\xb5\x2f\xfd", ".csv.zst"))  # fmt: skip
_OBJECTS = re.compile(rb"(\xef\xbb\xbf)?\s*(\[\s*)?\{")  # one, or an array of them


def take_standard_input(what: str) -> None:
    """Refuse '-' for a second thing: standard input is read once."""
    context = click.get_current_context(silent=True)
    taken = what if context is None else context.meta.setdefault("credo.standard-input", what)
    if taken != what:
        raise InputError(f"Standard input was already read as {taken}; '-' can be given once.")


def spooled() -> Path:
    """Standard input as a file, which goes when the command ends: tables are looked at twice."""
    take_standard_input("a table")
    folder = tempfile.mkdtemp(prefix="credo-")
    click.get_current_context().call_on_close(lambda: shutil.rmtree(folder, ignore_errors=True))
    source = sys.stdin.buffer
    start = source.read(1 << 16)
    if not start.strip():
        raise InputError("Standard input is empty; a table was expected.")
    ending = next((e for head, e in _STARTS if start.startswith(head)), "")
    if not ending:
        ending = ".jsonl" if _OBJECTS.match(start) else ".csv"
    path = Path(folder, "stdin" + ending)
    with open(path, "wb", opener=lambda p, flags: os.open(p, flags, 0o600)) as out:
        out.write(start)
        shutil.copyfileobj(source, out)
    return path
