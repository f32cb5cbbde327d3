"""Rows folded into the problems that an E-step has to solve, and what they tell of the gaps.

Problems of the same missing cells beside the same observed ones are one (`cpp/em/rows.hpp`), so
what many parts fold to merges: the E-step of ten million rows may be one of thousands of problems.
Continuous columns are centred and scaled inside, so that sums of squares keep their digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from credo import _core
from credo.data import Table
from credo.model.networks.count_table import counts
from credo.train.em.layout import Layout

MIXED_STATES = 1 << 16
"""The most states of the gaps of a row where continuous families take part."""


@dataclass(frozen=True)
class Folding:
    """How rows are folded; `most` is as many states as a component of gaps may have."""

    layout: Layout
    scales: Mapping[str, tuple[float, float]]
    most: int

    def __call__(self, table: Table) -> Folded:
        """What the rows of a table fold to."""
        folded = Folded(self)
        folded.add(table)
        return folded


class Folded:
    """The problems of some rows, and the weight of the rows in which a variable is missing, or a
    whole family observed.
    """

    def __init__(self, how: Folding) -> None:
        layout = how.layout
        self.how = how
        self.native: Any = _core.Expectations(layout.arities, layout.scopes, how.most, MIXED_STATES)
        self.shift = 0.0  # of the log-likelihood, from scaled units to the user's
        self.rows = 0
        self.gaps = dict.fromkeys(layout.names, 0.0)
        self.observed = dict.fromkeys(layout.names, 0.0)
        self.marginals = {v.name: np.zeros(v.arity) for v, _ in layout.families if v.is_discrete}

    def add(self, table: Table) -> None:
        """The rows of a table beside these."""
        columns: list[Any] = []
        weights = table.weights
        w = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        total = float(len(table) if w is None else w.sum())
        holes: dict[str, Any] = {}
        for child, _ in self.how.layout.families:
            name = child.name
            if name not in table.schema:
                columns.append(None)
                self.gaps[name] += total
                holes[name] = True
                continue
            array = table.block.arrays[table.schema.index(name)]
            if child.is_discrete:
                columns.append(np.ascontiguousarray(array))
                gone = array == child.arity
                seen = np.bincount(array, w, child.arity + 1)[: child.arity]
                self.marginals[name] += seen
            else:
                centre, scale = self.how.scales[name]
                columns.append(np.ascontiguousarray((array - centre) / scale))
                gone = np.isnan(array)
                seen = ~gone
                self.shift -= float(seen.sum() if w is None else w[seen].sum()) * np.log(scale)
            self.gaps[name] += float(gone.sum() if w is None else w[gone].sum())
            holes[name] = gone if gone.any() and not counts(child) else False
        for child, parents in self.how.layout.families:
            some = [holes[v.name] for v in (child, *parents) if holes[v.name] is not False]
            if not some:
                self.observed[child.name] += total
            elif not any(h is True for h in some):
                kept = ~np.logical_or.reduce(some)
                self.observed[child.name] += float(kept.sum() if w is None else w[kept].sum())
        self.rows += len(table)
        self.native.add(columns, len(table), w)

    @cached_property
    def e_step(self) -> Any:
        """The E-step of these rows, made once where they are."""
        from credo.train.em.e_step import EStep

        return EStep(self, 1)

    def merged(self, other: Folded) -> Folded:
        """These rows and others, as one: this value goes on as both."""
        self.native.absorb(*other.native.packed())
        self.shift += other.shift
        self.rows += other.rows
        for own, more in ((self.gaps, other.gaps), (self.observed, other.observed)):
            for name, weight in more.items():
                own[name] += weight
        for name, often in other.marginals.items():
            self.marginals[name] += often
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = {n: v for n, v in self.__dict__.items() if n != "e_step"}
        return {**state, "native": self.native.packed()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["how"])  # type: ignore[misc]
        self.native.absorb(*state["native"])
        self.__dict__.update({n: v for n, v in state.items() if n != "native"})
