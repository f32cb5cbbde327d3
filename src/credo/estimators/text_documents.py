"""Documents of every kind as a list of texts or of lists of words; anything else is a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import assert_all_finite, check_non_negative

from credo.core.errors import InputError
from credo.core.schema import is_missing

__all__ = ["documents_in", "one_document", "refuse_counts"]


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
