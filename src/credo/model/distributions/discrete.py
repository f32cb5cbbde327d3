"""The engine of the discrete distributions: Bernoulli is a categorical of two states.

    p(x) = π_x,   ln p(data) = Σ_k n_k ln π_k,   mle: π_k = n_k / n

`zeros` lists the states of probability zero: those never seen, under maximum likelihood; those at
the edge, where a mode lies there; those that were given so.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.errors import InputError
from credo.core.render import bar
from credo.core.schema import Variable
from credo.model.answers.distribution import Distribution, numeric
from credo.model.distributions.likelihood import (
    LikelihoodCurve,
    checked_grid,
    log_probability_curve,
)
from credo.model.distributions.point import Point, chosen, no_data, picked
from credo.model.values.data import States, counted, known_states
from credo.model.values.probabilities import drawn
from credo.model.values.randomness import Rng
from credo.model.values.reals import shown
from credo.model.values.sources import is_source, source_counts, values_of
from credo.model.values.value import NAME, WEIGHT, View, ordered, positive, text
from credo.stats.counts import Counts

if TYPE_CHECKING:
    from credo.model.distributions.pseudocounts import Pseudocounts

__all__ = ["Discrete"]


class Discrete(Point):
    """What Bernoulli and Categorical share; each says its states and their probabilities."""

    __slots__ = ()

    states: tuple[Any, ...]
    name: str
    _example: ClassVar[str]  # of a prior, as it is written

    @property
    @abstractmethod
    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each state, in the order of the states."""

    @classmethod
    @abstractmethod
    def _with(cls, p: NDArray[np.float64], states: tuple[Any, ...], name: str) -> Self: ...

    @classmethod
    @abstractmethod
    def _states_of(cls, data: States) -> tuple[Any, ...]:
        """The states of raw data, where the user named none."""

    @classmethod
    @abstractmethod
    def _belief(cls) -> type[Pseudocounts]:
        """The kind of the conjugate prior."""

    @classmethod
    @abstractmethod
    def _prior(cls, alpha: float, states: tuple[Any, ...], name: str) -> Pseudocounts:
        """The conjugate prior with `alpha` pseudo-counts for each state."""

    # --- what it is -------------------------------------------------------------------------

    @property
    def variable(self) -> Variable:
        """The variable: its name and its states."""
        return Variable(self.name, "discrete", self.states)

    def distribution(self) -> Distribution:
        """The same probabilities as an answer."""
        return Distribution((self.variable,), self.probabilities)

    @property
    def zeros(self) -> tuple[Any, ...]:
        """The states of probability zero, whether learned or given."""
        return tuple(s for s, p in zip(self.states, self.probabilities, strict=True) if p == 0)

    @property
    def mode(self) -> Any:
        """The most probable state; the first of equals."""
        return self.states[int(self.probabilities.argmax())]

    @property
    def mean(self) -> float:
        """The mean of the states, when they are numbers (False is 0, True is 1)."""
        return float(numeric(self.variable) @ self.probabilities)

    @property
    def variance(self) -> float:
        """The variance of the states, when they are numbers."""
        return float((numeric(self.variable) - self.mean) ** 2 @ self.probabilities)

    def __getitem__(self, state: Any) -> float:
        return float(self.probabilities[self.variable.code(state)])

    def logpdf(self, x: Any) -> Any:
        """The log-probability of a state, or of each state in a list or array."""
        variable = self.variable
        with np.errstate(divide="ignore"):
            logs = np.log(self.probabilities)
        if isinstance(x, np.ndarray) and not x.ndim:
            x = x.item()
        if isinstance(x, np.ndarray):
            codes = np.array([variable.code(s) for s in x.ravel().tolist()], dtype=np.intp)
            return logs[codes.reshape(x.shape)]
        if isinstance(x, list) or (
            hasattr(x, "__array__") and not isinstance(x, np.generic)
        ):  # a column of any frame
            found = [variable.code(s) for s in (x if isinstance(x, list) else values_of(x))]
            return logs[np.array(found, dtype=np.intp)]
        return float(logs[variable.code(x)])

    def log_likelihood(self, data: States) -> float:
        """Σ n_k ln π_k; −inf when a state of probability zero was seen."""
        n = counted(data, self.states, self.name).values
        seen = n > 0
        with np.errstate(divide="ignore"):
            return float(n[seen] @ np.log(self.probabilities[seen]))

    def sample(self, n: int, rng: Rng) -> list[Any]:
        """States drawn at random, in the user's own values."""
        return [self.states[i] for i in drawn(self.probabilities, n, rng)]

    # --- learning ---------------------------------------------------------------------------

    @classmethod
    def _counts(cls, data: States, states: Sequence[Any] | None, name: str | None) -> Counts:
        if isinstance(data, Iterator):
            data = list(data)  # it is looked at twice: for its states and for their counts
        called = NAME if name is None else text(name, "The name")
        if is_source(data):
            data = source_counts(data, called)  # one pass, for the states and for their counts
        known = known_states(data) if states is None else ordered(states, "The states")
        return counted(data, cls._states_of(data) if known is None else known, called)

    @classmethod
    def _posterior(
        cls, data: States, prior: Any, states: Sequence[Any] | None, name: str | None
    ) -> Any:
        if type(prior) is cls._belief():
            given = prior.states if states is None else ordered(states, "The states")
            if sorted(map(repr, given)) != sorted(map(repr, prior.states)):
                raise InputError(
                    f"The states {list(given)} are not those of the prior, {list(prior.states)}."
                )
            return prior.update(data)
        if prior is not None and (isinstance(prior, bool) or not isinstance(prior, Real)):
            raise InputError(
                f"The prior of a {cls.__name__} must be a cr.{cls._belief().__name__}, or a "
                f"number of pseudo-counts for each state, got {shown(prior)}."
            )
        counts = cls._counts(data, states, name)
        flat = cls._prior(
            1.0 if prior is None else positive(prior, "The prior", WEIGHT),
            counts.variables[0].states,
            counts.names[0],
        )
        return flat.update(counts)

    @classmethod
    def fit(
        cls,
        data: States,
        prior: Any = None,
        estimate: str | None = None,
        *,
        states: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> Self:
        """The distribution learned from data: raw values, a mapping to counts, or `Counts`.

        Without a prior by maximum likelihood; with one, at the posterior `mean` or `map`.
        `prior` may be a number: that many pseudo-counts for each state.
        """
        how = chosen(estimate, prior, cls._example)
        if how != "mle":
            fitted: Self = picked(cls._posterior(data, prior, states, name), how)
            return fitted
        counts = cls._counts(data, states, name)
        if not counts.total:
            raise no_data(f"a {cls.__name__}", "1.0 (pseudo-counts for each state)")
        variable = counts.variables[0]
        return cls._with(counts.values / counts.total, variable.states, variable.name)

    @classmethod
    def likelihood_curve(
        cls,
        data: States,
        grid: ArrayLike | None = None,
        *,
        of: Any = None,
        states: Sequence[Any] | None = None,
    ) -> LikelihoodCurve:
        """The log-likelihood over the probability of one state (the last one, if none is named).

        With more than two states the others keep their best proportions (the profile).
        """
        counts = cls._counts(data, states, None)
        variable, n = counts.variables[0], counts.values
        code = variable.arity - 1 if of is None else variable.code(of)
        others = np.delete(n, code)
        total, rest = float(n.sum()), float(others.sum())
        points = (
            np.union1d(np.linspace(0, 1, 201), [n[code] / total] if total else [])
            if grid is None
            else _probabilities(checked_grid(grid, "a probability"))
        )
        shares = others[others > 0] / rest if rest else others[:0]
        profile = float(others[others > 0] @ np.log(shares)) if rest else 0.0
        values = log_probability_curve(float(n[code]), rest, points) + profile
        return LikelihoodCurve((f"P({variable.states[code]})",), (points,), values)

    def _view(self) -> View:
        rows = [
            [s, f"{p:.6g}", bar(float(p))]
            for s, p in zip(self.variable.texts[:60], self.probabilities[:60], strict=True)
        ]
        note = ""
        if self.zeros:
            shown = ", ".join(map(repr, self.zeros[:12]))
            more = f" and {len(self.zeros) - 12:,} more" if len(self.zeros) > 12 else ""
            note = f"probability zero: {shown}{more}"
        return View(type(self).__name__, [self.name, "p", ""], rows, (1,), note)


def _probabilities(grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """The grid, if all of it lies between 0 and 1."""
    outside = grid[(grid < 0) | (grid > 1)]
    if outside.size:
        raise InputError(
            f"The grid of a probability must lie between 0 and 1, got {outside[0]:.6g}."
        )
    return grid
