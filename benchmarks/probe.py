"""One measured turn in a fresh process: seconds, CPU seconds, and the peak of memory it added.

`python -m benchmarks.probe module:function '{"argument": …}' cores since` prints a line of JSON.
The memory is the peak of the resident set less what was resident after the imports (or after
the preparation, when `since` is "prepared"). With one core the process is bound to it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import sys
import time
import warnings
from importlib import import_module
from pathlib import Path


def _status(field: str) -> int:
    """A figure of /proc/self/status in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(field)


def _resident() -> int:
    try:
        return _status("VmRSS")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _peak() -> int:
    try:
        return _status("VmHWM")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _forget() -> int:
    """Start a new peak from what is resident now."""
    gc.collect()
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _resident()


def main() -> None:
    where, arguments, cores, since = sys.argv[1:]
    warnings.simplefilter("ignore")
    if int(cores) == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    module, function = where.split(":")
    case = getattr(import_module(module), function)
    prepare, work, digest = case(**json.loads(arguments))
    before = _forget()
    prepared = prepare()
    if since == "prepared":
        before = _forget()
    wall, cpu = time.perf_counter(), time.process_time()
    result = work(prepared)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    told = {"wall": wall, "cpu": cpu, "memory": max(_peak() - before, 0), "digest": digest(result)}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
