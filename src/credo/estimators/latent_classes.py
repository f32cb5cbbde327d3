"""LatentClasses: scikit-learn's protocol over a mixture of naive Bayes.

Columns of every kind side by side, missing cells, weights: what the model knows; this class only
opens the door to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin

from credo.core.errors import InputError, unknown_name
from credo.core.schema import Variable
from credo.data import Column, columns_of, position_names, unmasked
from credo.estimators.answers import MixedTags
from credo.estimators.inputs import is_named_table, validated
from credo.estimators.mixture_answers import STARTS, MixtureAnswers
from credo.model.values.value import choice
from credo.predict.rows.mixture import Plan, Taken, taken

Floats = NDArray[np.float64]

KINDS = ("categorical", "gaussian", "counts", "ignore")
_FEW = 20  # whole numbers with at most so many values are states


class LatentClasses(MixtureAnswers, MixedTags, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """Latent classes: groups of rows within which the columns are independent.

    Parameters
    ----------
    n_classes : int or "auto", default 2
        The number of classes; "auto" tries 1 to `max_classes`.
    kinds : "auto", a kind, a list, or a mapping from column to kind
        'categorical', 'gaussian', 'counts' (a Poisson rate) or 'ignore'. Inferred: text, booleans
        and whole numbers with at most 20 values are categorical, other numbers Gaussian.
    prior : float, default 1
        Imagined rows a class; 0 is maximum likelihood.
    tol, max_iter, n_init, init_params, variance_floor, accelerate
        As in `GaussianMixture`.
    criterion : "bic", "icl" or "cheeseman-stutz"; max_classes : int
        For n_classes="auto".
    random_state, n_jobs : optional

    >>> from credo.estimators import LatentClasses
    >>> X = [["y", "n", 4.0], ["y", "n", 4.1], ["n", "y", 2.0], ["n", None, 2.1]]
    >>> labels = LatentClasses(2, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    _classes = "classes"

    def __init__(
        self,
        n_classes: Any = 2,
        *,
        kinds: Any = "auto",
        prior: float = 1.0,
        tol: float = 1e-6,
        max_iter: int = 1000,
        n_init: int = 10,
        init_params: str = "kmeans",
        variance_floor: float = 1e-6,
        accelerate: bool = True,
        criterion: str = "bic",
        max_classes: int = 9,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_classes = n_classes
        self.kinds = kinds
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.variance_floor = variance_floor
        self.accelerate = accelerate
        self.criterion = criterion
        self.max_classes = max_classes
        self.random_state = random_state
        self.n_jobs = n_jobs

    # --- learning -------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the classes; `y` is not used."""
        self._check()
        X = self._checked(X, reset=True)
        self._plan = self._planned(X)
        start = STARTS[self.init_params]
        self._learn(taken(self._plan, X), sample_weight, covariance="diagonal", start=start)
        return self

    def _cells(self, X: Any, reset: bool) -> Taken:
        return taken(self._plan, self._checked(X, reset))

    def _checked(self, X: Any, reset: bool) -> Any:
        """X after scikit-learn's own checks of its shape and names."""
        X = unmasked(X)
        if is_named_table(X):
            if reset:
                names = list(columns_of(X).by_name)
                self.feature_names_in_ = np.array(names, dtype=object)
                self.n_features_in_ = len(names)
            return X
        X = validated(self, X, reset)
        if isinstance(X, np.ndarray) and X.dtype.kind == "f" and np.isinf(X).any():
            raise InputError("Input X contains infinity.")
        return X

    def _planned(self, X: Any) -> Plan:
        found = columns_of(X)
        names = list(found.by_name)
        kinds = self.kinds
        if not isinstance(kinds, (str, Mapping)):
            every = list(getattr(self, "feature_names_in_", position_names(self.n_features_in_)))
            kinds = list(kinds)
            if len(kinds) != len(every):
                raise InputError(f"There are {len(kinds)} kinds for {len(every)} columns.")
            kinds = dict(zip(map(str, every), kinds, strict=True))
        if isinstance(kinds, Mapping):
            for name in kinds:
                if name not in names and name not in found.aside:
                    raise unknown_name("Column", name, names, "in X")
        reals, counts, states = [], [], []
        for name, column in found.by_name.items():
            wanted = kinds if isinstance(kinds, str) else kinds.get(name, "auto")
            if wanted == "auto":
                wanted = _kind_of(column)
            choice(wanted, KINDS, f"The kind of {name!r}")
            if wanted == "categorical":
                states.append(_states_of(name, column))
            elif wanted == "counts":
                counts.append(name)
            elif wanted == "gaussian":
                reals.append(name)
        if not (reals or counts or states):
            raise InputError("No column of X can be used.", hint="; ".join(found.aside.values()))
        return Plan(tuple(reals), tuple(counts), tuple(states))


def _kind_of(column: Column) -> str:
    if column.variable is not None or column.values.dtype.kind == "b":
        return "categorical"
    if column.values.dtype.kind in "iu" and len(np.unique(column.values)) <= _FEW:
        return "categorical"
    return "gaussian"


def _states_of(name: str, column: Column) -> Variable:
    if column.variable is not None:
        return column.variable
    values = np.unique(column.values)
    return Variable(name, "discrete", tuple(v for v in values.tolist() if v == v))
