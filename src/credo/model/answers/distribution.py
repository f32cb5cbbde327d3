"""Distribution: an answer. The probability of each state of a variable, or of several at once.

    p(x) ≥ 0,   Σ_x p(x) = 1

It behaves like a mapping from state to probability (from a tuple of states, for a joint
distribution), prints as a table with bars, and may carry the credible interval of each
probability. One that is not exact carries the account of its approximation, and says so.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.core.errors import InputError, LimitError, unknown_name
from credo.core.render import bar, one_line, short_probability, whiskers
from credo.core.schema import Variable
from credo.model.answers.approximation import Approximation
from credo.model.answers.interval import Interval
from credo.model.values.probabilities import drawn, probabilities
from credo.model.values.randomness import Rng
from credo.model.values.reals import shown
from credo.model.values.value import NAME, Value, View, at_least, finite, listed, text

_MOST = 60  # states printed
MAX_CELLS = 100_000_000
"""A joint distribution of more cells than this is refused."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Distribution(Value, Mapping[Any, float]):
    """The probability of each state of one variable, or of each combination of several.

    >>> d = Distribution.of({"no": 0.4, "yes": 0.6}, name="Fever")
    >>> d["yes"], d.mode, list(d)
    (0.6, 'yes', ['no', 'yes'])
    >>> print(d)
    Fever        p
    no     0.40000  ████████
    yes    0.60000  ████████████
    >>> d["yse"]
    Traceback (most recent call last):
    credo.errors.UnknownNameError: State 'yse' is not one of 'Fever'. Did you mean 'yes'?
    """

    variables: tuple[Variable, ...]
    p: NDArray[np.float64]
    interval: Interval | None = None
    approximation: Approximation | None = None
    notes: tuple[str, ...] = ()
    """What the answer rests on, where that is not rows alone; printed below it."""

    def __post_init__(self) -> None:
        given: Any = self.variables
        variables = (given,) if isinstance(given, Variable) else listed(given, "The variables")
        for v in variables:
            if not isinstance(v, Variable) or not v.is_discrete:
                raise InputError(f"A distribution is over discrete variables, got {shown(v)}.")
        object.__setattr__(self, "variables", variables)
        if not variables:
            raise InputError("A distribution needs at least one variable.")
        names = self.names
        if len(set(names)) < len(names):
            raise InputError(f"A variable is named twice in {list(names)}.")
        shape = tuple(v.arity for v in variables)
        if math.prod(shape) > MAX_CELLS:
            raise LimitError(
                f"A joint distribution of {', '.join(names)} would have {math.prod(shape):,} "
                f"cells; at most {MAX_CELLS:,} are allowed.",
                hint="Ask for fewer variables at once.",
            )
        what = ", ".join(repr(n) for n in names)
        object.__setattr__(self, "p", probabilities(self.p, shape, what))
        if self.interval is not None and not isinstance(self.interval, Interval):
            raise InputError(f"The interval must be an Interval, got {shown(self.interval)}.")
        if self.interval is not None and np.shape(self.interval.lower) != shape:
            raise InputError(f"The interval of {what} must have an end for each state.")

    @classmethod
    def trusted(
        cls,
        variables: tuple[Variable, ...],
        p: NDArray[np.float64],
        approximation: Approximation | None = None,
    ) -> Distribution:
        """A distribution from numbers that need no checking, such as the engine's; not copied."""
        out = object.__new__(cls)
        p.flags.writeable = False
        object.__setattr__(out, "variables", variables)
        object.__setattr__(out, "p", p)
        object.__setattr__(out, "interval", None)
        object.__setattr__(out, "approximation", approximation)
        object.__setattr__(out, "notes", ())
        return out

    @classmethod
    def of(cls, p: Mapping[Any, float], name: str | Sequence[str] = NAME) -> Distribution:
        """A distribution from a mapping; a joint one has several names and tuples as keys.

        >>> Distribution.of({"a": 0.2, "b": 0.8})
        Distribution(x: a 0.2, b 0.8)
        >>> Distribution.of({("T", 0): 0.5, ("F", 1): 0.5}, name=["A", "B"])["T", 0]
        0.5
        """
        if not isinstance(p, Mapping) or not p:
            raise InputError(f"A mapping from state to probability is needed, got {shown(p)}.")
        if isinstance(name, str):
            chances: Any = list(p.values())
            return cls((Variable(name, "discrete", tuple(p)),), chances)
        names = tuple(text(n, "The name of a variable") for n in listed(name, "The names"))
        for key in p:
            if not isinstance(key, tuple) or len(key) != len(names):
                raise InputError(
                    f"Each key must be a tuple of {len(names)} states, one for each of "
                    f"{', '.join(names)}, got {key!r}."
                )
        variables = tuple(
            Variable(n, "discrete", tuple(dict.fromkeys(key[i] for key in p)))
            for i, n in enumerate(names)
        )
        table = np.zeros(tuple(v.arity for v in variables))
        for key, value in p.items():
            where = tuple(v.code(s) for v, s in zip(variables, key, strict=True))
            table[where] = finite(value, f"The probability of {shown(key)}")
        return cls(variables, table)

    # --- a mapping ------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(v.name for v in self.variables)

    @property
    def states(self) -> tuple[Any, ...]:
        """The states; of a joint distribution, the tuples of states."""
        return tuple(self)

    def _where(self, state: Any) -> tuple[int, ...]:
        if len(self.variables) == 1:
            return (self.variables[0].code(state),)
        if not isinstance(state, tuple) or len(state) != len(self.variables):
            raise InputError(
                f"A tuple of {len(self.variables)} states is needed, one for each of "
                f"{', '.join(self.names)}, got {state!r}."
            )
        return tuple(v.code(s) for v, s in zip(self.variables, state, strict=True))

    def _state(self, where: Sequence[int]) -> Any:
        labels = tuple(v.states[i] for v, i in zip(self.variables, where, strict=True))
        return labels[0] if len(labels) == 1 else labels

    def __getitem__(self, state: Any) -> float:
        return float(self.p[self._where(state)])

    def __iter__(self) -> Iterator[Any]:
        if len(self.variables) == 1:
            return iter(self.variables[0].states)
        return itertools.product(*(v.states for v in self.variables))

    def __len__(self) -> int:
        return self.p.size

    def __contains__(self, state: object) -> bool:
        try:
            self._where(state)
        except (LookupError, InputError):
            return False
        return True

    def get(self, state: Any, default: Any = None) -> Any:
        """The probability of a state, or `default` where there is no such state."""
        try:
            return self[state]
        except (LookupError, InputError):
            return default

    def to_dict(self) -> dict[Any, float]:
        """A plain dict from state to probability.

        >>> Distribution.of({"a": 0.2, "b": 0.8}).to_dict()
        {'a': 0.2, 'b': 0.8}
        """
        return dict(zip(self, self.p.ravel().tolist(), strict=True))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if dtype is not None and np.dtype(dtype) != self.p.dtype:
            return self.p.astype(dtype)
        return self.p.copy() if copy else self.p

    # --- questions ------------------------------------------------------------------------

    @property
    def mode(self) -> Any:
        """The most probable state; the first of equals."""
        return self._state(np.unravel_index(int(self.p.argmax()), self.p.shape))  # type: ignore[arg-type]

    def log_p(self, state: Any) -> float:
        """The natural logarithm of a state's probability; −inf for probability zero.

        >>> Distribution.of({"a": 0.0, "b": 1.0}).log_p("a")
        -inf
        """
        p = self[state]
        return math.log(p) if p > 0 else -math.inf

    def entropy(self) -> float:
        """The entropy in bits: the expected surprise −Σ p log₂ p.

        >>> Distribution.of({"heads": 0.5, "tails": 0.5}).entropy()
        1.0
        """
        seen = self.p[self.p > 0]
        return abs(float(-(seen * np.log2(seen)).sum()))

    def _numbers(self) -> NDArray[np.float64]:
        if len(self.variables) > 1:
            raise InputError(
                f"A joint distribution of {', '.join(self.names)} has no single mean.",
                hint=f"Take the marginal first, such as marginal({self.names[0]!r}).",
            )
        return numeric(self.variables[0])

    def mean(self) -> float:
        """The mean of the states, when they are numbers.

        >>> Distribution.of({1: 0.5, 2: 0.25, 3: 0.25}).mean()
        1.75
        """
        return float(self._numbers() @ self.p)

    def variance(self) -> float:
        """The variance of the states, when they are numbers.

        >>> Distribution.of({0: 0.5, 2: 0.5}).variance()
        1.0
        """
        return float((self._numbers() - self.mean()) ** 2 @ self.p)

    def marginal(self, names: str | Sequence[str]) -> Distribution:
        """Sum over every variable that is not named; the others come in the order named.

        >>> d = Distribution.of({("T", 0): 0.1, ("T", 1): 0.3, ("F", 1): 0.6}, name=["A", "B"])
        >>> d.marginal("A")
        Distribution(A: T 0.4, F 0.6)
        """
        wanted = (names,) if isinstance(names, str) else listed(names, "The variables to keep")
        for n in wanted:
            if not isinstance(n, str) or n not in self.names:
                raise unknown_name("Variable", n, self.names, "in the distribution")
        axes = [self.names.index(n) for n in wanted]
        if len(set(axes)) < len(axes) or not axes:
            raise InputError(f"Name each variable to keep once, got {list(wanted)}.")
        rest = tuple(i for i in range(self.p.ndim) if i not in axes)
        kept = sorted(axes)
        p = self.p.sum(axis=rest).transpose([kept.index(a) for a in axes])
        about = self.approximation and replace(
            self.approximation, interval=None, standard_error=None
        )
        return Distribution(tuple(self.variables[a] for a in axes), p, None, about, self.notes)

    def sample(self, n: int, rng: Rng) -> list[Any]:
        """States drawn at random, in the user's own values.

        >>> Distribution.of({"a": 0.2, "b": 0.8}).sample(4, rng=0)
        ['b', 'b', 'a', 'a']
        """
        codes = drawn(self.p.ravel(), n, rng)
        if len(self.variables) == 1:
            states = self.variables[0].states
            return [states[i] for i in codes]
        where = np.stack(np.unravel_index(codes, self.p.shape), axis=1)
        return [self._state(w) for w in where.tolist()]

    # --- equality -------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Distribution):
            return NotImplemented
        return (
            self.variables == other.variables
            and np.array_equal(self.p, other.p)
            and self.interval == other.interval
        )

    def __hash__(self) -> int:
        return hash((self.names, self.p.tobytes()))

    def isclose(self, other: Distribution, tolerance: float = 1e-9) -> bool:
        """Whether every probability is within `tolerance` of the other's.

        >>> a = Distribution.of({"a": 0.2, "b": 0.8})
        >>> a.isclose(Distribution.of({"b": 0.8, "a": 0.2 + 1e-12}))
        True
        """
        if not isinstance(other, Distribution):
            raise InputError(f"A Distribution is needed to compare with, got {shown(other)}.")
        tolerance = at_least(tolerance, 0.0, "The tolerance")
        if set(self.names) != set(other.names) or len(self) != len(other):
            return False
        other = other.marginal(self.names)
        if self.variables != other.variables:
            try:
                codes = [
                    [b.code(s) for s in a.states]
                    for a, b in zip(self.variables, other.variables, strict=True)
                ]
            except LookupError:
                return False
            return bool(np.abs(self.p - other.p[np.ix_(*codes)]).max() <= tolerance)
        return bool(np.abs(self.p - other.p).max() <= tolerance)

    def with_interval(self, lower: ArrayLike, upper: ArrayLike, level: float) -> Distribution:
        """The same distribution with the credible interval of each probability.

        >>> d = Distribution.of({"a": 0.2, "b": 0.8})
        >>> print(d.with_interval([0.1, 0.7], [0.3, 0.9], 0.95))
        x        p         95 %
        a  0.20000  0.100–0.300  ██┝━╋━┥
        b  0.80000  0.700–0.900  ██████████████┝━╋━┥
        """
        low: Any = lower
        high: Any = upper
        return replace(self, interval=Interval(low, high, level))

    def _end(self, what: str) -> Any:
        found = getattr(self.interval, what, None)
        if found is None:
            raise InputError(
                f"This distribution has no {what} end: it carries no interval."
                if what in ("lower", "upper")
                else f"This distribution has no {what}: its interval was not found by draws.",
                hint="Ask with interval=0.95.",
            )
        return found

    @property
    def low(self) -> NDArray[np.float64]:
        """The lower end of the credible interval of each probability."""
        low: NDArray[np.float64] = self._end("lower")
        return low

    @property
    def high(self) -> NDArray[np.float64]:
        """The upper end of the credible interval of each probability."""
        high: NDArray[np.float64] = self._end("upper")
        return high

    @property
    def draws(self) -> int:
        """How many draws of the parameters the interval was found with."""
        return int(self._end("draws"))

    @property
    def error(self) -> NDArray[np.float64]:
        """The Monte Carlo error of the interval's ends: the larger of the two, for each state."""
        error: NDArray[np.float64] = self._end("error")
        return error

    # --- views ----------------------------------------------------------------------------

    def _view(self) -> View:
        head = [*self.names, "p"]
        if self.interval is not None:
            head.append(f"{100 * self.interval.level:.10g} %")
        error = self.approximation.interval if self.approximation is not None else None
        if error is not None:
            head.append("±")
        texts = [v.texts for v in self.variables]
        rows = []
        for where in itertools.islice(np.ndindex(self.p.shape), _MOST):
            p = float(self.p[where])
            row = [states[i] for states, i in zip(texts, where, strict=True)]
            row.append(_written(p))
            picture = bar(p)
            if self.interval is not None:
                low, high = (float(np.asarray(end)[where]) for end in self.interval)
                row.append(f"{short_probability(low)}–{short_probability(high)}")
                picture = whiskers(p, low, high)
            if error is not None:
                row.append(_written(float(error.width[where]) / 2))
            rows.append([*row, picture])
        notes = [f"… {len(self) - len(rows):,} more"] if len(rows) < len(self) else []
        draws = getattr(self.interval, "draws", None)
        notes += [f"({draws:,} draws, ends ± {float(np.max(self.error)):.2g})"] if draws else []
        notes += [self.approximation.line] if self.approximation is not None else []
        right = list(range(len(self.variables), len(head)))
        return View("", [*head, ""], rows, right, "\n".join([*notes, *self.notes]))

    def __repr__(self) -> str:
        cells = itertools.islice(zip(self, self.p.ravel().tolist(), strict=True), 8)
        names, shown = ", ".join(self.names), ", ".join(f"{s} {p:.6g}" for s, p in cells)
        rest = f", … {len(self) - 8} more" if len(self) > 8 else ""
        return one_line(f"Distribution({names}: {shown}{rest})")


def numeric(variable: Variable) -> NDArray[np.float64]:
    """The states of a variable as numbers (False is 0, True is 1), or an error."""
    try:
        if any(isinstance(s, (str, bytes)) for s in variable.states):
            raise TypeError
        return np.array([finite(s, "A state") for s in variable.states])
    except (TypeError, ValueError):
        raise InputError(
            f"The states of {variable.name!r} are not numbers, so they have no mean: "
            f"{list(variable.states[:6])}."
        ) from None


def _written(p: float) -> str:
    return f"{p:.5f}" if p >= 5e-6 or p == 0 else f"{p:.2e}"
