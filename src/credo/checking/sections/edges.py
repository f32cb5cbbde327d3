"""Stability of the edges: how often each is learned again from resampled rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.checking.again.folds import has_gaps, quiet
from credo.checking.again.row_scores import plain_rows
from credo.checking.findings import SHOWN, Finding, Section
from credo.core.errors import CredoError
from credo.core.render import many, shortened
from credo.data import Table
from credo.model.values.randomness import Rng
from credo.model.values.value import View
from credo.train.structure.strengths import EdgeStrengths, edge_strengths

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["Edge", "Edges", "edges", "usual_samples"]

MAX_ROWS = 20_000
"""Resamples are of at most so many rows."""
MIN_ROWS = 30
"""Fewer rows have nothing to say of edges."""
WEAK = 0.5
"""An edge that fewer resamples have is called weak."""
STRONG = 0.85
"""A pair that more resamples join although the graph does not is called missing."""


def usual_samples(variables: int) -> int:
    """How many resamples are taken unless it is said: fewer of wide tables, none of very wide.

    >>> usual_samples(8), usual_samples(40), usual_samples(100)
    (50, 10, 0)
    """
    return 50 if variables <= 15 else 20 if variables <= 30 else 10 if variables <= 60 else 0


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge with its strength (joined, whatever the arrow) and direction (of those, this way)."""

    parent: str
    child: str
    strength: float
    direction: float

    @property
    def name(self) -> str:
        """parent → child."""
        return f"{self.parent} → {self.child}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Edges(Section):
    """The edges of the graph, weakest first, and the pairs that it may lack."""

    edges: tuple[Edge, ...]
    lacking: tuple[Edge, ...]
    samples: int
    notes: tuple[str, ...] = ()
    strengths: EdgeStrengths | None = field(default=None, metadata={"json": False})

    def __getitem__(self, edge: tuple[str, str]) -> Edge:
        for e in self.edges:
            if (e.parent, e.child) == edge:
                return e
        from credo.core.errors import unknown_name

        raise unknown_name("Edge", edge, [(e.parent, e.child) for e in self.edges], "in the graph")

    @property
    def weak(self) -> tuple[Edge, ...]:
        """The edges that fewer than half of the resamples have."""
        return tuple(e for e in self.edges if e.strength < WEAK)

    def _view(self) -> View:
        rows = [
            [e.name, f"{e.strength:.2f}", f"{e.direction:.2f}", "weak" if e.strength < WEAK else ""]
            for e in self.edges[:SHOWN]
        ]
        rows += [[e.name, f"{e.strength:.2f}", f"{e.direction:.2f}", "not in the graph"]
                 for e in self.lacking[:SHOWN]]  # fmt: skip
        verb = "is" if len(self.weak) == 1 else "are"
        said = [
            f"{len(self.weak):,} of {many(len(self.edges), 'edge')} {verb} weak (below {WEAK:g})"
        ]
        return View(f"edges learned again from {self.samples:,} resamples",
                    ["edge", "strength", "direction", ""], rows, (1, 2),
                    "; ".join([*said, *self.notes]))  # fmt: skip

    def findings(self) -> list[Finding]:
        """Edges that rest on few rows, and pairs that the graph may lack."""
        out = []
        weak = self.weak
        if weak:
            least = weak[0]
            shown = shortened([e.name for e in weak], 4, 80)
            out.append(
                Finding(
                    "edges",
                    f"{len(weak):,} of {many(len(self.edges), 'edge')} "
                    f"{'comes' if len(weak) == 1 else 'come'} back in fewer than half of "
                    f"{self.samples:,} resamples ({shown}); the weakest, {least.name}, in "
                    f"{least.strength:.0%}.",
                    least.strength,
                    "note",  # true edges are weak too where the rows are few
                    "More rows would settle whether they are there.",
                    least.name,
                    len(weak) / max(len(self.edges), 1),
                    tuple(dict.fromkeys(n for e in weak for n in (e.parent, e.child))),
                )
            )
        for e in self.lacking[:3]:
            out.append(
                Finding(
                    "edges",
                    f"{e.strength:.0%} of {self.samples:,} resamples join {e.parent} and "
                    f"{e.child}, which the graph does not.",
                    e.strength,
                    "warning",
                    f"Consider the edge {e.name}.",
                    e.name,
                    e.strength,
                    (e.parent, e.child),
                )
            )
        if not out and self.edges:
            out.append(
                Finding(
                    "edges",
                    f"Every edge comes back in {_at_least(self.edges[0].strength)} "
                    f"{self.samples:,} resamples.",
                    self.edges[0].strength,
                    "good",
                )
            )
        return out


def _at_least(share: float) -> str:
    return "all of" if share == 1 else f"at least {share:.0%} of"


def constant_columns(table: Table) -> list[str]:
    """The columns that have one value, or none, in all rows.

    >>> import credo as cr
    >>> frame = {"a": ["x", "x", None], "b": ["u", "v", "u"]}
    >>> constant_columns(cr.read(frame, schema={"a": ["x", "y"]}))
    ['a']
    """
    out = []
    for v, a in zip(table.schema.variables, table.block.arrays, strict=True):
        seen = a[a != v.arity] if v.is_discrete else a[~np.isnan(a)]
        if not len(seen) or (seen == seen[0]).all():
            out.append(v.name)
    return out


def edges(net: Network, table: Table, *, samples: int, search: str, rng: Rng) -> Edges | str:
    """The section, or why there is none."""
    hidden = [n for n in net.names if n not in table.schema]
    if hidden:
        return f"{shortened(hidden)} is not observed, so no search can learn its edges"
    weight = float(table.block.weight)
    if weight < MIN_ROWS:
        return f"{many(round(weight), 'row')}; edges are judged on {MIN_ROWS} or more"
    rows, _, note = plain_rows(table, MAX_ROWS, 0)
    notes = [f"from {note}"] if note else []
    constant = constant_columns(rows)
    if len(rows.schema.names) < 2:
        return "one variable has no edges"
    if len(constant) > len(rows.schema.names) - 2:
        return f"{shortened(constant)} never varies in these rows, so no edge can be told"
    if constant:
        rows = rows.select([n for n in rows.schema.names if n not in constant])
        notes.append(f"{shortened(constant)}: the same in all rows, left out with all its edges")
    options: dict[str, Any] = {}
    with quiet():
        try:
            if has_gaps(rows):
                if net.is_discrete:
                    options |= {"score": "bic", "missing": "available-cases"}
                    notes.append("what parents gain is measured on the rows that have them (bic)")
                else:
                    rows = net.impute(rows, "sample", rng=0)
                    notes.append("gaps were filled by one draw from the model")
            found = edge_strengths(rows, search=search, samples=samples, rng=rng, **options)
        except CredoError as error:
            return error.message.rstrip(".")
    out = []
    for a, b in net.dag.edges:
        if a in constant or b in constant:
            continue
        joined = found.strength.get((a, b), 0.0)
        out.append(Edge(a, b, joined, found.direction.get((a, b), 0.0)))
    out.sort(key=lambda e: (e.strength, e.parent, e.child))
    near = {frozenset(e) for e in net.dag.edges}
    lacking = [
        Edge(a, b, found.strength[a, b], found.direction[a, b])
        for a, b in found._ranked()
        if found.strength[a, b] > STRONG and frozenset((a, b)) not in near
    ]
    return Edges(tuple(out), tuple(lacking), samples, tuple(notes), found)
