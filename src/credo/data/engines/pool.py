"""An executor of `concurrent.futures` as an engine: processes or threads of this machine."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from credo.core.errors import TableError
from credo.data.engines.parts import Bar, Call, Failed


@dataclass(frozen=True)
class Pool:
    """An executor; parts are a list of what its workers are given."""

    executor: Executor

    def count(self, rows: Any) -> int:
        """How many parts there are."""
        return len(rows)

    def call(
        self, call: Call, rows: Any, columns: Sequence[str], bar: Bar, *, large: bool = False
    ) -> Iterator[tuple[int, Any]]:
        """The value of every part; where values are large, as many at a time as there are
        workers.
        """
        return bar(self._values(call, rows, large), total=len(rows))

    def _values(self, call: Call, rows: Any, large: bool) -> Iterator[tuple[int, Any]]:
        some = max(int(getattr(self.executor, "_max_workers", 1)), 1) if large else len(rows)
        for low in range(0, len(rows), some):
            chosen = range(low, min(low + some, len(rows)))
            futures = {self.executor.submit(_run, call, i, rows[i]): i for i in chosen}
            try:
                for future in futures if large else as_completed(futures):
                    yield futures[future], future.result()
            except BrokenExecutor:
                raise TableError(
                    "A worker process ended before its part was counted.",
                    hint="It may have run out of memory; make a new executor and read again.",
                ) from None
            finally:
                for future in futures:
                    future.cancel()

    @contextmanager
    def keeping(self, call: Call, rows: Any, columns: Sequence[str]) -> Iterator[list[Kept]]:
        """The values in a folder of this machine, which its processes share."""
        with tempfile.TemporaryDirectory(prefix="credo-") as folder:
            write = partial(_written, call, folder)
            kept: list[Any] = [None] * len(rows)
            for number, value in self._values(write, rows, False):
                if isinstance(value, Failed):
                    raise value.error
                kept[number] = value
            yield kept


@dataclass(frozen=True)
class Kept:
    """A value in a file of ours."""

    path: Path


def _run(call: Call, number: int, part: Any) -> Any:
    if isinstance(part, Kept):
        part = pickle.loads(part.path.read_bytes())  # written by this run, in a folder of its own
    return call(number, part)


def _written(call: Call, folder: str, number: int, part: Any) -> Any:
    value = call(number, part)
    if isinstance(value, Failed):
        return value
    path = Path(folder, f"{number}.part")
    path.write_bytes(pickle.dumps(value, protocol=5))
    return Kept(path)
