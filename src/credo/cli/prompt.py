"""The prompt of `credo ask`: a line in, an answer out, with history and completion.

In a terminal the arrow keys bring back earlier lines (kept in the user's state folder) and Tab
completes names, states and commands. When input is piped, each line is taken as it comes, and the
first bad one ends the run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from credo.cli.session import Reply, Session, fragment
from credo.core.errors import CredoError, InputError

if TYPE_CHECKING:
    from prompt_toolkit.history import History

__all__ = ["converse", "history_file", "piped"]


def history_file() -> Path:
    """Where the lines typed at the prompt are kept."""
    given = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    base = Path(given) if given else Path.home() / ".local" / "state"
    return base / "credo" / "history"


def piped(session: Session) -> Iterator[Reply]:
    """Answer standard input line by line, until it ends or says quit."""
    for number, line in enumerate(sys.stdin, 1):
        try:
            reply = session.take(line)
        except CredoError as error:
            raise InputError(f"Line {number}: {error}") from None
        if reply.done:
            return
        yield reply


def converse(session: Session, title: str) -> None:
    """The prompt in a terminal."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer, Completion

    class Names(Completer):
        def get_completions(self, document: Any, _: Any) -> Iterator[Completion]:
            line = document.text_before_cursor
            start, words = fragment(session.net, line)
            for word in words:
                yield Completion(word, start_position=start - len(line))

    click.echo(f"{title}: type evidence (x=a), a variable, P(…), or help; Tab completes.")
    prompt: PromptSession[str] = PromptSession(
        history=_history(), completer=Names(), complete_while_typing=False
    )
    while True:
        many = len(session.given) + len(session.do)
        try:
            line = prompt.prompt(f"credo ({many} given)> " if many else "credo> ")
        except KeyboardInterrupt:
            continue  # forget the line
        except EOFError:
            return
        try:
            reply = session.take(line)
        except CredoError as error:
            click.secho(str(error), fg="red")
            continue
        except KeyboardInterrupt:
            click.echo("stopped")
            continue
        if reply.done:
            return
        if reply.text:
            click.echo(reply.text)


def _history() -> History:
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    path = history_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))
