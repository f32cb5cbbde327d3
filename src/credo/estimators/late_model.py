"""The model of the rows seen so far, learned when somebody asks for it.

Thousands of small parts may come before the first question; each adds to the statistics only.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from credo.estimators.inputs import label_array
from credo.estimators.open_rows import columns_aside
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.stats.by_class import ByClass
from credo.train.naive_bayes.fit import Options, check_options, train

__all__ = ["LateModel", "as_before_if_refused"]


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


class LateModel:
    """What an estimator of naive Bayes knows: its statistics, and its model once it is needed."""

    _seen: ByClass
    _how: Options
    _model: NaiveBayesModel
    _every: tuple[str, ...]

    @property
    def model_(self) -> NaiveBayesModel:
        """The frozen model underneath, with everything that it can be asked.

        >>> from credo.estimators import NaiveBayes
        >>> NaiveBayes().fit([["u"], ["v"]], [0, 1]).model_.names
        ('x0',)
        """
        if not hasattr(self, "_model"):
            if not hasattr(self, "_seen"):
                raise AttributeError("model_ is known after fit.")
            self._model = train(self._seen, self._how)
        return self._model

    def _learn(self, statistic: ByClass, options: Options) -> None:
        """Learn from statistics; what is wrong with the options is said now, not later."""
        check_options(statistic, options, some=False)
        self.__dict__.pop("_model", None)
        self._how = options
        self._know(statistic)

    def _take(self, model: NaiveBayesModel) -> None:
        self._model = model
        self._know(model.statistic)

    def _know(self, statistic: ByClass) -> None:
        self._seen = statistic
        self.classes_ = label_array(statistic.target.states)
        self.class_count_ = np.array(statistic.weight)
        if hasattr(self, "_every"):  # by the name of the class: columns that can be used
            aside = columns_aside(statistic)
            self._name([n for n in self._every if n not in aside])

    def _forget(self) -> None:
        for name in ("_seen", "_how", "_model", "_every", "_by_name", "_apart"):
            self.__dict__.pop(name, None)

    @abstractmethod
    def _name(self, names: Sequence[str]) -> None:
        """Take note of the columns that are learned from."""
