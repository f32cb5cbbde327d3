"""What the estimators over a naive Bayes model answer: four forms of one score."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.data import Stream, Table
from credo.estimators.inputs import row_weights
from credo.estimators.open_rows import classed_table

__all__ = ["Answers", "MixedTags", "ScoredByName"]

Floats = NDArray[np.float64]


class Answers:
    """The answers of `_answer(X, form)`, as scikit-learn names them."""

    classes_: NDArray[Any]

    @abstractmethod
    def _answer(self, X: Any, answer: str) -> Any:
        """The scores of the classes as 'best', 'posterior', 'log' or 'joint'."""

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row or document."""
        best = self._answer(X, "best")
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Floats:
        """P(class | row), a column for each of `classes_`."""
        return np.asarray(self._answer(X, "posterior"))

    def predict_log_proba(self, X: Any) -> Floats:
        """ln P(class | row), a column for each of `classes_`."""
        return np.asarray(self._answer(X, "log"))

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """ln P(class, row), a column for each of `classes_`; of documents, but for a factor that
        all classes share.
        """
        return np.asarray(self._answer(X, "joint"))


class ScoredByName:
    """The share of rows whose class is told right, also from the name of the class."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The mean accuracy of `predict(X)`; `y` may be the name of a column of X, as in `fit`.
        Rows whose class is missing are left out then.
        """
        if not isinstance(y, str):
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]
        found = self.predict(X)  # type: ignore[attr-defined]
        if isinstance(X, Stream):
            X = X.load()
        if isinstance(X, Table):
            variable, group = X.schema[y], X.codes(y)
            sample_weight = X.weights if sample_weight is None else sample_weight
        else:
            _, variable, group = classed_table(X, y)
        there = group < variable.arity
        if not there.any():
            raise InputError(f"Every cell of {y!r} is missing, so there is nothing to score.")
        right = np.array(variable.states, dtype=object)[group[there]] == found[there].astype(object)
        weights = row_weights(sample_weight, len(there))
        return float(np.average(right, weights=None if weights is None else weights[there]))


class MixedTags:
    """What scikit-learn is told of estimators for mixed tables: gaps, categories and text."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
