"""What the estimators over a naive Bayes model answer: four forms of one score."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.data import Stream
from credo.estimators.inputs import row_weights
from credo.estimators.rows import source_with_class
from credo.train.naive_bayes.learn import read_for

__all__ = ["Answers", "MixedTags", "ScoredByName", "as_before_if_refused"]

Floats = NDArray[np.float64]
Method = TypeVar("Method", bound=Callable[..., Any])


def as_before_if_refused(learn: Method) -> Method:
    """A method that learns; where it refuses its rows, the estimator is as it was before."""

    @wraps(learn)
    def learned(self: Any, *args: Any, **options: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return learn(self, *args, **options)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return cast(Method, learned)


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
        table = X if hasattr(X, "tally") else read_for(X, y, "auto")[0]
        table = source_with_class(table.load() if isinstance(table, Stream) else table, y)
        variable, group = table.schema[y], table.codes(y)
        sample_weight = table.weights if sample_weight is None else sample_weight
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
