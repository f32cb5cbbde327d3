"""What `model.json` says of a decision network: that of its network, and what is decided by it.

Version 3; the network is kept as in version 2, with each decision as a variable without parents.
"""

from __future__ import annotations

from typing import Any

from credo.core.errors import InputError
from credo.formats.archive_model import (
    Arrays,
    array_said,
    model_of,
    network_from,
    tables_of,
    take,
)
from credo.formats.reading import Reading
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.decisions.utility import Utility

KIND = "decision network"
VERSION = 3
"""The version that is written, and the first that knows decisions."""


def said_of(model: DecisionNetwork) -> tuple[dict[str, Any], list[bytes]]:
    """What `model.json` holds, and the arrays in their order."""
    said, arrays = model_of(model.chance)
    utilities = [
        {"name": u.name, "parents": [p.name for p in u.parents],
         "values": array_said(u.values, arrays)}
        for u in model.utilities.values()
    ]  # fmt: skip
    more = {
        "version": VERSION, "kind": KIND, "memory": model.memory, "combine": model.combine,
        "information": [[d, list(seen)] for d, seen in model.information.items()],
        "utilities": utilities, "costs": dict(model.costs),
    }  # fmt: skip
    return {**said, **more}, arrays


def decision_network_of(said: dict[str, Any], data: bytes, reading: Reading) -> DecisionNetwork:
    """The decision network that `model.json` and the arrays describe."""
    arrays = Arrays(data, reading)
    chance = network_from(tables_of(said, arrays, reading), said, reading)
    information = {}
    for pair in take(said, "information", list, "model.json"):
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[1], list):
            raise InputError("model.json: what a decision knows cannot be read.")
        information[_known(pair[0], chance)] = tuple(_known(n, chance) for n in pair[1])
    utilities = {}
    for one in take(said, "utilities", list, "model.json"):
        name = take(one, "name", str, "A utility")
        what = f"The utility {name!r}"
        names = [_known(n, chance) for n in take(one, "parents", list, what)]
        parents = tuple(chance.variable(n) for n in names)
        utilities[name] = Utility(name, parents, arrays.take(one.get("values"), what))
    arrays.done()
    if not information or not utilities or set(utilities).intersection(chance.names):
        raise InputError("model.json: a decision network needs decisions and utilities.")
    costs = take(said, "costs", dict, "model.json")
    return DecisionNetwork.of_parts(
        chance, information, utilities, memory=take(said, "memory", str, "model.json"),
        combine=take(said, "combine", str, "model.json"), costs=costs,
    )  # fmt: skip


def _known(name: Any, chance: Any) -> str:
    if not isinstance(name, str) or name not in chance.names:
        raise InputError(f"model.json: the variable {str(name)[:40]!r} is not in the file.")
    return name
