"""Ctrl-C sent to a process of its own: how much work it still does."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

_FRAME = """
import time
{setup}
try:
    print("running", flush=True)
    while True:
{work}
except KeyboardInterrupt:
    print(time.process_time(), {tell}, flush=True)
"""


def work_after_ctrl_c(setup, work, tell="None", after=0.7):
    """Seconds of CPU spent after Ctrl-C, and what `tell` is then.

    CPU, because a busy machine stretches the clock and that says nothing of the software.
    """
    if not Path("/proc/self/stat").exists():
        pytest.skip("the CPU time of another process is read from /proc, which is not here")
    code = _FRAME.format(
        setup=textwrap.dedent(setup),
        work=textwrap.indent(textwrap.dedent(work).strip(), " " * 8),
        tell=tell,
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline() == "running\n"
            time.sleep(after)
            used = _cpu_seconds(child.pid)
            child.send_signal(signal.SIGINT)
            stopped, told = child.stdout.readline().split(maxsplit=1)
        finally:
            child.kill()
    return float(stopped) - used, told.strip()


def _cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
