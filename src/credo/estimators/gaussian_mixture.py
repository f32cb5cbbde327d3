"""GaussianMixture: scikit-learn's protocol over a frozen `Mixture`.

What scikit-learn's own has not: missing cells in fit and in predict (integrated out), weights of
rows, a prior, restarts that are dropped early, and k by a criterion.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from decimal import Decimal
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from credo.core.errors import InputError, shown
from credo.core.schema import is_missing
from credo.data import Stream, Table, read, unmasked
from credo.estimators.inputs import is_named_table
from credo.estimators.mixture_answers import STARTS, MixtureAnswers
from credo.model.mixtures.mixture import Mixture
from credo.model.mixtures.parts import Gaussians
from credo.model.values.value import at_least, choice, readonly, whole
from credo.predict.rows.mixture import Plan, Taken, taken
from credo.train.mixtures.learn import gaussian_plan

Floats = NDArray[np.float64]

_TYPES = {"full": "full", "tied": "tied", "diag": "diagonal", "spherical": "spherical"}


class GaussianMixture(MixtureAnswers, DensityMixin, BaseEstimator):  # type: ignore[misc]
    """A mixture of Gaussians, with missing cells (NaN) and weights of rows.

    Parameters
    ----------
    n_components : int or "auto", default 1
        The number of components; "auto" tries 1 to `max_components`.
    covariance_type : "full", "tied", "diag" or "spherical"
    tol : float
        Stop when a step gains no more than this a row in ln P.
    max_iter, n_init : int
        The most steps; starts, of which the poorer half is dropped again and again.
    init_params : "kmeans" or "random"
    weights_init, means_init, precisions_init : optional
        Where to start, as in scikit-learn; what is not given comes from `init_params`.
    warm_start : bool
        Whether `fit` starts from what the last one found.
    reg_covar : float, default 0
        The least variance of a component in any direction, in the columns' own units.
    prior : float, default 0
        0 is maximum likelihood; 1 a weak prior on every component.
    variance_floor : float
        The least variance of a component in any direction, as a share of the column's.
    criterion : "bic", "icl" or "cheeseman-stutz"; max_components : int
        For n_components="auto".
    random_state, n_jobs : optional

    >>> from credo.estimators import GaussianMixture
    >>> X = [[1.0, 0.1], [1.2, 0.0], [0.9, None], [5.0, 3.0], [5.3, 3.2], [None, 2.9]]
    >>> model = GaussianMixture(2, covariance_type="spherical", random_state=0).fit(X)
    >>> labels = model.predict(X)
    >>> bool((labels[:3] == labels[0]).all() and (labels[3:] != labels[0]).all())
    True
    """

    _classes = "components"

    def __init__(
        self,
        n_components: Any = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-6,
        max_iter: int = 1000,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        warm_start: bool = False,
        reg_covar: float = 0.0,
        prior: float = 0.0,
        variance_floor: float = 1e-6,
        accelerate: bool = True,
        criterion: str = "bic",
        max_components: int = 9,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.warm_start = warm_start
        self.reg_covar = reg_covar
        self.prior = prior
        self.variance_floor = variance_floor
        self.accelerate = accelerate
        self.criterion = criterion
        self.max_components = max_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    # --- learning -------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the mixture; `y` is not used."""
        choice(self.covariance_type, tuple(_TYPES), "covariance_type")
        self._check()
        cells, start = self._cells(X, reset=True), self._start()
        record = self._learn(
            cells,
            sample_weight,
            covariance=_TYPES[self.covariance_type],
            start=start,
            given=self._placed() if isinstance(start, str) else None,
            least_variance=at_least(self.reg_covar, 0.0, "reg_covar"),
        )
        part = self.mixture_.gaussians
        assert part is not None
        self.means_ = np.array(part.means)
        self.covariances_ = np.array(part.covariances)
        if not self.converged_:
            warnings.warn(
                f"GaussianMixture did not converge: {record.reason}. Raise max_iter or tol, or "
                "look for columns that repeat each other.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    @property
    def precisions_(self) -> Floats:
        """The inverse of each covariance, in the shape of `covariances_`.

        >>> GaussianMixture().fit([[0.0], [2.0], [4.0]]).precisions_.round(3).tolist()
        [[[0.375]]]
        """
        check_is_fitted(self, "mixture_")
        return _inverse(self.covariances_, _TYPES[self.covariance_type])

    def _start(self) -> str | Mixture:
        last = getattr(self, "mixture_", None)
        return last if self.warm_start and last is not None else STARTS[self.init_params]

    def _placed(self) -> Callable[[Mixture], Mixture] | None:
        """What puts the numbers that were given in the place of those of a start."""
        given = (self.weights_init, self.means_init, self.precisions_init)
        if all(g is None for g in given):
            return None
        weights, means, precisions = (None if g is None else readonly(g) for g in given)
        form = _TYPES[self.covariance_type]
        spread = None if precisions is None else _inverse(precisions, form)

        def placed(start: Mixture) -> Mixture:
            part = start.gaussians
            assert part is not None
            shapes = (("weights_init", weights, start.weights), ("means_init", means, part.means))
            for name, g, own in shapes:
                if g is not None and g.shape != own.shape:
                    raise InputError(f"{name} must have the shape {own.shape}, got {g.shape}.")
            bells = Gaussians(
                part.names,
                part.means if means is None else means,
                part.covariances if spread is None else spread,
                form,
            )
            return Mixture(start.weights if weights is None else weights, (bells,), start.name)

        return placed

    def _cells(self, X: Any, reset: bool) -> Taken:
        """X as columns of numbers, after scikit-learn's own checks of its shape and names."""
        if is_named_table(X):
            table = X if isinstance(X, (Table, Stream)) else read(X)
            table = table.load() if isinstance(table, Stream) else table
            if reset:
                plan = gaussian_plan(table)
                self.feature_names_in_ = np.array(plan.reals, dtype=object)
                self.n_features_in_ = len(plan.reals)
                self._named = plan.reals
            return taken(Plan(self._named), table)
        X = unmasked(X)
        _refuse_no_numbers(X)
        X = validate_data(self, X=X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")
        if reset:
            names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])])
            self._named = tuple(str(n) for n in names)
        reals = np.ascontiguousarray(X.T)
        return Taken(Plan(self._named), reals, np.zeros((0, len(X))), ())

    # --- answering ------------------------------------------------------------------------

    def sample(self, n_samples: int = 1) -> tuple[Floats, NDArray[np.intp]]:
        """Rows drawn from the mixture, and the component of each."""
        check_is_fitted(self, "mixture_")
        whole(n_samples, 1, "n_samples")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        table = self.mixture_.sample(n_samples, rng=rng)
        *columns, label = table.block.arrays
        return np.stack(columns, axis=1), label.astype(np.intp)

    # --- what scikit-learn asks -----------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _inverse(matrices: Floats, form: str) -> Floats:
    """Covariances from precisions of a form, or the other way round."""
    if form not in ("full", "tied"):
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / matrices)
    square = matrices.ndim >= 2 and matrices.shape[-1] == matrices.shape[-2]
    if not square or not np.allclose(matrices, np.swapaxes(matrices, -1, -2)):
        raise InputError("precisions_init must be symmetric matrices.")
    try:
        return np.asarray(np.linalg.inv(matrices))
    except np.linalg.LinAlgError:
        raise InputError("precisions_init must be positive definite.") from None


def _refuse_no_numbers(X: Any) -> None:
    """Name the columns of a frame that hold no numbers, or have a name twice."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "dtypes"):
        return
    names = list(columns)
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"X has several columns {str(name)!r}.", hint="Rename or drop them.")
        cells = np.asarray(X[name])
        if cells.dtype.kind in "biufc":
            continue
        for cell in cells.tolist() if cells.dtype.kind == "O" else X[name]:
            if not is_missing(cell) and not isinstance(cell, (Real, Decimal)):
                what = "text" if isinstance(cell, str) else "something else"
                polars = type(X).__module__.startswith("polars")
                drop = f"{str(name)!r}" if polars else f"columns=[{str(name)!r}]"
                raise InputError(
                    f"A Gaussian mixture needs numbers, and the column {str(name)!r} holds {what}, "
                    f"such as {shown(cell)}.",
                    hint=f"Leave it out (X.drop({drop})), or use LatentClasses.",
                )
