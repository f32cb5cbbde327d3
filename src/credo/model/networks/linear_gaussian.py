"""LinearGaussian: a continuous child as a line in its continuous parents, plus Gaussian noise.

    x | u, y ~ N( a_u + b_uᵀ y,  σ²_u )

`u` is a configuration of the discrete parents (one line for each: conditional linear Gaussian)
and `y` the continuous parents. What is believed of the lines after the rows is a `LinePosterior`:
for each configuration, with y centred at c,

    σ² ~ inverse-gamma(α, β),   x at c | σ² ~ N(m, σ²/n),   b | σ² ~ N(b̂, σ² S⁻¹)

The value at the centre and the slopes are independent given σ², so nothing is lost when the
parents lie far from 0. Alone, each coefficient is a Student t with 2α degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.errors import InputError, SchemaError, unknown_name
from credo.core.render import Shown, View, text_html
from credo.core.schema import Variable
from credo.model.answers.credible import Credible
from credo.model.answers.interval import Interval, tails
from credo.model.distributions.gaussian import Gaussian
from credo.model.distributions.quantiles import gamma_quantile
from credo.model.networks.family import Conditional, family
from credo.model.values.learned import Learned
from credo.model.values.value import finite, readonly

__all__ = ["LinePosterior", "LinearGaussian"]

Floats = NDArray[np.float64]

_DRAWS = 4000  # of a line whose posterior is a mixture


@dataclass(frozen=True, eq=False, repr=False)
class LinePosterior:
    """The posterior of lines, one for each configuration `u` of the discrete parents.

    `weight` [u], `centre` [u, k], `mean` [u], `slope` [u, k], `spread` [u, k, k], `alpha` [u] and
    `beta` [u] are n, c, m, b̂, S, α and β above.
    """

    weight: Floats
    centre: Floats
    mean: Floats
    slope: Floats
    spread: Floats
    alpha: Floats
    beta: Floats

    def __post_init__(self) -> None:
        for f in fields(self):
            object.__setattr__(self, f.name, readonly(getattr(self, f.name)))
        shape, k = self.weight.shape, self.slope.shape[-1:]
        wanted: dict[str, tuple[int, ...]] = dict.fromkeys(("mean", "alpha", "beta"), shape)
        wanted |= {"centre": (*shape, *k), "slope": (*shape, *k), "spread": (*shape, *k, *k)}
        for what, right in wanted.items():
            if getattr(self, what).shape != right:
                raise InputError(f"The {what} of a line's posterior must have the shape {right}.")
        for what in ("weight", "alpha", "beta"):
            if not (getattr(self, what) > 0).all():
                raise InputError(f"The {what} of a line's posterior must be above 0.")
        if not np.isfinite(self.spread).all():
            raise InputError("The spread of a line's posterior must be finite.")

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of states of each discrete parent."""
        return self.weight.shape

    @property
    def parents(self) -> int:
        """The number of continuous parents."""
        return int(self.slope.shape[-1])

    def take(self, at: NDArray[np.intp]) -> LinePosterior:
        """Some entries along the first axis."""
        return LinePosterior(*(getattr(self, f.name)[at] for f in fields(self)))

    def scale(self, of: int | None) -> Floats:
        """The scale of the Student t of a slope, or (None) of the intercept at y = 0."""
        inverse = np.linalg.inv(self.spread) if self.parents else self.spread
        if of is None:
            extra = np.einsum("...i,...ij,...j->...", self.centre, inverse, self.centre)
            size = 1.0 / self.weight + extra
        else:
            size = inverse[..., of, of]
        out: Floats = np.sqrt(self.beta / self.alpha * size)
        return out

    def interval(
        self, level: float, of: str, names: tuple[str, ...], completed: bool = False
    ) -> Interval:
        """The central credible intervals of `intercept`, `variance`, or a parent's slope.

        Where the first axis has some completions of the rows, of their mixture, by draws.
        """
        from scipy.special import stdtrit

        if of not in ("intercept", "variance", *names):
            known = ("intercept", "variance", *names)
            raise unknown_name("The coefficient", of, known, "one of the line")
        if completed:
            times = -(-_DRAWS // len(self.weight))
            chance = np.random.default_rng(0)
            each = self.take(np.repeat(np.arange(len(self.weight)), times))
            intercept, slope, variance = (p[0] for p in each.draw(1, chance, chance))
            drawn = {"intercept": intercept, "variance": variance}
            drawn |= {n: slope[..., k] for k, n in enumerate(names)}
            return Credible.of(drawn[of], level, chained=True)
        low, high = tails(level)
        if of == "variance":
            with np.errstate(over="ignore", divide="ignore"):
                least: Any = self.beta / gamma_quantile(self.alpha, low, above=True)
                most: Any = self.beta / gamma_quantile(self.alpha, low)
            return Interval(least, np.maximum(least, most), level)
        if of == "intercept":
            middle = self.mean - (self.slope * self.centre).sum(axis=-1)
            scale = self.scale(None)
        else:
            at = names.index(of)
            middle, scale = self.slope[..., at], self.scale(at)
        away = stdtrit(2 * self.alpha, high) * scale
        return Interval(middle - away, middle + away, level)

    def draw(
        self, n: int, gammas: np.random.Generator, normals: np.random.Generator
    ) -> tuple[Floats, Floats, Floats]:
        """Draws of intercept [n, u], slopes [n, u, k] and variance [n, u].

        Variances and coefficients have a generator each, so that draws taken in parts are the
        draws taken at once.
        """
        size, k = (n, *self.shape), self.parents
        variance = self.beta / np.maximum(gammas.standard_gamma(self.alpha, size), 1e-290)
        noise = normals.standard_normal((*size, k + 1))
        sd = np.sqrt(variance)
        value = self.mean + sd * noise[..., 0] / np.sqrt(self.weight)
        slope = np.broadcast_to(self.slope, (*size, k)).copy()
        if k:
            root = np.linalg.inv(np.linalg.cholesky(self.spread))
            slope += sd[..., None] * np.einsum("...ji,n...j->n...i", root, noise[..., 1:])
        intercept = value - (slope * self.centre).sum(axis=-1)
        return intercept, slope, variance

    def _repr_html_(self) -> str:
        return text_html(self)


@dataclass(frozen=True, eq=False)
class LinearGaussian(Shown, Conditional):
    """P(child | parents) for a continuous child.

    `intercept` and `variance` have one axis per discrete parent (none: they are numbers);
    `coefficients` one more, for the continuous parents in order. `posterior`, if there is one, is
    what is believed of the lines; `learned` says what they were learned from.

    >>> x, y = Variable("x", "continuous"), Variable("y", "continuous")
    >>> line = LinearGaussian(y, (x,), intercept=1.0, coefficients=[2.0], variance=0.25)
    >>> line.given({"x": 3.0})
    Gaussian(mean=7, variance=0.25)
    """

    child: Variable
    parents: tuple[Variable, ...]
    intercept: Floats
    coefficients: Floats
    variance: Floats
    posterior: LinePosterior | None = None
    learned: Learned | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", family(self.child, self.parents))
        if self.child.is_discrete:
            raise SchemaError(f"The discrete variable {self.child.name!r} needs a table.")
        shape = tuple(v.arity for v in self.discrete)
        lines = {"intercept": shape, "variance": shape}
        lines["coefficients"] = (*shape, len(self.continuous))
        for what, wanted in lines.items():
            given = self._array(getattr(self, what), what)
            one = given.ndim == 0 or (what == "coefficients" and given.shape == wanted[-1:])
            if one and given.shape != wanted:
                given = np.broadcast_to(given, wanted)
            if given.shape != wanted:
                raise InputError(
                    f"The {what} of {self.child.name!r} must have the shape {wanted}, "
                    f"got {given.shape}."
                )
            object.__setattr__(self, what, readonly(given))
        if not (self.variance > 0).all():
            raise InputError(
                f"The variance of {self.child.name!r} must be above 0, "
                f"got {float(self.variance.min()):g}."
            )
        if self.posterior is not None and (
            self.posterior.shape != shape or self.posterior.parents != len(self.continuous)
        ):
            raise InputError(f"The posterior of {self.child.name!r} does not fit its lines.")

    def _array(self, given: ArrayLike, what: str) -> Floats:
        try:
            array = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            array = np.array(np.nan)
        if not np.isfinite(array).all():
            raise InputError(f"The {what} of {self.child.name!r} must be finite numbers.")
        if (np.abs(array) > 1e150).any():
            raise InputError(
                f"The {what} of {self.child.name!r} must be at most 1e150, "
                f"got {float(np.abs(array).max()):.3g}.",
                hint="Use another unit: divide by a power of ten.",
            )
        return array

    @property
    def free_parameters(self) -> int:
        """Intercept, variance and one slope per continuous parent, for each configuration."""
        return int(self.intercept.size) * (2 + len(self.continuous))

    def given(self, parents: Mapping[str, Any]) -> Gaussian:
        """The distribution of the child when every parent is known."""
        if not isinstance(parents, Mapping):
            raise InputError(f"The parents are given by a mapping, got {parents!r}.")
        names = [p.name for p in self.parents]
        for name in parents:
            if name not in names:
                raise unknown_name("Parent", name, names, f"one of {self.child.name!r}")
        lacking = [n for n in names if n not in parents]
        if lacking:
            raise InputError(f"{self.child.name!r} needs a value for {lacking[0]!r} too.")
        at = tuple(p.code(parents[p.name]) for p in self.discrete)
        y = np.array([finite(parents[p.name], f"The value of {p.name!r}") for p in self.continuous])
        mean = float(self.intercept[at] + self.coefficients[at] @ y)
        return Gaussian(mean, float(self.variance[at]), name=self.child.name)

    def interval(self, level: float = 0.95, of: str = "variance") -> Interval:
        """The credible interval of the `intercept`, the `variance`, or a parent's slope.

        >>> import credo as cr
        >>> rows = {"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "y": [1.1, 2.9, 5.2, 7.1, 8.8, 11.1]}
        >>> net = cr.fit("[x][y|x]", rows, prior=cr.LinePrior())
        >>> print(net.cpt("y").interval(0.95, of="x"))
        1.87799 to 2.09916 (95 %)
        """
        if self.posterior is None:
            raise InputError(
                f"The line of {self.child.name!r} has no posterior, so it has no interval.",
                hint="Learn it with a prior, such as cr.fit(dag, rows, prior=cr.LinePrior()).",
            )
        names = tuple(p.name for p in self.continuous)
        completed = None if self.learned is None else self.learned.completed
        return (completed or self.posterior).interval(level, of, names, completed is not None)

    def log_density(self, value: ArrayLike, continuous: Sequence[ArrayLike]) -> Floats:
        """ln p(value | continuous parents) for every configuration of the discrete parents.

        `value` and each continuous parent have shape [B]; the answer has [B, *configurations].
        """
        x = np.atleast_1d(np.asarray(value, dtype=np.float64))
        extra = (None,) * len(self.discrete)
        mean = np.broadcast_to(self.intercept, (len(x), *self.intercept.shape)).copy()
        for k, y in enumerate(continuous):
            column = np.atleast_1d(np.asarray(y, dtype=np.float64))
            mean += self.coefficients[..., k] * column[(slice(None), *extra)]
        away = x[(slice(None), *extra)] - mean
        log: Floats = -0.5 * (np.log(2 * np.pi * self.variance) + away**2 / self.variance)
        return log

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearGaussian):
            return NotImplemented
        return self.variables == other.variables and all(
            np.array_equal(getattr(self, a), getattr(other, a))
            for a in ("intercept", "coefficients", "variance")
        )

    def __hash__(self) -> int:
        return hash((self.variables, self.intercept.tobytes(), self.coefficients.tobytes()))

    @property
    def title(self) -> str:
        """`p(child | parents)`."""
        given = f" | {', '.join(p.name for p in self.parents)}" if self.parents else ""
        return f"p({self.child.name}{given})"

    def _rows(self, most: int) -> tuple[list[str], list[list[str]], list[int]]:
        head = [*(p.name for p in self.discrete), "intercept"]
        head += [f"× {_on_scale(p)}" for p in self.continuous] + ["sd"]
        rows = []
        for _, at in zip(range(most), np.ndindex(*self.intercept.shape), strict=False):
            states = [str(p.states[i]) for p, i in zip(self.discrete, at, strict=True)]
            numbers = [self.intercept[at], *self.coefficients[at], np.sqrt(self.variance[at])]
            rows.append([*states, *(f"{float(v):.6g}" for v in numbers)])
        return head, rows, list(range(len(self.discrete), len(head)))

    def _view(self) -> View:
        head, rows, right = self._rows(64)
        return View(self._scaled_title, head, rows, right)

    def __repr__(self) -> str:
        return f"LinearGaussian({self.title})"

    @property
    def _scaled_title(self) -> str:
        return self.title if self.child.scale is None else f"{self.title}: {_on_scale(self.child)}"


def _on_scale(variable: Variable) -> str:
    """What a line is of: the number, or what its transform makes of it."""
    return variable.name if variable.scale is None else f"{variable.scale.words} of {variable.name}"
