"""What the estimators over a mixture share: learning, and the answers of one score."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from credo.core.errors import InputError
from credo.estimators.inputs import row_weights, threads_of
from credo.model.mixtures.mixture import Mixture
from credo.model.values.record import Record
from credo.model.values.value import choice, whole
from credo.predict.rows.mixture import Scored, Taken, scored
from credo.train.mixtures.choose import Options
from credo.train.mixtures.learn import learned_cells

Floats = NDArray[np.float64]

STARTS = {"kmeans": "k-means++", "k-means++": "k-means++", "random": "random"}
"""Ways to start, as scikit-learn calls them."""


class MixtureAnswers:
    """The answers of `_scored(X)`, as scikit-learn names them."""

    mixture_: Mixture
    _classes: str  # what the estimator calls the classes: 'components' or 'classes'

    def _check(self) -> None:
        """Refuse what is no number, or no start, by the names that the estimator has for them."""
        choice(self._given("init_params"), tuple(STARTS), "init_params")
        name = f"n_{self._classes}"
        if isinstance(given := self._given(name), str):
            if given != "auto":
                raise InputError(f"{name} must be a whole number or 'auto', got {given!r}.")
        else:
            whole(given, 1, name)
        for other in (f"max_{self._classes}", "n_init", "max_iter"):
            whole(self._given(other), 1, other)

    def _given(self, name: str) -> Any:
        return getattr(self, name)

    def _learn(self, cells: Taken, sample_weight: Any, **options: Any) -> Record:
        """The mixture of some cells; rows of weight 0 are left out."""
        weights = row_weights(sample_weight, cells.rows)
        if weights is not None:
            cells = replace(cells, weights=weights.astype(np.float64))
            cells = cells if weights.all() else cells.some(np.flatnonzero(weights))
        given = self._given
        made = Options(
            criterion=given("criterion"),
            restarts=given("n_init"),
            prior=given("prior"),
            max_components=given(f"max_{self._classes}"),
            tol=given("tol"),
            max_iter=given("max_iter"),
            variance_floor=given("variance_floor"),
            accelerate=given("accelerate"),
            **options,
        )
        seed = check_random_state(given("random_state")).randint(2**31 - 1)
        threads = threads_of(given("n_jobs"))
        k = given(f"n_{self._classes}")
        self.mixture_ = learned_cells(cells, k, made, np.random.default_rng(seed), threads).mixture
        record = self.mixture_.record
        assert record is not None
        self.weights_ = np.array(self.mixture_.weights)
        setattr(self, f"n_{self._classes}_", self.mixture_.k)
        self.n_iter_ = int(record.details["iterations"])
        self.converged_ = bool(record.details["converged"])
        self.lower_bounds_ = [v / cells.weight for v in record.trace]
        self.lower_bound_ = self.lower_bounds_[-1]
        return record

    @abstractmethod
    def _cells(self, X: Any, reset: bool) -> Taken:
        """The cells of X, after scikit-learn's own checks of its shape and names."""

    def _scored(self, X: Any) -> Scored:
        """P(class | row), a column a class, and ln of each row's density."""
        check_is_fitted(self, "mixture_")
        cells = self._cells(X, reset=False)
        return scored(self.mixture_, cells, threads_of(self._given("n_jobs")))

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
