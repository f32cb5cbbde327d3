"""Read ahead: the next batch is parsed in a second thread while this one is counted."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any, TypeVar

__all__ = ["prefetch"]

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
