"""Are the probabilities of a classifier honest? A report, and a way to mend them.

Predictions are made by cross-validation, so that no row is judged by a model that has seen it.
What is reported, and how, is in `credo.checking.sections.reliability`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV

from credo.checking.sections.reliability import CalibrationReport, report_of
from credo.core.errors import InputError
from credo.data import Stream, Table, columns_for, read
from credo.estimators.answers import MixedTags
from credo.estimators.inputs import (
    as_table,
    comes_in_batches,
    encode_labels,
    in_memory,
    is_named_table,
)
from credo.estimators.rows import source_with_class


def calibration_report(
    estimator: Any, X: Any, y: Any, *, cv: Any = 5, bins: int = 10
) -> CalibrationReport:
    """The report of a classifier by cross-validation; `y` may be the name of a column of X.

    >>> import credo as cr
    >>> from credo.estimators import NaiveBayes, calibration_report
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> X = (rng.random((400, 3)) < np.where(y, 0.7, 0.3)[:, None]).astype(int)
    >>> report = calibration_report(NaiveBayes(), X, y)
    >>> 0.7 < report.slope < 1.3
    True
    """
    from sklearn.model_selection import cross_val_predict

    X, y = _rows_and_classes(X, y)
    _, codes = encode_labels(y)
    p = cross_val_predict(estimator, X, y, cv=cv, method="predict_proba")
    return report_of(np.asarray(p), codes, bins)


def recalibrated(estimator: Any, method: str = "isotonic", *, cv: Any = 5) -> Any:
    """The classifier with its probabilities mended: isotonic or sigmoid, by scikit-learn.

    >>> from credo.estimators import NaiveBayes, recalibrated
    >>> recalibrated(NaiveBayes(), "sigmoid").method
    'sigmoid'
    """
    if method not in ("isotonic", "sigmoid"):
        raise InputError(f"method must be 'isotonic' or 'sigmoid', got {method!r}.")
    return Recalibrated(estimator, method=method, cv=cv)


class Recalibrated(CalibratedClassifierCV):  # type: ignore[misc]
    """scikit-learn's `CalibratedClassifierCV`, for every kind of table that credo reads.

    >>> from credo.estimators import NaiveBayes, recalibrated
    >>> X, y = {"x": ["u", "v"] * 10}, [0, 1] * 10
    >>> recalibrated(NaiveBayes(), cv=2).fit(X, y).predict({"x": ["v"]}).tolist()
    [1]
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **more: Any) -> Self:
        """Fit the classifier and the map from its probabilities to honest ones."""
        X, y = _rows_and_classes(X, y)
        super().fit(X, y, sample_weight, **more)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(class | row), mended."""
        if isinstance(X, Mapping):
            import pyarrow as pa

            X = pa.table({str(n): v for n, v in X.items()})
        elif isinstance(X, (str, os.PathLike)):
            if not isinstance(self.estimator, MixedTags):
                raise InputError(
                    f"{type(self.estimator).__name__} takes rows to predict that are in memory, "
                    "got a path.",
                    hint="Read them with pandas or polars, or credo.read.",
                )
            X = _File(X)
        elif comes_in_batches(X):
            X = in_memory(X)  # every fold asks for the rows
            X = X.to_arrow() if hasattr(X, "to_arrow") else X
        elif isinstance(X, (Table, Stream)):
            X = _rows(X)
        return np.asarray(super().predict_proba(X))


class _File(os.PathLike[str]):
    """A path that knows its number of rows, which scikit-learn asks for.

    Each fold reads the file by the columns that it knows: what a few rows of it look like (one
    value only, whole numbers) must not say what a column is.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path, self._rows = os.fspath(path), columns_for(path, {}).rows

    def __fspath__(self) -> str:
        return self._path

    def __len__(self) -> int:
        return self._rows


def _rows(X: Any) -> Any:
    """X as something whose rows scikit-learn can choose: what it does not know becomes Arrow."""
    if not is_named_table(X) or type(X).__module__.startswith("pyarrow"):
        return as_table(X)
    table = read(X)
    return (table.load() if isinstance(table, Stream) else table).to("arrow")


def _rows_and_classes(X: Any, y: Any) -> tuple[Any, Any]:
    if not isinstance(y, str):
        return _rows(X), y
    table = source_with_class(X, y)
    table = table.load() if isinstance(table, Stream) else table
    there = table.codes(y) < table.schema[y].arity
    table = table if there.all() else table.take(there)
    classes = np.array(table.schema[y].states)[table.codes(y)]
    return table.select([n for n in table.schema.names if n != y]).to("arrow"), classes
