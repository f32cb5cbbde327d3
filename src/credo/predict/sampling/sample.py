"""Sampling: rows drawn from a network, all of it or given evidence, in memory or to a file.

Every cell is a function of the seed, its variable and the number of its row, so the rows are the
same for any number of threads, in memory or in a file, drawn at once or in parts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import InputError, LimitError, close_names
from credo.core.progress import Report, track
from credo.core.threads import checked_threads
from credo.data import Table
from credo.data.out.frames import FRAMES, frame_of
from credo.data.out.writing import row_form, write_rows
from credo.model.values.randomness import Rng, generator, size
from credo.predict.questions.evidence import Evidence
from credo.predict.questions.softmax import has_softmax
from credo.predict.sampling.forward import ForwardSampler, forward_sampler
from credo.predict.sampling.through_softmax import SoftmaxSampler, softmax_sampler

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["MAX_MEMORY", "sample", "sample_batches"]

MAX_MEMORY = 8 * 10**9
"""Samples of more bytes than this are written to a file or not at all."""

MOST_ROWS = 10**12
"""Rows that may be written to files."""

_BATCH = 1 << 20  # rows of a batch, and the bytes of its cells:
_BATCH_BYTES = 1 << 26


def sample(
    net: Network,
    n: int,
    rng: Rng,
    given: Mapping[str, Any] | None = None,
    *,
    to: str = "table",
    path: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    report: Report | None = None,
) -> Any:
    """`n` rows as a frame of the kind `to`; or written to the file `path`, which is returned."""
    if to not in FRAMES:
        near = close_names(to, FRAMES)
        hint = f"Did you mean {near[0]!r}?" if near else ""
        raise InputError(
            f"The 'to' parameter must be one of {', '.join(map(repr, FRAMES))}, got {to!r}.",
            hint=hint if path is None else f"{hint} A file is named by path=.".strip(),
        )
    if path is not None:
        if to != "table":
            raise InputError(f"Rows go to a file or into a frame, got path= and to={to!r}.")
        row_form(path)
        batches = sample_batches(net, n, rng, given, threads=threads, report=report)
        write_rows(path, net.schema, batches)
        return Path(path)
    n = size(n, most=MOST_ROWS)
    _guard(net, n, to)
    sampler, seed, threads = prepared(net, rng, given, threads)
    return frame_of(sampler.rows(n, seed, threads=threads), to)


def sample_batches(
    net: Network,
    n: int,
    rng: Rng,
    given: Mapping[str, Any] | None = None,
    *,
    threads: int | None = None,
    report: Report | None = None,
) -> Iterator[Table]:
    """The rows of `sample` in parts that fit in memory, with a progress bar on terminals."""
    n = size(n, most=MOST_ROWS)
    sampler, seed, cores = prepared(net, rng, given, threads)
    rows = batch_size(net)
    drawn = (
        sampler.rows(min(rows, n - start), seed, first=start, threads=cores)
        for start in range(0, n, rows)
    )
    return track(drawn, "drawing rows", total=n, size=len, report=report)


def batch_size(net: Network) -> int:
    """How many rows are drawn at once: a million, or fewer where there are many columns."""
    return max(1024, min(_BATCH, _BATCH_BYTES // max(_row_bytes(net.variables), 1)))


def prepared(
    net: Network, rng: Rng, given: Mapping[str, Any] | None, threads: int | None
) -> tuple[ForwardSampler | SoftmaxSampler, int, int]:
    """The sampler, the seed of its cells, and how many threads it may have."""
    cores = checked_threads(threads)
    evidence = Evidence.of(net, {} if given is None else given)
    sampler = softmax_sampler(net, evidence) if has_softmax(net) else forward_sampler(net, evidence)
    seed = int(generator(rng).integers(2**64, dtype=np.uint64))  # last: refusals draw nothing
    return sampler, seed, cores


def _row_bytes(variables: Any) -> int:
    return sum((1 if v.arity <= 256 else 2) if v.is_discrete else 8 for v in variables)


def _guard(net: Network, n: int, to: str) -> None:
    more = {"dict": 8, "polars": 4}.get(to, 0)  # bytes of a cell beside its code
    need = n * (_row_bytes(net.variables) + more * len(net.names))
    if need > MAX_MEMORY:
        raise LimitError(
            f"{n:,} rows of {len(net.names)} variables would take {need / 1e9:,.1f} GB; at most "
            f"{MAX_MEMORY / 1e9:g} GB are kept in memory.",
            hint="Write them to a file with path='rows.parquet'.",
        )
