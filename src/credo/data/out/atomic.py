"""A file is replaced whole: after a full disk or a kill there is the old one or the new one.

The bytes go to a new file in the same folder, reach the disk (fsync), and only then take the
name, in one step of the file system. A device or a pipe is no file: it is written to.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from credo.core.errors import CredoError

_BINARY = getattr(os, "O_BINARY", 0)
_OPEN = {"/dev/stdout": 1, "/dev/stderr": 2}
"""Names of what is open already; a file behind them is written on, not replaced."""


class WriteError(CredoError, OSError):
    """A file could not be written; the old one, if there was one, is still there."""


def replace_file(path: Path, data: bytes) -> None:
    """Write `data` under the name `path`, or leave what was there."""
    with replacing(path) as out:
        out.write(data)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the name `path` at the end, if all goes well."""
    stream = is_stream(path)
    try:
        with _stream(path) if stream else _temporary(path) as out:
            yield out
    except OSError as error:
        if isinstance(error, CredoError):
            raise
        raise WriteError(
            f"{path} could not be written: {error.strerror or error}.",
            hint="" if stream else "What was there before is unchanged.",
        ) from error


def is_stream(path: Path) -> bool:
    """Whether this is a device, a pipe or an open stream.

    >>> is_stream(Path("/dev/stdout")), is_stream(Path("model.credo"))
    (True, False)
    """
    try:
        mode = path.expanduser().stat().st_mode
    except OSError:
        return False
    return str(path) in _OPEN or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _stream(path: Path) -> BinaryIO:
    number = _OPEN.get(str(path))
    return open(path.expanduser() if number is None else os.dup(number), "wb")


@contextlib.contextmanager
def _temporary(path: Path) -> Iterator[BinaryIO]:
    target = Path(os.path.realpath(path.expanduser()))
    temporary = target.parent / f".credo-{secrets.token_hex(8)}.tmp"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, target.stat().st_mode & 0o777)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name last, where folders can be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
