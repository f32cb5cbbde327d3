"""Documents of every kind: texts or lists of words, and sparse or dense rows of counts.

Rows of counts are summed by class and scored; a dense array is read as it lies, so that nothing is
searched for zeros, and gives the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import assert_all_finite, check_non_negative

from credo import _core
from credo.core.errors import InputError
from credo.core.schema import is_missing
from credo.train.naive_bayes.text import TextModel

Floats = NDArray[np.float64]
Codes = NDArray[np.uint32]
Totals = tuple[Floats, bool]
Scores = tuple[NDArray[Any], int, bool]


def documents_in(X: Any) -> list[Any] | None:
    """X as a list of documents; None where it is a matrix of counts.

    Lists, arrays, Series and Arrow arrays of texts, lists of words, and a frame or an array with
    one column of texts are documents.

    >>> documents_in(("a b", "c")), documents_in([["a", "b"], ["c"]])
    (['a b', 'c'], [['a', 'b'], ['c']])
    >>> documents_in([[1, 0], [0, 2]]) is None
    True
    """
    if isinstance(X, (str, bytes)):
        raise InputError("X must be a list of documents, got one text.", hint="Write [text].")
    if hasattr(X, "tocsr"):
        return None
    if len(getattr(X, "shape", (0,))) == 2:
        return _of_column(X)
    if hasattr(X, "to_pylist"):  # Arrow
        X = X.to_pylist()
    if isinstance(X, np.ndarray) and (X.ndim != 1 or X.dtype.kind not in "OUTS"):
        return None
    if not hasattr(X, "__iter__"):
        return None
    documents = X if isinstance(X, list) else list(X)
    first = next((d for d in documents if d is not None), "")
    if isinstance(first, (str, bytes)) or (
        isinstance(first, (list, tuple)) and (not first or isinstance(first[0], (str, bytes)))
    ):
        return _checked(documents)
    return None


def _of_column(X: Any) -> list[Any] | None:
    """The documents of a frame or array whose cells are texts: it must have one column."""
    if not X.shape[0] or not X.shape[1]:
        return None
    if hasattr(X, "columns") or hasattr(X, "to_pydict"):
        names = list(getattr(X, "column_names", getattr(X, "columns", ())))
        first = X[names[0]]
    elif getattr(X.dtype, "kind", "") in "OUTS":
        first = X[:, 0]
    else:
        return None
    if hasattr(first, "to_pylist"):  # Arrow
        first = first.to_pylist()
    seen = next((c for c in first if not is_missing(c)), None)
    if not isinstance(seen, (str, bytes)):
        return None
    if X.shape[1] > 1:
        raise InputError(
            f"X has {X.shape[1]} columns and holds text; documents are one column.",
            hint="Give the column of texts alone.",
        )
    return _checked(list(first))


def _checked(documents: list[Any]) -> list[Any]:
    for i, d in enumerate(documents):
        if isinstance(d, bytes):
            raise InputError(
                f"Document {i + 1:,} is bytes, not a text.",
                hint="Decode it first: document.decode('utf-8').",
            )
        if not isinstance(d, (str, list, tuple)):
            raise InputError(
                f"Document {i + 1:,} must be a text or a list of words, got {type(d).__name__}.",
                hint="Use '' for a document that is missing.",
            )
    return documents


def one_document(document: Any, text: bool) -> Any:
    """One document as X of one row: a text in a list, or the counts of a matrix."""
    if text:
        return [document]
    if hasattr(document, "tocsr"):
        found = document.tocsr()
        found = found if len(found.shape) == 2 else found.reshape(1, -1).tocsr()
    elif isinstance(document, (str, bytes)):
        raise InputError("The estimator was fitted to a matrix and got texts.")
    else:
        found = np.asarray(document)
        found = found.reshape(1, -1) if found.ndim < 2 else found
    if found.shape[0] != 1:
        raise InputError(f"One document is explained at a time, got {found.shape[0]:,}.")
    return found


def refuse_counts(X: Any) -> None:
    """Say what is wrong with the numbers of a matrix, as scikit-learn does."""
    values = X.data if hasattr(X, "tocsr") else np.asarray(X)
    assert_all_finite(values, input_name="X")
    check_non_negative(values, "TextNaiveBayes (input X)")


# --- rows of counts -------------------------------------------------------------------------


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
