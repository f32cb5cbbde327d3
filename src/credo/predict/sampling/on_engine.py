"""Sampling on an engine: each worker draws a range of rows and writes its own file.

A cell depends on the seed, its variable and the number of its row alone, so the files together are
the rows that one machine would draw.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credo.core.errors import InputError
from credo.core.progress import Report, track
from credo.data.engines.opening import engine_of
from credo.data.engines.parts import Attempt, Failed
from credo.data.out.writing import write_rows
from credo.model.values.randomness import Rng, size
from credo.predict.sampling.sample import MOST_ROWS, batch_size, prepared

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["sample_on"]


@dataclass(frozen=True)
class _Drawing:
    """A task: draw the rows of a range and write them to a file of their own."""

    net: Network
    given: Mapping[str, Any]
    seed: int
    folder: str

    def __call__(self, part: list[int], number: int) -> str:
        """The file of one part."""
        first, last = part
        sampler, _, _ = prepared(self.net, 0, self.given, 1)
        path = Path(self.folder, f"part-{number:06}.parquet")
        rows = batch_size(self.net)
        drawn = (
            sampler.rows(min(rows, last - start), self.seed, first=start, threads=1)
            for start in range(first, last, rows)
        )
        write_rows(path, self.net.schema, drawn)
        return path.name


def sample_on(
    engine: Any,
    net: Network,
    n: int,
    rng: Rng,
    given: Mapping[str, Any] | None,
    path: str | os.PathLike[str] | None,
    report: Report | None = None,
) -> Path:
    """`n` rows in the Parquet files of a folder, which is returned."""
    if path is None:
        raise InputError(
            "Rows that workers draw go to a folder that all of them reach.",
            hint="Name it: path='rows'.",
        )
    folder = Path(path)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is there already.", hint="Name a folder that is new or empty.")
    workers = engine_of(engine)
    n = size(n, most=MOST_ROWS)
    _, seed, _ = prepared(net, rng, given, 1)
    folder.mkdir(parents=True, exist_ok=True)
    rows = batch_size(net)
    ranges = [[start, min(start + rows, n)] for start in range(0, n, rows)] or [[0, 0]]
    call = Attempt(_Drawing(net, given or {}, seed, str(folder.resolve())), "The sample")
    bar = partial(track, label="drawing rows", report=report)
    for _, value in workers.call(call, ranges, (), bar):
        if isinstance(value, Failed):
            raise value.error
    return folder
