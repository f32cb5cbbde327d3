"""One pass over a table whose columns are not known yet: its cells as they come, its schema last.

`read` looks at every cell before it says what a column is; a table that does not fit in memory
must then be read again to be counted. Here the cells of each batch are handed on at once, as codes
into the values met so far (or as numbers), and who counts them may wait with the question what they
mean until the last row has come. The schema is the one that `read` would have found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import TableError
from credo.core.progress import Report, track
from credo.core.schema import Schema, Variable
from credo.data.columns.cells import Tokens
from credo.data.columns.coder import Batch, Coder
from credo.data.columns.written import Written
from credo.data.reading import (
    MISSING,
    comes_in_batches,
    decided,
    feed_of_any,
    in_memory,
    named_states,
    wanted_of,
    warn_doubtful,
)
from credo.data.sources.feed import Feed
from credo.data.weights import RowNumbers, Weights, are_whole

__all__ = ["Once", "comes_in_batches", "feed_of_any", "in_memory"]


def coders_for(
    feed: Feed,
    wanted: Mapping[str, Any],
    weighting: Weights,
    taken: Tokens,
    keep: bool,
    every_state: bool = False,
) -> tuple[dict[str, Coder], RowNumbers]:
    """A coder for each column that is not dropped, and how its rows are numbered. With
    `every_state` the numbers of a text file are kept as states too, while they can be.
    """
    numbers = RowNumbers()
    coders: dict[str, Coder] = {}
    for name in feed.names:
        word = wanted.get(name)
        if word == "drop" or name == weighting.column:
            continue
        kind = word.kind if isinstance(word, Variable) else word
        if isinstance(word, Written):
            kind = "discrete"
        if kind is None and name in feed.declared and feed.declared[name].aside is None:
            kind = "declared"
        beside = taken.beside(named_states(word))
        how: dict[str, Any] = {"missing": beside, "keep": keep, "numbers": numbers}
        coders[name] = Coder(name, text=feed.text, kind=kind, **how)
    return coders, numbers


class Once:
    """A table that is read once: go through `batches`, then ask for the `schema`.

    >>> once = Once(feed_of_any({"a": ["u", "v", "u"], "b": [1.5, 2.5, 3.5]}))
    >>> for batch, weights in once.batches():
    ...     where, codes = batch["a"]
    ...     print(codes[where].tolist(), batch["b"].tolist())
    [0, 1, 0] [1.5, 2.5, 3.5]
    >>> once.schema().names
    ('a', 'b')
    """

    def __init__(
        self, feed: Feed, schema: Any = None, weights: Any = None, report: Report | None = None
    ) -> None:
        self.feed = feed
        self._schema = schema
        self._wanted = wanted_of(schema, self.feed.names)
        self._weighting = Weights.of(weights, self.feed.names, text=self.feed.text)
        self._tokens = Tokens(MISSING if self.feed.text else (), self.feed.text)
        self._report = report
        self.coders: Mapping[str, Coder]
        self.coders, self._numbers = coders_for(
            self.feed, self._wanted, self._weighting, self._tokens, keep=False, every_state=True
        )
        self.whole_weights = True

    def batches(self) -> Iterator[tuple[dict[str, Batch | None], NDArray[np.float64] | None]]:
        """The cells of each column, None where it holds no values that can be counted."""
        weighting, done = self._weighting, 0
        names = weighting.with_column(list(self.coders)) or list(self.feed.names[:1])
        total = 0.0
        for batch in track(
            self.feed.read(names),
            f"reading {self.feed.label}",
            total=self.feed.rows,
            size=lambda b: len(next(iter(b.values()))),
            report=self._report,
        ):
            kept, weights, there = weighting.split(batch, done)
            rows = len(next(iter(batch.values())))
            self._numbers.add(done, rows, there)
            for name, coder in self.coders.items():
                coder.add(kept[name])
            if weights is not None:
                weights = weights.astype(np.float64)
                total += float(weights.sum())
                self.whole_weights &= are_whole([weights]) and total <= 2**53
            done += rows
            yield {n: c.batch for n, c in self.coders.items()}, weights
        if done == 0:
            raise self.feed.without_rows()
        if weighting.array is not None and len(weighting.array) != done:
            raise TableError(f"There are {len(weighting.array):,} weights for {done:,} rows.")
        if (weighting.column or weighting.array is not None) and self.rows == 0:
            raise TableError("Every weight is 0, so no row is left.")

    def take_as(self, name: str, word: str | Variable) -> None:
        """Have a column decided as this kind or variable, not by the rules."""
        self._wanted[name] = word

    @property
    def rows(self) -> int:
        """The rows that came, less those of weight 0."""
        return next((c.rows for c in self.coders.values()), 0)

    def schema(self) -> Schema:
        """What the columns are, when all rows have come."""
        decisions, found = decided(
            self.feed,
            self.coders,
            self._wanted,
            self._schema,
            self.rows,
            self._weighting,
            self._tokens,
        )
        warn_doubtful(decisions)
        for variable in found.variables:
            self.coders[variable.name].check(variable)
        return found

    def codes(self, variable: Variable) -> NDArray[Any]:
        """The code of each value met in a column, as a state of its variable."""
        return self.coders[variable.name].codes_for(variable)
