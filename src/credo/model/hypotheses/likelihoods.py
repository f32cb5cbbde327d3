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

import inspect
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any, Literal, Protocol

import numpy as np

from credo.core.errors import CredoError, InputError
from credo.core.schema import is_missing, position, state_key
from credo.model.hypotheses.evidence import HIGHEST
from credo.model.values.reals import Floats, NotReal, real, real_or_nan, reals, shown
from credo.model.values.value import LARGEST, flag, same

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


def _log(p: float) -> float:
    return math.log(p) if p > 0 else -math.inf


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
        p: dict[Any, float] = {}
        for outcome, chance in given.items():
            value = real_or_nan(chance)
            if is_missing(outcome) or not 0 <= value <= LARGEST:
                raise InputError(
                    f"The hypothesis {name!r} must map each outcome to a probability, "
                    f"got {shown(outcome)}: {shown(chance)}."
                )
            p[outcome] = value
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
        states, chances = tuple(self.p), tuple(self.p.values())
        codes = {state_key(s): i for i, s in enumerate(states)}
        found = (position(x, codes, states) for x in xs)
        return np.array([_log(0.0 if i is None else chances[i]) for i in found], dtype=np.float64)


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

    @property
    def log_inside(self) -> float:
        """ln P(x | C) for every member x."""
        return -math.log(len(self.members)) if self.sampling == "strong" else 0.0

    def log_p(self, xs: Sequence[Any]) -> Floats:
        """ln P(x | C) for each observation."""
        inside = np.array([self._holds(x) for x in xs], dtype=bool)
        return np.where(inside, self.log_inside, -np.inf)

    def _holds(self, x: Any) -> bool:
        """Whether x is a member; True is not 1 where other numbers are members too."""
        if not self._equals_one(x):
            return False
        if x not in (0, 1) or len(self.members) > MAX_LISTED:
            return not isinstance(x, (bool, np.bool_))
        states = tuple(self.members)
        return position(x, {state_key(s): i for i, s in enumerate(states)}, states) is not None

    def _equals_one(self, x: Any) -> bool:
        """Whether x equals a member; what cannot be hashed is in no set."""
        if isinstance(self.members, range):
            return _in_range(x, self.members)
        try:
            return x in self.members
        except TypeError:
            return False


def _in_range(x: Any, members: range) -> bool:
    """Whether x is a whole number of the range, of whatever type.

    `x in members` compares every member with what is not an int: a long range takes for ever.

    >>> [_in_range(x, range(1, 10**12)) for x in (5, 5.0, np.int64(5), 5.5, "5")]
    [True, True, True, False, False]
    """
    if isinstance(x, int):
        return int(x) in members
    if not isinstance(x, (Number, np.number)) or isinstance(x, np.timedelta64):
        return False
    number: Any = x
    try:
        if isinstance(x, (complex, np.complexfloating)):
            return not x.imag and _in_range(float(x.real), members)
        inside = min(members[0], members[-1]) <= number <= max(members[0], members[-1])
        return bool(inside) and int(number) == number and int(number) in members
    except Exception:  # whatever a foreign number raises when it is compared
        return False


@dataclass(frozen=True, slots=True, eq=False)
class Called:
    """A function, or the `logpdf` of a distribution, asked for each observation.

    >>> Called("fair", lambda x: 0.5, log=False).log_p(["heads"])
    array([-0.69314718])
    """

    name: Any
    call: Callable[[Any], Any]
    log: bool
    at_once: bool = False  # worth one call with the whole array
    outcomes: None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Called):
            return NotImplemented
        mine, its = (getattr(c.call, "__self__", None) for c in (self, other))
        if mine is None or its is None or isinstance(mine, type):
            called = self.call is other.call
        else:  # the method of a distribution: equal distributions are the same hypothesis
            names = {getattr(c.call, "__name__", None) for c in (self, other)}
            called = len(names) == 1 and same(mine, its)
        return called and self.name == other.name and self.log == other.log

    def __hash__(self) -> int:
        return hash(self.name)

    def log_p(self, xs: Sequence[Any]) -> Floats:
        """ln P(x | h) for each observation."""
        if self.at_once and len(xs) > 1 and all(isinstance(x, (int, float)) for x in xs):
            try:
                found = reals(self.call(np.array(xs, dtype=np.float64)))
            except Exception:  # one by one then, where the failure can be named
                found = np.empty(0)
            if found.shape == (len(xs),) and (found <= HIGHEST).all():
                return found
        return np.array([self._one(x) for x in xs], dtype=np.float64)

    def _one(self, x: Any) -> float:
        try:
            given = self.call(x)
        except Exception as error:
            says = str(error) if isinstance(error, CredoError) else f"{error!r}."
            raise InputError(
                f"The likelihood of the hypothesis {self.name!r} failed on {shown(x)}: {says}"
            ) from error
        try:
            value = real(given)
            given = given if given is None else value
        except NotReal:
            value = math.nan
        if not value <= (HIGHEST if self.log else sys.float_info.max) or (
            value < 0 and not self.log
        ):
            what = "a log-probability" if self.log else "a probability or density"
            what += f" of at most {HIGHEST:g}" if HIGHEST < value < math.inf else ""
            raise InputError(
                f"The likelihood of the hypothesis {self.name!r} must be {what}, "
                f"got {shown(given)} for {shown(x)}.",
                hint="" if self.log or not value < 0 else "For log-probabilities pass log=True.",
            )
        return value if self.log else _log(value)


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


def _serves(kind: type) -> bool:
    """Whether a class itself answers, by a static or a class method."""
    found = (inspect.getattr_static(kind, m, None) for m in ("logpdf", "logpmf"))
    return any(isinstance(m, (staticmethod, classmethod)) for m in found)


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
    if isinstance(given, type) and not _serves(given):
        raise InputError(
            f"The hypothesis {name!r} is the class {given.__name__}, not a distribution.",
            hint=f"Make one of it: {given.__name__}(…).",
        )
    if hasattr(given, "states") and hasattr(given, "probabilities"):  # Bernoulli, Categorical
        return Chances.of(name, dict(zip(given.states, given.probabilities, strict=True)))
    for method in ("logpdf", "logpmf"):
        if callable(found := getattr(given, method, None)):
            return Called(name, found, log=True, at_once=True)
    if callable(given) and not isinstance(given, type):
        return Called(name, given, log=flag(log, "log"))
    hint = ""
    if isinstance(given, (list, tuple)):
        hint = "A concept is a set: {1, 2, 4}."
    raise InputError(
        f"The hypothesis {name!r} must be a mapping from outcome to probability, a distribution, "
        f"a likelihood function or a set, got {shown(given)} instead.",
        hint=hint,
    )
