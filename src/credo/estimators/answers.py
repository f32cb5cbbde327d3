"""What the estimators over a naive Bayes model answer: four forms of one score."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Answers", "MixedTags"]

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


class MixedTags:
    """What scikit-learn is told of estimators for mixed tables: gaps, categories and text."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
