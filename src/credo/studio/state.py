"""What a session is at one moment, as a frozen value; what a request may be, as data.

A change makes a state of a state; a question makes JSON of one. Each subject has a file with its
own `VERBS`, and `session` puts them together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from credo.core.errors import InputError, unknown_name
from credo.core.kept import Kept
from credo.model.networks.network import Network
from credo.studio.beliefs import Asked
from credo.studio.evidence import Moment
from credo.studio.rows import Rows

if TYPE_CHECKING:
    from credo.data import Table
    from credo.model.structures.structure_posterior import StructurePosterior

__all__ = ["ASKED", "TARGETED", "Edge", "Json", "Plan", "State", "Verb", "checked"]

Json: TypeAlias = dict[str, Any]

Edge: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a network is learned from the rows; empty: as credo chooses."""

    score: str = ""
    search: str = "auto"
    target: str = ""
    seconds: float = 60.0
    required: tuple[Edge, ...] = ()
    forbidden: tuple[Edge, ...] = ()
    tiers: tuple[tuple[str, int], ...] = ()

    def options(self) -> Json:
        """The arguments of `cr.learn`.

        >>> Plan(score="bic", tiers=(("a", 2), ("b", 1))).options()
        {'score': 'bic', 'tiers': [['b'], ['a']], 'seconds': 60}
        """
        by_tier: dict[int, list[str]] = {}
        for name, tier in self.tiers:
            by_tier.setdefault(tier, []).append(name)
        told = {
            "score": self.score, "search": self.search if self.search != "auto" else "",
            "target": self.target if self.search in TARGETED else "",
            "required": list(self.required), "forbidden": list(self.forbidden),
            "tiers": [by_tier[t] for t in sorted(by_tier)],
            "seconds": int(self.seconds) if self.seconds.is_integer() else self.seconds,
        }  # fmt: skip
        return {k: v for k, v in told.items() if v}


TARGETED = ("tan", "naive-bayes")
"""The searches for a class."""

_NEXT = count(1)
NUMBERS: Kept[int] = Kept(lambda net: next(_NEXT))
"""A number for each network that was shown, so that the page knows when it is another."""

NOTHING, NO_PLAN = Moment(), Plan()

ASKED: Kept[Asked] = Kept(Asked)
"""The networks that were asked, each with those after its interventions."""


@dataclass(frozen=True, slots=True)
class State:
    """The network, what is known of it, the rows beside it, how they are learned from, and the
    Python that made the network of the one before."""

    net: Network
    moment: Moment = NOTHING
    rows: Rows | None = None
    plan: Plan = NO_PLAN
    made: str = ""
    structures: StructurePosterior | None = None
    """How probable each edge is, where many graphs were weighed."""

    @property
    def data(self) -> Table | None:
        """The rows, on the scales of the network."""
        return None if self.rows is None else self.rows.for_model(self.net)

    @property
    def asked(self) -> Asked:
        """The network with those after its interventions."""
        return ASKED[self.net]

    def variable(self, name: str) -> Any:
        """A variable of the network, by its name."""
        if name not in self.net.schema:
            raise unknown_name("Variable", name, self.net.names, "in the model")
        return self.net.variable(name)


@dataclass(frozen=True)
class Verb:
    """A request by what runs it and the kinds of its arguments.

    `run` takes the session and a state, then the arguments by name.
    """

    run: Callable[..., Any]
    kinds: Mapping[str, tuple[type, ...]]
    changes: bool = False


def checked(name: str, request: Any, wanted: Mapping[str, tuple[type, ...]]) -> tuple[int, Json]:
    """The sequence number and the arguments of a request, each of its kind.

    >>> checked("node", {"seq": 3, "name": "rain"}, {"name": (str,)})
    (3, {'name': 'rain'})
    """
    if not isinstance(request, Mapping):
        raise InputError(f"The request {name!r} must be a JSON object.")
    whole = {"seq": (int,), **wanted}
    for key in request:
        if key not in whole:
            raise unknown_name("Key", key, list(whole), f"in the request {name!r}")
    for key, kinds in whole.items():
        value = request.get(key)
        fits = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
        if not fits or key not in request:
            told = " or ".join(_KINDS[k] for k in kinds)
            raise InputError(f"{key!r} of the request {name!r} must be {told}.")
    seq = request["seq"]
    if not 0 <= seq < 2**53:
        raise InputError("'seq' must be a whole number from 0 on.")
    return seq, {key: request[key] for key in wanted}


_KINDS = {
    int: "a whole number", float: "a number", str: "a text", bool: "true or false",
    list: "a list", dict: "an object", type(None): "null",
}  # fmt: skip
