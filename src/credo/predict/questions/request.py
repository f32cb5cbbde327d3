"""Request: a question to a model, checked and prepared once, and how it is to be answered.

It is made where the question comes in; whatever answers it (exactly, by samples or messages, with
intervals) takes it as it is. `with_targets` and `with_event` say what is asked.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.core.schema import Variable
from credo.core.state_values import is_number
from credo.model.answers.between import Between, between
from credo.model.answers.interval import probability
from credo.model.networks.count_table import counts
from credo.model.values.randomness import MAX_DRAWS, Rng, generator, size
from credo.model.values.reals import NotReal, real, shown
from credo.model.values.value import choice
from credo.predict.mixed.ranges import asked_ranges, observed
from credo.predict.questions.evidence import Evidence

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["DRAWS", "Request", "draws_of", "enough", "request", "target_names"]

METHODS = ("auto", "exact", "importance", "weighting", "loopy", "gibbs")
USUAL_ERROR = 0.005
"""The half width of the intervals that is aimed at when nothing else is said."""
USUAL_SAMPLES = 1_000_000
"""The most samples when neither a budget nor an error is given."""
MOST_SAMPLES = 20_000_000
"""The most samples when an error is given without a budget."""

DRAWS = 1000
"""Draws of the parameters for an interval when nothing else is said."""

_SECONDS = {
    "ms": 1e-3, "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0,
    "m": 60.0, "min": 60.0, "minute": 60.0, "minutes": 60.0, "h": 3600.0,
}  # fmt: skip
_BUDGET = re.compile(r"\s*([\d.,_]+(?:e\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Request:
    """What is asked of a model, given what, and with how much work.

    >>> import credo as cr
    >>> net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> asked = request(net, {"wet": True}, "rain", method="auto", budget="2 s")
    >>> asked.targets, asked.evidence.hard, asked.seconds
    (('rain',), {'wet': 1}, 2.0)
    """

    net: Network
    """The model, with a variable for each range of a continuous one (see `ranges`)."""
    evidence: Evidence
    targets: tuple[str, ...] = ()
    event: Mapping[str, Sequence[int]] | None = None
    """Codes for each target, if the probability of these is asked for."""
    about: tuple[str, ...] = ()
    """The targets as they were asked about: a range by the name of its variable."""
    level: float | None = None
    """Of the credible intervals, if some are wanted, from `draws` of the parameters."""
    draws: int = DRAWS
    method: str = "exact"
    seconds: float | None = None
    samples: int | None = None
    error: float | None = None
    seed: int = 0
    why: str = ""
    """Why the answer is not exact, where it was not asked to be approximate."""
    began: float = 0.0
    """When the question was asked, by the monotonic clock."""

    def but(self, **changes: Any) -> Request:
        """The same with some fields changed; five times as fast as `dataclasses.replace`."""
        out = object.__new__(Request)
        out.__dict__.update(self.__dict__, **changes)
        return out

    def with_targets(self, target: str | Sequence[str]) -> Request:
        """The same asked about some variables."""
        names = target_names(self.net, target, self.evidence)
        return self.but(targets=names, about=names)

    def with_event(self, events: Mapping[str, Any]) -> Request:
        """The same asked for a probability; `events` has a list of states or a range for each."""
        events = {n: _cell(self.net.variable(n), event) for n, event in events.items()}
        net, evidence, by_state = asked_ranges(self.net, self.evidence, events)
        names = target_names(net, tuple(by_state), evidence)
        for name in names:
            variable = net.variable(name)
            number = variable.scale and any(map(is_number, by_state[name]))
            if not variable.is_discrete or number:
                raise InputError(
                    f"P({name}=…) is for discrete variables; ask for P({name}) or for a range of "
                    "it.",
                    hint=f"Its .pdf(x) is the density at a number; P(1 < {name} < 2) is a range.",
                )
        codes = {n: [net.variable(n).code(s) for s in by_state[n]] for n in names}
        return self.but(net=net, evidence=evidence, targets=names, event=codes, about=tuple(events))

    @property
    def lines(self) -> bool:
        """Whether the model has continuous variables alone."""
        ranges = {t.name for t in self.evidence.tables}
        return not any(v.is_discrete for v in self.net.variables if v.name not in ranges)

    def named(self, discrete: bool) -> list[str]:
        """The targets that are discrete, or those that are not."""
        return [n for n in self.targets if self.net.variable(n).is_discrete == discrete]

    @property
    def mask(self) -> NDArray[np.bool_] | None:
        """Where the event holds, over the states of all targets; None without an event."""
        if self.event is None:
            return None
        out = np.zeros([self.net.variable(n).arity for n in self.targets], dtype=bool)
        out[np.ix_(*(self.event[n] for n in self.targets))] = True
        return out

    @property
    def spent(self) -> float:
        """Seconds since the question was asked."""
        return time.monotonic() - self.began

    def late(self, share: float = 1.0) -> bool:
        """Whether a share of the time is up."""
        return self.seconds is not None and self.spent >= share * self.seconds

    @property
    def agreed(self) -> bool:
        """Whether the user has said that an approximate answer is welcome."""
        given = (self.seconds, self.samples, self.error)
        return self.method not in ("auto", "exact") or any(g is not None for g in given)

    @property
    def target(self) -> float | None:
        """The half width at which sampling may stop; None where only the budget ends it."""
        if self.error is None and self.seconds is None and self.samples is None:
            return USUAL_ERROR
        return self.error

    @property
    def most(self) -> int:
        """The most samples."""
        if self.samples is not None:
            return self.samples
        if self.seconds is not None:
            return MAX_DRAWS
        return USUAL_SAMPLES if self.error is None else MOST_SAMPLES


def request(
    net: Network,
    given: Mapping[str, Any] | None = None,
    target: str | Sequence[str] | None = None,
    *,
    interval: float | None = None,
    draws: int | None = None,
    method: str = "exact",
    budget: Any = None,
    error: Any = None,
    rng: Rng = 0,
) -> Request:
    """What the user asked for, checked.

    >>> import credo as cr
    >>> request(cr.Network("[a]", {"a": 0.5}), method="auto", budget="soon")
    Traceback (most recent call last):
    credo.errors.InputError: budget must be a time such as "2 s" or a number of "10000 samples", \
got 'soon'.
    """
    if not hasattr(net, "dag") and (interval is not None or draws is not None):
        raise InputError(
            "Credible intervals need a posterior of the parameters, which a model without "
            "directions does not keep.",
            hint="Fit a Bayesian network with a prior, or leave the interval out.",
        )
    method = choice(method, METHODS, "method")
    seconds, samples = (None, None) if budget is None else _budget(budget)
    error = None if error is None else _error(error)
    if method == "exact" and (budget is not None or error is not None):
        raise InputError(
            "An exact answer takes neither a budget nor an error.",
            hint='Leave them out, or use method="auto", which is exact where the budget allows.',
        )
    if method == "loopy" and (error is not None or samples is not None):
        raise InputError(
            "Loopy belief propagation draws no samples and knows no error.",
            hint='Use method="importance", or give a time as the budget.',
        )
    if type(rng) is int and rng >= 0:
        seed = rng
    elif isinstance(rng, (int, np.integer)):
        generator(rng)  # refuses what is not a seed
        seed = int(rng)
    else:
        seed = int(generator(rng).integers(2**63))
    n = draws_of(draws, interval)
    began = time.monotonic()
    net, evidence = observed(net, {} if given is None else given)
    asked = Request(
        net, evidence, draws=n, method=method, seconds=seconds, samples=samples, error=error,
        seed=seed % 2**64, began=began,
    )  # fmt: skip
    if interval is not None:
        if asked.agreed:
            raise InputError(
                "Credible intervals run every draw of the parameters through the exact plan; "
                "they take no method, budget or error of sampling.",
                hint="Leave those out, or leave out the interval.",
            )
        level = probability(interval)
        asked = asked.but(level=level, draws=enough(n, level), method="exact")
    return asked if target is None else asked.with_targets(target)


def target_names(net: Network, target: str | Sequence[str], evidence: Evidence) -> tuple[str, ...]:
    """The targets by name; unknown, repeated or observed ones are refused."""
    if isinstance(target, str):
        names: tuple[str, ...] = (target,)
    elif isinstance(target, Iterable):
        names = tuple(target)
    else:
        raise InputError(f"Ask about a variable or a list of them, by name, got {target!r}.")
    if not names:
        raise InputError("Name at least one variable to ask about.")
    for name in names:
        if name not in net.schema:
            raise unknown_name("Variable", name, net.names, "in the model")
        if name in evidence.hard or name in evidence.values:
            raise InputError(f"{name!r} is asked about and observed at once.")
    if len(set(names)) < len(names):
        raise InputError(f"A variable is named twice in {list(names)}.")
    return names


def _cell(variable: Variable, event: Any) -> Any:
    """A number that counts as its unit cell, so that it has a probability; others as they are."""
    if not counts(variable) or isinstance(event, Between) or not all(map(is_number, event)):
        return event
    if len(event) > 1:
        raise InputError(
            f"{variable.name!r} is a number; it is asked about as one number or as a range."
        )
    number = float(event[0])
    if not variable.scale.holds(number):  # type: ignore[union-attr]
        raise InputError(variable.scale.refusal(variable.name, number))  # type: ignore[union-attr]
    return between(number - 0.5, number + 0.5)


def draws_of(draws: int | None, interval: float | None) -> int:
    """How many draws of the parameters; they go with an interval.

    >>> draws_of(None, 0.95)
    1000
    """
    if draws is not None and interval is None:
        raise InputError(
            f"draws={shown(draws)} goes with interval=.",
            hint="Give a level, such as interval=0.95, or leave draws out.",
        )
    return DRAWS if draws is None else draws


def enough(draws: int, level: float) -> int:
    """A number of draws that an interval can be found with: they must reach into its tails."""
    n = size(draws, "draws", most=10_000_000)
    least = max(20, ceil(round(1 / (1 - level), 6)))
    if n < least:
        what = "An interval" if least == 20 else f"An interval of {100 * level:.10g} %"
        raise InputError(
            f"{what} needs at least {least:,} draws, got {n:,}.",
            hint="1,000 is usual." if least <= 1000 else f"Give draws={max(least, 1000)}.",
        )
    return n


def _budget(given: Any) -> tuple[float | None, int | None]:
    if isinstance(given, str):
        match = _BUDGET.fullmatch(given)
        number = _number(match[1].replace(",", "").replace("_", "")) if match else None
        unit = match[2].lower() if match else ""
        if number is not None and number > 0:
            if unit in ("sample", "samples"):
                return None, _samples(number, given)
            if unit in _SECONDS or not unit:
                return number * _SECONDS.get(unit, 1.0), None
    else:
        try:
            number = np.nan if isinstance(given, (bool, np.bool_)) else real(given)
        except NotReal:
            number = None
        if number is not None and 0 < number < np.inf:
            return float(number), None
    raise InputError(
        f'budget must be a time such as "2 s" or a number of "10000 samples", got {shown(given)}.'
    )


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if found < np.inf else None


def _samples(number: float, given: Any) -> int:
    if number != int(number) or not 1 <= number <= MAX_DRAWS:
        raise InputError(
            f"budget must be a whole number of samples, 1 to {MAX_DRAWS:,}, got {shown(given)}."
        )
    return int(number)


def _error(given: Any) -> float:
    try:
        number = real(given)
    except NotReal:
        number = np.nan
    if not 1e-6 <= number < 1:
        raise InputError(
            f"error must lie between 0.000001 and 1, got {shown(given)}.",
            hint="It is half the width of the 95 % interval of each probability.",
        )
    return float(number)
