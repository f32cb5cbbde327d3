"""Documents as numbers: sparse or dense rows of counts, summed by class and scored.

Both give the same numbers; a dense array is read as it lies, so that nothing is searched for zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.train.naive_bayes.text import TextModel

__all__ = ["DenseRows", "Rows", "SparseRows"]

Floats = NDArray[np.float64]
Codes = NDArray[np.uint32]
Totals = tuple[Floats, bool]
Scores = tuple[NDArray[Any], int, bool]


@dataclass(frozen=True, eq=False, slots=True)
class SparseRows:
    """For each row where its words begin, which they are, and how often they stand there."""

    begin: NDArray[Any]
    words: NDArray[Any]
    counts: NDArray[Any]

    def __len__(self) -> int:
        return len(self.begin) - 1

    def totals(
        self,
        size: int,
        group: NDArray[np.uint32],
        k: int,
        weights: Any,
        present: bool,
        threads: int,
    ) -> Totals:
        """Sums [class, word], and whether all counts were finite and not negative."""
        rows = self.begin, self.words, self.counts
        return _core.sparse_totals(*rows, size, group, k, weights, present, threads)

    def scores(self, model: TextModel, answer: str, threads: int) -> Scores:
        """The answers, a row that every class rules out (or −1), and whether counts were counts."""
        rows = self.begin, self.words, self.counts
        present = model.form == "bernoulli"
        joint, countable = _core.sparse_joint(*rows, model.table, model.bias, present, threads)
        if answer == "joint" or not countable:
            return joint, -1, countable
        best, bad = _core.naive_finish(joint, answer, threads)
        return best if answer == "best" else joint, bad, countable

    def row(self, i: int) -> list[tuple[int, Any]]:
        """The words of one row, by number, and their counts."""
        there = slice(int(self.begin[i]), int(self.begin[i + 1]))
        found = zip(self.words[there].tolist(), self.counts[there].tolist(), strict=True)
        return [(k, n) for k, n in found if n]


@dataclass(frozen=True, eq=False, slots=True)
class DenseRows:
    """A matrix of counts, a column for each word."""

    matrix: NDArray[Any]

    def __len__(self) -> int:
        return len(self.matrix)

    def totals(
        self,
        size: int,
        group: NDArray[np.uint32],
        k: int,
        weights: Any,
        present: bool,
        threads: int,
    ) -> Totals:
        """Sums [class, word], and whether all counts were finite and not negative."""
        return _core.naive_totals(self.matrix, group, k, weights, threads, present, False)

    def scores(self, model: TextModel, answer: str, threads: int) -> Scores:
        """The answers, a row that every class rules out (or −1), and whether counts were counts."""
        present = model.form == "bernoulli"
        found, bad, _, _, countable = model.scorer.score(
            [], [], [], len(self), None, answer, threads, self.matrix, present, False
        )
        return found, -1 if answer == "joint" else bad, countable

    def row(self, i: int) -> list[tuple[int, Any]]:
        """The words of one row, by number, and their counts."""
        row = self.matrix[i]
        return [(int(k), row[k].item()) for k in np.flatnonzero(row)]


Rows = SparseRows | DenseRows
