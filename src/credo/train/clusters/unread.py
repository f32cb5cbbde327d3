"""A stream that was left behind: what is known of it without its rows.

Clusters can be pickled and the file or query behind a stream cannot. So the groups of a stream take
along its schema, its number of rows and their places; who reads the rows is told where they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from credo.core.errors import InputError
from credo.data import Stream
from credo.data.sources.feed import Batch, Feed
from credo.data.weights import RowNumbers
from credo.model.values.value import taken_apart

__all__ = ["Unread", "left_behind"]


@dataclass(frozen=True, eq=False, repr=False)
class Unread(Stream):
    """A stream without its source; `places` says where its rows stood, if some are left out."""

    places: RowNumbers | None = None

    @property
    def numbers(self) -> RowNumbers | None:
        """Where the rows stood in the source."""
        return self.places

    def __reduce__(self) -> Any:
        return taken_apart(self)


def left_behind(stream: Stream) -> Unread:
    """What of a stream can be pickled.

    >>> import credo as cr
    >>> stream = left_behind(cr.read(cr.examples.path("play_tennis"), memory="100 B"))
    >>> print(stream)
    play_tennis.csv: 14 rows, read batch by batch
    >>> stream.tally(["Wind"])
    Traceback (most recent call last):
    credo.errors.InputError: These groups were pickled without the rows of the stream they are of. \
Read the source and cluster it again; groups.assign takes any rows.
    """
    if isinstance(stream, Unread):
        return stream
    feed = Feed(stream.feed.label, stream.feed.names, _nothing, stream.rows)
    return Unread(feed, stream.schema, stream.rows, places=stream.numbers)


def _nothing(_: Sequence[str]) -> Iterator[Batch]:
    raise InputError(
        "These groups were pickled without the rows of the stream they are of.",
        hint="Read the source and cluster it again; groups.assign takes any rows.",
    )
