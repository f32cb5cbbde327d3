"""What a session is at one moment, as a frozen value; what a request may be, as data.

A change makes a state of a state; a question makes JSON of one. Each subject has a file with its
own `VERBS`, and `session` puts them together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from credo.core.errors import InputError, unknown_name
from credo.core.kept import Kept
from credo.model.networks.network import Network
from credo.studio.beliefs import Asked
from credo.studio.evidence import Moment

if TYPE_CHECKING:
    from credo.data import Table

__all__ = ["ASKED", "Json", "State", "Verb", "checked"]

Json: TypeAlias = dict[str, Any]

NOTHING = Moment()

ASKED: Kept[Asked] = Kept(Asked)
"""The networks that were asked, each with those after its interventions."""


@dataclass(frozen=True, slots=True)
class State:
    """The network, what is known of it, the rows beside it, and the line of Python it came by."""

    net: Network
    moment: Moment = NOTHING
    data: Table | None = None
    made: str = ""

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
