"""Where the numbers of a network's families lie while EM runs: in a few flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from credo.core.schema import Variable
from credo.model.networks.count_table import counts

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Parameters:
    """The cells of every table, and the linear Gaussians in centred and scaled units.

    `laws` are the parameters from which the tables of numbers that count are made, if there are
    any: in each configuration ln of the mean and the share of extra zeros, and ln of the size.
    """

    theta: Floats
    lines: Floats
    laws: Floats = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class Statistics:
    """The expected counts and moments of all families."""

    counts: Floats
    moments: Floats


class Layout:
    """Where the numbers of each family lie in the flat arrays, as `cpp/em_model.hpp` has it.

    A number that counts has one state more, of probability 1 and of no weight for its law: a cell
    that is missing. It has no children, so its sum over all numbers is 1 as well, and the rows
    without it tell nothing of its law.
    """

    def __init__(self, families: Sequence[tuple[Variable, tuple[Variable, ...]]]) -> None:
        self.families = tuple(families)
        self.names = tuple(child.name for child, _ in families)
        self.at = {n: i for i, n in enumerate(self.names)}
        sizes, lines, moments = [], [], []
        for child, parents in families:
            states = int(np.prod([v.arity for v in parents if v.is_discrete], dtype=np.int64))
            k = sum(not p.is_discrete for p in parents)
            sizes.append(states * self.states(child))
            lines.append(0 if child.is_discrete else states * (k + 2))
            moments.append(0 if child.is_discrete else states * (k + 2) ** 2)
        self._cells, self._lines, self._moments = (
            [0, *accumulate(x)] for x in (sizes, lines, moments)
        )
        self.cells, self.line_numbers = self._cells[-1], self._lines[-1]

    @staticmethod
    def states(v: Variable) -> int:
        """The states of a variable; 0 of a continuous one."""
        return v.arity + counts(v) if v.is_discrete else 0

    @property
    def arities(self) -> list[int]:
        """The states of each variable; 0 for a continuous one."""
        return [self.states(v) for v, _ in self.families]

    @property
    def scopes(self) -> list[list[int]]:
        """The parents of each variable and then itself, by number."""
        return [
            [*(self.at[p.name] for p in parents), self.at[c.name]] for c, parents in self.families
        ]

    def table(self, flat: Floats, i: int) -> Floats:
        """The cells of one family, in their shape: a view."""
        child, parents = self.families[i]
        shape = [self.states(v) for v in (*parents, child)]
        return flat[self._cells[i] : self._cells[i + 1]].reshape(shape)

    def line(self, flat: Floats, i: int) -> Floats:
        """The lines of one family, [*configurations, intercept, slopes, variance]: a view."""
        _, parents = self.families[i]
        shape = [p.arity for p in parents if p.is_discrete]
        k = sum(not p.is_discrete for p in parents)
        return flat[self._lines[i] : self._lines[i + 1]].reshape(*shape, k + 2)

    def part(self, x: Parameters, i: int) -> Floats:
        """The table or the lines of one family: a view."""
        discrete = self.families[i][0].is_discrete
        return self.table(x.theta, i) if discrete else self.line(x.lines, i)

    def moment(self, flat: Floats, i: int) -> Floats:
        """The moments of one family, [configurations, z, z], z = (1, parents, child): a view."""
        _, parents = self.families[i]
        k = sum(not p.is_discrete for p in parents)
        return flat[self._moments[i] : self._moments[i + 1]].reshape(-1, k + 2, k + 2)
