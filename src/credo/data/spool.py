"""A spool: the codes of a stream in files of one column each, for work of many passes.

Reading and encoding a file again for every step of a search costs far more than the counting. The
first pass keeps the codes on disk, a byte a cell mostly; every later one reads only the columns it
needs from there. Memory stays bounded, and the folder is gone when the work is done.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.core.progress import track
from credo.core.schema import Schema
from credo.data.engines.distributed import Distributed
from credo.data.stream import Stream
from credo.data.table import Table
from credo.stats.block import Block
from credo.stats.rows import code_type

_BATCH = 1 << 18  # rows that are read at once
_WEIGHTS = "weights"


@dataclass(frozen=True, eq=False, repr=False)
class Spool(Stream):
    """A stream whose codes lie in a folder: the same batches, without reading the file again."""

    folder: Path = field(default=Path())
    weight_kind: str = ""
    written: Schema = field(default=Schema(()))
    """The variables as the files have them: a number may be asked for on another scale."""

    def batches(self, names: Sequence[str] | None = None) -> Iterator[Table]:
        """The rows as small tables of the variables named (all when none are)."""
        schema = self.schema if names is None else self.schema.select(names)
        if not schema.names:
            raise InputError("The stream has no variable of the kind asked for.")
        own = self.written.select(schema.names)
        with ExitStack() as stack:
            columns: list[tuple[Any, Any]] = [
                (stack.enter_context(self._file(str(self.written.index(v.name)))), _kind(v))
                for v in own.variables
            ]
            if self.weight_kind:
                columns.append((stack.enter_context(self._file(_WEIGHTS)), self.weight_kind))
            lows = track(
                range(0, self.rows, _BATCH),
                f"counting {self.feed.label}",
                total=self.rows,
                size=lambda low: min(_BATCH, self.rows - low),
                report=self.report,
            )
            for low in lows:
                count = min(_BATCH, self.rows - low)
                arrays = [np.fromfile(file, kind, count) for file, kind in columns]
                weights = arrays.pop() if self.weight_kind else None
                table = Table(Block(own, tuple(arrays), weights))
                yield table.rescaled(schema.scales)

    def redrawn(self, seed: int) -> Redrawn:
        """A bootstrap sample of the rows, silent."""
        return Redrawn(
            self.feed, self.schema, self.rows, self.missing, self.weighting,
            lambda done, total: None, self.folder, self.weight_kind, self.written, seed,
        )  # fmt: skip

    def _file(self, name: str) -> Any:
        return open(self.folder / name, "rb")


@dataclass(frozen=True, eq=False, repr=False)
class Redrawn(Spool):
    """The rows of a spool drawn anew: each counts as often as a Poisson number of mean 1 says.

    Over many rows that is a bootstrap, without knowing which rows are there before they come.
    """

    seed: int = 0

    def batches(self, names: Sequence[str] | None = None) -> Iterator[Table]:
        """The rows drawn, weighted by how often they were; the same in every pass."""
        for number, part in enumerate(super().batches(names)):
            yield part.redrawn(self.seed, number)


def _kind(variable: Any) -> Any:
    return code_type(variable.arity) if variable.is_discrete else np.dtype(np.float64)


@contextmanager
def spooled(source: Any) -> Iterator[Any]:
    """The source, and for a stream its codes in a folder of their own while the block lasts.

    Those of rows with an engine stay with its workers. Where the disk for temporary files has no
    room for them, the stream itself.
    """
    if not isinstance(source, Stream) or isinstance(source, Spool):
        yield source
        return
    if isinstance(source, Distributed):
        with ExitStack() as stack:
            yield source if source.kept else stack.enter_context(source.coded())
        return
    row = 8 + sum(np.dtype(_kind(v)).itemsize for v in source.schema.variables)
    if shutil.disk_usage(tempfile.gettempdir()).free < 2 * row * source.rows:
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="credo-") as folder:
        kind = _written(source, Path(folder))
        yield Spool(
            source.feed, source.schema, source.rows, source.missing, source.weighting,
            source.report, Path(folder), kind, source.schema,
        )  # fmt: skip


def _written(stream: Stream, folder: Path) -> str:
    """Write every column to its file; the kind of the weights, or nothing."""
    kind = ""
    with ExitStack() as stack:
        files: dict[str, Any] = {}

        def put(name: str, array: Any) -> None:
            if name not in files:
                files[name] = stack.enter_context(open(folder / name, "wb"))
            array.tofile(files[name])

        for part in stream.batches():
            for i, array in enumerate(part.block.arrays):
                put(str(i), np.ascontiguousarray(array))
            if part.block.weights is not None:
                weights = np.ascontiguousarray(part.block.weights)
                kind = weights.dtype.str
                put(_WEIGHTS, weights)
    return kind
