"""Each library in a process of its own, with limits of time and memory.

A question that takes too long ends the process alone, and what one library has loaded does not
weigh on another.
"""

from __future__ import annotations

import os
import time
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.posterior_ways import WAYS, Answer

TOLERANCE = 1e-6
SECONDS = 60  # of CPU that one evidence set may take
BYTES = 4 * 10**9
MUCH = f"> {BYTES / 1e9:.0f} GB"


def _serve(pipe: Connection, way: str, name: str) -> None:
    """The life of a worker: a network, then questions until it is told to end."""
    import logging
    import resource
    import warnings

    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    worker: Any = None
    while (job := pipe.recv()) is not None:
        try:
            if worker is None:
                worker = WAYS[way][0](name)
                resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
            method, *arguments = job
            pipe.send(getattr(worker, method)(*arguments))
        except MemoryError:
            pipe.send(MUCH)
        except Exception as error:
            full = "alloc" in str(error)  # how pyAgrum says that memory is short
            pipe.send(MUCH if full else f"fails: {type(error).__name__}")


class Worker:
    """A library in a process of its own; `ended` says why it answers no more."""

    def __init__(self, way: str, name: str) -> None:
        context = get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, way, name), daemon=True)
        self._process.start()
        other.close()
        self.ended = ""
        self.spent = 0.0
        self.scaled = False

    def ask(self, *job: Any) -> Any:
        """The answer, or None where the limits were passed."""
        if self.ended:
            return None
        try:
            before = self._cpu()
            self._pipe.send(job)
            while not self._pipe.poll(0.5):
                if self._cpu() - before > SECONDS:
                    raise EOFError
            found = self._pipe.recv()
        except (EOFError, OSError):
            self.ended = f"> {SECONDS} s"
            return None
        if isinstance(found, str):
            self.ended = found
            return None
        return found

    def _cpu(self) -> float:
        """The CPU seconds of the process: a limit set by the system would coarsen its clock."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError):
            return time.perf_counter()

    def question(self, given: dict[str, int], same: bool, truth: Answer | None) -> Any:
        """The time of one evidence set, and the posteriors; None where there are none."""
        found = self.ask("ask", given, same)
        if found is None:
            return None
        taken, answer, scale = found
        self.spent += taken / scale
        self.scaled |= scale > 1
        for name, p in answer.items() if truth is not None else ():
            gap = np.abs(np.ravel(p) - np.ravel(truth[name])).max()
            if not gap <= TOLERANCE:
                self.ended = f"wrong: {name} off by {gap:.2g}"
                return None
        return taken, answer

    def close(self) -> None:
        if self._process.is_alive() and not self.ended:
            self._pipe.send(None)
            self._process.join(10)
        if self._process.is_alive():
            self._process.kill()
        self._process.join()
