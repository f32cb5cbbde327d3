"""Page: a network as a text format sees it: spelled names, states as text, numbers in full.

Numbers are written with `repr`, the shortest text that gives back the same bits.
"""

from __future__ import annotations

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.formats.names import Spelling, distinct_texts
from credo.formats.states import state_text
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network


class Page:
    """The names, states and tables of a discrete network, ready to be written."""

    def __init__(
        self, net: Network, format: str, spell: Spelling, states: Spelling | None = None
    ) -> None:
        self.spell = spell
        states = states or spell
        self._states_spell = states
        self.names: dict[str, str] = {}
        self.states: dict[str, list[str]] = {}
        self.variables: list[tuple[Variable, str]] = []
        self.tables: list[tuple[Cpt, str]] = []
        for name, local in net.distributions.items():
            if not isinstance(local, Cpt):
                raise InputError(
                    f"The format {format} holds discrete variables only; {name!r} is continuous.",
                    hint="Save the network as .credo.",
                )
            texts = [state_text(s) for s in local.child.states]
            distinct_texts(local.child, texts, format)
            self.names[name] = spell(name)
            self.states[name] = [states(t) for t in texts]
            self.variables.append((local.child, self.names[name]))
            self.tables.append((local, self.names[name]))

    @property
    def escaped(self) -> bool:
        """Whether any name or state had to be escaped."""
        return self.spell.escaped or self._states_spell.escaped

    def rows(self, cpt: Cpt) -> list[list[str]]:
        """The numbers of a table, one list for each row."""
        return [list(map(repr, row)) for row in cpt.values.reshape(-1, cpt.child.arity).tolist()]
