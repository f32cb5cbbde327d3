"""One callback for long work: a progress bar on a terminal, silence elsewhere, and a deadline.

`track` wraps an iterator whose items are worth `size(item)` units. A caller who wants the
numbers instead of a bar passes `report=`, a function of (done, total). Inside `within(seconds)`
tracked work that is late, or by its pace so far will be, ends with an error that says so.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from credo.core.errors import LateError

LATE = "There was no time left for"
"""How the refusal of late work begins."""

_PATIENCE = 0.5  # seconds; shorter work shows no bar
_FAR = 3.0  # work that at its pace needs so many times what is left is given up at once

T = TypeVar("T")
Report = Callable[[int, int | None], None]

_SILENT: ContextVar[bool] = ContextVar("silent", default=False)


@contextmanager
def silent() -> Iterator[None]:
    """No bars and no lines inside this block, terminal or not.

    >>> with silent():
    ...     total = sum(track([1, 2], "adding"))
    """
    before = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(before)


_UNTIL: ContextVar[float] = ContextVar("until", default=math.inf)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """A deadline for the work inside this block; one that was set before is kept if it is sooner.

    >>> with within(0.0):
    ...     list(track("abc", "counting letters"))
    Traceback (most recent call last):
    ...
    credo.errors.LateError: There was no time left for counting letters. Give more time with ...
    """
    before = _UNTIL.set(min(_UNTIL.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _UNTIL.reset(before)


def seconds_left() -> float:
    """How far the deadline is; infinitely far where there is none.

    >>> seconds_left()
    inf
    """
    return max(_UNTIL.get() - time.monotonic(), 0.0)


def on_time(label: str, needed: float = 0.0) -> None:
    """Refuse to go on with work when the deadline is past, or too near for the seconds needed."""
    if time.monotonic() + needed > _UNTIL.get():
        raise LateError(
            f"{LATE} {label}.",
            hint="Give more time with seconds=, or fewer rows.",
        )


def _on_pace(
    items: Iterable[T], label: str, total: int | None, size: Callable[[T], int]
) -> Iterator[T]:
    """The items, while the deadline is ahead and the pace so far is near what it asks for."""
    began, done = time.monotonic(), 0
    for item in items:
        spent = time.monotonic() - began
        known = total and done and spent > _PATIENCE
        on_time(label, spent * ((total or 0) / done - 1) / _FAR if known else 0.0)
        yield item
        done += size(item)


def _seen() -> bool:
    return sys.stderr.isatty() and not _SILENT.get()


def track(
    items: Iterable[T],
    label: str,
    *,
    total: int | None = None,
    size: Callable[[T], int] = lambda _: 1,
    report: Report | None = None,
) -> Iterator[T]:
    """Yield the items, telling `report` (or a bar on an interactive terminal) how far it is.

    >>> seen = []
    >>> list(track("abc", "letters", total=3, report=lambda done, total: seen.append(done)))
    ['a', 'b', 'c']
    >>> seen
    [1, 2, 3]
    """
    if _UNTIL.get() < math.inf:
        items = _on_pace(items, label, total, size)
    if report is None and not _seen():
        yield from items
        return
    done = 0
    if report is not None:
        for item in items:
            yield item
            done += size(item)
            report(done, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Remaining()]
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    task = progress.add_task(label, total=total)
    start = time.monotonic()
    try:
        for item in items:
            yield item
            progress.advance(task, size(item))
            if not progress.live.is_started and time.monotonic() - start > _PATIENCE:
                progress.start()
    finally:
        progress.stop()


class Watch:
    """What another thread may see of long work, and how it ends it, as Ctrl-C would.

    >>> seen = Watch()
    >>> with watched(seen), Ticker("searching") as ticker:
    ...     ticker.say("score -12.3")
    >>> seen.text
    'searching: score -12.3'
    """

    def __init__(self) -> None:
        self.stopped = False
        self.text = ""
        self.best: tuple[Any, float] | None = None
        """The best found so far, and how good it is."""


_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """The work inside this block tells `watch`, and ends when that is stopped."""
    before = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(before)


def watch() -> Watch | None:
    """Who watches the work of this thread, if anyone does."""
    return _WATCH.get()


class Ticker:
    """One line that says how far a long search is; on an interactive terminal only.

    >>> with Ticker("searching") as ticker:
    ...     ticker.say("score -12.3")
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._start = time.monotonic()
        self._said = 0.0
        self._on = _seen()
        self._shown = False

    def __enter__(self) -> Ticker:
        return self

    def say(self, text: str) -> None:
        """Replace the line, a few times a second at most."""
        watching = _WATCH.get()
        if watching is not None:
            if watching.stopped:
                raise KeyboardInterrupt
            watching.text = f"{self._label}: {text}"
        now = time.monotonic()
        if not self._on or now - self._start < _PATIENCE or now - self._said < 0.2:
            return
        self._said = now
        self._shown = True
        line = f"{self._label}: {text} · {now - self._start:.0f} s"
        sys.stderr.write("\r\x1b[2K" + line)
        sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
