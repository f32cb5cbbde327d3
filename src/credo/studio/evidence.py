"""What is known at one moment of a studio session, frozen, and what a click makes of it.

A variable is observed (`is`), known to be one of several states (`in`) or none of some (`not`),
seen through an unreliable report (`soft`: a likelihood for each state), or set from outside (`do`).
A click on what is known already takes it back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.model.networks.network import Network

__all__ = ["HOWS", "Known", "Moment", "clicked", "questions_of", "softened"]

HOWS = ("is", "in", "not", "do")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a variable: states by their codes, a number, or a weight for each state."""

    how: str
    states: tuple[int, ...] = ()
    value: float | None = None
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """All that is known, by variable, in the order it was said; the row that said it, if one did.

    >>> Moment().knowing("rain", Known("is", (1,))).known
    (('rain', Known(how='is', states=(1,), value=None, weights=())),)
    """

    known: tuple[tuple[str, Known], ...] = field(default=())
    row: int | None = None
    open: str | None = None
    """The variable of the row that was left open."""

    def of(self, name: str) -> Known | None:
        """What is known of a variable."""
        return dict(self.known).get(name)

    def knowing(self, name: str, what: Known | None) -> Moment:
        """The moment after this is known of a variable; None: nothing is known of it."""
        if what is not None and self.of(name) is not None:
            return Moment(tuple((n, what if n == name else k) for n, k in self.known))
        rest = tuple((n, k) for n, k in self.known if n != name)
        return Moment(rest if what is None else (*rest, (name, what)))


def clicked(before: Known | None, code: int, how: str, variable: Variable) -> Known | None:
    """What is known of a variable after a click on one of its states.

    >>> colour = Variable("colour", "discrete", ("red", "green", "blue"))
    >>> once = clicked(None, 0, "is", colour)
    >>> clicked(once, 2, "in", colour)
    Known(how='in', states=(0, 2), value=None, weights=())
    >>> clicked(once, 0, "is", colour) is None
    True
    """
    if how in ("is", "do"):
        return None if before == Known(how, (code,)) else Known(how, (code,))
    same = before is not None and (before.how == how or (how, before.how) == ("in", "is"))
    now = {code} ^ set(before.states if same and before is not None else ())
    if len(now) == variable.arity and how == "not":
        raise InputError(
            f"Every other state of {variable.name!r} is ruled out already, so this one is true.",
            hint="Click a state that is ruled out to allow it again.",
        )
    if not now or len(now) == variable.arity:
        return None
    states = tuple(sorted(now))
    return Known("is", states) if how == "in" and len(states) == 1 else Known(how, states)


def softened(weights: Sequence[Any], variable: Variable) -> Known:
    """What is known after a report whose likelihoods are `weights`; the largest counts as 1.

    >>> softened([2, 1], Variable("rain", "discrete", (False, True))).weights
    (1.0, 0.5)
    """
    numbers = [w for w in weights if isinstance(w, (int, float)) and not isinstance(w, bool)]
    fit = len(numbers) == len(weights) == variable.arity
    if not fit or not all(0 <= w < math.inf for w in numbers) or not any(numbers):
        raise InputError(
            f"The likelihoods of {variable.name!r} must be {variable.arity} finite numbers from 0 "
            f"on, one of them above 0."
        )
    most = max(numbers)
    return Known("soft", weights=tuple(w / most for w in numbers))


def questions_of(net: Network, moment: Moment) -> tuple[dict[str, Any], dict[str, Any]]:
    """The `given` and the `do` of a moment, in the user's own states.

    >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    >>> questions_of(net, Moment((("rain", Known("do", (1,))), ("wet", Known("not", (1,))))))
    ({'wet': False}, {'rain': True})
    """
    given: dict[str, Any] = {}
    do: dict[str, Any] = {}
    for name, known in moment.known:
        states = net.variable(name).states
        if known.value is not None:
            value: Any = known.value
        elif known.how in ("is", "do"):
            value = states[known.states[0]]
        elif known.how == "soft":
            value = dict(zip(states, known.weights, strict=True))
        else:
            ruled_out = known.how == "not"
            value = [s for i, s in enumerate(states) if (i in known.states) != ruled_out]
            value = value[0] if len(value) == 1 else value
        (do if known.how == "do" else given)[name] = value
    return given, do
