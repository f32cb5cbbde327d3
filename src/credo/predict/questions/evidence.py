"""Evidence: what is known of some variables, checked and turned into codes and likelihoods.

A discrete variable can be known (`"yes"`), known to be one of several states (`{"yes", "maybe"}`),
or seen through an unreliable report (a likelihood for each state: `{"yes": 0.8, "no": 0.1}`). A
continuous variable is known by its value; `ranges` knows what lies between two numbers. None says
that a variable is not observed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.bins import Bins
from credo.core.errors import InputError, unknown_name
from credo.core.interval_states import cuts_of
from credo.core.scales import Transform
from credo.core.schema import Variable, is_missing
from credo.core.state_values import is_number
from credo.model.answers.between import Between
from credo.model.values.value import finite

if TYPE_CHECKING:
    from credo.model.networks.network import Network
    from credo.predict.mixed.ranges import RangeTable

__all__ = ["Evidence", "likelihood", "on_line", "states_within"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """Hard evidence as codes, soft evidence as likelihoods, values of continuous variables."""

    hard: dict[str, int] = field(default_factory=dict)
    soft: dict[str, Floats] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    ranges: dict[str, Between] = field(default_factory=dict)
    """Of continuous variables; what they say of the discrete ones stands in `hard`, and the
    logarithm of what that leaves out in `log_scale` (see `ranges.observed`)."""
    numbers: dict[str, float] = field(default_factory=dict)
    """The user's own numbers of variables with a scale; their codes and floats stand above."""
    within: dict[str, Between] = field(default_factory=dict)
    """Ranges of numbers in bins; what they say of the bins stands in `hard` and `soft`."""
    tables: tuple[RangeTable, ...] = ()
    log_scale: float = 0.0
    error: float = 0.0
    """The standard error of ln P(the ranges), where that was found by points."""

    @classmethod
    def of(cls, net: Network, given: Mapping[str, Any]) -> Evidence:
        """Evidence as the user gave it; unknown names and states offer near ones."""
        if not isinstance(given, Mapping):
            raise InputError(
                f"The evidence must be a mapping from variable to state, got {given!r}."
            )
        out, log = cls(), 0.0
        for name, value in given.items():
            if name not in net.schema:
                raise unknown_name("Variable", name, net.names, "in the model")
            variable = net.variable(name)
            if is_missing(value):
                continue
            if not variable.is_discrete:
                if isinstance(value, Between):
                    raise InputError(
                        f"{value.of(name)}: here a continuous variable is known by its value.",
                        hint="Ranges go with p, ask, marginals, log_evidence, mpe and map.",
                    )
                number = finite(value, f"The evidence on the continuous variable {name!r}")
                out.values[name] = on_line(variable, number)
                log += _told(out, variable, number)
                continue
            if isinstance(variable.scale, Bins):
                if isinstance(value, Between):  # soft, also of one bin: it may be asked about
                    out.within[name] = value
                    soft = likelihood(variable, value)
                    whole = np.eye(variable.arity)
                    out.soft[name] = whole[soft] if isinstance(soft, int) else soft
                    continue
                if is_number(value):
                    what = f"The evidence on the continuous variable {name!r}"
                    log += _told(out, variable, finite(value, what))
            found = likelihood(variable, value)
            if isinstance(found, int):
                out.hard[name] = found
            else:
                out.soft[name] = found
        return replace(out, log_scale=log) if log else out

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of which something is known."""
        return (*self.hard, *self.soft, *self.values)

    @property
    def discrete(self) -> Evidence:
        """What is known of discrete variables."""
        return Evidence(self.hard, self.soft)

    def without(self, name: str) -> Evidence:
        """The same evidence less what is known of one variable."""
        return replace(
            self,
            hard={k: v for k, v in self.hard.items() if k != name},
            soft={k: v for k, v in self.soft.items() if k != name},
            values={k: v for k, v in self.values.items() if k != name},
        )


def _told(evidence: Evidence, variable: Variable, number: float) -> float:
    """Keep a number that has a scale; ln of what its probability there lacks to be a density."""
    if variable.scale is None:
        return 0.0
    if not variable.scale.holds(number):
        raise InputError(variable.scale.refusal(variable.name, number))
    evidence.numbers[variable.name] = number
    return float(variable.scale.log_jacobian(number))


def on_line(variable: Variable, number: float) -> float:
    """A number of the user's as the model has it; one that its transform cannot take is refused.

    >>> on_line(Variable("fare", "continuous"), 20.0)
    20.0
    """
    if not isinstance(variable.scale, Transform):
        return number
    if not variable.scale.holds(number):
        raise InputError(variable.scale.refusal(variable.name, number))
    return float(variable.scale.forward(number))


def likelihood(variable: Variable, value: Any) -> int | Floats:
    """A code for a state; else a likelihood for each state. A single possible state is hard."""
    if isinstance(value, Between) and isinstance(variable.scale, Bins):
        value = variable.scale.between(value.low, value.high)
    elif isinstance(value, Between):
        value = _states_between(variable, value)
    if isinstance(value, Mapping):
        out = np.zeros(variable.arity)
        for state, weight in value.items():
            out[variable.code(state)] = _weight(variable, weight)
    elif isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "fiu":
        if len(value) != variable.arity:
            raise InputError(
                f"The likelihoods of {variable.name!r} must be {variable.arity} numbers, "
                f"got {len(value)}."
            )
        out = np.array([_weight(variable, v) for v in value.tolist()])
    elif isinstance(value, (set, frozenset, list)) or (
        isinstance(value, Iterable)
        and not _is_state(variable, value)
        and not isinstance(value, str)
    ):
        out = np.zeros(variable.arity)
        for state in value:
            if isinstance(variable.scale, Bins) and is_number(state):
                raise InputError(
                    f"{variable.name!r} is a number; it is observed as one number or as a range.",
                    hint="Give one number, or cr.between(low, high).",
                )
            out[variable.code(state)] = 1.0
    else:
        return variable.code(value)
    if not out.any():
        raise InputError(
            f"The evidence on {variable.name!r} rules out every state.",
            hint="At least one state must have a likelihood above 0.",
        )
    if np.count_nonzero(out) == 1 and out.max() == 1.0:
        return int(out.argmax())
    return out


def _states_between(variable: Variable, range_: Between) -> list[Any]:
    kept = list(variable.states)
    for mark, end in ((">=", range_.low), ("<=", range_.high)):
        if np.isfinite(end):
            here = states_within(variable, mark, f"{end!r}")
            kept = [s for s in kept if s in here]
    return kept


def _is_state(variable: Variable, value: Any) -> bool:
    try:
        return value in variable.states
    except (TypeError, ValueError):
        return False


def _weight(variable: Variable, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not (0 <= number < np.inf):
        raise InputError(
            f"A likelihood of {variable.name!r} must be a finite number, 0 or more, got {value!r}."
        )
    return number


def states_within(variable: Variable, mark: str, text: str) -> list[Any]:
    """The states of a discrete variable on one side of a bound: numbers, or states in order.

    >>> states_within(Variable("class", "discrete", (1, 2, 3)), "<=", "2")
    [1, 2]
    """
    states, cuts = variable.states, cuts_of(variable.states)
    numbers = all(map(is_number, states))
    if cuts is not None:
        return _intervals_within(variable, cuts, mark, text)
    if not numbers and not variable.ordered:
        some = ", ".join(map(str, states[:2]))
        raise InputError(
            f"The states of {variable.name!r} have no order, so {mark} says nothing of them.",
            hint=f"Ask for a set: P({variable.name} in {{{some}}}).",
        )
    if numbers:
        try:
            limit, places = float(text), [float(s) for s in states]
        except ValueError:
            raise InputError(
                f"A bound of {variable.name!r} is a number, got {text!r}.",
                hint=f"Its states are {', '.join(map(str, states[:8]))}.",
            ) from None
    else:
        texts = [str(s) for s in states]
        if text not in texts:
            raise InputError(
                f"A bound of {variable.name!r} is one of its states, got {text!r}.",
                hint=f"They are {', '.join(texts[:8])}, in this order.",
            )
        limit, places = float(texts.index(text)), [float(i) for i in range(len(states))]
    kept = {
        "<": [p < limit for p in places], "<=": [p <= limit for p in places],
        ">": [p > limit for p in places], ">=": [p >= limit for p in places],
    }[mark.replace("≤", "<=").replace("≥", ">=")]  # fmt: skip
    found = [s for s, there in zip(states, kept, strict=True) if there]
    if not found:
        raise InputError(
            f"No state of {variable.name!r} is {mark} {text}.",
            hint=f"Its states are {', '.join(map(str, states[:8]))}.",
        )
    return found


def _intervals_within(variable: Variable, cuts: Sequence[float], mark: str, text: str) -> list[Any]:
    """The states that are intervals of numbers, on one side of a cut."""
    try:
        at = cuts.index(float(text))
    except ValueError:
        told = ", ".join(f"{c:g}" for c in cuts[:8]) + ("…" if len(cuts) > 8 else "")
        raise InputError(
            f"{variable.name!r} was cut into intervals at {told}, so a bound of it is one of "
            f"those, got {text!r}.",
            hint="Learn it as a number to ask for any bound.",
        ) from None
    return list(variable.states[: at + 1] if mark[0] in "<≤" else variable.states[at + 1 :])
