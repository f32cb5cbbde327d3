"""Parts: rows that lie in many places, and the engine that runs a task on each of them.

One protocol for every engine. A task is a pure function, which can be pickled, from the feed of one
part and its number to a value; values come back with their numbers, whatever the order in which
parts are done, and each number is taken once. A failure comes back as a value too: engines run a
task again that raises, and wrap what it said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from credo.core.errors import CredoError, TableError
from credo.core.progress import Report, track
from credo.data.sources.feed import Feed, foreign
from credo.data.sources.file_parts import FilePart
from credo.data.sources.frames import feed_of_frame
from credo.stats.adding_up import added_up

T = TypeVar("T")
Task = Callable[[Any, int], Any]
"""From what a part holds, a `Feed` or tables kept before, and its number, to a value."""

Call = Callable[[int, Any], Any]
"""What an engine runs: a function of the number of a part and of what it hands over there."""


Bar = Callable[..., Iterator[Any]]
"""Gives the items that it is given, and shows how far they are; see `core.progress.track`."""


class Engine(Protocol):
    """Where functions run: `rows` is what the engine knows the parts by, a frame or a list."""

    def count(self, rows: Any) -> int | None:
        """How many parts there are, where that is known before they are run."""
        ...

    def call(
        self, call: Call, rows: Any, columns: Sequence[str], bar: Bar, *, large: bool = False
    ) -> Iterator[tuple[int, Any]]:
        """The value of every part with its number, as they come; where values are large, a few at
        a time and in their order. `bar(items, total=…)` shows how many parts are done.
        """
        ...

    def keeping(self, call: Call, rows: Any, columns: Sequence[str]) -> AbstractContextManager[Any]:
        """What the values of the parts are known by, which stay with the workers meanwhile."""
        ...


@dataclass(frozen=True)
class Failed:
    """What went wrong with a part, as a value."""

    error: CredoError


@dataclass(frozen=True)
class Attempt:
    """A task as an engine runs it."""

    task: Task
    label: str

    def __call__(self, number: int, part: Any) -> Any:
        """The value of the task on one part, or what went wrong with it."""
        try:
            return self.task(opened(part), number)
        except CredoError as error:
            return Failed(type(error)(_in_part(error.message, number), hint=error.hint))
        except Exception as error:
            said = foreign(self.label, error)
            return Failed(type(said)(_in_part(said.message, number), hint=said.hint))


def opened(part: Any) -> Any:
    """The feed of a part, by what the engine hands over; tables kept before are as they are."""
    if isinstance(part, FilePart):
        return part.feed()
    return part if isinstance(part, (list, Feed)) else feed_of_frame(part, None)


def _in_part(message: str, number: int) -> str:
    """A sentence that says in which part it holds.

    >>> _in_part("Row 3 of column 'x' is not a number.", 0)
    "Row 3 of column 'x' is not a number (part 1)."
    """
    return f"{message.rstrip('.')} (part {number + 1:,})."


@dataclass(frozen=True)
class Parts:
    """The rows of a table with an engine; `feed` says what its columns are."""

    feed: Feed = field(repr=False)
    engine: Engine
    rows: Any = field(repr=False)

    @property
    def count(self) -> int | None:
        """How many parts there are, where that is known before they are run."""
        return self.engine.count(self.rows)

    def in_order(
        self,
        task: Task,
        columns: Sequence[str],
        *,
        large: bool = False,
        report: Report | None = None,
    ) -> Iterator[Any]:
        """The values of all parts in their order, each once; the first failure is raised."""
        label, count = self.feed.label, self.count
        waiting: dict[int, Any] = {}
        following = 0
        call = Attempt(task, label)
        bar = partial(track, label=f"counting {label}", report=report)
        for number, value in self.engine.call(call, self.rows, columns, bar, large=large):
            if isinstance(value, Failed):
                raise value.error
            if number >= following:  # a part that ran twice counts once
                waiting.setdefault(number, value)
            while following in waiting:
                yield waiting.pop(following)
                following += 1
        if waiting or (count is not None and following != count):
            raise TableError(
                f"{label}: {following + len(waiting):,} parts of "
                f"{count or max(waiting) + 1:,} gave an answer.",
                hint="Run it again; if a worker was lost, the log of the cluster says why.",
            )

    def gathered(
        self,
        task: Task,
        columns: Sequence[str],
        merge: Callable[[T, T], T],
        size: Callable[[T], int],
        report: Report | None = None,
    ) -> T | None:
        """What all parts add up to, in their order; None where no part has rows."""
        values = self.in_order(task, columns, report=report)
        return added_up((v for v in values if v is not None), size, merge)

    @contextmanager
    def keeping(self, task: Task, columns: Sequence[str]) -> Iterator[Parts]:
        """Parts that hold what the task gives, on the workers, until the block ends."""
        call = Attempt(task, self.feed.label)
        with self.engine.keeping(call, self.rows, columns) as rows:
            yield replace(self, rows=rows)
