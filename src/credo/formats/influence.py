"""Decisions and utilities in files: what XDSL, NET and XMLBIF have in common.

A decision has states and, for parents, what is known when it is taken; a utility has numbers for
each configuration of its parents, the last of them fastest. The formats hold utilities that add,
and no costs of observing; what else a decision network can say needs a .credo file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import CredoError, InputError
from credo.formats.names import Spelling, unescape
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.decisions.utility import Utility
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network

if TYPE_CHECKING:
    from credo.formats.reading import Reading


@dataclass(slots=True)
class Diagram:
    """The decisions and utilities found so far in one file."""

    decisions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    utilities: dict[str, tuple[tuple[str, ...], Any] | None] = field(default_factory=dict)
    memory: str = "full"

    def decision(self, reading: Reading, name: str, states: Sequence[str], line: int) -> None:
        """A decision and its options."""
        self._new(reading, name, line)
        reading.variable(name, states, line)
        self.decisions[name] = ()

    def utility(self, reading: Reading, name: str, line: int) -> None:
        """A utility, whose numbers come later."""
        self._new(reading, name, line)
        if name in reading.states:
            raise reading.error(line, f"The variable {name!r} is declared twice.")
        self.utilities[name] = None

    def _new(self, reading: Reading, name: str, line: int) -> None:
        if not name:
            raise reading.error(line, "A variable has no name.")
        if name in self.utilities:
            raise reading.error(line, f"The variable {name!r} is declared twice.")

    def sees(self, reading: Reading, name: str, parents: Sequence[str], line: int) -> None:
        """What is known when a decision is taken."""
        self._known(reading, parents, line)
        self.decisions[name] = tuple(dict.fromkeys(parents))

    def worth(
        self, reading: Reading, name: str, parents: Sequence[str], parts: Sequence[str], line: int
    ) -> None:
        """The numbers of a utility."""
        self._known(reading, parents, line)
        if self.utilities[name] is not None:
            raise reading.error(line, f"There are two tables for {name!r}.")
        shape = [len(reading.states[p]) for p in parents]
        if len(set(parents)) < len(parents):
            raise reading.error(line, f"A parent of {name!r} is given twice.")
        if prod(shape) > reading.limits.numbers:
            raise reading.too_large(
                line, f"The table of {name!r} would have {prod(shape):,} numbers", "numbers"
            )
        if len(parts) != prod(shape):
            raise reading.error(
                line, f"The utility {name!r} needs {prod(shape):,} numbers, got {len(parts):,}."
            )
        values = reading.numbers(parts, line).reshape(shape)
        if not np.isfinite(values).all():
            raise reading.error(line, f"A number of the utility {name!r} is not finite.")
        self.utilities[name] = tuple(parents), values

    def scale(self, name: str, weight: float) -> None:
        """A utility times its weight in a sum."""
        found = self.utilities[name]
        if found is not None:
            self.utilities[name] = found[0], found[1] * weight

    def _known(self, reading: Reading, parents: Sequence[str], line: int) -> None:
        for parent in parents:
            if parent not in reading.states:
                names = list(reading.states)
                raise reading.unknown(line, "Variable", parent, names, "declared in the file")

    def network(self, reading: Reading, types: bool) -> DecisionNetwork:
        """All that was found, as a decision network."""
        if not self.decisions or not self.utilities:
            lacking = "decision" if not self.decisions else "utility"
            raise reading.error(None, f"A decision network needs a {lacking}; there is none.")
        for name, found in self.utilities.items():
            if found is None:
                raise reading.error(None, f"The utility {name!r} has no numbers.")
        for name in self.decisions:
            if name in reading.families:
                line = reading.families[name].line
                raise reading.error(line, f"The decision {name!r} cannot have probabilities.")
            reading.family(name, (), reading.lines[name] or 0)
            k = len(reading.states[name])
            reading.families[name].values = np.full(k, 1 / k)
        chance = reading.chance(types=types)
        true = {n: v.name for n, v in reading.variables(types).items()}
        known = {true[d]: tuple(true[p] for p in seen) for d, seen in self.decisions.items()}
        worth = {}
        for name, found in self.utilities.items():
            assert found is not None
            own = unescape(name, reading.lead) if reading.escaped else name
            parents = tuple(chance.variable(true[p]) for p in found[0])
            worth[own] = Utility(own, parents, found[1])
        try:
            return DecisionNetwork.of_parts(chance, known, worth, memory=self.memory)
        except CredoError as error:
            raise InputError(f"{reading.source}: {error.message}", hint=error.hint) from None


@dataclass(frozen=True, slots=True)
class Written:
    """A model as a text format sees it: a network, and its decisions and utilities if any."""

    net: Network
    decided: DecisionNetwork | None = None

    @property
    def limited(self) -> bool:
        """Whether decisions know only what their arrows say."""
        return self.decided is not None and self.decided.memory == "limited"

    def sees(self, name: str) -> tuple[str, ...] | None:
        """What a decision knows; None for a chance variable."""
        return None if self.decided is None else self.decided.information.get(name)

    def utilities(self, spell: Spelling) -> list[tuple[Utility, str, list[str]]]:
        """The utilities, their names as the format spells them, and their numbers as text."""
        found = [] if self.decided is None else list(self.decided.utilities.values())
        return [(u, spell(u.name), list(map(repr, u.values.ravel().tolist()))) for u in found]

    def chances(self, tables: Sequence[tuple[Cpt, str]]) -> list[tuple[Cpt, str]]:
        """The tables of chance variables alone."""
        return [(cpt, name) for cpt, name in tables if self.sees(cpt.name) is None]


def written(model: Network | DecisionNetwork, format: str) -> Written:
    """The parts of a model; what the format cannot hold is refused."""
    if not isinstance(model, DecisionNetwork):
        return Written(model)
    if model.combine != "add" or model.costs:
        what = "costs of observing" if model.costs else "utilities that are multiplied"
        raise InputError(
            f"A {format} file cannot hold {what}.", hint="Save the decision network as .credo."
        )
    return Written(model.chance, model)
