"""What naive Bayes answers beyond scikit-learn: why, how surely, and as a linear form."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from credo.core.errors import InputError
from credo.data import Columns
from credo.estimators.answers import JointAnswers
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.predict.intervals.naive_bayes import intervals_of_columns
from credo.predict.rows.naive_linear import LinearForm, linear_form
from credo.predict.rows.naive_row import Contributions, explain

Floats = NDArray[np.float64]


class NaiveAnswers(JointAnswers):
    """The questions to a fitted `model_`."""

    unseen: str

    @property
    @abstractmethod
    def model_(self) -> NaiveBayesModel:
        """The frozen model underneath."""

    @abstractmethod
    def _columns(self, X: Any) -> Columns:
        """The columns of the features of the model."""

    @abstractmethod
    def _all_names(self) -> Any:
        """The columns of training, in order."""

    def linear_form(self, *, reference: bool = True) -> LinearForm:
        """Bias and weights of the log odds (two classes), or of each class; see docs/explain.md."""
        check_is_fitted(self, "model_")
        return linear_form(self.model_, reference, self.unseen)

    def explain(self, row: Any, *, of: Any = None, against: Any = None) -> Contributions:
        """What each cell of one row says for a class against another, in bits.

        `row` is a mapping from feature to value, or the values in the order of training.
        """
        check_is_fitted(self, "model_")
        if not isinstance(row, Mapping):
            values = list(np.asarray(row, dtype=object).ravel())
            names = self._all_names()
            if len(values) != len(names):
                raise InputError(f"The row has {len(values)} values for {len(names)} features.")
            row = dict(zip(names, values, strict=True))
        aside = {*self._all_names(), *getattr(self, "_every", ())} - set(self.model_.names)
        row = {n: v for n, v in row.items() if n not in aside}
        return explain(self.model_, row, of, against, self.unseen)

    def predict_interval(
        self, X: Any, level: float = 0.95, *, draws: int = 1000, rng: Any = 0
    ) -> Floats:
        """A credible interval for each P(class | row): an array [row, class, low and high].

        >>> from credo.estimators import NaiveBayes
        >>> clf = NaiveBayes().fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1])
        >>> low, high = clf.predict_interval([["a"]])[0, 0]
        >>> bool(low < clf.predict_proba([["a"]])[0, 0] < high)
        True
        """
        check_is_fitted(self, "model_")
        columns = self._columns(X)
        return intervals_of_columns(self.model_, columns, level, draws, rng, self.unseen)
