"""The parts of a mixture: for some columns, one distribution for each class.

    Gaussians   N(x; mean[c], Σ[c]), Σ full, tied (one for all), diagonal or spherical (σ²·I)
    Tables      θ[c, x] = P(x | c)
    Rates       Poisson(x; λ[c])

Given the class, the parts are independent; within a full or tied Gaussian the columns are not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.frozen import Frozen
from credo.core.render import number, table_html
from credo.core.schema import Variable
from credo.model.values.reals import Floats
from credo.model.values.value import choice, readonly

FORMS = ("full", "tied", "diagonal", "spherical")
"""How the covariances of the classes may look."""


@dataclass(frozen=True, eq=False, slots=True)
class Gaussians(Frozen):
    """Several continuous columns: a mean and a covariance for each class.

    The shape of `covariances` goes with the form: full [k, d, d], tied [d, d], diagonal [k, d],
    spherical [k].

    >>> part = Gaussians(("x", "y"), [[0, 0], [3, 1]], [[1, 4], [1, 1]], "diagonal")
    >>> part.matrices[0].tolist()
    [[1.0, 0.0], [0.0, 4.0]]
    """

    names: tuple[str, ...]
    means: Floats
    covariances: Floats
    form: str = "full"

    def __post_init__(self) -> None:
        choice(self.form, FORMS, "form")
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "means", readonly(self.means))
        object.__setattr__(self, "covariances", readonly(self.covariances))
        if self.means.ndim != 2 or self.means.shape[1] != len(self.names) or not self.names:
            raise InputError("The means of a mixture need a row a class and a number a column.")
        k, d = self.means.shape
        shape = {"full": (k, d, d), "tied": (d, d), "diagonal": (k, d), "spherical": (k,)}
        if self.covariances.shape != shape[self.form]:
            raise InputError(
                f"The covariances of the form {self.form!r} must have the shape "
                f"{shape[self.form]}, got {self.covariances.shape}."
            )
        if not (np.isfinite(self.means).all() and np.isfinite(self.covariances).all()):
            raise InputError("The means and covariances of a mixture must be finite.")
        try:
            if self.form in ("full", "tied"):
                np.linalg.cholesky(self.covariances)
            positive = bool((self.matrices.diagonal(0, 1, 2) > 0).all())
        except np.linalg.LinAlgError:
            positive = False
        if not positive:
            raise InputError("Every covariance of a mixture must be positive definite.")

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.means)

    @property
    def free_parameters(self) -> int:
        """Means, and what the form leaves free of the covariances."""
        k, d = self.means.shape
        free = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diagonal": k * d}
        return int(k * d + free.get(self.form, k))

    @property
    def matrices(self) -> Floats:
        """The covariance matrix of each class, whatever the form."""
        k, d = self.means.shape
        if self.form == "full":
            return self.covariances
        if self.form == "tied":
            return np.broadcast_to(self.covariances, (k, d, d))
        scale = self.variances
        return scale[:, :, None] * np.eye(d)

    @property
    def variances(self) -> Floats:
        """The variance of each column in each class."""
        k, d = self.means.shape
        if self.form == "diagonal":
            return self.covariances
        if self.form == "spherical":
            return np.broadcast_to(self.covariances[:, None], (k, d))
        found: Floats = np.asarray(self.matrices).diagonal(0, 1, 2)
        return found

    def _repr_html_(self) -> str:
        spread = np.sqrt(np.diagonal(self.matrices, axis1=1, axis2=2))
        rows = [
            [
                str(c),
                *(f"{number(float(m))} ± {number(float(s))}" for m, s in zip(a, b, strict=True)),
            ]
            for c, (a, b) in enumerate(zip(self.means, spread, strict=True))
        ]
        return table_html(["class", *self.names], rows, caption="mean ± standard deviation")

    def reordered(self, order: NDArray[np.intp]) -> Gaussians:
        """The same with the classes in another order."""
        own = self.covariances if self.form == "tied" else self.covariances[order]
        return Gaussians(self.names, self.means[order], own, self.form)


@dataclass(frozen=True, eq=False, slots=True)
class Tables(Frozen):
    """One discrete column: P(state | class), a row a class.

    >>> Tables(Variable("x", "discrete", ("a", "b")), [[0.9, 0.1], [0.2, 0.8]]).values[1, 0]
    np.float64(0.2)
    """

    variable: Variable
    values: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", readonly(self.values))
        good = self.values.ndim == 2 and self.values.shape[1] == self.variable.arity
        if not good or (self.values < 0).any() or not np.allclose(self.values.sum(axis=1), 1.0):
            raise InputError(
                f"The table of {self.variable.name!r} must have a row of {self.variable.arity} "
                "probabilities that add up to 1 for each class."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The variable."""
        return (self.variable.name,)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.values)

    @property
    def free_parameters(self) -> int:
        """Each row adds up to 1."""
        return int(self.values.shape[0] * (self.values.shape[1] - 1))

    def _repr_html_(self) -> str:
        head = ["class", *(str(s) for s in self.variable.states)]
        rows = [[str(c), *(number(float(p)) for p in row)] for c, row in enumerate(self.values)]
        return table_html(head, rows, caption=f"P({self.variable.name} | class)")

    def reordered(self, order: NDArray[np.intp]) -> Tables:
        """The same with the classes in another order."""
        return Tables(self.variable, self.values[order])


@dataclass(frozen=True, eq=False, slots=True)
class Rates(Frozen):
    """One column of counts 0, 1, 2, …: a Poisson rate for each class.

    >>> Rates("visits", [0.5, 4.0]).free_parameters
    2
    """

    name: str
    rates: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "rates", readonly(self.rates))
        if self.rates.ndim != 1 or not (np.isfinite(self.rates) & (self.rates > 0)).all():
            raise InputError(f"The rates of {self.name!r} must be one number above 0 a class.")

    @property
    def names(self) -> tuple[str, ...]:
        """The variable."""
        return (self.name,)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.rates)

    @property
    def free_parameters(self) -> int:
        """A rate a class."""
        return len(self.rates)

    def _repr_html_(self) -> str:
        rows = [[str(c), number(float(r))] for c, r in enumerate(self.rates)]
        return table_html(["class", "rate"], rows, caption=self.name)

    def reordered(self, order: NDArray[np.intp]) -> Rates:
        """The same with the classes in another order."""
        return Rates(self.name, self.rates[order])


Part = Gaussians | Tables | Rates
