"""How probable the edges of the graph are, all graphs weighed by the rows (`cr.average`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from credo.checking.again.folds import quiet
from credo.checking.findings import SHOWN, Finding, Section
from credo.core.render import many, shortened
from credo.data import Table
from credo.model.structures.edges import EdgeChance
from credo.model.values.value import View
from credo.train.averaging.averaging import average

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["Graph", "graph"]

UNSURE = (0.2, 0.8)
"""An edge between these is neither there nor not."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Graph(Section):
    """The edges that the rows do not settle, whether the graph has them or not."""

    unsure: tuple[EdgeChance, ...]
    edges: tuple[EdgeChance, ...]
    """Those of the graph, least probable first."""
    prior: str
    method: str

    def _view(self) -> View:
        own = {(e.parent, e.child) for e in self.edges}
        rows = [
            [f"{e.parent} → {e.child}", f"{e.p:.2f}", "" if e[:2] in own else "not in the graph"]
            for e in self.unsure[: 2 * SHOWN]
        ]
        note = f"prior {self.prior}, {self.method}"
        return View("edges that the rows do not settle", ["edge", "p", ""], rows, (1,), note)

    def findings(self) -> list[Finding]:
        """Edges between 0.2 and 0.8."""
        if not self.unsure:
            return [
                Finding(
                    "graph", "No edge has a probability between 0.2 and 0.8, all graphs weighed.",
                    0.0, "good",
                )
            ]  # fmt: skip
        shown = shortened([f"{e.parent} → {e.child} {e.p:.2f}" for e in self.unsure], 4, 100)
        verb = "has" if len(self.unsure) == 1 else "have"
        return [
            Finding(
                "graph",
                f"{many(len(self.unsure), 'edge')} {verb} a probability between 0.2 and 0.8, all "
                f"graphs weighed by the rows ({shown}).",
                float(len(self.unsure)),
                "note",  # both ways of an edge that rows cannot direct are among them
                "Ask cr.average(rows): its intervals include how sure the graph is.",
                "",
                min(len(self.unsure) / max(len(self.edges), 1), 1.0),
                tuple(dict.fromkeys(n for e in self.unsure for n in e[:2])),
            )
        ]


def graph(net: Network, table: Table, seed: int) -> Graph:
    """The section; what cannot be averaged says why."""
    names = [n for n in net.names if n in table.schema]
    with quiet():
        post = average(table.select(names), rng=seed, numbers="gaussian")
    every = post.edges.rows
    unsure = tuple(e for e in every if UNSURE[0] <= e.p <= UNSURE[1])
    own = sorted((e for e in every if (e.parent, e.child) in net.dag.edges), key=lambda e: e.p)
    details = post.record.details
    return Graph(unsure, tuple(own), str(details["prior"]), str(details["method"]))
