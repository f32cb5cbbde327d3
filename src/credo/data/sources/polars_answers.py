"""The answer of a polars query, part by part, in memory that does not grow with its rows.

A query that polars runs by itself reads ahead of who takes its batches, without end: measured on
Parquet, half of the answer was in memory at once. What is a plain scan is therefore asked for one
slice after the other. Any other query whose answer would not fit the limit as polars holds it is
written once to a temporary Parquet file, which polars does in bounded memory, and read from there;
so it is also run once, not anew for every tally.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from credo.data.sources.feed import BATCH, batch_rows

__all__ = ["Answer"]

_PLAIN = ("Parquet SCAN", "Ipc SCAN", "DF [")
_SLICED = ("PROJECT ", "ESTIMATED ROWS")
_CHUNK = 8192  # rows that polars passes on at once; by itself far more, and it holds many of them
_OTHER_BYTES = 32  # what polars takes for a text, a list or an object, at a guess


class Answer:
    """The rows of a lazy frame; `rows` is how many. `limit` is the memory that all of them may take
    where polars reads ahead.

    >>> import polars as pl
    >>> query = pl.LazyFrame({"a": [1, 2, 3]}).filter(pl.col("a") > 1)
    >>> answer = Answer(query, limit=1.0)
    >>> [part.to_pydict() for part in answer.parts(query, ["a"])]
    [{'a': [2, 3]}]
    >>> answer.notes()[0].startswith("polars ran the query once")
    True
    """

    def __init__(self, frame: Any, limit: float) -> None:
        import polars as pl

        self.frame = frame
        self.rows: int = frame.select(pl.len()).collect().item()
        self.limit = limit
        self._folder: Any = None  # gone when the answer is
        self._written: tuple[str, ...] = ()

    def parts(self, chosen: Any, names: Sequence[str]) -> Iterator[Any]:
        """Arrow tables, or polars frames, of what is chosen of the frame: the columns named."""
        size = batch_rows(len(names))
        if _is_plain(chosen):
            for start in range(0, self.rows, size):
                yield chosen.slice(start, size).collect()
        elif self._fits(chosen):
            yield from chosen.collect_batches(chunk_size=size, maintain_order=True)
        else:
            yield from self._from_file(chosen, names, size)

    def notes(self) -> tuple[str, ...]:
        """That there is a file, if there is one, for the report."""
        if self._folder is None:
            return ()
        megabytes = self._path.stat().st_size / 1e6
        return (
            "polars ran the query once, and its answer is read from a temporary file of "
            f"{megabytes:,.1f} MB",
        )

    @property
    def _path(self) -> Path:
        return Path(self._folder.name) / "answer.parquet"

    def _fits(self, chosen: Any) -> bool:
        """Whether the answer may be read straight: it fits, or there is no disk for it, or it has
        Python objects, which no file can hold.
        """
        import polars as pl

        kinds = chosen.collect_schema().dtypes()
        size = self.rows * sum(_bytes(kind) for kind in kinds)
        if size <= self.limit or pl.Object in kinds:
            return True
        return shutil.disk_usage(tempfile.gettempdir()).free < 2 * size

    def _from_file(self, chosen: Any, names: Sequence[str], size: int) -> Iterator[Any]:
        import polars as pl
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not set(names) <= set(self._written):
            self._folder = tempfile.TemporaryDirectory(prefix="credo-")
            with pl.Config(streaming_chunk_size=_CHUNK):
                chosen.sink_parquet(
                    self._path, compression="lz4", statistics=False, row_group_size=BATCH
                )
            self._written = tuple(names)
        with pq.ParquetFile(self._path, pre_buffer=False) as file:
            for batch in file.iter_batches(size, columns=list(names)):
                yield pa.Table.from_batches([batch])


def _is_plain(frame: Any) -> bool:
    """Whether a lazy frame is just some columns of files, or of a frame, in which rows are found by
    their number.
    """
    first, *others = frame.explain().strip().splitlines()
    return first.startswith(_PLAIN) and all(o.strip().startswith(_SLICED) for o in others)


def _bytes(kind: Any) -> float:
    """What polars takes for a cell of a type."""
    import polars as pl

    if kind == pl.Boolean:
        return 1 / 8
    if kind.is_integer() or kind.is_float():
        return int("".join(c for c in str(kind) if c.isdigit())) / 8
    return 8 if kind.is_temporal() else _OTHER_BYTES
