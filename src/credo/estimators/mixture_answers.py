"""What the estimators over a mixture answer: classes, densities and criteria from one score."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.model.mixtures.mixture import Mixture
from credo.model.values.value import whole
from credo.predict.rows.mixture import Scored

__all__ = ["MixtureAnswers", "check_sizes"]

Floats = NDArray[np.float64]


def check_sizes(model: Any, classes: str, *others: str) -> None:
    """Refuse numbers that are none by the names that the estimator has for them."""
    if isinstance(given := getattr(model, classes), str):
        if given != "auto":
            raise InputError(f"{classes} must be a whole number or 'auto', got {given!r}.")
    else:
        whole(given, 1, classes)
    for name in others:
        whole(getattr(model, name), 1, name)


class MixtureAnswers:
    """The answers of `_scored(X)`, as scikit-learn names them."""

    mixture_: Mixture

    @abstractmethod
    def _scored(self, X: Any) -> Scored:
        """P(class | row), a column a class, and ln of each row's density."""

    @abstractmethod
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn the mixture."""

    def predict_proba(self, X: Any) -> Floats:
        """P(class | row); missing cells are integrated out.

        A row that no class can have made is refused by its number.
        """
        return self._scored(X).responsibilities()

    def predict(self, X: Any) -> NDArray[np.intp]:
        """The most probable class of each row; one that no class can have made is refused."""
        best: NDArray[np.intp] = self._scored(X).responsibilities().argmax(axis=1)
        return best

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.intp]:
        """Learn, and give the most probable class of each row."""
        found: NDArray[np.intp] = self.fit(X, y, sample_weight).predict(X)
        return found

    def score_samples(self, X: Any) -> Floats:
        """ln of the density of each row; −inf where no class can have made it."""
        return self._scored(X).logs

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of ln of the density over the rows."""
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """−2 ln P(X) + parameters · ln n, as scikit-learn has it: lower is better."""
        logs = self.score_samples(X)
        return float(-2 * logs.sum() + self.mixture_.free_parameters * np.log(len(logs)))

    def aic(self, X: Any) -> float:
        """−2 ln P(X) + 2 · parameters: lower is better."""
        logs = self.score_samples(X)
        return float(-2 * logs.sum() + 2 * self.mixture_.free_parameters)
