"""Softmax: a state given numbers, a multinomial logistic regression.

    P(x = k | u, y) = exp(a_uk + b_uk · y) / Σ_j exp(a_uj + b_uj · y)

`u` is a configuration of the discrete parents and `y` the continuous ones. What is believed after
the rows is a Gaussian about the most probable coefficients (Laplace); where the numbers are known
the family is a table over the discrete parents, and every engine takes that.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, softmax

from credo.core.errors import InputError, SchemaError, unknown_name
from credo.core.render import Shown, View, number
from credo.core.schema import Variable
from credo.model.answers.credible import Credible
from credo.model.answers.distribution import Distribution
from credo.model.networks.cpt import Cpt
from credo.model.networks.family import Conditional, family
from credo.model.values.learned import Learned
from credo.model.values.value import finite, readonly

__all__ = ["Softmax", "SoftmaxPosterior", "SoftmaxTable"]

Floats = NDArray[np.float64]

_DRAWS = 4000
_SHOWN = 64


@dataclass(frozen=True, eq=False)
class SoftmaxPosterior:
    """A Gaussian of the coefficients of all states but the first, the states one after the other.

    They belong to a 1, to each state of each discrete parent, and to each number less its `centre`
    and divided by its `spread`: `mean` [states − 1, columns], `covariance` of all together.
    """

    mean: Floats
    covariance: Floats
    centre: Floats
    spread: Floats

    def __post_init__(self) -> None:
        for name in ("mean", "covariance", "centre", "spread"):
            object.__setattr__(self, name, readonly(getattr(self, name)))

    def draw(self, n: int, uniforms: np.random.Generator) -> Floats:
        """Draws of the coefficients: [n, states − 1, columns]."""
        values, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        noise = uniforms.standard_normal((n, self.mean.size))
        return np.asarray(self.mean + (noise @ root.T).reshape(n, *self.mean.shape))

    def columns(self, shape: tuple[int, ...], y: Floats) -> Floats:
        """What the coefficients are multiplied by, in each configuration: [u, columns]."""
        at = np.indices(shape).reshape(len(shape), -1) if shape else np.zeros((0, 1), np.intp)
        parts = [np.ones((at.shape[1], 1))]
        parts += [np.eye(arity)[codes] for arity, codes in zip(shape, at, strict=True)]
        parts.append(np.broadcast_to((y - self.centre) / self.spread, (at.shape[1], len(y))))
        return np.hstack(parts)

    def tables(self, drawn: Floats, shape: tuple[int, ...], y: Floats) -> Floats:
        """The tables of some draws where the numbers are `y`: [n, u, states]."""
        eta = np.einsum("nsc,uc->nus", drawn, self.columns(shape, y))
        return np.asarray(softmax(np.concatenate([np.zeros((*eta.shape[:2], 1)), eta], -1), -1))


@dataclass(frozen=True, eq=False)
class SoftmaxTable(Cpt):
    """The table of a softmax where its numbers are known to be `numbers`."""

    posterior: SoftmaxPosterior | None = None
    numbers: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def has_posterior(self) -> bool:
        """Whether it knows how sure it is."""
        return self.posterior is not None

    def drawn(self, n: int, gammas: np.random.Generator, uniforms: np.random.Generator) -> Floats:
        """Draws of the table, flat: [n, cells]."""
        assert self.posterior is not None
        drawn = self.posterior.draw(n, uniforms)
        return self.posterior.tables(drawn, self.shape[:-1], self.numbers).reshape(n, -1)


@dataclass(frozen=True, eq=False)
class Softmax(Conditional, Shown):
    """P(child | parents) for a child with states and one continuous parent or more.

    `intercept` has an axis for each discrete parent and a last one for the states, `coefficients`
    one more for the continuous parents; those of a transformed number are of what is behind its
    transform. `posterior`, if there is one, is what is believed of them.

    >>> age, ill = Variable("age", "continuous"), Variable("ill", "discrete", ("no", "yes"))
    >>> local = Softmax(ill, (age,), [0.0, -5.0], [[0.0], [0.1]])
    >>> local.given({"age": 50.0})
    Distribution(ill: no 0.5, yes 0.5)
    >>> print(local)
    P(ill | age): softmax
    ill  intercept  × age
    no           0      0
    yes         -5    0.1
    """

    child: Variable
    parents: tuple[Variable, ...]
    intercept: Floats
    coefficients: Floats
    posterior: SoftmaxPosterior | None = None
    ridge: float = field(default=1.0, compare=False, repr=False)
    learned: Learned | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", family(self.child, self.parents))
        if not self.child.is_discrete or not self.continuous:
            raise SchemaError(
                f"A softmax is of a child with states and a continuous parent, and "
                f"{self.child.name!r} is not."
            )
        shape = (*(v.arity for v in self.discrete), self.child.arity)
        for what, wanted in (
            ("intercept", shape), ("coefficients", (*shape, len(self.continuous)))
        ):  # fmt: skip
            given = np.asarray(getattr(self, what), np.float64)
            if given.shape == wanted[len(wanted) - given.ndim :]:
                given = np.broadcast_to(given, wanted)
            if given.shape != wanted or not np.isfinite(given).all():
                raise InputError(
                    f"The {what} of {self.child.name!r} must be finite numbers of the shape "
                    f"{wanted}, got {given.shape}."
                )
            object.__setattr__(self, what, readonly(given))

    @property
    def free_parameters(self) -> int:
        """Main effects: a 1, the states of each discrete parent but one, and each number, for each
        state but one."""
        columns = 1 + sum(v.arity - 1 for v in self.discrete) + len(self.continuous)
        return (self.child.arity - 1) * columns

    def log_probabilities(self, at: Sequence[Any], numbers: Sequence[ArrayLike]) -> Floats:
        """ln P(state) of some rows [row, state]: codes of the discrete parents, then numbers."""
        eta: Any = self.intercept[tuple(at)]
        for k, y in enumerate(numbers):
            slope = self.coefficients[..., k][tuple(at)]
            eta = eta + slope * np.asarray(y, np.float64)[..., None]
        return np.asarray(log_softmax(eta, axis=-1))

    def table_at(self, numbers: Mapping[str, float]) -> SoftmaxTable:
        """The table over the discrete parents where the numbers, as the model has them, are known.

        >>> x, d = Variable("x", "continuous"), Variable("d", "discrete", (0, 1))
        >>> Softmax(d, (x,), [0.0, 0.0], [[0.0], [1.0]]).table_at({"x": 0.0}).values.tolist()
        [0.5, 0.5]
        """
        y = np.array([numbers[p.name] for p in self.continuous])
        values = np.asarray(softmax(self.intercept + self.coefficients @ y, axis=-1))
        return SoftmaxTable(self.child, self.discrete, values, None, 0.0, None, self.posterior, y)

    def given(self, parents: Mapping[str, Any]) -> Distribution:
        """The distribution of the child when every parent is known."""
        names = [p.name for p in self.parents]
        for name in parents:
            if name not in names:
                raise unknown_name("Parent", name, names, f"one of {self.child.name!r}")
        lacking = [n for n in names if n not in parents]
        if lacking:
            raise InputError(f"{self.child.name!r} needs a value for {lacking[0]!r} too.")
        y = {}
        for p in self.continuous:
            value = finite(parents[p.name], f"The value of {p.name!r}")
            y[p.name] = value if p.scale is None else float(p.scale.forward(value))  # type: ignore[union-attr]
        return self.table_at(y).row({p.name: parents[p.name] for p in self.discrete})

    def interval(self, level: float = 0.95, of: str = "") -> Credible:
        """The credible intervals of a number's coefficients, of each state against the first.

        >>> import credo as cr
        >>> rows = {"age": [20.0, 30, 40, 50, 60, 70] * 5, "ill": list("nnnyny") * 5}
        >>> net = cr.fit("[age][ill|age]", rows)
        >>> low, high = net.cpt("ill").interval(0.95, of="age")
        >>> bool(0 < low[0] < high[0] < 0.3)
        True
        """
        names = [p.name for p in self.continuous]
        of = of or names[0]
        if of not in names:
            raise unknown_name("The parent", of, names, "a number that it depends on")
        if self.posterior is None:
            raise InputError(f"The softmax of {self.name!r} has no posterior, so no interval.")
        drawn = self.posterior.draw(_DRAWS, np.random.default_rng(0))
        k = names.index(of)
        return Credible.of(drawn[..., k - len(names)] / self.posterior.spread[k], level)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Softmax):
            return NotImplemented
        return self.variables == other.variables and all(
            np.array_equal(getattr(self, a), getattr(other, a))
            for a in ("intercept", "coefficients")
        )

    def __hash__(self) -> int:
        return hash((self.variables, self.intercept.tobytes(), self.coefficients.tobytes()))

    @property
    def title(self) -> str:
        """`P(child | parents)`."""
        return f"P({self.name} | {', '.join(p.name for p in self.parents)})"

    def _view(self) -> View:
        head = [*(p.name for p in self.discrete), self.name, "intercept"]
        head += [
            f"× {p.name if p.scale is None else f'{p.scale.words} of {p.name}'}"
            for p in self.continuous
        ]
        axes = [*(p.texts for p in self.discrete), self.child.texts]
        numbers = np.concatenate([self.intercept[..., None], self.coefficients], axis=-1)
        flat = numbers.reshape(-1, numbers.shape[-1])
        each = itertools.islice(itertools.product(*axes), _SHOWN)
        rows = [[*states, *map(number, flat[i].tolist())] for i, states in enumerate(each)]
        hidden = len(flat) - len(rows)
        note = f"… {hidden:,} more rows" if hidden else ""
        return View(f"{self.title}: softmax", head, rows, range(len(axes), len(head)), note)

    def __repr__(self) -> str:
        return f"Softmax({self.title})"
