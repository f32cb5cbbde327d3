"""`credo classify` of a table: learning, judging by cross-validation, and predicting new rows."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.cli.reading import missing_option, spooled, text_options
from credo.cli.terminal import print_table
from credo.core.errors import CredoWarning, ImpossibleError, InputError, unknown_name
from credo.core.schema import Variable
from credo.data import Stream, Table
from credo.data.columns.absent import absent_columns
from credo.data.columns.cells import Tokens
from credo.data.columns.encoder import Encoder
from credo.data.columns.written import missing_words
from credo.data.reading import feed_of

__all__ = [
    "Classifier",
    "Judged",
    "Learned",
    "documents_of",
    "judge",
    "judge_texts",
    "judged_by",
    "learn_table",
    "predict_rows",
    "print_telling",
    "text_column",
    "write_predictions",
]

Floats = NDArray[np.float64]
_HONEST = 0.9, 1.1  # slopes that are not worth a word


@dataclass(frozen=True)
class Judged:
    """The figures of cross-validation, and those of always saying the largest class."""

    report: Any
    folds: int
    baseline: float

    def lines(self) -> list[str]:
        """What is said of it."""
        out = [
            f"{self.folds}-fold cross-validation: {self.report.title}",
            f"always saying the most frequent class: accuracy {self.baseline:.4f}",
        ]
        low, high = _HONEST
        if self.report.slope < low:
            out.append(
                "a slope below 1 means too sure: credo.estimators.recalibrated mends the "
                "probabilities"
            )
        elif self.report.slope > high:
            out.append(
                "a slope above 1 means too careful: credo.estimators.recalibrated mends the "
                "probabilities"
            )
        return out

    def figures(self) -> dict[str, Any]:
        """The same for --json."""
        return {
            "accuracy": self.report.accuracy,
            "baseline_accuracy": self.baseline,
            "log_loss": self.report.log_loss,
            "brier": self.report.brier,
            "calibration_error": self.report.error,
            "slope": self.report.slope,
            "folds": self.folds,
        }


@dataclass(frozen=True)
class Learned:
    """A classifier, the rows it learned from, how it was judged, what it predicts, the notes."""

    clf: Any
    rows: int
    judged: Judged | None = None
    found: Floats | None = None
    notes: list[str] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)
    """The place of the class that is predicted for each row; −1 where none is."""


@dataclass(frozen=True)
class Classifier:
    """Which classifier is asked for."""

    method: str
    smoothing: float
    unseen: str
    numbers: Any = "auto"

    def estimator(self) -> Any:
        """The estimator, which has seen no rows."""
        from credo.estimators import NaiveBayes, NetworkClassifier

        if self.method == "naive-bayes":
            return NaiveBayes(self.smoothing, numbers=self.numbers, unseen=self.unseen)
        return NetworkClassifier(self.method, smoothing=self.smoothing, unseen=self.unseen)


def learn_table(
    table: Any,
    target: str,
    how: Classifier,
    cv: int | None,
    rows: str | None,
    reading: dict[str, Any],
) -> Learned:
    """Learn from a table, judge what was learned, predict new rows."""
    judged, found = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CredoWarning)
        clf = how.estimator().fit(table, target)
        said = []
        if isinstance(table, Stream) and cv != 0:
            said.append("not cross-validated, since the table is read as a stream (--memory)")
        elif cv != 0:
            judged, note = judge(clf, table, target, cv)
            said += [note] if note else []
        if rows is not None:
            found, more = predict_rows(clf, target, rows, reading)
            said += more
        notes = list(dict.fromkeys([*(str(w.message) for w in caught), *said]))
    return Learned(clf, len(table), judged, found, notes)


def judge(clf: Any, table: Any, target: str, cv: int | None) -> tuple[Judged | None, str]:
    """The figures of cross-validation, rows without a class left out; and what to note."""
    from sklearn.base import clone

    from credo.estimators.comparison import rows_with_class

    whole = rows_with_class(table, target)
    codes = whole.codes(target)
    kept = np.flatnonzero(table.codes(target) < table.schema[target].arity)

    def learned(train: Any, test: Any) -> Any:
        return clone(clf).fit(whole.take(train), target).predict_proba(whole.take(test))

    return judged_by(learned, codes, whole.schema[target].arity, cv, kept, whole.weights)


def judged_by(
    learned: Any,
    codes: NDArray[Any],
    classes: int,
    cv: int | None,
    kept: NDArray[Any],
    weights: Any = None,
) -> tuple[Judged | None, str]:
    """The figures of `learned(train, test)`, fold by fold; `kept` are the rows of the file."""
    from credo.checking.sections.reliability import report_of
    from credo.estimators.folds import folds_of, most_folds

    if cv is None and most_folds(codes, len(codes)) < 2:
        return None, "not cross-validated, since no class has two rows"
    parts, note = folds_of(codes, len(codes), cv)
    p = np.empty((len(codes), classes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CredoWarning)  # said once, of the whole table
        for train, test in parts:
            try:
                p[test] = learned(train, test)
            except ImpossibleError as error:
                raise _held_out(error, kept[test]) from None
    share = np.bincount(codes, weights, minlength=classes)
    baseline = float(share.max() / share.sum())
    report = report_of(p, codes, weights=weights)
    return Judged(report, len(parts), baseline), f"judged by {note}" if note else ""


def _held_out(error: ImpossibleError, rows: NDArray[Any]) -> ImpossibleError:
    """The error of a fold, with the row as it is numbered in the whole table."""
    told = re.sub(
        r"\b(Row|Document) ([\d,]+)",
        lambda m: f"{m[1]} {int(rows[int(m[2].replace(',', '')) - 1]) + 1:,}",
        error.message,
        count=1,
    )
    return ImpossibleError(
        f"In cross-validation, learned without it: {told}",
        hint="Use --smoothing above 0, or --cv 0.",
    )


def predict_rows(
    clf: Any, target: str, path: str, reading: dict[str, Any]
) -> tuple[Floats, list[str]]:
    """P(class | row) of the rows of a file, read as the table was; and what to note."""
    from credo.data.columns.columns import columns_for
    from credo.data.reading import feed_of
    from credo.estimators import NaiveBayes
    from credo.predict.rows.naive import predict_columns, variables_of

    naive = isinstance(clf, NaiveBayes)
    variables = variables_of(clf.model_) if naive else clf._known()
    feed = feed_of(spooled() if path == "-" else path, text_options(reading), None)
    given = [n for n in feed.names if n != target]
    if not set(given) & set(variables):
        raise InputError(
            f"{feed.label} has no column of the model.",
            hint=f"Its features are {', '.join(map(repr, list(variables)[:12]))}.",
        )
    notes = absent_columns(variables, given, feed.label)
    if len(notes) > 6:
        notes = [*notes[:6], f"{len(notes) - 6} more columns are taken as missing."]
    columns = columns_for(feed, variables, missing=missing_option(reading["missing"]))
    columns = replace(columns, others=())  # the notes tell of them
    if naive:
        found = predict_columns(clf.model_, columns, "posterior", clf.unseen)
    else:
        found = clf._answer(columns, "posterior")
    return found, [n.rstrip(".") for n in notes]


def write_predictions(
    path: str, target: str, states: tuple[Any, ...], found: Floats, chosen: Sequence[int]
) -> None:
    """A file of rows: the class that is predicted for each row, and the probability of each."""
    from credo.core.schema import Schema, Variable
    from credo.data import Table
    from credo.data.out.writing import write_rows
    from credo.stats.block import Block

    label = Variable(target, "discrete", states)
    names = [Variable(f"P({s})", "continuous") for s in states]
    best = np.where(np.array(chosen) < 0, len(states), chosen).astype(np.uint16)
    columns = [np.ascontiguousarray(found[:, i]) for i in range(len(states))]
    table = Table(Block(Schema((label, *names)), (best, *columns)))
    write_rows(path, table.schema, [table])


# --- `credo classify` of free text: the words of one column say the class of the row.


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
