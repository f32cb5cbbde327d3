"""What every command has: `--json`, `--quiet`, `--seed`, `--threads`, and help like a manual page.

A command takes `common`, which knows how to speak: `say` is for people and keeps still when asked
to, `emit` prints one JSON document that names its schema and version (docs/json.md).
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import wraps
from inspect import cleandoc
from typing import Any

import click
from click.shell_completion import CompletionItem

from credo.cli.words import in_options
from credo.core.errors import CredoWarning, InputError

__all__ = [
    "JSON_VERSION", "Common", "Manual", "Option", "Stopped", "common_options", "examples_of",
    "files", "listed", "numbers_by_name",
]  # fmt: skip

JSON_VERSION = 1
"""The version of every JSON document; it changes when a key changes its meaning or goes."""

COMMON = "Every command"
_EXITS = (
    "0 when all went well, 2 for bad input (one sentence on standard error says what and where), "
    "130 when stopped by Ctrl-C."
)


@dataclass(frozen=True, slots=True)
class Common:
    """How a command was asked to speak and to run.

    >>> Common(quiet=True).say("not heard")
    """

    as_json: bool = False
    quiet: bool = False
    seed: int = 0
    threads: int | None = None

    @property
    def silent(self) -> bool:
        """Whether people are to be told nothing."""
        return self.as_json or self.quiet

    def say(self, text: object = "", *, bold: bool = False) -> None:
        """A line for people, unless --quiet or --json."""
        if not self.silent:
            words = in_options(str(text))
            click.secho(words, bold=True) if bold else click.echo(words)

    def heading(self, text: str) -> None:
        """A line in bold (plain when piped), after an empty one."""
        self.say()
        self.say(text, bold=True)

    def emit(self, command: str, document: dict[str, Any]) -> None:
        """The answer for machines: one JSON document."""
        head = {"credo": {"schema": f"credo.{command}", "version": JSON_VERSION}}
        whole = head | {"version": JSON_VERSION} | document
        try:
            text = _dumped(whole)
        except ValueError:  # JSON has no word for an infinite number
            text = _dumped(_finite(whole))
        click.echo(text)


def _dumped(document: Any) -> str:
    from credo.core.state_values import json_state

    return json.dumps(document, ensure_ascii=False, indent=2, default=json_state, allow_nan=False)


def _finite(value: Any) -> Any:
    """The same data, with numbers that JSON cannot say as text."""
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


Decorator = Callable[[Any], Any]


def common_options(*, seed: str = "", threads: str = "") -> Decorator:
    """The options of every command, given to it as one value `common`.

    `seed` and `threads` say what they are for; where they change nothing the help says so.
    """
    no_seed = "Taken by every command; nothing here is random."
    no_threads = "Taken by every command; this one needs one thread."
    options = together(
        option("--json", "as_json", is_flag=True, group=COMMON,
               help="Print JSON for machines (docs/json.md)."),
        option("--quiet", "-q", is_flag=True, group=COMMON, help="Say nothing but the result."),
        option("--seed", type=int, default=0, metavar="N", group=COMMON,
               show_default=bool(seed), help=seed or no_seed),
        option("--threads", type=int, metavar="N", group=COMMON, help=threads or no_threads),
    )  # fmt: skip

    def decorate(function: Any) -> Any:
        @wraps(function)
        def call(
            *args: Any, as_json: bool, quiet: bool, seed: int, threads: int | None, **kwargs: Any
        ) -> Any:
            if threads is not None and threads < 1:
                raise InputError(f"--threads must be a whole number above 0, got {threads}.")
            if seed < 0:
                raise InputError(f"--seed must be a whole number, 0 or more, got {seed}.")
            common = Common(as_json, quiet, seed, threads)
            with _speaking(common):
                return function(*args, common=common, **kwargs)

        return options(call)

    return decorate


@contextmanager
def _speaking(common: Common) -> Iterator[None]:
    """Warnings as one line each, progress on a terminal; neither when quiet."""
    from credo.core.progress import silent

    said: set[str] = set()

    def tell(message: Any, category: type[Warning], *rest: Any, **more: Any) -> None:
        text = in_options(" ".join(str(message).split()))
        if not issubclass(category, CredoWarning):
            show(message, category, *rest, **more)
        elif not common.quiet and text not in said:
            said.add(text)
            click.echo(f"Noticed: {text}", err=True)

    with warnings.catch_warnings(), silent() if common.quiet else nullcontext():
        show = warnings.showwarning
        warnings.showwarning = tell
        if not sys.warnoptions:
            warnings.simplefilter("always", CredoWarning)
        yield


class Stopped(click.Abort):
    """Ctrl-C ended long work; says where the best so far lies."""

    def __init__(self, what: str, path: str | None) -> None:
        kept = (
            f" The best so far is in {path}." if path else " Give -o FILE to keep the best so far."
        )
        super().__init__(f"Stopped by Ctrl-C during {what}.{kept}")


class Option(click.Option):
    """An option that knows under which heading of the manual page it stands."""

    def __init__(self, *args: Any, group: str = "Options", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


def option(
    *names: str, group: str = "Options", choices: Sequence[str] = (), **settings: Any
) -> Decorator:
    """An option under a heading of the manual page; a default that it has is shown there."""
    if choices:
        settings["type"] = click.Choice(choices)
    if settings.get("default") not in (None, "", False, 0):
        settings.setdefault("show_default", True)
    return click.option(*names, cls=Option, group=group, **settings)


def together(*options: Decorator) -> Decorator:
    """Several options as one decorator, in their order."""

    def decorate(function: Any) -> Any:
        for one in reversed(options):
            function = one(function)
        return function

    return decorate


class Manual(click.Command):
    """A command whose help reads like a manual page: options by heading, then examples."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        story, _ = _parts(self.help or "")
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(story)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {"Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                group = getattr(parameter, "group", "Options")
                if "--help" in parameter.opts:
                    group = COMMON
                groups.setdefault(group, []).append(record)
        last = groups.pop(COMMON, [])
        for title, records in [*groups.items(), (COMMON, last)]:
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _, examples = _parts(self.help or "")
        if examples:
            with formatter.section("Examples"):
                formatter.write_text("\b\n" + "\n".join(examples))
        with formatter.section("Exit codes"):
            formatter.write_text(_EXITS)


def _parts(text: str) -> tuple[str, list[str]]:
    """What a command does, and its examples."""
    story, _, examples = cleandoc(text).partition("\b\nExamples:\n")
    return story.strip(), [line.strip() for line in examples.splitlines() if line.strip()]


def examples_of(command: click.Command) -> list[str]:
    """The examples of a command's help, one line each."""
    return _parts(command.help or "")[1]


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Shell completion of a file's name."""
    return [CompletionItem(incomplete, type="file")]


def numbers_by_name(given: Sequence[str], option: str) -> dict[str, float]:
    """Options of the form NAME=NUMBER as a mapping.

    >>> numbers_by_name(["xray=30", "smoke=1"], "--cost")
    {'xray': 30.0, 'smoke': 1.0}
    """
    out: dict[str, float] = {}
    for one in given:
        name, equals, number = one.rpartition("=")
        try:
            out[name] = float(number)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise InputError(f"{option} must have the form NAME=NUMBER, got {one!r}.")
    return out


def listed(items: Sequence[str], most: int = 3) -> str:
    """A few names, and how many more there are.

    >>> listed(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    shown = list(items[:most])
    rest = len(items) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")
