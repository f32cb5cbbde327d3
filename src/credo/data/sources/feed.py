"""A feed: any table as batches of Arrow columns. What every kind of input is turned into."""

from __future__ import annotations

import os
import queue
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from credo.core.errors import CredoError, InputError, LimitError, TableError, out_of_memory
from credo.core.frozen import Frozen
from credo.core.state_values import is_missing
from credo.data.columns.infer import Declared
from credo.data.sources.arrays import refuse_no_text, sound
from credo.data.sources.unpack import FileStamp

BATCH = 131_072
"""Rows in a batch: small enough to stay cheap, large enough for the overhead to vanish."""

MAX_COLUMNS = 20_000
"""A table with more columns than this is refused, whatever it comes as."""

ROWS_ARE_DUE = (
    "If it is a graph: cr.fit and cr.score take the graph first and the rows second, and cr.learn "
    "takes the rows alone and finds their graph."
)
"""The hint for a graph where rows are due."""

_CELLS = 2**21
_LEAST = 8192


def batch_rows(width: int) -> int:
    """Rows in a batch of a table that is not in memory: fewer where there are many columns.

    >>> batch_rows(2), batch_rows(32), batch_rows(5_000)
    (131072, 65536, 8192)
    """
    return min(BATCH, max(_LEAST, _CELLS // max(width, 1)))


Batch = dict[str, Any]
"""Column name → Arrow array, or NumPy array of objects where Arrow has no type for the mix."""


@dataclass(frozen=True)
class Feed(Frozen):
    """Batches of a table's columns, which can be asked for again unless `once` is set.

    `batches(names)` yields batches of the named columns. `text` says that the cells are raw
    text, as in a CSV file. `rows` and `bytes` are what is known of the size beforehand.
    """

    label: str
    names: tuple[str, ...]
    batches: Callable[[Sequence[str]], Iterator[Batch]]
    rows: int | None = None
    bytes: int | None = None
    text: bool = False
    once: bool = False
    in_memory: bool = False
    declared: Mapping[str, Declared] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    files: tuple[FileStamp, ...] = ()
    """The files that it reads again each time, as they were when it was made."""
    late_notes: Callable[[], tuple[str, ...]] = tuple
    """What is noticed only while reading, asked for when the last batch has come."""

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_too_wide(self.label, len(self.names))
        refuse_no_text(self.label, self.names)

    def refuse_changed(self) -> None:
        """Refuse to go on with files that were written again since: rows of two versions would be
        taken for those of one table.
        """
        for stamp in self.files:
            if stamp.changed():
                raise TableError(
                    f"{stamp.path.name} was written again after it was first read.",
                    hint="Read it again.",
                )

    def without_rows(self, hint: str = "") -> TableError:
        """The error for a table that has no rows."""
        what = "a header" if self.text else "columns"
        return TableError(f"{self.label} has {what} but no rows.", hint=hint)

    def read(self, names: Sequence[str]) -> Iterator[Batch]:
        """The batches; those that must be parsed are read ahead in a second thread."""
        batches = self._guarded(names)
        return batches if self.in_memory else prefetch(batches)

    def _guarded(self, names: Sequence[str]) -> Iterator[Batch]:
        """The batches, with the errors of foreign engines told in one sentence of ours."""
        try:
            yield from self.batches(names)
        except CredoError:
            raise
        except Exception as error:
            raise foreign(self.label, error) from error


def record_batches(
    batches: Any, given: Sequence[str], names: Sequence[str], label: str = ""
) -> Iterator[Batch]:
    """Some columns of Arrow record batches, cut to the size of a batch. With a label the cells are
    checked first: whoever made them may have made them wrong.
    """
    at = {name: i for i, name in enumerate(given)}
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH):
            part = batch.slice(start, BATCH)
            columns = {name: part.column(at[name]) for name in names}
            yield {n: sound(c, n, label) for n, c in columns.items()} if label else columns


def refuse_too_wide(label: str, columns: int) -> None:
    """Refuse a table that has more columns than can be looked at one by one."""
    if columns > MAX_COLUMNS:
        raise LimitError(
            f"{label} has {columns:,} columns; at most {MAX_COLUMNS:,} are read.",
            hint="Leave out the columns that are not needed, or split the table.",
        )


def foreign(label: str, error: Exception) -> CredoError:
    """An engine's or a file's own error, as ours: its first line is kept. Whatever says that memory
    ran out is a `MemoryError`.

    >>> foreign("rows.arrow", MemoryError("malloc of size 1152921504606846976 failed"))
    LimitError('rows.arrow cannot be read: there is not enough memory. Read fewer columns or fewer \
rows; if the file is damaged, it may ask for any amount.')
    """
    if out_of_memory(error):
        return LimitError(
            f"{label} cannot be read: there is not enough memory.",
            hint="Read fewer columns or fewer rows; if the file is damaged, it may ask for any "
            "amount.",
        )
    lines = [line for line in str(error).splitlines() if line.strip()]
    text = lines[0].strip().rstrip(".") if lines else type(error).__name__
    return TableError(f"{label} cannot be read: {text}.")


def distinct_names(
    given: Sequence[Any], label: str = "The table"
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names for the columns, kept apart, and a note for each that had to be changed.

    >>> distinct_names(["a", "", "a"])[0]
    ('a', 'column_2', 'a_2')
    """
    refuse_too_wide(label, len(given))
    out: list[str] = []
    notes: list[str] = []
    given_texts = {str(g) for g in given}
    used: set[str] = set()
    for i, name in enumerate(given, start=1):
        text = "" if is_missing(name) else str(name)
        new = text
        if not text.strip():
            new = _free(f"column_{i}", given_texts | used)
            notes.append(f"column {i} has no name and is called {new!r}")
        elif text in used:
            k = 2
            while f"{text}_{k}" in given_texts or f"{text}_{k}" in used:
                k += 1
            new = f"{text}_{k}"
            notes.append(f"column {i} repeats the name {text!r} and is called {new!r}")
        out.append(new)
        used.add(new)
    return tuple(out), tuple(notes)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


# --- how much memory a table may take -----------------------------------------------------


def memory_limit(given: int | str | None = None) -> float:
    """The bytes that `memory=` stands for.

    >>> memory_limit("2GB"), memory_limit("1.5 kB"), memory_limit(100)
    (2000000000.0, 1500.0, 100.0)
    """
    if given is None:
        try:
            return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2)
        except (AttributeError, ValueError, OSError):
            return 4e9
    if isinstance(given, str):
        match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*([kmgt]?)i?b?\s*", given.casefold())
        if not match:
            raise InputError(
                f"memory must be a number of bytes or a text like '2GB', got {given!r}."
            )
        if float(match[1]) == 0:
            raise InputError(f"memory must be more than 0, got {given!r}.")
        return float(match[1]) * float(1000 ** " kmgt".index(match[2] or " "))
    is_number = isinstance(given, (int, float, np.integer)) and not isinstance(given, bool)
    if not is_number or not given > 0:
        raise InputError(f"memory must be more than 0 bytes, or a text like '2GB', got {given!r}.")
    return float(given)


# --- read ahead ---------------------------------------------------------------------------
#
# Read ahead: the next batch is parsed in a second thread while this one is counted.


T = TypeVar("T")
_END = object()


def prefetch(items: Iterator[T], depth: int = 1) -> Iterator[T]:
    """The same items, with at most `depth` more held ready. An error comes out where it fell.

    >>> list(prefetch(iter("abc")))
    ['a', 'b', 'c']
    """
    ready: queue.Queue[Any] = queue.Queue(maxsize=depth)
    stop = threading.Event()

    def put(item: Any) -> bool:
        while not stop.is_set():
            try:
                ready.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            for item in items:
                if not put((item, None)):
                    break
            else:
                put((_END, None))
        except BaseException as error:  # handed over to the reader, whatever it is
            put((_END, error))
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()

    thread = threading.Thread(target=work, name="credo-prefetch", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # there is no room for one more
        yield from items
        return
    try:
        while True:
            item, error = ready.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item
    finally:
        stop.set()
        thread.join()
