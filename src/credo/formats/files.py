"""Files by their ending: which format, compressed or not, read within limits, replaced whole."""

from __future__ import annotations

import gzip
import os
import zlib
from dataclasses import dataclass, fields
from pathlib import Path

from credo.core.errors import InputError, LimitError, near_file
from credo.data.out.atomic import replace_file

ENDINGS = {
    ".bif": "bif",
    ".xmlbif": "xmlbif",
    ".xml": "xmlbif",
    ".bifxml": "xmlbif",
    ".net": "net",
    ".dsc": "dsc",
    ".xdsl": "xdsl",
    ".dne": "dne",
    ".dnet": "dne",
    ".pgmx": "pgmx",
    ".uai": "uai",
    ".credo": "credo",
}
READ_ONLY = {"dne": "Netica", "pgmx": "OpenMarkov"}
"""The formats that are not written, by the programs that do."""
_CHUNK = 2**20


def format_of(path: str | os.PathLike[str], *, writing: bool = False) -> tuple[str, bool]:
    """The format that a file's ending says, and whether it is compressed with gzip.

    >>> format_of("asia.bif.gz")
    ('bif', True)
    >>> format_of("asia.doc")
    Traceback (most recent call last):
    credo.errors.InputError: The ending of 'asia.doc' is not that of a network file. \
Use .bif, .xmlbif, .xml, .bifxml, .net, .dsc, .xdsl, .dne, .dnet, .pgmx, .uai, \
.credo, or one of these and .gz.
    """
    name = Path(path).name.lower()
    packed = name.endswith(".gz")
    ending = Path(name.removesuffix(".gz")).suffix
    if ending not in ENDINGS:
        from credo.data.sources.files import FORMATS  # not before: it loads Arrow

        table = " A table is read by cr.read." if ending in FORMATS else ""
        raise InputError(
            f"The ending of {Path(path).name!r} is not that of a network file.",
            hint=f"Use {', '.join(ENDINGS)}, or one of these and .gz.{table}",
        )
    if writing and ENDINGS[ending] in READ_ONLY:
        program = READ_ONLY[ENDINGS[ending]]
        raise InputError(
            f"{Path(path).name!r} would be a file of {program}; these are read, not written.",
            hint="Save the model as .net or .xdsl.",
        )
    return ENDINGS[ending], packed


def read_bytes(path: Path, limits: Limits, *, packed: bool) -> bytes:
    """The bytes of a file, unpacked, within the limits."""
    try:
        with path.open("rb") as file:
            data = file.read(limits.file_bytes + 1)
    except OSError as error:
        raise _missing(path, error) from None
    if len(data) > limits.file_bytes:
        raise LimitError(
            f"{path.name} has more than {limits.file_bytes:,} bytes.",
            hint=raise_limits("file_bytes"),
        )
    return unpack(data, path.name, limits) if packed else data


def raise_limits(*names: str) -> str:
    """What to do about a file that passes a limit.

    >>> raise_limits("states")
    'If the file can be trusted, load it in Python with limits=Limits(states=…).'
    """
    larger = ", ".join(f"{name}=…" for name in names)
    return f"If the file can be trusted, load it in Python with limits=Limits({larger})."


def _missing(path: Path, error: OSError) -> InputError:
    if path.is_dir():
        return InputError(f"{path} is a folder.")
    if not isinstance(error, FileNotFoundError):
        return InputError(f"{path} cannot be read: {error.strerror or error}.")
    return InputError(f"There is no file {path}.", hint=near_file(path))


def unpack(data: bytes, name: str, limits: Limits) -> bytes:
    """The bytes that gzip packed; a bomb is refused as soon as it passes a limit."""
    most = min(limits.decompressed_bytes, max(2**20, limits.ratio * len(data)))
    out: list[bytes] = []
    size = 0
    member = zlib.decompressobj(wbits=31)
    while data or not member.eof:
        if member.eof:  # gzip files may be joined end to end
            member = zlib.decompressobj(wbits=31)
        try:
            piece = member.decompress(data, _CHUNK)
        except zlib.error:
            raise InputError(f"{name} is damaged: gzip cannot unpack it.") from None
        if not piece and not member.eof:
            raise InputError(f"{name} is cut short: gzip cannot unpack it.")
        data = member.unused_data if member.eof else member.unconsumed_tail
        size += len(piece)
        if size > most:
            raise LimitError(
                f"{name} grows to more than {most:,} bytes when unpacked.",
                hint=raise_limits("decompressed_bytes", "ratio"),
            )
        out.append(piece)
    return b"".join(out)


def write_bytes(path: Path, data: bytes, *, packed: bool) -> None:
    """Replace a file whole."""
    if packed:
        small = gzip.compress(data, 6, mtime=0)
        # what would be refused as a bomb on reading is stored as it is
        data = small if len(data) < 100 * len(small) else gzip.compress(data, 0, mtime=0)
    replace_file(path, data)


# --- Limits: how large a file may be and what may be in it, checked before memory is taken.


@dataclass(frozen=True, slots=True)
class Limits:
    """What a reader refuses before it allocates. Each number can be set.

    `ratio` is how many times a compressed file may grow; it is asked from the first MiB on.

    >>> Limits(states=50).states
    50
    >>> Limits(states=0)
    Traceback (most recent call last):
    credo.errors.InputError: The limit 'states' must be a whole number above 0, got 0.
    """

    file_bytes: int = 64 * 2**20
    decompressed_bytes: int = 512 * 2**20
    ratio: int = 200
    numbers: int = 100_000_000
    nesting: int = 100
    variables: int = 20_000
    states: int = 10_000

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(
                    f"The limit {f.name!r} must be a whole number above 0, got {value!r}."
                )
