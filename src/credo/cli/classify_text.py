"""`credo classify` of free text: the words of one column say the class of the row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.cli.classify_rows import Judged, judged_by
from credo.cli.reading import missing_option, text_options
from credo.cli.terminal import print_table
from credo.core.errors import InputError, unknown_name
from credo.core.schema import Variable
from credo.data import Stream, Table
from credo.data.columns.cells import Tokens
from credo.data.columns.encoder import Encoder
from credo.data.columns.written import missing_words
from credo.data.reading import feed_of

__all__ = ["documents_of", "judge_texts", "print_telling", "text_column"]


def text_column(table: Table | Stream, target: str, given: str | None) -> str | None:
    """The column of free text: the one named, or the only one where there is nothing else."""
    columns = {c.name: c.kind for c in table.schema.columns}
    if given is not None:
        if given not in columns:
            raise unknown_name("Column", given, list(columns), "in the table")
        if given == target:
            raise InputError("The text and the class must be two columns.")
        return given
    if [n for n in table.schema.names if n != target]:
        return None
    texts = [n for n, kind in columns.items() if kind == "text"]
    if len(texts) == 1:
        return texts[0]
    if texts:
        raise InputError(
            f"There are {len(texts)} columns of free text: {', '.join(map(repr, texts))}.",
            hint=f"Name one, as --text {texts[0]}.",
        )
    return None


def documents_of(
    path: str, text: str, label: Variable | None, reading: Mapping[str, Any]
) -> tuple[list[str], NDArray[np.intp]]:
    """The texts of a column, '' where missing, and the class of each; its arity where missing."""
    feed = feed_of(path, text_options(dict(reading)), None)
    if text not in feed.names:
        raise unknown_name("Column", text, feed.names, f"in {feed.label}")
    words = missing_words(missing_option(reading.get("missing") or ()), feed.text)
    tokens = Tokens(words, feed.text)
    wanted = [text] if label is None else [text, label.name]
    texts: list[str] = []
    codes: list[NDArray[Any]] = [np.zeros(0, dtype=np.intp)]
    encoder = None if label is None else Encoder(label, tokens)
    for batch in feed.read(wanted):
        cells = batch[text]
        done = len(texts)
        values = cells.tolist() if isinstance(cells, np.ndarray) else cells.to_pylist()
        texts += ["" if v is None else str(v) for v in values]
        if encoder is not None and label is not None:
            codes.append(encoder.encode(batch[label.name], lambda i, done=done: done + i + 1))  # type: ignore[misc]
    return texts, np.concatenate(codes).astype(np.intp)


def judge_texts(
    clf: Any,
    documents: Sequence[str],
    codes: NDArray[np.intp],
    cv: int | None,
    kept: NDArray[np.intp],
) -> tuple[Judged | None, str]:
    """The figures of cross-validation, and what to note; `kept` are the rows of the file."""
    from sklearn.base import clone

    classes = np.arange(int(codes.max()) + 1)

    def learned(train: Any, test: Any) -> Any:
        fitted = clone(clf).partial_fit([documents[i] for i in train], codes[train], classes)
        return fitted.predict_proba([documents[i] for i in test])

    return judged_by(learned, codes, len(classes), cv, kept)


def print_telling(classes: Sequence[Any], telling: Mapping[Any, list[tuple[str, float]]]) -> None:
    """The words that speak most for each class."""
    rows = [
        [str(c), ", ".join(f"{word} ({_bits(bits)})" for word, bits in words)]
        for c, words in zip(classes, telling.values(), strict=True)
    ]
    print_table(["class", "its most telling words (bits)"], rows)


def _bits(bits: float) -> str:
    return f"{bits:.1f}" if math.isfinite(bits) else "∞" if bits > 0 else "-∞"
