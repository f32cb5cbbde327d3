"""JSON lines as a feed: a column for every key, cells with the values of Python's json module.

A key may come in the last line for the first time, so the whole file is looked at before the first
batch is given. What was parsed is kept while it is small; a larger file is parsed again for
each pass. A text stays a text, whatever it looks like; a column of several types stays as it is.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from credo import _core
from credo.core.errors import LimitError, TableError
from credo.data.sources.feed import BATCH, MAX_COLUMNS, Batch, Feed, distinct_names, refuse_too_wide
from credo.data.sources.json_blocks import (
    AS_WRITTEN,
    MIXED,
    Block,
    Objects,
    Repeated,
    in_type,
    kind_of,
    lines_of,
    plain_block,
)
from credo.data.sources.unpack import Watched, decode_head, first_bad_byte, gone, read_head

KEPT = 64 * 2**20
"""The most bytes of parsed cells that are kept between the first look and the first pass."""

_Part = dict[str, tuple[str, Any]]  # the columns of a block: what they are in it, and their cells


def json_feed(path: Path, compression: str, encoding: str | None = None, kept: int = KEPT) -> Feed:
    """The feed of a file of JSON lines (or of one JSON array of objects)."""
    look = _Look(path, kept)
    for block in object_blocks(path, compression, encoding):
        look.add(block)
    if not look.rows:
        raise TableError(f"{path.name} has no rows.")
    given = list(look.types)
    kinds = {key: kind_of(types) for key, types in look.types.items()}
    parts = look.parts(kinds)
    names, notes = distinct_names(given)
    key_of = dict(zip(names, given, strict=True))

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        keys = {n: key_of[n] for n in wanted}
        if parts is not None:
            for rows, part in parts:
                cells = {n: part.get(key, (None, None))[1] for n, key in keys.items()}
                yield {n: in_type(c, kinds[keys[n]], rows) for n, c in cells.items()}
            return
        for block in object_blocks(path, compression, encoding):
            yield {n: block.cells(key, kinds[key]) for n, key in keys.items()}

    width = sum(8 if kind in ("int", "float") else 1 for kind in kinds.values())
    types = {n: kinds[key_of[n]] for n in names if kinds[key_of[n]] != "null"}
    return Feed(
        path.name,
        names,
        batches,
        look.rows,
        look.rows * width,
        types=types,
        notes=notes,
    )


class _Look:
    """The first look at a file: its keys, the types of their values, its rows."""

    def __init__(self, path: Path, kept: int) -> None:
        self.path = path
        self.rows = 0
        self.types: dict[str, set[type]] = {}
        self._room = kept
        self._parts: list[tuple[int, _Part]] | None = []

    def add(self, block: Block) -> None:
        """Take one block."""
        self.rows += block.rows
        refuse_too_wide(self.path.name, len(self.types.keys() | block.types))
        for key, types in block.types.items():
            self.types.setdefault(key, set()).update(types)
        part: _Part = {}
        for key, types in block.types.items():
            if self._room < 0:
                self._parts = None
                return
            kind = kind_of(types)
            cells = block.cells(key, kind)
            part[key] = kind, cells
            self._room -= cells.nbytes if isinstance(cells, pa.Array) else 64 * len(cells)
        if self._parts is not None:
            self._parts.append((block.rows, part))

    def parts(self, kinds: dict[str, str]) -> list[tuple[int, _Part]] | None:
        """The cells kept, unless a column that is mixed in all has lost its types in a part."""
        if self._parts is None or self._room < 0:
            return None
        for _, part in self._parts:
            for key, (kind, _) in part.items():
                if kinds[key] == MIXED and kind not in (MIXED, "null"):
                    return None
        return self._parts


# --- The objects of a JSON file, block by block, with the values that Python's json module gives
#
# A line holds one object, or the file is one array of objects. Lines that are plain are read by a
# kernel, straight to columns. One that is not (a whole number beyond 64 bits, say) is parsed by the
# json module, with those of the same block that follow it; so is an array, and objects over several
# lines.


_BLOCK = 4 * 2**20  # characters read at a time
_LONGEST = 64 * 2**20  # characters that one object may take
_WHOLE = 4 * _LONGEST  # characters of an array, or of objects over several lines
_BLANK = " \t\r\n"


def object_blocks(path: Path, compression: str, encoding: str | None) -> Iterator[Block]:
    """Blocks of a file's objects; what is not JSON, or not an object, is refused by its line."""
    codec, _ = decode_head(path, read_head(path, compression), encoding)
    try:
        with Watched(path, compression, codec) as stream:
            text = io.TextIOWrapper(io.BufferedReader(stream), stream.encoding, newline="")
            yield from _Reader(path.name, text).blocks(lambda: stream.blank_lines)
    except UnicodeDecodeError:
        byte = first_bad_byte(path, compression) if codec == "utf-8" else None
        where = f"Byte {byte:,} of {path.name}" if byte else path.name
        raise TableError(
            f"{where} is not {codec} text.", hint="Give its encoding, such as encoding='latin-1'."
        ) from None
    except FileNotFoundError:
        raise gone(path) from None
    except (EOFError, OSError, zlib.error) as error:
        raise TableError(f"{path.name} is damaged: {error}.") from None


class _Reader:
    """One pass over the text of a file; `line` is the number of the line that comes next."""

    def __init__(self, name: str, text: io.TextIOBase) -> None:
        self.name = name
        self.text = text
        self.line = 1

    def blocks(self, blank_lines: Callable[[], int]) -> Iterator[Block]:
        """All blocks, by lines or by values."""
        first = self.text.read(_BLOCK)
        self.line += blank_lines()
        if self._by_lines(first):
            yield from self._lines(first)
        else:
            yield from self._values(first)

    def _by_lines(self, text: str) -> bool:
        """Whether the first line that is not blank is an object, with a key to show it."""
        start = len(text) - len(text.lstrip(_BLANK))
        end = text.find("\n", start)
        line = text[start:] if end < 0 else text[start:end]
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return False
        return isinstance(value, dict) and bool(value)

    # --- one object a line ----------------------------------------------------------------

    def _lines(self, left: str) -> Iterator[Block]:
        plain, more = _core.JsonRecords(MAX_COLUMNS), True
        while more:
            text = self.text.read(_BLOCK)
            more = bool(text)
            left += text
            if not more and left and not left.endswith("\n"):
                left += "\n"
            cut = left.rfind("\n") + 1
            if not cut and len(left) > _LONGEST:
                raise self._too_long()
            whole, left = left[:cut], left[cut:]
            yield from self._whole_lines(whole.encode(), plain)

    def _whole_lines(self, data: bytes, plain: _core.JsonRecords) -> Iterator[Block]:
        """The blocks of some lines: by the kernel, or from the first that is not plain by ours."""
        left, goes_on = memoryview(data), True
        while left and goes_on and (found := plain_block(plain, left, BATCH)):
            used, lines, goes_on, block = found
            left = left[used:]
            self.line += lines
            if block.rows:
                yield block
        others = lines_of(left)
        for start in range(0, len(others), BATCH):
            part = others[start : start + BATCH]
            numbered = enumerate(part, start=self.line)
            rows = [self._object(line, n) for n, line in numbered if line and not line.isspace()]
            self.line += len(part)
            if rows:
                yield Objects(rows, self.name)

    def _object(self, line: str, number: int) -> dict[str, Any]:
        try:
            value = AS_WRITTEN.decode(line)
        except Repeated as error:
            raise self._repeated(error, number) from None
        except (ValueError, RecursionError) as error:
            raise self._refused(error, number) from None
        if not isinstance(value, dict):
            raise self._not_an_object(value, number)
        return value

    # --- an array, or objects over several lines -------------------------------------------

    def _values(self, text: str) -> Iterator[Block]:
        text += self.text.read(_WHOLE + 1 - len(text))
        if len(text) > _WHOLE:
            raise LimitError(
                f"{self.name} is one array, or objects over several lines, of more than "
                f"{_WHOLE // 2**20} MiB.",
                hint="Write an object a line, which can be read bit by bit.",
            )
        at = self._filled(text, 0)
        inside = text.startswith("[", at)
        at = self._filled(text, at + 1) if inside else at
        rows: list[dict[str, Any]] = []
        while at < len(text) and not (inside and text[at] == "]"):
            if inside and rows:
                if text[at] != ",":
                    raise self._refused("',' or ']' is expected", self._line(text, at))
                at = self._filled(text, at + 1)
            try:
                value, end = AS_WRITTEN.raw_decode(text, at)
            except Repeated as error:
                raise self._repeated(error, self._line(text, at)) from None
            except (ValueError, RecursionError) as error:
                raise self._refused(error, self._line(text, getattr(error, "pos", at))) from None
            if not isinstance(value, dict):
                raise self._not_an_object(value, self._line(text, at))
            rows.append(value)
            at = self._filled(text, end)
        if inside and at == len(text):
            raise self._refused("the array is not closed", self._line(text, at))
        if inside and (at := self._filled(text, at + 1)) < len(text):
            raise self._refused("text follows the end of the array", self._line(text, at))
        for start in range(0, len(rows), BATCH):
            yield Objects(rows[start : start + BATCH], self.name)

    def _line(self, text: str, at: int) -> int:
        return self.line + text.count("\n", 0, at)

    def _filled(self, text: str, at: int) -> int:
        """The next place that is not blank."""
        while at < len(text) and text[at] in _BLANK:
            at += 1
        return at

    # --- what is refused ------------------------------------------------------------------

    def _refused(self, error: Exception | str, line: int) -> TableError:
        if isinstance(error, RecursionError):
            why = "its values are nested too deeply"
        elif isinstance(error, json.JSONDecodeError):
            why = error.msg[0].lower() + error.msg[1:]
        else:
            why = str(error).split(";")[0]
        return TableError(
            f"{self.name} is not a file of JSON lines: line {line:,} cannot be read ({why}).",
            hint=_HINT,
        )

    def _repeated(self, error: Repeated, line: int) -> TableError:
        return TableError(
            f"Line {line:,} of {self.name} has the key {str(error)!r} twice in one object.",
            hint="Leave one of the two out.",
        )

    def _not_an_object(self, value: Any, line: int) -> TableError:
        kind = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
        return TableError(
            f"{self.name} is not a file of JSON lines: its lines are not objects; "
            f"line {line:,} is {kind.get(type(value), 'a number')}.",
            hint=_HINT,
        )

    def _too_long(self) -> LimitError:
        return LimitError(
            f"Line {self.line:,} of {self.name} is longer than {_LONGEST // 2**20} MiB.",
            hint="Values of that size cannot be states; leave them out of the file.",
        )


_HINT = 'Each line must hold one object, such as {"a": 1}.'
