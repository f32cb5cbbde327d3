"""Spark as an engine: partitions of a frame as Arrow batches, or files that its workers open.

Only the DataFrame API is used, so that Spark Connect is one of its kinds.
"""

from __future__ import annotations

import pickle
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from credo.core.errors import TableError
from credo.data.engines.parts import Bar, Call, Failed, Parts
from credo.data.sources.feed import Feed, batch_rows, distinct_names, record_batches

_PICKLED = "part int, value binary"
_CHUNK = 1 << 20  # bytes of a value in one row


def parts_of_spark(frame: Any) -> Parts:
    """The partitions of a Spark frame."""
    names, notes = distinct_names(frame.columns, "Spark frame")
    if tuple(frame.columns) != names:
        frame = frame.toDF(*names)
    feed = Feed("Spark frame", names, _nothing, notes=notes)
    return Parts(feed, Spark(frame.sparkSession), frame)


def _nothing(names: Sequence[str]) -> Iterator[Any]:
    return iter(())


@dataclass(frozen=True)
class KeptFrame:
    """Values in a frame that Spark keeps: rows of a part's number and pickled bytes."""

    frame: Any
    parts: int | None


@dataclass(frozen=True)
class Spark:
    """A Spark session."""

    session: Any

    def count(self, rows: Any) -> int | None:
        """How many parts there are; of a frame that is known when it has run."""
        if isinstance(rows, KeptFrame):
            return rows.parts
        return len(rows) if isinstance(rows, list) else None

    def call(
        self, call: Call, rows: Any, columns: Sequence[str], bar: Bar, *, large: bool = False
    ) -> Iterator[tuple[int, Any]]:
        """The value of every part; where values are large, one part after the other."""
        frame = self._called(call, rows, columns)
        if large:
            found = _joined((row["part"], row["value"]) for row in frame.toLocalIterator())
            yield from bar(found, total=self.count(rows))
            return
        table = _interruptible(self.session, frame.toArrow, bar)
        numbers, values = table.column("part"), table.column("value")
        yield from _joined((n.as_py(), v.as_py()) for n, v in zip(numbers, values, strict=True))

    def _called(self, call: Call, rows: Any, columns: Sequence[str]) -> Any:
        if isinstance(rows, KeptFrame):
            return rows.frame.mapInArrow(partial(_on_kept, call), _PICKLED)
        if isinstance(rows, list):
            numbers = self.session.range(0, len(rows), 1, max(len(rows), 1))
            return numbers.mapInArrow(partial(_on_files, call, rows), _PICKLED)
        chosen = rows.select([_quoted(n) for n in columns])
        return chosen.mapInArrow(partial(_on_batches, call, tuple(columns)), _PICKLED)

    @contextmanager
    def keeping(self, call: Call, rows: Any, columns: Sequence[str]) -> Iterator[KeptFrame]:
        """The values in a frame that Spark keeps in memory, and on disk where that is full."""
        frame = self._called(call, rows, columns).persist()
        try:
            yield KeptFrame(frame, self.count(rows))
        finally:
            frame.unpersist()


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


# --- on the workers -----------------------------------------------------------------------


def _pickled(number: int, value: Any) -> Iterator[Any]:
    """A value as rows of bytes: Arrow has at most two gigabytes in one."""
    data = pickle.dumps(value, protocol=5)
    schema = pa.schema([("part", pa.int32()), ("value", pa.binary())])
    for low in range(0, len(data), _CHUNK):
        chunk = data[low : low + _CHUNK]
        yield pa.record_batch([pa.array([number], pa.int32()), pa.array([chunk])], schema=schema)


def _joined(rows: Any) -> Iterator[tuple[int, Any]]:
    """The values of rows of bytes; those of one part follow each other."""
    part, chunks = -1, list[bytes]()
    for number, chunk in rows:
        if number != part and chunks:
            yield part, pickle.loads(b"".join(chunks))
            chunks = []
        part = number
        chunks.append(chunk)
    if chunks:
        yield part, pickle.loads(b"".join(chunks))


def _number() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _on_batches(call: Call, names: Sequence[str], batches: Iterator[Any]) -> Iterator[Any]:
    def larger(wanted: Sequence[str]) -> Iterator[Any]:
        return record_batches(_together(batches, batch_rows(len(names))), names, wanted)

    number = _number()
    feed = Feed("Spark frame", tuple(names), larger, once=True, in_memory=True)
    yield from _pickled(number, call(number, feed))


def _together(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """Batches of Spark's ten thousand rows as fewer, larger ones."""
    waiting: list[Any] = []
    held = 0
    for batch in batches:
        waiting.append(batch)
        held += batch.num_rows
        if held >= rows:
            yield _one(waiting)
            waiting, held = [], 0
    if held:
        yield _one(waiting)


def _one(batches: Sequence[Any]) -> Any:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _on_files(call: Call, files: Sequence[Any], batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from _pickled(number, call(number, files[number]))


def _on_kept(call: Call, batches: Iterator[Any]) -> Iterator[Any]:
    rows = (
        (n, v)
        for batch in batches
        for n, v in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
    )
    for number, value in _joined(rows):
        failed = isinstance(value, Failed)
        yield from _pickled(number, value if failed else call(number, value))


# --- on the driver ------------------------------------------------------------------------


def _interruptible(session: Any, run: Callable[[], Any], bar: Bar) -> Any:
    """What a job gives; Ctrl-C cancels it. It runs in a thread, since Spark waits without end."""
    seen = _Tasks(session)
    tag = f"credo-{uuid.uuid4()}"
    found: list[Any] = []

    def work() -> None:
        try:
            session.addTag(tag)
            seen.begin(tag)
            found.append(run())
        except BaseException as error:
            found.append(error)
        finally:
            session.removeTag(tag)

    thread = threading.Thread(target=work, name="credo-spark", daemon=True)
    thread.start()
    try:
        while thread.is_alive() and not seen.counted()[1]:
            thread.join(_PAUSE)
        for _ in bar(_done(thread, seen), total=seen.counted()[1] or None):
            pass
    except BaseException:
        session.interruptTag(tag)
        raise
    finally:
        seen.end()
    if isinstance(found[0], Exception):
        raise _told(found[0]) from found[0]
    return found[0]


_PAUSE = 0.2  # seconds between two looks at a job


def _done(thread: threading.Thread, seen: _Tasks) -> Iterator[int]:
    """An item for each task that is done, until the thread ends."""
    shown = 0
    while thread.is_alive():
        thread.join(_PAUSE)
        done, _ = seen.counted()
        yield from range(shown, done)
        shown = max(shown, done)
    yield from range(shown, seen.counted()[0])


class _Tasks:
    """How many tasks of a job are done, and of how many: from the driver, or told by Connect."""

    def __init__(self, session: Any) -> None:
        self.session, self.tag, self.told = session, "", (0, 0)
        self.connect = "connect" in type(session).__module__
        if self.connect:
            session.registerProgressHandler(self._hear)

    def begin(self, tag: str) -> None:
        """The thread that asks is known by its tag."""
        self.tag = tag
        if not self.connect:
            self.session.sparkContext.setJobGroup(tag, "credo")

    def counted(self) -> tuple[int, int]:
        """Done, and in all; 0 where nothing is known yet."""
        if self.connect or not self.tag:
            return self.told
        tracker = self.session.sparkContext.statusTracker()
        jobs = [tracker.getJobInfo(j) for j in tracker.getJobIdsForGroup(self.tag)]
        ids = {i for job in jobs if job is not None for i in job.stageIds}
        stages = [s for s in map(tracker.getStageInfo, ids) if s is not None]
        return sum(s.numCompletedTasks for s in stages), sum(s.numTasks for s in stages)

    def _hear(self, stages: Any, inflight_tasks: int, operation_id: Any, done: bool) -> None:
        found = list(stages or ())
        self.told = (sum(s.num_completed_tasks for s in found), sum(s.num_tasks for s in found))

    def end(self) -> None:
        """Nothing more is heard."""
        if self.connect:
            self.session.removeProgressHandler(self._hear)


def _told(error: Exception) -> Exception:
    """What Spark says, in one sentence."""
    text = str(error)
    if "No module named 'credo'" in text:
        return TableError(
            "The Python of Spark's workers does not have credo.",
            hint="Set the environment variable PYSPARK_PYTHON to sys.executable before the session "
            "starts, or install credo where the workers run.",
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if "Error" in line), lines[0] if lines else "")
    return TableError(f"Spark ended the job: {last.rstrip('.')}.")
