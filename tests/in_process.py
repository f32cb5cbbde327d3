"""The command line without a process of its own: what is said, and the exit code.

A process that starts Python and loads every library costs a second, and a command that refuses its
input costs a millisecond. `credo` in a real process is tested in `e2e/test_cli.py`.
"""

import contextlib
import io
import os
import sys
from types import SimpleNamespace
from unittest import mock

from click.testing import CliRunner

from credo.cli import app, main


def credo(*args, cwd=None, given=b""):
    """`credo ARGS` through the front door: returncode, stdout and stderr, as of a process."""
    out, err, inward = (io.TextIOWrapper(io.BytesIO(b), "utf-8") for b in (b"", b"", given))
    code = 0
    with (
        contextlib.chdir(cwd or os.curdir),
        mock.patch.object(sys, "argv", ["credo", *map(str, args)]),
        mock.patch.object(sys, "stdin", inward),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code
    told = []
    for stream in (out, err):
        stream.flush()
        told.append(stream.buffer.getvalue().decode())
    return SimpleNamespace(returncode=code, stdout=told[0], stderr=told[1])


def call(*words: object) -> str:
    """What a command prints that must succeed; an error of any kind is raised."""
    done = CliRunner().invoke(app, [str(w) for w in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output
