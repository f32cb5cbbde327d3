"""Work that takes longer than a click: on a thread of its own, seen while it runs, stopped with the
best so far. It outlives the page that asked for it.
"""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from credo.core.errors import CredoError, CredoWarning
from credo.core.progress import Watch, watched
from credo.plot.networks.boxes import sketch

__all__ = ["Job"]

_log = logging.getLogger("credo.studio")
_MOST_TOLD = 400  # points of a trace


class Job:
    """One piece of work; `end` is given what it made, in its thread.

    >>> made = []
    >>> job = Job("adding", lambda: 1 + 1, made.append)
    >>> job.wait(5.0)
    >>> made, job.shown()["running"]
    ([2], False)
    """

    def __init__(self, what: str, work: Callable[[], Any], end: Callable[[Any], None]) -> None:
        self.what = what
        self.error = ""
        self.watch = Watch()
        self._work, self._end = work, end
        self._trace: list[tuple[float, float]] = []
        self._sketch = lru_cache(maxsize=1)(sketch)
        self._began = time.monotonic()
        self._ended: float | None = None
        self._thread = threading.Thread(target=self._run, daemon=True, name=f"credo-{what}")
        self._thread.start()

    def _run(self) -> None:
        try:
            with watched(self.watch), warnings.catch_warnings():
                warnings.simplefilter("ignore", CredoWarning)
                self._end(self._work())
        except KeyboardInterrupt:
            self.error = "It was stopped before there was anything to keep."
        except CredoError as error:
            self.error = " ".join(str(error).split())
        except Exception:
            _log.exception("%s failed.", self.what)
            self.error = "Something went wrong; the terminal of the studio says what."
        finally:
            self._ended = time.monotonic()

    @property
    def running(self) -> bool:
        """Whether it is under way."""
        return self._ended is None

    def stop(self) -> None:
        """End it soon; what is best so far is kept."""
        self.watch.stopped = True

    def wait(self, seconds: float) -> None:
        """Until it has ended, or so long."""
        self._thread.join(seconds)

    def shown(self) -> dict[str, Any]:
        """How it goes, as JSON: what it does, its best graph, and its scores by time."""
        seconds = (self._ended or time.monotonic()) - self._began
        out: dict[str, Any] = {
            "what": self.what, "running": self.running, "stopping": self.watch.stopped,
            "seconds": round(seconds, 1), "text": self.watch.text, "error": self.error,
            "score": None, "trace": [], "graph": None,
        }  # fmt: skip
        best = self.watch.best
        if best is not None:
            (names, edges), score = best
            if not self._trace or self._trace[-1][1] != score:
                self._trace = [*self._trace[-_MOST_TOLD:], (round(seconds, 2), score)]
            out["score"], out["trace"] = score, self._trace
            out["graph"] = self._sketch(names, edges)
        return out
