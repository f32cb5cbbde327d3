"""Dask as an engine: partitions of a frame, or files that its workers open."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from credo.core.errors import TableError
from credo.data.columns.infer import Declared
from credo.data.engines.parts import Bar, Call, Failed, Parts
from credo.data.sources.feed import Feed, distinct_names

_PATIENCE = 60.0  # seconds without any worker, after which the work is given up


def parts_of_dask(frame: Any, client: Any = None) -> Parts:
    """The partitions of a Dask frame."""
    meta = frame._meta
    if meta.ndim == 1:
        frame = frame.to_frame()
        meta = frame._meta
    names, notes = distinct_names(list(meta.columns), "Dask frame")
    if notes or list(meta.columns) != list(names):
        frame = frame.rename(columns=dict(zip(meta.columns, names, strict=True)))
    declared = {}
    for name, kind in zip(names, meta.dtypes, strict=True):
        if type(kind).__name__ == "CategoricalDtype" and kind.categories is not None:
            states = tuple(kind.categories.tolist())
            if "__UNKNOWN_CATEGORIES__" not in states:
                declared[name] = Declared(states, bool(kind.ordered))
    feed = Feed("Dask frame", names, _nothing, declared=declared, notes=notes)
    return Parts(feed, Dask(client), frame)


def _nothing(names: Sequence[str]) -> Iterator[Any]:
    return iter(())


@dataclass(frozen=True)
class Dask:
    """A Dask cluster, or the scheduler of this process where there is no client."""

    client: Any = None

    def count(self, rows: Any) -> int:
        """How many parts there are."""
        return len(rows) if isinstance(rows, list) else int(rows.npartitions)

    def call(
        self, call: Call, rows: Any, columns: Sequence[str], bar: Bar, *, large: bool = False
    ) -> Iterator[tuple[int, Any]]:
        """The value of every part; where values are large, one for each worker at a time."""
        calls = self._calls(call, rows, columns)
        return bar(self._values(calls, large), total=len(calls))

    def _values(self, calls: list[Any], large: bool) -> Iterator[tuple[int, Any]]:
        import dask

        client = self._client()
        some = len(calls)
        if large:
            some = max(sum(client.nthreads().values()), 1) if client else 2
        for low in range(0, len(calls), max(some, 1)):
            chosen = calls[low : low + some]
            found = _computed(client, chosen) if client else enumerate(dask.compute(*chosen))
            if large:
                found = iter(sorted(found, key=lambda got: got[0]))
            for i, value in found:
                yield low + i, value

    def _calls(self, call: Call, rows: Any, columns: Sequence[str]) -> list[Any]:
        """The call of every part, to be computed."""
        import dask

        shared = dask.delayed(call, pure=False)  # in the graph, so that it outlives a worker
        run = dask.delayed(_run, pure=False)
        parts = rows if isinstance(rows, list) else rows[list(columns)].to_delayed()
        return [run(shared, i, part) for i, part in enumerate(parts)]

    def _client(self) -> Any:
        if self.client is not None:
            return self.client
        try:
            from distributed import default_client
        except ImportError:
            return None
        try:
            return default_client()
        except ValueError:
            return None

    @contextmanager
    def keeping(self, call: Call, rows: Any, columns: Sequence[str]) -> Iterator[list[Any]]:
        """The values as futures: what a lost worker held is computed again by Dask."""
        import dask

        calls, client = self._calls(call, rows, columns), self._client()
        if client is None:
            values = list(dask.compute(*calls))
            for value in values:
                if isinstance(value, Failed):
                    raise value.error
            yield [dask.delayed(value, traverse=False) for value in values]
            return
        futures = client.compute(calls)
        try:
            yield futures
        finally:
            client.cancel(futures)


def _run(call: Call, number: int, part: Any) -> Any:
    return part if isinstance(part, Failed) else call(number, part)


def _computed(client: Any, calls: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """The values as they come; what is not needed any more is cancelled."""
    from distributed import wait
    from distributed.scheduler import KilledWorker

    futures = client.compute(list(calls))
    number = {future.key: i for i, future in enumerate(futures)}
    left = set(futures)
    alone = None
    try:
        while left:
            try:
                done = wait(list(left), timeout=1.0, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                alone = _without_workers(client, alone)
                continue
            except KilledWorker as error:
                raise TableError(
                    "Workers of Dask were lost again and again over one part.",
                    hint="They may have run out of memory; use smaller partitions.",
                ) from error
            alone = None
            for future in done:
                yield number[future.key], future.result()
            left -= done
    finally:
        client.cancel(list(left))


def _without_workers(client: Any, since: float | None) -> float | None:
    """Since when the cluster has no worker; given up after a minute."""
    if client.nthreads():
        return None
    now = time.monotonic()
    if since is not None and now - since > _PATIENCE:
        raise TableError(
            f"The Dask cluster has had no worker for {_PATIENCE:.0f} seconds.",
            hint="Start workers, or look at their log.",
        )
    return since or now
