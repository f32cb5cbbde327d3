"""Categorical: one of several states. A Bernoulli is one of two.

    p(x) = Π_k π_k^[x = k],   ln p(data) = Σ_k n_k ln π_k,   mle: π_k = n_k / n

`zeros` lists the states of probability zero: those never seen, under maximum likelihood; those at
the edge, where a mode lies there; those that were given so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from credo.core.errors import InputError
from credo.core.render import bar
from credo.core.schema import Variable
from credo.model.answers.distribution import Distribution, numeric
from credo.model.distributions.likelihood import LikelihoodCurve, checked_grid
from credo.model.distributions.point import Point, chosen, no_data, picked
from credo.model.values.data import States, counted, distinct, known_states
from credo.model.values.probabilities import drawn, probabilities
from credo.model.values.randomness import Rng
from credo.model.values.reals import Floats, shown
from credo.model.values.sources import is_source, source_counts, values_of
from credo.model.values.value import NAME, WEIGHT, View, finite, ordered, plain, positive, text
from credo.stats.counts import Counts

if TYPE_CHECKING:
    from credo.model.distributions.beta import Beta
    from credo.model.distributions.dirichlet import Dirichlet


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Categorical(Point):
    """One of several states, each with its probability in `p`.

    Given are a mapping from state to probability, or a sequence (the states are then 0, 1, …
    unless they are given).

    >>> Categorical({"red": 0.25, "green": 0.75}).mode
    'green'
    >>> balls = Categorical.fit([1, 3, 2, 1, 1, 3])
    >>> balls.states, balls.p.tolist()
    ((1, 2, 3), [0.5, 0.16666666666666666, 0.3333333333333333])
    >>> balls.mode, round(balls.log_likelihood([1, 3, 2, 1, 1, 3]), 6)
    (1, -6.068426)
    >>> Categorical.fit([1, 3], states=[1, 2, 3]).zeros
    (2,)
    """

    p: Any  # once built, a read-only array
    states: tuple[Any, ...] = ()
    name: str = field(default=NAME, compare=False, repr=False)
    _example: ClassVar[str] = "cr.Dirichlet(1, states=[…])"  # of a prior, as it is written

    def __post_init__(self) -> None:
        given, states = self.p, ordered(self.states, "The states")
        if isinstance(given, Mapping):
            if states and set(states) != set(given):
                raise InputError("Give the states in the mapping, or with states=, not both.")
            states = states or tuple(given)
            given = [given[s] for s in states]
        elif not states:
            given = ordered(given, "The probabilities")
            states = tuple(range(len(given)))
        object.__setattr__(self, "states", Variable(self.name, "discrete", states).states)
        object.__setattr__(self, "p", probabilities(given, (len(states),), repr(self.name)))

    # --- what it is -------------------------------------------------------------------------

    @property
    def probabilities(self) -> Floats:
        """The probability of each state, in the order of the states."""
        p: Floats = self.p
        return p

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
        """The log-probability of a state, or of each state in a list, an array or a column."""
        variable = self.variable
        with np.errstate(divide="ignore"):
            logs = np.log(self.probabilities)
        if isinstance(x, np.ndarray):
            codes = [variable.code(s) for s in x.ravel().tolist()]
            return plain(logs[np.array(codes, dtype=np.intp).reshape(x.shape)])
        if isinstance(x, list) or (hasattr(x, "__array__") and not isinstance(x, np.generic)):
            return logs[np.array([variable.code(s) for s in values_of(x)], dtype=np.intp)]
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
    def _fitted(cls, p: Floats, variable: Variable) -> Self:
        return cls(p, variable.states, variable.name)

    @classmethod
    def _states_of(cls, data: States) -> tuple[Any, ...]:
        """The states of raw data, where the user named none."""
        seen = distinct(data)
        if not seen:
            raise no_data("a Categorical", cls._example)
        return seen

    @classmethod
    def _belief(cls, alpha: float, states: tuple[Any, ...], name: str) -> Any:
        """The conjugate prior with `alpha` pseudo-counts for each state."""
        from credo.model.distributions.dirichlet import Dirichlet

        return Dirichlet(alpha, states, name)

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
    def posterior(
        cls,
        data: States,
        prior: Dirichlet | float | None = None,
        *,
        states: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> Dirichlet:
        """What is believed of p after data; the prior is uniform if none is given.

        >>> Categorical.posterior([1, 3, 2, 1, 1, 3])
        Dirichlet(alpha=[4, 2, 3], states=(1, 2, 3))
        """
        after: Dirichlet = cls._posterior(data, prior, states, name)
        return after

    @classmethod
    def _posterior(
        cls, data: States, prior: Any, states: Sequence[Any] | None, name: str | None
    ) -> Any:
        kind = type(cls._belief(1.0, (False, True), NAME))
        if type(prior) is kind:
            given = prior.states if states is None else ordered(states, "The states")
            if sorted(map(repr, given)) != sorted(map(repr, prior.states)):
                raise InputError(
                    f"The states {list(given)} are not those of the prior, {list(prior.states)}."
                )
            return prior.update(data)
        if prior is not None and (isinstance(prior, bool) or not isinstance(prior, Real)):
            raise InputError(
                f"The prior of a {cls.__name__} must be a cr.{kind.__name__}, or a "
                f"number of pseudo-counts for each state, got {shown(prior)}."
            )
        counts = cls._counts(data, states, name)
        alpha = 1.0 if prior is None else positive(prior, "The prior", WEIGHT)
        return cls._belief(alpha, counts.variables[0].states, counts.names[0]).update(counts)

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
        return cls._fitted(counts.values / counts.total, counts.variables[0])

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
        from scipy.special import xlog1py, xlogy

        counts = cls._counts(data, states, None)
        variable, n = counts.variables[0], counts.values
        code = variable.arity - 1 if of is None else variable.code(of)
        others = np.delete(n, code)
        others = others[others > 0]
        total, rest = float(n.sum()), float(others.sum())
        if grid is None:
            p = np.union1d(np.linspace(0, 1, 201), [n[code] / total] if total else [])
        else:
            p = checked_grid(grid, "a probability")
            outside = p[(p < 0) | (p > 1)]
            if outside.size:
                raise InputError(
                    f"The grid of a probability must lie between 0 and 1, got {outside[0]:.6g}."
                )
        profile = float(others @ np.log(others / rest)) if rest else 0.0
        values = xlogy(float(n[code]), p) + xlog1py(rest, -p) + profile
        return LikelihoodCurve((f"P({variable.states[code]})",), (p,), values)

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


def two_states(states: Sequence[Any], what: str) -> tuple[Any, Any]:
    """Exactly two states, as a tuple."""
    pair = () if isinstance(states, (str, bytes)) else ordered(states, "The states")
    if len(pair) != 2:
        raise InputError(f"{what} has two states, got {shown(states)}.")
    return pair[0], pair[1]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bernoulli(Categorical):
    """One of two states; `p` is the probability of the last one.

    >>> coin = Bernoulli(0.6, states=("tails", "heads"))
    >>> coin["heads"], coin.mode, coin.sample(3, rng=0)
    (0.6, 'heads', ['heads', 'tails', 'tails'])
    >>> Bernoulli.fit([True] * 3 + [False] * 2)
    Bernoulli(p=0.6)
    >>> Bernoulli.fit([])
    Traceback (most recent call last):
    credo.errors.InputError: There is no data to fit a Bernoulli to by maximum likelihood. Give \
rows, or a prior such as prior=1.0 (pseudo-counts for each state).
    """

    p: float
    states: tuple[Any, ...] = (False, True)
    _example: ClassVar[str] = "cr.Beta(1, 1)"

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", two_states(self.states, "A Bernoulli"))
        p = finite(self.p, "p")
        if not 0 <= p <= 1:
            raise InputError(f"p must lie between 0 and 1, got {p:.6g}.")
        object.__setattr__(self, "p", p)
        self.variable  # noqa: B018  (checks the states)

    @property
    def probabilities(self) -> Floats:
        """The probability of each state, in the order of the states."""
        return np.array([1.0 - self.p, self.p])

    @classmethod
    def _fitted(cls, p: Floats, variable: Variable) -> Self:
        states = two_states(variable.states, "A Bernoulli")
        return cls(float(p[1]), states, variable.name)

    @classmethod
    def _states_of(cls, data: States) -> tuple[Any, ...]:
        seen = distinct(data)
        if all(isinstance(s, (bool, np.bool_)) for s in seen):
            return False, True
        if all(s in (0, 1) for s in seen):
            return 0, 1
        raise InputError(
            f"Which of the states {list(seen[:6])} the probability p is for is not known.",
            hint="Give states=(…, …), the one that p is for last.",
        )

    @classmethod
    def _belief(cls, alpha: float, states: tuple[Any, ...], name: str) -> Beta:
        from credo.model.distributions.beta import Beta

        return Beta(alpha, alpha, two_states(states, "A Bernoulli"), name)

    @classmethod
    def posterior(  # type: ignore[override]
        cls,
        data: States,
        prior: Beta | float | None = None,
        *,
        states: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> Beta:
        """What is believed of p after data; the prior is uniform, Beta(1, 1), if none is given.

        >>> Bernoulli.posterior([True, True, False])
        Beta(a=3, b=2)
        """
        after: Beta = cls._posterior(data, prior, states, name)
        return after
