"""One hypothesis, in any of the forms a user may write it, as ln P(observation | h).

- a mapping from outcome to probability, which sums to 1; an outcome it lacks has probability 0;
- a set or range of outcomes, from which examples are drawn evenly: P(x | C) = 1 / |C| inside,
  0 outside (strong sampling, the size principle of Tenenbaum 1999); with weak sampling 1
  inside, so that a set only says what is possible;
- a distribution: anything with `logpdf` or `logpmf`;
- a function of the observation that gives its probability (or density), or the logarithm.

A belief about a parameter is a hypothesis too, one that learns: see `composite.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from credo.core.errors import CredoError, InputError
from credo.core.schema import is_missing
from credo.model.values.reals import Floats, real_or_nan, reals, shown
from credo.model.values.value import LARGEST, flag

Sampling = Literal["strong", "weak"]

MAX_LISTED = 10_000
"""A range longer than this is asked, not listed, so range(1, 10**12) costs nothing."""

CLOSE = 1e-9
"""How far the probabilities of a hypothesis may miss 1."""


class Likelihood(Protocol):
    """One hypothesis: its own outcomes, if it lists them, and ln P(x | h)."""

    @property
    def outcomes(self) -> Sequence[Any] | None:
        """The outcomes it lists, or None when it can only be asked."""

    def log_p(self, xs: Sequence[Any]) -> Floats:
        """ln P(x | h) for each observation."""


@dataclass(frozen=True, slots=True)
class Chances:
    """A mapping from outcome to probability.

    >>> Chances.of("h4", {"cherry": 0.25, "lime": 0.75}).log_p(["lime", "mint"])
    array([-0.28768207,        -inf])
    """

    p: Mapping[Any, float]

    @classmethod
    def of(cls, name: Any, given: Mapping[Any, Any]) -> Chances:
        """Checks that the probabilities are probabilities and sum to 1."""
        if not given:
            raise InputError(f"The hypothesis {name!r} has no outcomes.")
        p = {outcome: real_or_nan(chance) for outcome, chance in given.items()}
        for outcome, value in p.items():
            if is_missing(outcome) or not 0 <= value <= LARGEST:
                raise InputError(
                    f"The hypothesis {name!r} must map each outcome to a probability, "
                    f"got {shown(outcome)}: {shown(given[outcome])}."
                )
        total = math.fsum(p.values())
        if abs(total - 1) > CLOSE:
            raise InputError(
                f"The probabilities of the hypothesis {name!r} must sum to 1, "
                f"they sum to {total:.12g}."
            )
        return cls({x: v / total for x, v in p.items()} if total != 1 else p)

    @property
    def outcomes(self) -> Sequence[Any]:
        """The outcomes it lists, in its order."""
        return tuple(self.p)

    def log_p(self, xs: Sequence[Any]) -> Floats:
        """ln P(x | h) for each observation; −∞ for one that it does not list."""
        with np.errstate(divide="ignore"):
            return np.log([self.p[x] if is_in(x, self.p) else 0.0 for x in xs])


@dataclass(frozen=True, slots=True)
class Members:
    """A set of outcomes and how examples are drawn from it.

    >>> Members(range(1, 5), "strong").log_p([2, 9]), Members(range(1, 5), "weak").log_p([2, 9])
    (array([-1.38629436,        -inf]), array([  0., -inf]))
    """

    members: frozenset[Any] | range
    sampling: Sampling

    @property
    def outcomes(self) -> Sequence[Any] | None:
        """The members in order; None for a range too long to list."""
        if isinstance(self.members, range):
            return self.members if len(self.members) <= MAX_LISTED else None
        return in_order(self.members)

    def log_p(self, xs: Sequence[Any]) -> Floats:
        """ln P(x | C) for each observation."""
        inside = [is_in(x, self.members) for x in xs]
        even = -math.log(len(self.members)) if self.sampling == "strong" else 0.0
        return np.where(np.array(inside, dtype=bool), even, -np.inf)


def is_in(x: Any, outcomes: Any) -> bool:
    """Whether x is one of some outcomes; what cannot be hashed, or is no whole number, is not.

    >>> [is_in(x, range(1, 10**12)) for x in (5, 5.0, np.int64(5), 5.5, "5")]
    [True, True, True, False, False]
    """
    try:
        if isinstance(outcomes, range) and not isinstance(x, int):  # `in` would try every member
            number = float(x)
            return bool(number == x) and number.is_integer() and int(number) in outcomes
        return x in outcomes
    except (TypeError, ValueError, OverflowError):
        return False


@dataclass(frozen=True, slots=True)
class Called:
    """A function (`method` is empty), or a distribution and which of its methods is asked.

    >>> Called("fair", lambda x: 0.5, log=False).log_p(["heads"])
    array([-0.69314718])
    """

    name: Any
    of: Any
    log: bool
    method: str = ""
    outcomes: None = None

    @property
    def call(self) -> Callable[[Any], Any]:
        """What gives the likelihood of an observation."""
        found: Callable[[Any], Any] = getattr(self.of, self.method) if self.method else self.of
        return found

    def log_p(self, xs: Sequence[Any]) -> Floats:
        """ln P(x | h) for each observation; a distribution is asked for all numbers at once."""
        if self.method and len(xs) > 1 and all(isinstance(x, (int, float)) for x in xs):
            try:
                found = reals(self.call(np.array(xs, dtype=np.float64)))
            except Exception:  # one by one then, where the failure can be named
                found = np.empty(0)
            if found.shape == (len(xs),) and (found < np.inf).all():
                return found
        with np.errstate(divide="ignore"):
            each = np.array([self._one(x) for x in xs], dtype=np.float64)
            return each if self.log else np.log(each)

    def _one(self, x: Any) -> float:
        try:
            given = self.call(x)
        except Exception as error:
            says = str(error) if isinstance(error, CredoError) else f"{error!r}."
            raise InputError(
                f"The likelihood of the hypothesis {self.name!r} failed on {shown(x)}: {says}"
            ) from error
        given = given.item() if isinstance(given, np.ndarray) and given.ndim == 0 else given
        value = real_or_nan(given)
        if not value < math.inf or (value < 0 and not self.log):
            what = "a log-probability" if self.log else "a probability or density"
            raise InputError(
                f"The likelihood of the hypothesis {self.name!r} must be {what}, "
                f"got {shown(given)} for {shown(x)}.",
                hint="" if self.log or not value < 0 else "For log-probabilities pass log=True.",
            )
        return value


def in_order(outcomes: Iterable[Any]) -> list[Any]:
    """Outcomes sorted, so that nothing depends on how a set happens to be stored.

    >>> in_order({3, 1, 2}), in_order({"b", 1})
    ([1, 2, 3], [1, 'b'])
    """
    items = list(outcomes)
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=lambda x: (type(x).__name__, repr(x)))


def read_hypothesis(name: Any, given: Any, *, log: bool, sampling: Sampling) -> Likelihood:
    """The likelihood of one hypothesis, whichever way it was given.

    >>> read_hypothesis("empty", set(), log=False, sampling="strong")
    Traceback (most recent call last):
    credo.errors.InputError: The hypothesis 'empty' is an empty set: it could produce no example.
    """
    if isinstance(given, Mapping):
        return Chances.of(name, given)
    if isinstance(given, (set, frozenset, range)):
        if not given:
            raise InputError(
                f"The hypothesis {name!r} is an empty set: it could produce no example."
            )
        missing = [x for x in given if is_missing(x)] if not isinstance(given, range) else []
        if missing:
            raise InputError(f"The set {name!r} cannot hold the missing value {missing[0]!r}.")
        return Members(given if isinstance(given, range) else frozenset(given), sampling)
    if isinstance(given, type):
        raise InputError(
            f"The hypothesis {name!r} is the class {given.__name__}, not a distribution.",
            hint=f"Make one of it: {given.__name__}(…).",
        )
    if hasattr(given, "states") and hasattr(given, "probabilities"):  # Bernoulli, Categorical
        return Chances.of(name, dict(zip(given.states, given.probabilities, strict=True)))
    for method in ("logpdf", "logpmf"):
        if callable(getattr(given, method, None)):
            return Called(name, given, log=True, method=method)
    if callable(given):
        return Called(name, given, log=flag(log, "log"))
    hint = ""
    if isinstance(given, (list, tuple)):
        hint = "A concept is a set: {1, 2, 4}."
    raise InputError(
        f"The hypothesis {name!r} must be a mapping from outcome to probability, a distribution, "
        f"a likelihood function or a set, got {shown(given)} instead.",
        hint=hint,
    )
