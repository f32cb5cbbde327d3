"""Outliers: rows that surprise the model more than rows it generates itself.

    surprise = −log₂ P(row), in bits; a number adds −log₂ of its density, in the unit it has

A row is an outlier when its surprise is above that which 95 % of generated tables of this size
stay below: so in a table from the model itself, some row is called one in 5 % of tables. For large
tables that is further out than any row generated, and an exponential tail leads there.

Rows that were judged in folds are compared with generated tables that were learned again in the
same folds, and judged as the table itself was: the only row of its kind surprises the network
learned without it, whatever it is. Where cells are missing the networks of the folds judge as they
are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.checking.again.folds import Judge, scored_by
from credo.checking.again.row_scores import BITS, Scored, family_terms, score_rows, weights_of
from credo.checking.findings import SHOWN, Finding, Section
from credo.core.render import many, number
from credo.data import Table
from credo.model.values.value import View

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["Outlier", "Outliers", "Surprises", "of_tables", "outliers"]

Floats = NDArray[np.float64]

_KEPT = 100  # the most surprising rows that are told apart
_FEW = 100  # rows below which a threshold that was not learned again is rough


@dataclass(frozen=True, slots=True)
class Outlier:
    """A surprising row: its number (from 1), its bits, and the family that surprises most.

    `impossible` rows have probability zero; their bits are those of the families that allow them.
    """

    row: int
    bits: float
    family: str
    family_bits: float
    cell: str
    impossible: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Outliers(Section):
    """Rows by surprise: `rows` has the most surprising ones, `bits` the surprise of every row.

    `threshold` is what 95 % of generated tables of this size stay below.
    """

    rows: tuple[Outlier, ...]
    threshold: float
    above: int
    mean: float
    scored: int
    notes: tuple[str, ...] = ()
    bits: Floats = field(default_factory=lambda: np.zeros(0), metadata={"json": False})

    def _view(self) -> View:
        rows = [
            [
                f"{o.row:,}",
                "∞" if o.impossible else f"{o.bits:.1f}",
                o.family,
                f"{o.family_bits:.1f}",
                o.cell,
            ]
            for o in self.rows[:SHOWN]
        ]
        said = (
            f"{self.mean:.1f} bits a row on average; {self.above:,} of "
            f"{many(self.scored, 'row')} {'is' if 1 in (self.above, self.scored) else 'are'} "
            f"above {self.threshold:.1f} bits, which 95 % of generated tables stay below"
        )
        head = ["row", "bits", "surprising", "bits of it", "seen"]
        return View("rows by surprise", head, rows, (0, 1, 3), "; ".join([said, *self.notes]))

    def findings(self) -> list[Finding]:
        """The rows that the model would hardly have generated."""
        if not self.above:
            return []
        top = self.rows[0]
        share = self.above / max(self.scored, 1)
        what = "probability zero" if top.impossible else f"{top.bits:.1f} bits of surprise"
        rows = "row is" if self.above == 1 else "rows are"
        where = f", most of it in {top.family} ({top.cell})" if top.family else ""
        return [
            Finding(
                "outliers",
                f"{self.above:,} {rows} more surprising than any in 95 % of generated tables "
                f"({self.threshold:.1f} bits); row {top.row:,} has {what}{where}.",
                top.bits,
                "problem" if share > 0.01 and self.above > 4 else "warning",
                "Look at these rows: errors of recording, another population, or a relation that "
                "the model lacks.",
                f"row {top.row}",
                100 * share + top.bits / 100,
            )
        ]


class Surprises:
    """The surprise of generated rows, gathered while the replicates pass by."""

    def __init__(self, net: Network, wanted: int) -> None:
        self.net, self.wanted = net, wanted
        self.parts: list[Floats] = []
        self.rows = self.tables = 0
        self.folds = self.again = False

    def look(self, table: Table) -> None:
        """Score one replicate, while more are wanted."""
        if self.rows < self.wanted:
            self.add(self.net, table)

    def add(self, net: Network, table: Table) -> None:
        """Score one replicate by the network that made it."""
        self.take(score_rows(net, table, most=0))

    def take(self, found: Scored) -> None:
        """The scores of one replicate."""
        self.parts.append(-found.log[found.possible] * BITS)
        self.rows += len(found.log)
        self.tables += 1

    def threshold(self, rows: float) -> float:
        """The surprise that 95 % of tables of so many rows stay below."""
        if not self.parts or not self.rows:
            return np.inf
        every = np.concatenate(self.parts)
        if not len(every):
            return np.inf
        rare = 0.05 / max(rows, 1.0)
        if rare * len(every) >= 1:
            return float(np.quantile(every, 1 - rare, method="higher"))
        # rarer than was generated: an exponential tail through the largest ones
        base = float(np.quantile(every, max(0.99, 1 - 1000 / len(every))))
        beyond = every[every > base] - base
        if not len(beyond):
            return float(every.max())
        further = float(beyond.mean()) * np.log(len(beyond) / len(every) / rare)
        return max(base + float(further), float(every.max()))


def of_tables(tables: Iterable[tuple[list[Judge], Table]], net: Network, again: bool) -> Surprises:
    """The surprise of rows of generated tables; `again`: their judges learned from them."""
    out = Surprises(net, 0)
    out.folds, out.again = True, again
    for judges, one in tables:
        out.take(scored_by(judges, one, most=0))
    return out


def outliers(
    net: Network, table: Table, scored: Scored, generated: Surprises, notes: tuple[str, ...] = ()
) -> Outliers | str:
    """The section; `scored` has ln P of each row by a model that has not seen it. Or why there is
    none.
    """
    bits = -scored.log * BITS
    known = scored.known
    threshold = generated.threshold(float(weights_of(table)[known].sum()))
    if threshold == np.inf:
        return "no rows were generated to compare these with"
    ranked = np.flatnonzero(known)
    ranked = ranked[np.argsort(-bits[ranked], kind="stable")]
    top = ranked[:_KEPT]
    found = _explained(net, table.take(top), top, bits[top]) if len(top) else ()
    good = known & (bits < np.inf)
    weights = weights_of(table)
    mean = float(weights[good] @ bits[good] / weights[good].sum()) if good.any() else 0.0
    above = int((bits[known] > threshold).sum())
    if generated.again:
        notes = (
            *notes,
            f"the threshold is that of {generated.tables} generated tables, learned again in folds",
        )
    elif generated.rows and generated.rows < 20 * len(table):
        notes = (
            *notes,
            f"the threshold is extrapolated from {number(generated.rows)} generated rows",
        )
    if generated.folds and not generated.again and weights.sum() < _FEW:
        notes = (*notes, f"the threshold is rough, as always with fewer than {_FEW} rows: the only "
                 "row of its kind surprises a network learned without it")  # fmt: skip
    return Outliers(
        found, threshold, above, mean, int(known.sum()), notes, np.where(known, bits, 0.0)
    )


def _explained(
    net: Network, part: Table, rows: NDArray[np.intp], bits: Floats
) -> tuple[Outlier, ...]:
    terms, whole = family_terms(net, part)
    surprise = np.where(whole, -terms * BITS, -np.inf)
    out = []
    for i, row in enumerate(rows):
        k = int(surprise[i].argmax())
        gone = not whole[i].any()
        local = net.distributions[net.names[k]]
        cell = "" if gone else ", ".join(
            f"{v.name}={_value(part, v.name, i)}" for v in (local.child, *local.parents)
        )  # fmt: skip
        own = float(surprise[i, k])
        never = bits[i] == np.inf
        total = float(np.where(whole[i] & (surprise[i] < np.inf), surprise[i], 0.0).sum())
        out.append(
            Outlier(
                int(row) + 1,
                total if never else float(bits[i]),
                "" if gone else local.title,
                0.0 if gone else own if own < np.inf else 0.0,
                cell,
                bool(never),
            )
        )
    return tuple(out)


def _value(part: Table, name: str, i: int) -> str:
    value = part.values(name)[i]
    return f"{value:.6g}" if isinstance(value, float) else str(value)
